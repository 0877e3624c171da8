"""What a run found: the report as drome prints it in JSON, and pandas frames made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

#: The figures of a contender that have a median and an interval.
FIGURES = (
    "rate_per_s",
    "metric",
    "metric_of_reference",
    "of_reference",
    "server_cpu_ns_per_request",
    "latency_ns_mean",
    "latency_ns_p50",
    "latency_ns_p99",
)

#: The other columns of a frame of contenders.
FIELDS = ("trials", "void", "failed", "rank_low", "rank_high", "tier", "bound", "rss_max_bytes", "errors", "version")


@dataclass(frozen=True)
class Counts:
    """What a fleet did for a run, since `fleet.run` was called."""

    #: Heats that were added to the run.
    committed: int = 0
    #: Results of heats that the run had already; they were ignored.
    already: int = 0
    #: Attempts that were lost with their machine or worker, and were queued again whole.
    lost: int = 0
    #: Attempts that failed and were tried again.
    failed: int = 0


@dataclass(frozen=True)
class Result:
    """The findings of a run."""

    #: The report, as `drome generate schema report` describes it.
    report: dict[str, Any]
    #: What the fleet did; None for a run on this machine.
    counts: Counts | None = None

    @property
    def run(self) -> str:
        """The name of the run in the store."""
        return str(self.report["run"])

    @property
    def ended(self) -> str:
        """Why the run ended."""
        return str(self.report["ended"])

    def contenders(self) -> pandas.DataFrame:
        """A row for each contender in each cell: its figures, each with the bounds of its 95 % interval, and its rank."""
        return _frame([_contender(cell, contender) for cell, contender in self._contenders()])

    def starts(self) -> pandas.DataFrame:
        """A row for each start in each cell, with the figure that contenders are ranked by. Only runs in heats have starts."""
        rows = []
        for cell in self.report["cells"]:
            in_heats = cell.get("in_heats") or {}
            rows += [{"cell": cell["title"], **start} for start in in_heats.get("starts", [])]
        return _frame(rows)

    def machines(self) -> pandas.DataFrame:
        """A row for each machine of a fleet in each cell: its speed as a ratio to the mean, and whether contenders compare
        differently on it."""
        rows = []
        for cell in self.report["cells"]:
            compared = (cell.get("in_heats") or {}).get("machines") or {}
            rows += [{"cell": cell["title"], **machine} for machine in compared.get("machines", [])]
        return _frame(rows)

    def _contenders(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for cell in self.report["cells"]:
            for contender in cell["contenders"]:
                yield cell, contender


def _contender(cell: dict[str, Any], contender: dict[str, Any]) -> dict[str, Any]:
    row = {"cell": cell["title"], "contender": contender["name"], "title": contender["title"]}
    for name in FIGURES:
        figure = contender.get(name) or {}
        row[name] = figure.get("median")
        row[f"{name}_low"] = figure.get("low")
        row[f"{name}_high"] = figure.get("high")
    row.update({name: contender.get(name) for name in FIELDS})
    return row


def _frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("frames need pandas: `pip install 'drome-bench[pandas]'`") from error
    return pandas.DataFrame(rows)
