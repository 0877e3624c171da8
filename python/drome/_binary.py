"""Finds the program `drome`, and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

PROGRAM = "drome"

#: The environment variable with the path of a program to use in place of the wheel's own.
VARIABLE = "DROME"

_Word = TypeVar("_Word")


class Failed(RuntimeError):
    """drome could not do what it was asked for. The message is drome's, unless that went to standard error with the progress."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        #: The exit code, which docs/exit-codes.md explains; negative: the signal that killed drome.
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle, with which Ray sends exceptions between machines, rebuilds an exception from its arguments.
        return (type(self), (str(self), self.code))


def binary() -> str:
    """The path of the program: `$DROME`, else the wheel's own, else one on the search path. Raises `Failed` if there is
    none."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    own = Path(sysconfig.get_path("scripts")) / PROGRAM
    if own.is_file():
        return str(own)
    found = shutil.which(PROGRAM)
    if found is None:
        raise Failed("there is no program `drome` here: `pip install drome-bench`, or name one in $DROME", 127)
    return found


def as_list(name: str, words: Sequence[_Word]) -> Sequence[_Word]:
    """These words. A single string is refused: its letters would be taken for the words."""
    if isinstance(words, (str, bytes)):
        raise TypeError(f"`{name}` is a list: write `{name}=[{words!r}]`")
    return words


def options(
    *,
    store: str | os.PathLike[str] | None = None,
    catalog: Sequence[str | os.PathLike[str]] = (),
) -> list[str]:
    """The options that all commands have."""
    words = [] if store is None else ["--store", os.fspath(store)]
    for folder in as_list("catalog", catalog):
        words += ["--catalog", os.fspath(folder)]
    return words


def call(
    words: Sequence[str],
    *,
    may_be: Sequence[int] = (0,),
    shows: bool = False,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Runs drome and returns what it prints.

    `may_be`: the exit codes that are no failure, any other raises `Failed`; `shows`: progress goes to standard error; `environment`:
    variables in addition to this program's own.
    """
    done = subprocess.run(
        [binary(), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if shows else subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    if done.returncode not in may_be:
        said = (done.stderr or "").strip() or f"`drome {words[0]}` failed: what it printed says why"
        raise Failed(said, done.returncode)
    return done.stdout
