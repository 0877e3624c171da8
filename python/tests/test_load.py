"""Load from several nodes of a Ray cluster at once: what they count together is what was asked for, and a node that is lost is named."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import drome
from drome import fleet
from tests.support import Nodes, wait_until

Make = Callable[[int], Nodes]

#: The name of the server's log, which has a line for each answer.
LOG = "access.log"


@pytest.fixture
def url(home: Path) -> Iterator[str]:
    """A server on this machine, which logs what it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [drome.binary(), "serve", "--port", str(port), "--access-log", str(home / LOG)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        wait_until(lambda: answers(port), "the server to listen")
        yield f"http://127.0.0.1:{port}/hello"
        server.terminate()


def answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def answered(home: Path) -> int:
    return len((home / LOG).read_bytes().splitlines())


def test_machines_of_a_cluster_drive_load_together_and_too_few_are_told(
    home: Path, url: str, cluster: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = cluster(3)
    report = fleet.load(url, machines=3, connections=6, requests=3001, allow_busy=True, more=["-t", "1"], address=nodes.address)
    each = report["machines"]["each"]
    assert len(each) == 3 and len({named(machine) for machine in each}) == 3, each
    assert report["requests"]["completed"] == 3001
    assert sum(machine["counted"]["completed"] for machine in each) == 3001
    assert sum(machine["connections"] for machine in each) == 6
    wait_until(lambda: processes("ray::Agent") == [], "the actors to end", 20)
    wait_until(lambda: agents(home) == [], "the agents to end", 20)
    # They are free again, one for each machine.
    again = fleet.load(url, machines=2, connections=2, rate=100, duration="1s", allow_busy=True, address=nodes.address)
    assert len(again["machines"]["each"]) == 2 and again["requests"]["completed"] > 0
    monkeypatch.setattr("drome._load.LOOK_S", 3.0)
    with pytest.raises(drome.Failed, match="load from 4 machines needs as many nodes, and 3 may measure: start more"):
        fleet.load(url, machines=4, address=nodes.address)


def test_a_machine_that_is_lost_voids_the_load_and_is_named(home: Path, url: str, cluster: Make) -> None:
    nodes, killed_at = cluster(2), list[float]()

    def kill_one() -> None:
        # Before the load has begun, the loss would be a failure with nothing to report.
        wait_until(lambda: answered(home) > 100, "the load to be under way", 120)
        os.kill(processes("ray::Agent")[0], signal.SIGKILL)
        killed_at.append(time.monotonic())

    killer = threading.Thread(target=kill_one)
    killer.start()
    report = fleet.load(url, machines=2, connections=2, rate=50, duration="5min", allow_busy=True, address=nodes.address)
    killer.join()
    assert killed_at and time.monotonic() - killed_at[0] < 120
    assert not report["verdict"]["valid"]
    reason = report["verdict"]["reasons"][0]
    names = [named(machine) for machine in report["machines"]["each"]]
    assert any(name in reason for name in names) and "lost" in reason, reason
    wait_until(lambda: agents(home) == [], "the agents to end", 20)


def named(machine: dict[str, Any]) -> str:
    """The last of the words by which it is reached: its name."""
    return str(machine["name"]).split()[-1]


def processes(title: str) -> list[int]:
    """The processes whose command line begins with this."""
    return [pid for pid, words in lines() if words.startswith(title)]


def agents(home: Path) -> list[int]:
    """drome's agents on the nodes, which have the variables of their clusters."""
    found = []
    for pid, words in lines():
        if words.endswith("drome agent") and "_bridge" not in words:
            with contextlib.suppress(OSError):
                variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                found += [pid] if f"DROME_HOME={home}".encode() in variables else []
    return found


def lines() -> list[tuple[int, str]]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()))
        except OSError:
            continue
    return found
