"""Measures a study on many machines with Ray.

One heat is one task, and takes a whole machine: every node that may measure has the resource `{"drome": 1}`. Ray retries nothing.
The driver alone counts attempts, hands heats out again whole when their machine is lost, and adds results to the run, where each
heat counts once.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from drome._binary import Failed, as_list, call, options
from drome._cluster import RESOURCE, START, connect, is_shared, nodes, ray_itself
from drome._heat import FailedThere, measure
from drome._load import load
from drome._local import _narrowed, report
from drome._result import Counts, Result

__all__ = ["connect", "load", "run"]

#: The exit code of `drome heat commit` if a result was refused; the other results of the same call are added.
REFUSED = 2

#: A heat that has failed this number of times is not tried again.
ATTEMPTS = 3

#: A heat whose machine was lost this number of times is not tried again.
LOSSES = 50

#: How long the driver waits for a heat before it checks whether any node can measure, in seconds.
LOOK_S = 60.0

#: The node label that has the node's ID.
NODE_ID = "ray.io/node-id"

_Path = str | os.PathLike[str]
_Key = tuple[int, int]

#: A spec, and the result of its heat.
_Returned = tuple[dict[str, Any], bytes]


def run(
    study: str | None = None,
    *,
    machines: int,
    resume: str | None = None,
    rounds: int | None = None,
    contenders: Sequence[str] = (),
    cells: Sequence[str] = (),
    quick: bool = False,
    budget: str | None = None,
    precision: str | None = None,
    seed: int | None = None,
    allow_busy: bool = False,
    catalog: Sequence[_Path] = (),
    store: _Path | None = None,
    address: str | None = "auto",
    command: Sequence[str] | None = None,
    on_commit: Callable[[Mapping[str, Any]], None] | None = None,
) -> Result:
    """Measures a study on `machines` machines of a Ray cluster at a time, and returns the findings.

    `resume` is the name of a run to continue, in place of a study. The folders of `catalog` are sent along with each heat. `command` are
    the words of the program that measures a heat on the machine, in place of `drome heat measure`; `on_commit` is called with the outcome
    of each result.
    """
    if (study is None) == (resume is None):
        raise ValueError("name either a study or, with `resume`, a run to continue")
    shared = options(store=store)
    folders = [_files(Path(folder)) for folder in as_list("catalog", catalog)]
    own = None if command is None else list(as_list("command", command))
    # First, because a run that is planned for a cluster that can't be reached would stay in the store.
    connect(address)
    if resume is None:
        words = ["heat", "plan", str(study), "--machines", str(machines)]
        words += _narrowed(contenders, cells, budget, precision, seed)
        words += [] if rounds is None else ["--rounds", str(rounds)]
        words += ["--quick"] if quick else []
        words += ["--allow-busy"] if allow_busy else []
        resume = call([*words, *shared, *options(catalog=catalog)], shows=True).strip()
        print(f"drome: run {resume}: `resume={resume!r}` goes on with it", file=sys.stderr)
    driver = _Driver(resume, machines, shared, folders, own, on_commit)
    counts = driver.go()
    return report(resume, store=store, counts=counts)


def _files(folder: Path) -> dict[str, bytes]:
    """The files of a catalog's folder, by path below it."""
    parts = (folder / part for part in ("contenders", "workloads", "studies"))
    files = (file for part in parts if part.is_dir() for file in part.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


class _Driver:
    """Hands out the heats of one run, and commits what comes back."""

    def __init__(
        self,
        run: str,
        machines: int,
        shared: list[str],
        catalogs: list[dict[str, bytes]],
        command: list[str] | None,
        on_commit: Callable[[Mapping[str, Any]], None] | None,
    ) -> None:
        self.ray = ray_itself()
        self.run = run
        self.machines = machines
        self.shared = shared
        self.on_commit = on_commit
        self.task = self.ray.remote(max_retries=0, num_cpus=0, resources={RESOURCE: 1})(measure)
        self.rest = (self.ray.put(catalogs), command, is_shared())
        self.queue: deque[dict[str, Any]] = deque()
        self.flying: dict[Any, dict[str, Any]] = {}
        self.attempts: Counter[_Key] = Counter()
        self.losses: Counter[_Key] = Counter()
        self.failures: Counter[_Key] = Counter()
        self.outcomes: Counter[str] = Counter()
        #: The nodes on which an attempt of a heat failed.
        self.failed_on: dict[_Key, set[str]] = {}
        #: For a heat under way, the nodes to which it must not be handed out.
        self.avoided: dict[Any, set[str]] = {}
        #: Why no more heats are handed out.
        self.over: str | None = None
        self.was_told = False

    def go(self) -> Counts:
        """Measures until no heat is owed, and returns what was done."""
        try:
            while self.refill():
                self.hand_out()
                ready, _ = self.ray.wait(list(self.flying), num_returns=1, timeout=LOOK_S)
                if not ready:
                    self.look()
                    continue
                also, _ = self.ray.wait(list(self.flying), num_returns=len(self.flying), timeout=0)
                results = [self.taken(ref) for ref in dict.fromkeys([*ready, *also])]
                # The machines that are free now need not wait for the store.
                self.hand_out()
                self.commit([result for result in results if result is not None])
                if self.over is not None:
                    raise Failed(self.over, 1)
        finally:
            # If the cluster is gone, so are the tasks.
            with contextlib.suppress(self.ray.exceptions.RayError):
                for ref in self.flying:
                    self.ray.cancel(ref, force=True)
        return Counts(
            committed=self.outcomes["committed"],
            already=self.outcomes["already"],
            lost=self.losses.total(),
            failed=self.failures.total(),
        )

    def refill(self) -> bool:
        """Asks drome which heats are owed, if none is queued or under way; false: none is left."""
        if not self.queue and not self.flying:
            lines = call(["heat", "owed", self.run, *self.shared]).splitlines()
            self.queue.extend(json.loads(line) for line in lines)
        return bool(self.queue or self.flying)

    def hand_out(self) -> None:
        """Keeps as many heats under way as machines were asked for."""
        while self.queue and len(self.flying) < self.machines and self.over is None:
            spec = self.queue.popleft()
            self.attempts[_key(spec)] += 1
            spec["attempt"] = self.attempts[_key(spec)]
            avoided = self.failed_on.get(_key(spec), set())
            task, is_bound = self.task, bool(avoided and nodes() - avoided)
            if is_bound:
                task = task.options(label_selector={NODE_ID: f"!in({','.join(sorted(avoided))})"})
            ref = task.remote(json.dumps(spec), *self.rest)
            self.flying[ref] = spec
            if is_bound:
                self.avoided[ref] = set(avoided)

    def look(self) -> None:
        """Prints what to do if no node can measure, and takes back heats that wait for nodes which are gone."""
        alive = nodes()
        if not self.ray.cluster_resources().get(RESOURCE):
            if not self.was_told:
                print(f"drome: no node of the cluster may measure: start one with {START}; the heats wait for it", file=sys.stderr)
            self.was_told = True
            return
        self.was_told = False
        for ref, avoided in self.avoided.items():
            # All nodes that were not avoided are gone, so the heat has not begun and never would. It is queued again like one that was
            # lost.
            if alive <= avoided:
                self.ray.cancel(ref, force=True)

    def taken(self, ref: Any) -> _Returned | None:
        """The result of a task that is over, with its spec; None: the heat is queued again."""
        spec = self.flying.pop(ref)
        self.avoided.pop(ref, None)
        key = _key(spec)
        try:
            return spec, self.ray.get(ref)
        except self.ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, FailedThere):
                self.failed_on.setdefault(key, set()).add(error.cause.node)
            self.failed(spec, str(error.cause or error))
        except self.ray.exceptions.RayError as error:
            # Its machine or its worker is gone, and with it whatever was measured.
            self.losses[key] += 1
            self.again(spec, f"lost: {type(error).__name__}", self.losses[key] >= LOSSES)
        return None

    def failed(self, spec: dict[str, Any], why: str) -> None:
        """Queues a heat again that could not be measured, or whose result was refused."""
        key = _key(spec)
        self.failures[key] += 1
        self.again(spec, why, self.failures[key] >= ATTEMPTS)

    def again(self, spec: dict[str, Any], why: str, is_last: bool) -> None:
        """Queues a heat again; after the last attempt, the run ends as soon as the other results that came back are committed."""
        key = _key(spec)
        told = f"heat {key[1] + 1} of round {key[0] + 1}, attempt {spec['attempt']}: {why}"
        if is_last:
            self.over = self.over or f"{told}; it was the last attempt: `resume={self.run!r}` goes on when that is mended"
            return
        print(f"drome: {told}; it is measured again", file=sys.stderr)
        self.queue.append(spec)

    def commit(self, results: list[_Returned]) -> None:
        """Adds results to the run. The store decides what counts, even if other programs add results at the same time."""
        broken: Failed | None = None
        for spec, result in results:
            try:
                self.commit_one(result)
            except Failed as error:
                # That one result is refused says nothing about the others, which took as long to measure.
                if error.code == REFUSED:
                    self.failed(spec, f"its result is refused: {error}")
                else:
                    broken = broken or error
        if broken is not None:
            raise broken

    def commit_one(self, result: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="drome-result-") as folder:
            file = Path(folder) / "result.jsonl"
            file.write_bytes(result)
            lines = call(["heat", "commit", str(file), *self.shared]).splitlines()
        for line in lines:
            told = json.loads(line)
            self.outcomes[told["outcome"]] += 1
            if self.on_commit is not None:
                self.on_commit(told)


def _key(spec: Mapping[str, Any]) -> _Key:
    heat = spec["heat"]
    return (heat["round"], heat["number"])
