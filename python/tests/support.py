"""What the tests share: a study of small servers, Ray clusters of several nodes on this machine, and the processes on it."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent

# Before Ray is imported anywhere: a cluster of the tests has a token as any other has.
os.environ["RAY_AUTH_MODE"] = "token"
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_DISABLE_IMPORT_WARNING"] = "1"

STUDY = """
title = "A small study"
contenders = ["one", "two", "three"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 2 } }
[design]
rounds = [4, 13]
heat = 2
slice = "20ms"
warmup = "20ms"
warmup_limit = "300ms"
measure = "100ms"
budget = "9h"
"""

CONTENDER = """
title = "NAME"
language = "Rust"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = ["{drome}", "serve", "--port", "{port}"]
[serves]
hello = "/hello"
"""

#: The command that stands for a heat where heats are only counted.
COUNTED = [sys.executable, str(TESTS / "counted.py")]


def write_study(home: Path) -> None:
    """Writes the study `small` and its contenders to a catalog in this folder."""
    (home / "own/studies").mkdir(parents=True)
    (home / "own/studies/small.toml").write_text(STUDY)
    for name in ("one", "two", "three"):
        folder = home / "own/contenders" / name
        folder.mkdir(parents=True)
        (folder / "contender.toml").write_text(CONTENDER.replace("NAME", name.title()))


class Nodes:
    """A Ray cluster on this machine: a head that measures nothing, and nodes that take a heat each."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        small = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
        self.small = small
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=small)
        self.measuring: list[Any] = []
        for _ in range(count):
            self.add()

    def add(self) -> None:
        node = self.cluster.add_node(
            wait=False,
            num_cpus=1,
            object_store_memory=self.small["object_store_memory"],
            resources={"drome": 1},
        )
        self.measuring.append(node)

    def kill_oldest(self) -> None:
        """Kills a node as a power cut would, and adds another one."""
        self.cluster.remove_node(self.measuring.pop(0), allow_graceful=False)
        self.add()

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def end(self) -> None:
        import ray

        ray.shutdown()
        self.cluster.shutdown()


def processes_with(text: str) -> list[str]:
    """The command lines of servers and heats that have this text in them or in their folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            folder = str((entry / "cwd").readlink())
        except OSError:
            continue
        is_drome = " serve " in line or "__guard" in line or " heat " in line
        if is_drome and (text in line or text in folder):
            found.append(line)
    return found


def wait_until(is_so: Callable[[], bool], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"waited too long: {what}"
        time.sleep(0.1)
