"""Drives load from several machines of a cluster at once."""

from __future__ import annotations

import contextlib
import json
import secrets
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from drome._agent import NAMESPACE, Agent
from drome._binary import Failed, as_list, call
from drome._cluster import RESOURCE, START, connect, is_shared, nodes, ray_itself
from drome._local import REPORTED

#: How long the driver waits for machines before it says what it waits for, in seconds.
LOOK_S = 30.0


def load(
    url: str,
    *,
    machines: int,
    connections: int | None = None,
    duration: str | None = None,
    rate: float | None = None,
    requests: int | None = None,
    allow_busy: bool = False,
    more: Sequence[str] = (),
    address: str | None = "auto",
) -> dict[str, Any]:
    """Drives load at a URL from `machines` machines of a Ray cluster at once, and returns the JSON of `drome load`.

    Each machine is a whole node. `connections`, `rate` and `requests` are those of all machines together. `more` are further options of
    `drome load`, word by word. A machine that is lost voids the measurement; the verdict names it.
    """
    if machines < 1:
        raise ValueError("`machines` must be at least 1")
    words = ["load", url, "--format", "json"]
    given = {"--connections": connections, "--duration": duration, "--rate": rate, "--requests": requests}
    for option, value in given.items():
        words += [] if value is None else [option, str(value)]
    words += ["--allow-busy"] if allow_busy else []
    further = as_list("more", more)
    connect(address)
    ray = ray_itself()
    with _agents(machines) as agents:
        for actor, machine in agents:
            bridge = [sys.executable, "-m", "drome._bridge", actor, machine]
            words += ["--load-from", shlex.join(bridge)]
        own = {"RAY_ADDRESS": str(ray.get_runtime_context().gcs_address)}
        report: dict[str, Any] = json.loads(call([*words, *further], may_be=REPORTED, shows=True, environment=own))
        return report


@contextlib.contextmanager
def _agents(machines: int) -> Iterator[list[tuple[str, str]]]:
    """Starts actors on this number of nodes, one on each; yields their names with those of their machines, and ends them."""
    ray = ray_itself()
    from ray.util.placement_group import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    group = placement_group([{RESOURCE: 1}] * machines, strategy="STRICT_SPREAD")
    actors: list[Any] = []
    try:
        _wait(group, machines)
        # Three at a time: one call reads, one writes, and one may ask for the name.
        agent, lot = ray.remote(max_restarts=0, max_task_retries=0, max_concurrency=3, num_cpus=0)(Agent), secrets.token_hex(4)
        names = [f"drome-{lot}-{nth}" for nth in range(machines)]
        for nth, name in enumerate(names):
            place = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=nth)
            own = {"name": name, "namespace": NAMESPACE, "resources": {RESOURCE: 1}, "scheduling_strategy": place}
            actors.append(agent.options(**own).remote(is_shared()))
        try:
            told = ray.get([actor.machine.remote() for actor in actors])
        except ray.exceptions.RayError as error:
            raise Failed(f"a machine of the cluster can't drive load: {getattr(error, 'cause', None) or error}", 1) from error
        yield list(zip(names, told, strict=True))
    finally:
        # If the cluster is gone, so are the actors.
        with contextlib.suppress(ray.exceptions.RayError):
            for actor in actors:
                ray.kill(actor)
            remove_placement_group(group)


def _wait(group: Any, machines: int) -> None:
    """Waits until this number of machines is free, and fails if the cluster has fewer."""
    began, was_told = time.monotonic(), False
    while not group.wait(timeout_seconds=1):
        if time.monotonic() - began < LOOK_S:
            continue
        there = len(nodes())
        if there < machines:
            raise Failed(f"load from {machines} machines needs as many nodes, and {there} may measure: start more with {START}", 2)
        if not was_told:
            print("drome: the machines are at work: the load waits until they are free", file=sys.stderr)
        was_told = True
