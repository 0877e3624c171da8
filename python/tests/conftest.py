"""A folder of its own for results, cache and catalog, and clusters that end with the test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import Nodes, write_study


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with the study `small`; everything that is started for it can be found by its path."""
    # Short, because Ray's sockets are below it.
    path = Path(tempfile.mkdtemp(prefix="drome-", dir="/tmp"))
    for name, short in (("TMPDIR", "t"), ("RAY_TMPDIR", "r")):
        (path / short).mkdir()
        monkeypatch.setenv(name, str(path / short))
    write_study(path)
    monkeypatch.setenv("DROME_HOME", str(path))
    monkeypatch.setenv("DROME_CACHE", str(path / "cache"))
    monkeypatch.setenv("DROME_ALLOW_BUSY", "1")
    monkeypatch.setenv("DROME_POLL", "0")
    # Python asks once where temporary files go.
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def cluster(home: Path) -> Iterator[Callable[[int], Nodes]]:
    """Makes clusters, which end with the test. The home comes first, so that workers have its variables."""
    made: list[Nodes] = []

    def make(count: int) -> Nodes:
        made.append(Nodes(count))
        return made[-1]

    yield make
    for nodes in made:
        nodes.end()
