"""Measures one heat on the machine where this runs. It is what a task of a fleet does."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from pathlib import Path

from drome._binary import Failed, binary


def measure(spec: str, catalogs: list[dict[str, bytes]], command: list[str] | None, is_shared: bool) -> bytes:
    """Returns the result of the heat of this spec. `is_shared`: several nodes are on one host, so that its name is not enough."""
    with tempfile.TemporaryDirectory(prefix="drome-task-") as name:
        folder = Path(name)
        (folder / "spec.json").write_text(spec)
        words = [binary(), "heat", "--quiet", "--tied"] if command is None else list(command)
        words += ["--spec", str(folder / "spec.json"), "--result", str(folder / "result.jsonl"), "--machine", _machine(is_shared)]
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


def _machine(is_shared: bool) -> str:
    host = socket.gethostname()[:48] or "nameless"
    if not is_shared:
        return host
    import ray

    return f"{host}-{ray.get_runtime_context().get_node_id()[:8]}"


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for below, content in files.items():
        path = folder / below
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
