# SPDX-License-Identifier: Apache-2.0
"""What was measured, as tables and as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from dev.benchmarks.report.days import Size
from dev.benchmarks.report.estimate import Speed, assumptions, estimates
from dev.benchmarks.report.job import CORES, HEAP, Checked, JobRun

_MB = 1024 * 1024
# What the widest table takes, where nobody says how wide the output is.
WIDTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run of the job: on what, beside DuckDB or not, and its openings by stage and dataset."""

    name: str
    size: Size
    run: JobRun
    check: Checked | None = None
    delay_seconds: float = 0.0
    opens: Mapping[tuple[str, str], int] | None = None

    @property
    def rows_a_second(self) -> float:
        """Rows of `group_partitions` by the whole run's time."""
        return self.size.rows / self.run.seconds

    @property
    def ratio(self) -> float | None:
        """The reports' time in the job by DuckDB's; None without it."""
        return self.run.report_seconds / self.check.seconds if self.check else None


def runs_table(measured: Sequence[Measured]) -> Table:
    """A line a run of the job."""
    table = Table(
        "run", title=f"the whole job on local[{CORES}], heap {HEAP}", title_justify="left"
    )
    names = ("M rows", "delay s", "seconds", "rows/s", "peak MB", "reports s", "DuckDB s", "ratio")
    for name in names:
        table.add_column(name, justify="right")
    for one in measured:
        run, check = one.run, one.check
        table.add_row(
            one.name,
            f"{one.size.rows / 1e6:.1f}",
            f"{one.delay_seconds:g}",
            f"{run.seconds:.1f}",
            f"{one.rows_a_second:,.0f}",
            "?" if run.peak_bytes is None else f"{run.peak_bytes / _MB:,.0f}",
            f"{run.report_seconds:.1f}",
            f"{check.seconds:.1f}" if check else "",
            f"{one.ratio:.1f}x" if one.ratio is not None else "",
        )
    return table


def stages_table(measured: Sequence[Measured]) -> Table:
    """A line a stage, a column a run."""
    table = Table("stage, seconds", *(one.name for one in measured))
    for stage in dict.fromkeys(name for one in measured for name in one.run.stages):
        seconds = (one.run.stages.get(stage) for one in measured)
        table.add_row(stage, *("" if each is None else f"{each:.1f}" for each in seconds))
    return table


def opens_table(opens: Mapping[tuple[str, str], int]) -> Table:
    """How often each stage opened objects of each dataset."""
    datasets = sorted({dataset for _, dataset in opens})
    table = Table("stage, objects opened", *datasets)
    for stage in dict.fromkeys(stage for stage, _ in opens):
        table.add_row(stage, *(f"{opens.get((stage, dataset), 0):,}" for dataset in datasets))
    return table


def show(console: Console, measured: Sequence[Measured], speed: Speed) -> None:
    """All tables, what differed, and the estimate with what it rests on."""
    console.print(runs_table(measured))
    if any(one.run.stages for one in measured):
        console.print(stages_table(measured))
    for one in measured:
        if one.opens is not None:
            console.print(opens_table(one.opens))
    console.print(_estimate_table(speed))
    for line in assumptions(speed):
        console.print(f"- {line}", soft_wrap=True)


def _estimate_table(speed: Speed) -> Table:
    table = Table("two G.1X workers, a day's reports")
    for name in ("runs", "M rows", "objects", "minutes", "$ a day", "$ a month"):
        table.add_column(name, justify="right")
    for one in estimates(speed):
        table.add_row(
            one.what,
            str(one.runs),
            f"{one.rows / 1e6:,.0f}",
            f"{one.objects:,}",
            f"{one.seconds / 60:.1f}",
            f"{one.dollars:.2f}",
            f"{one.dollars * 30:.2f}",
        )
    return table


def as_json(measured: Sequence[Measured], speed: Speed) -> dict[str, Any]:
    """The same for programs."""
    return {
        "runs": [_plain(one) for one in measured],
        "estimates": [asdict(one) for one in estimates(speed)],
        "assumptions": assumptions(speed),
    }


def _plain(one: Measured) -> dict[str, Any]:
    opens = one.opens or {}
    return {
        "name": one.name,
        "partitions": one.size.partitions,
        "rows": one.size.rows,
        "delay_seconds": one.delay_seconds,
        "seconds": one.run.seconds,
        "rows_a_second": one.rows_a_second,
        "peak_bytes": one.run.peak_bytes,
        "heap": HEAP,
        "stages": dict(one.run.stages),
        "report_seconds": one.run.report_seconds,
        "duckdb_seconds": one.check.seconds if one.check else None,
        "ratio": one.ratio,
        "differences": list(one.check.differences) if one.check else None,
        "opens": [
            {"stage": stage, "dataset": dataset, "opens": count}
            for (stage, dataset), count in opens.items()
        ],
    }
