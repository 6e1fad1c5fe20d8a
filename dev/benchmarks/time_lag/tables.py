# SPDX-License-Identifier: Apache-2.0
"""The figures as tables for a terminal, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from dev.benchmarks.time_lag.cases import CASES, WIDE
from dev.benchmarks.time_lag.runs import Line

WIDTH = 130  # below which the table would fold

_UNITS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))
_FROM = 3.0  # of a unit, from which it reads better than the smaller one
_LEFT = ("case", "run", "")
_RIGHT = (
    *("rows", "truth", "median", "p95", "worst", "allowed", "beyond", "open"),
    *("look-ups", "again", "s"),
)
_CAPTION = """\
truth: rows that have one. allowed: the 95th percentile of error ÷ max(2 s, 0.3 % of the age).
beyond: how far the truth lies outside the stated error. open: answers that are a least value.
again: look-ups of the next run on the same offsets; compacted: of the hour after.
warm: an hour of log ends known; moved: and every commit moved since the last run."""


def span(seconds: float) -> str:
    """A duration, short; a dash where there is none."""
    if math.isnan(seconds):
        return "-"
    if math.isinf(seconds):
        return "none"
    for unit, length in _UNITS:
        if seconds >= _FROM * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:.3g} s" if seconds else "0"


def cases_table(lines: Sequence[Line]) -> Table:
    """Three lines a case; the run after the cold one is only its look-ups, unless it missed."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.title, table.title_justify = "Error of the time lag", "left"
    for name in _LEFT:
        table.add_column(name, no_wrap=True)
    for name in _RIGHT:
        table.add_column(name, justify="right", no_wrap=True)
    again = {line.case: line for line in lines if line.run == "again"}
    for line in lines:
        if line.run != "again" or line.missed:
            after = f"{again[line.case].look_ups:,}" if line.run == "cold" else ""
            table.add_row(*_cells(line, after), end_section=line.run == "moved")
    table.caption, table.caption_justify = _CAPTION, "left"
    return table


def wide_table(lines: Sequence[Line]) -> Table:
    """What it costs to date some 2,000 positions from nothing, and then once more."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.title, table.title_justify = CASES[WIDE].summary.capitalize(), "left"
    for name in ("run", "positions", "rounds", "look-ups", "a position", "reading s", "in all s"):
        table.add_column(name, justify="left" if name == "run" else "right")
    for line in lines:
        rows = line.figures.rows
        table.add_row(
            line.run,
            f"{rows:,}",
            str(line.rounds),
            f"{line.look_ups:,}",
            f"{line.look_ups / rows:.2f}",
            f"{line.reading_seconds:.2f}",
            f"{line.seconds:.2f}",
        )
    return table


def json_of(line: Line) -> dict[str, Any]:
    """A line as plain values: null for what is not, or not finite."""
    return {key: _plain(value) for key, value in asdict(line).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cells(line: Line, again: str) -> list[str]:
    figures = line.figures
    return [
        line.case if line.run == "cold" else "",
        line.run,
        _verdict(line),
        f"{figures.rows:,}",
        f"{figures.with_truth:,}",
        span(figures.median),
        span(figures.p95),
        span(figures.worst),
        f"{figures.share:.0%}" if math.isfinite(figures.share) else "-",
        span(figures.beyond),
        str(figures.unbounded),
        f"{line.look_ups:,}",
        again,
        f"{line.seconds:.2f}",
    ]


def _verdict(line: Line) -> str:
    return "[red]missed[/]" if line.missed else "[green]ok[/]"
