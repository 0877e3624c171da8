"""Heats on a Ray cluster: each counts once, whoever is killed, and nothing is left of those that were."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import drome
from drome import fleet
from tests.support import COUNTED, Nodes, processes_with, wait_until

Make = Callable[[int], Nodes]

#: The time between two machines that are killed, in seconds.
EVERY_S = 3

#: How many rounds of two heats are counted while machines are killed. `cargo xtask python --scale` has more.
COUNTED_ROUNDS = int(os.environ.get("DROME_TEST_COUNTED_ROUNDS", "20"))

#: How many workers with a real heat are killed, and how many rounds of one heat there are. `cargo xtask python --scale` has more.
KILLS = int(os.environ.get("DROME_TEST_KILLS", "1"))
ROUNDS = int(os.environ.get("DROME_TEST_ROUNDS", "2"))


def test_every_heat_counts_once_although_machines_are_killed(home: Path, cluster: Make) -> None:
    nodes, commits = cluster(3), list[Mapping[str, Any]]()
    killed_at = [time.monotonic()]

    def told(line: Mapping[str, Any]) -> None:
        commits.append(line)
        # Ray starts nodes in the main thread only. Heats are under way on all of them meanwhile.
        if time.monotonic() - killed_at[-1] > EVERY_S:
            nodes.kill_oldest()
            killed_at.append(time.monotonic())

    result = fleet.run(
        "small",
        machines=3,
        rounds=COUNTED_ROUNDS,
        catalog=[home / "own"],
        address=nodes.address,
        command=COUNTED,
        on_commit=told,
    )
    heats = Counter((line["round"], line["heat"]) for line in commits if line["outcome"] == "committed")
    all_heats = 2 * COUNTED_ROUNDS
    assert len(heats) == all_heats and set(heats.values()) == {1}
    assert result.counts is not None and result.counts.committed == all_heats and result.counts.already == 0
    contenders = result.report["cells"][0]["contenders"]
    assert {contender["trials"] for contender in contenders} == {COUNTED_ROUNDS}, "each contender once a round"
    assert result.ended.endswith(f"after {COUNTED_ROUNDS} rounds")
    assert len(killed_at) > 3, killed_at
    print(f"{all_heats} heats, {len(killed_at) - 1} machines killed, {result.counts}")


def test_a_node_is_as_good_as_before_after_heats_that_fail_or_lose_their_worker(home: Path, cluster: Make) -> None:
    nodes = cluster(1)
    seen = list[Mapping[str, Any]]()
    # One that always fails ends the run.
    broken = ["sh", "-c", "echo the disk is full >&2; exit 7"]
    with pytest.raises(drome.Failed, match="the disk is full; it was the last attempt: `resume="):
        fleet.run("small", machines=1, quick=True, catalog=[home / "own"], address=nodes.address, command=broken)

    def kill_a_worker() -> None:
        for _ in range(KILLS):
            wait_until(lambda: bool(servers(home)), "a server to start")
            for pid in workers():
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not servers(home), "the servers of a killed worker to be gone", 20)
            time.sleep(EVERY_S)

    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    result = fleet.run(
        "small",
        machines=1,
        rounds=ROUNDS,
        contenders=["one"],
        catalog=[home / "own"],
        address=nodes.address,
        on_commit=seen.append,
    )
    killer.join()
    assert result.counts is not None and result.counts.lost == KILLS, result.counts
    assert max(told["attempt"] for told in seen) >= 2, "what was lost was measured again, by the next number"
    assert [told["outcome"] for told in seen] == ["committed"] * ROUNDS
    wait_until(lambda: processes_with(str(home)) == [], "all servers to be gone", 20)
    frame = result.contenders()
    assert set(frame["contender"]) == {"one", "reference"} and (frame["rate_per_s"] > 0).all()
    assert len(result.starts()) == ROUNDS * 3, "two contenders and the hub, once a round"
    print(f"{ROUNDS} real heats, {result.counts}, no server left")


def test_a_run_goes_on_when_its_head_was_killed(home: Path, cluster: Make) -> None:
    own = {**os.environ, "DROME_TEST_HOME": str(home), "DROME_TEST_HEAT_S": "0.2"}
    with subprocess.Popen([sys.executable, "-m", "tests.head"], env=own, stdout=subprocess.PIPE, text=True) as head:
        assert head.stdout is not None
        run = head.stdout.readline().strip()
        for _ in range(5):
            assert head.stdout.readline().strip() == "committed"
        # The head and everything that belongs to it, without a last word.
        for pid in with_variable(f"DROME_TEST_HOME={home}"):
            os.kill(pid, signal.SIGKILL)
    before = len(drome.report(run).starts())
    assert before == 0, "what is only counted has no figure"
    nodes, seen = cluster(2), list[Mapping[str, Any]]()
    result = fleet.run(resume=run, machines=2, address=nodes.address, catalog=[home / "own"], command=COUNTED, on_commit=seen.append)
    assert result.counts is not None and 0 < result.counts.committed <= 35
    assert {contender["trials"] for contender in result.report["cells"][0]["contenders"]} == {20}


def test_a_cluster_without_a_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(drome.Failed, match="RAY_AUTH_MODE"):
        fleet.connect("127.0.0.1:1")


def counted(home: Path, nodes: Nodes, seen: list[Mapping[str, Any]]) -> drome.Result:
    """Four rounds of two heats that are only counted."""
    own = [home / "own"]
    return fleet.run("small", machines=3, rounds=4, catalog=own, address=nodes.address, command=COUNTED, on_commit=seen.append)


def test_a_result_that_is_refused_is_measured_again_and_the_others_count(
    home: Path, cluster: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Workers have the variables with which the cluster was started.
    monkeypatch.setenv("DROME_TEST_CUT", "1:1")
    nodes, seen = cluster(3), list[Mapping[str, Any]]()
    result = counted(home, nodes, seen)
    assert result.counts is not None and (result.counts.committed, result.counts.failed) == (8, 2), result.counts
    attempts = {(told["round"], told["heat"]): told["attempt"] for told in seen if told["outcome"] == "committed"}
    assert len(attempts) == len(seen) == 8
    assert {attempt for (round_, _), attempt in attempts.items() if round_ == 1} == {2}


def test_a_result_that_is_always_refused_ends_the_run_and_the_others_are_told(
    home: Path, cluster: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROME_TEST_CUT", "1:9")
    nodes, seen = cluster(3), list[Mapping[str, Any]]()
    with pytest.raises(drome.Failed, match="its result is refused: .* is incomplete"):
        counted(home, nodes, seen)
    assert {told["round"] for told in seen if told["outcome"] == "committed"} >= {0}
    assert all(told["round"] != 1 for told in seen)


def servers(home: Path) -> list[str]:
    return [line for line in processes_with(str(home)) if " serve " in line]


def workers() -> list[int]:
    """Ray's workers that measure a heat."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            title = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::measure"):
            found.append(int(entry.name))
    return found


def with_variable(text: str) -> list[int]:
    """The processes whose environment has this text."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if text.encode() in variables and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found
