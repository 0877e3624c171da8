"""Connects its standard streams to the agent of an actor: `python -m drome._bridge ACTOR MACHINE`.

It is what `drome load --load-from` runs to reach a node of a cluster. It ends when its input does, and then so does the agent.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from drome._agent import MOST_BYTES, NAMESPACE
from drome._cluster import ray_itself


def main() -> int:
    # Further arguments are the command line of drome on that machine, which the actor knows already.
    actor, machine = sys.argv[1], sys.argv[2]
    # Ray may print to standard output, which belongs to the link: from here on, prints go to standard error.
    output = os.dup(1)
    os.dup2(2, 1)
    ray = ray_itself()
    try:
        # The program that started this one has checked the cluster.
        ray.init(address=os.environ["RAY_ADDRESS"], log_to_driver=False, logging_level="ERROR")
        agent = ray.get_actor(actor, namespace=NAMESPACE)
        ray.get(agent.begin.remote())
        # The agent may end before its input does; then this program ends too, even if there is more input.
        threading.Thread(target=_forward, args=(ray, agent, machine), daemon=True).start()
        while data := ray.get(agent.read.remote()):
            _write(output, data)
    except (ray.exceptions.RayError, ValueError, OSError) as error:
        return _told(machine, error)
    return 0


def _forward(ray: Any, agent: Any, machine: str) -> None:
    """Passes standard input on to the agent, and closes the agent's input at the end."""
    try:
        while data := os.read(0, MOST_BYTES):
            ray.get(agent.write.remote(data))
        ray.get(agent.write.remote(b""))
    except ray.exceptions.RayError as error:
        _told(machine, error)


def _write(output: int, data: bytes) -> None:
    while data:
        data = data[os.write(output, data) :]


def _told(machine: str, error: Exception) -> int:
    cause = getattr(error, "cause", None) or error
    first = str(cause).strip().splitlines() or [type(cause).__name__]
    print(f"{machine}: {type(error).__name__}: {first[0]}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    code = main()
    # Skips Ray's own shutdown, which can take seconds: the other side of the link waits for this program to end.
    os._exit(code)
