"""Measures on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from drome._binary import as_list, call, options
from drome._result import Counts, Result

#: The exit codes with a report: a void measurement has one, too.
REPORTED = (0, 4)

#: The same for a race: one that `fail_if_slower` failed has a report, too.
JUDGED = (0, 3, 4)

_Path = str | os.PathLike[str]


def run(
    study: str,
    *,
    contenders: Sequence[str] = (),
    cells: Sequence[str] = (),
    quick: bool = False,
    budget: str | None = None,
    precision: str | None = None,
    seed: int | None = None,
    allow_busy: bool = False,
    install: bool = False,
    resume: bool = False,
    catalog: Sequence[_Path] = (),
    store: _Path | None = None,
) -> Result:
    """Runs a study on this machine, as `drome run` does. Progress goes to standard error."""
    words = ["run", study, "--format", "json", *_narrowed(contenders, cells, budget, precision, seed)]
    flags = {"--quick": quick, "--allow-busy": allow_busy, "--install": install, "--yes": install, "--resume": resume}
    words += [flag for flag, wanted in flags.items() if wanted]
    return Result(json.loads(call([*words, *options(store=store, catalog=catalog)], may_be=REPORTED, shows=True)))


def race(
    *servers: str,
    metric: str | None = None,
    fail_if_slower: str | None = None,
    budget: str | None = None,
    seed: int | None = None,
    allow_busy: bool = False,
    more: Sequence[str] = (),
    store: _Path | None = None,
) -> Result:
    """Races servers by their commands or URLs, as `drome race` does. `more` are further options, word by word."""
    words = ["race", "--format", "json", *_narrowed((), (), budget, None, seed)]
    words += [] if metric is None else ["--metric", metric]
    words += [] if fail_if_slower is None else ["--fail-if-slower", fail_if_slower]
    words += ["--allow-busy"] if allow_busy else []
    printed = call([*words, *as_list("more", more), *options(store=store), "--", *servers], may_be=JUDGED, shows=True)
    return Result(json.loads(printed))


def report(run: str | None = None, *, store: _Path | None = None, counts: Counts | None = None) -> Result:
    """Reads the findings of a run from the store; those of the latest run, if none is named."""
    words = ["report", "--format", "json", *([] if run is None else [run])]
    return Result(json.loads(call([*words, *options(store=store)])), counts)


def _narrowed(
    contenders: Sequence[str],
    cells: Sequence[str],
    budget: str | None,
    precision: str | None,
    seed: int | None,
) -> list[str]:
    words: list[str] = []
    for name in as_list("contenders", contenders):
        words += ["--contender", name]
    for cell in as_list("cells", cells):
        words += ["--cell", cell]
    for option, value in (("--budget", budget), ("--precision", precision), ("--seed", seed)):
        words += [] if value is None else [option, str(value)]
    return words
