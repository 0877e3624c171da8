"""drome's agent on a node of a cluster: an actor that holds it, and what reaches it there."""

from __future__ import annotations

import os
import socket
import subprocess

from drome._binary import Failed, binary
from drome._heat import machine_name

#: The namespace of the actors, which have names that nobody else has.
NAMESPACE = "drome"

#: The most bytes that go over at once.
MOST_BYTES = 1 << 16


class Agent:
    """An actor with `drome agent`, whose standard streams are the link. The agent ends with it, because its input does."""

    def __init__(self, is_shared: bool) -> None:
        self._is_shared = is_shared
        self._process: subprocess.Popen[bytes] | None = None

    def machine(self) -> str:
        """The name of the machine, which has drome."""
        binary()
        import ray

        node = str(ray.get_runtime_context().get_node_id())
        return machine_name(socket.gethostname(), node if self._is_shared else None)

    def begin(self) -> None:
        """Starts the agent. It waits for words for some seconds only, so that nothing starts it before there is somebody to talk to."""
        if self._process is not None:
            raise Failed("the agent has begun: a link has it already", 1)
        self._process = subprocess.Popen([binary(), "agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def write(self, data: bytes) -> None:
        """Gives the agent this; nothing: its input ends."""
        assert self._process is not None and self._process.stdin is not None
        if data:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        else:
            self._process.stdin.close()

    def read(self) -> bytes:
        """What the agent says next, as soon as it says something; nothing: it has ended."""
        assert self._process is not None and self._process.stdout is not None
        data = os.read(self._process.stdout.fileno(), MOST_BYTES)
        if not data:
            self._process.wait()
        return data
