"""An actor that runs `drome agent` on a node of a cluster, and passes on what goes to and comes from it."""

from __future__ import annotations

import os
import socket
import subprocess

from drome._binary import Failed, binary
from drome._heat import machine_name

#: The Ray namespace of these actors, in which each has a unique name.
NAMESPACE = "drome"

#: The largest number of bytes that are passed on at once.
MOST_BYTES = 1 << 16


class Agent:
    """An actor with `drome agent`, whose standard streams are the link. When the actor ends, so does the agent, because its input ends."""

    def __init__(self, is_shared: bool) -> None:
        self._is_shared = is_shared
        self._process: subprocess.Popen[bytes] | None = None

    def machine(self) -> str:
        """Returns the name of the machine. Raises `Failed` if drome is not installed there."""
        binary()
        import ray

        node = str(ray.get_runtime_context().get_node_id())
        return machine_name(socket.gethostname(), node if self._is_shared else None)

    def begin(self) -> None:
        """Starts the agent. An agent that hears nothing for some seconds ends, so this is called only when the other side is ready."""
        if self._process is not None:
            raise Failed("this agent is in use: it has a link already", 1)
        self._process = subprocess.Popen([binary(), "agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def write(self, data: bytes) -> None:
        """Writes bytes to the agent's input; empty bytes close it."""
        assert self._process is not None and self._process.stdin is not None
        if data:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        else:
            self._process.stdin.close()

    def read(self) -> bytes:
        """Returns the next bytes that the agent writes, as soon as there are any; empty bytes: it has ended."""
        assert self._process is not None and self._process.stdout is not None
        data = os.read(self._process.stdout.fileno(), MOST_BYTES)
        if not data:
            self._process.wait()
        return data
