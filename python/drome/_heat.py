"""Measures one heat on the machine where this runs: the work of one Ray task of a fleet."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from drome._binary import Failed, binary

#: The largest number of characters in a machine's name.
LONGEST_NAME = 64

#: How many characters of a host's name are kept if the start of the node's ID follows them.
LONGEST_HOST = 54


class FailedThere(Failed):
    """A heat could not be measured on a machine; the message names it."""

    def __init__(self, message: str, code: int, node: str) -> None:
        super().__init__(message, code)
        #: The ID of its node, by which Ray knows the machine.
        self.node = node

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.code, self.node))


def measure(spec: str, catalogs: list[dict[str, bytes]], command: list[str] | None, is_shared: bool) -> bytes:
    """Measures the heat that `spec` describes, in JSON, and returns its result as a file's bytes. Raises `FailedThere`.

    `catalogs` are the files of own catalogs, by path; `command` is the program to run in place of `drome heat measure`, in words;
    `is_shared`: several nodes are on one host, so that its name does not identify one.
    """
    import ray

    node = str(ray.get_runtime_context().get_node_id())
    machine = machine_name(socket.gethostname(), node if is_shared else None)
    try:
        return _measured(spec, catalogs, command, machine)
    except (Failed, OSError) as error:
        raise FailedThere(f"{machine}: {error}", getattr(error, "code", 1), node) from None


def _measured(spec: str, catalogs: list[dict[str, bytes]], command: list[str] | None, machine: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="drome-task-") as name:
        folder = Path(name)
        (folder / "spec.json").write_text(spec)
        words = [binary(), "heat", "measure", "--quiet", "--tied"] if command is None else list(command)
        words += [str(folder / "spec.json"), "--output", str(folder / "result.jsonl"), "--machine", machine]
        for nth, files in enumerate(catalogs):
            _write(folder / f"catalog-{nth}", files)
            words += ["--catalog", str(folder / f"catalog-{nth}")]
        # The pipe ends with this process, however it ends, and with it the heat and all of its servers.
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as heat:
            assert heat.stderr is not None
            said = heat.stderr.read().decode(errors="replace")
            code = heat.wait()
        if code != 0:
            raise Failed(said.strip() or f"`{words[0]}` ended with {code}", code)
        return (folder / "result.jsonl").read_bytes()


def machine_name(host: str, node: str | None) -> str:
    """The name of this machine in reports. Host names of one group, such as pods, differ at their ends, so the end is kept."""
    # A name that begins with `-` would be read as an option.
    own = host[-(LONGEST_NAME if node is None else LONGEST_HOST) :].lstrip("-.") or "nameless"
    return own if node is None else f"{own}-{node[:8]}"


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for below, content in files.items():
        path = folder / below
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
