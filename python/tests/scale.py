"""Figures, not checks: heats a minute by the number of workers, and what Ray's daemons do to a measurement beside them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import drome
from drome import fleet
from tests.support import COUNTED, Nodes, write_study

#: How long a counted heat sleeps, in seconds: as on machines of their own, it takes no time of this one.
HEAT_S = 2.0

#: The numbers of workers.
WORKERS = (1, 2, 4, 8)

#: Heats are counted from this one on, because the first ones wait for Ray to start a process on each node.
FIRST = 8

#: So many heats are counted for each worker.
COUNTED_EACH = 12


def main() -> None:
    with TemporaryDirectory(prefix="drome-", dir="/tmp") as name:
        home = Path(name)
        write_study(home)
        own = {"DROME_HOME": name, "DROME_CACHE": f"{name}/cache", "DROME_ALLOW_BUSY": "1", "RAY_TMPDIR": name}
        os.environ.update(own, DROME_TEST_HEAT_S=str(HEAT_S))
        print(f"heats that sleep for {HEAT_S:g} s:")
        for workers in WORKERS:
            rate = heats_a_minute(home, workers)
            print(f"  {workers} workers: {rate:.1f} heats a minute, {rate * HEAT_S / 60 / workers:.0%} of what they sleep", flush=True)
        print("the same server twice, first by itself, then beside Ray's daemons:")
        same("by itself")
        nodes = Nodes(1)
        fleet.connect(nodes.address)
        same("beside a head and a node of Ray")
        nodes.end()


class Enough(Exception):
    """All heats that are counted are over."""


def heats_a_minute(home: Path, workers: int) -> float:
    nodes, times = Nodes(workers), list[float]()
    first = max(FIRST, 2 * workers)

    def told(_: Mapping[str, Any]) -> None:
        times.append(time.monotonic())
        if len(times) > first + COUNTED_EACH * workers:
            raise Enough

    try:
        fleet.run(
            "small",
            machines=workers,
            rounds=100,
            catalog=[home / "own"],
            address=nodes.address,
            command=COUNTED,
            on_commit=told,
        )
    except Enough:
        pass
    finally:
        nodes.end()
    counted = times[first:]
    return 60 * (len(counted) - 1) / (counted[-1] - counted[0])


def same(where: str) -> None:
    # Slow enough that the load generator is not the limit.
    serve = f"{drome.binary()} serve --port {{port}} --spin 50us"
    result = drome.race(serve, serve, budget="2min", more=["--duration", "1s", "--quiet"], allow_busy=True, seed=1)
    race = result.report["race"]
    ratio = race["ratio"] or {}
    shown = " to ".join("unknown" if ratio.get(bound) is None else f"{ratio[bound]:.4f}" for bound in ("low", "high"))
    disturbed = [contender["in_heats"]["disturbed_share"] or 0 for contender in result.report["cells"][0]["contenders"]]
    share = sum(disturbed) / len(disturbed)
    print(
        f"  {where}: ratio {ratio.get('median', float('nan')):.4f} ({shown}), decided: {race['decided']},"
        f" {race['blocks']} rounds, {share:.1%} of turns disturbed",
        flush=True,
    )


if __name__ == "__main__":
    main()
