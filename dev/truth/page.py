# SPDX-License-Identifier: Apache-2.0
"""The result as tables: a short one for `docs/truth.md`, and every cell for contributors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from dev.kafka.jars import kafka_version
from dev.sim.live.logs import AGE, LAG, Expected
from dev.sim.live.planting import Scenario
from dev.truth.judge import NUMBERS, Cell, Verdict
from dev.truth.programs import Program
from kafka_lag.wording.formatting import format_short_duration

_RUN = """\
{scenarios} scenarios were planted on three real brokers of Kafka {kafka} and read side by side by
{names}. `python -m dev.truth` did it on {date} and wrote the tables of this
page. So many scenarios each program showed right, late, not at all, or wrong:

{counts}
"""
_TABLES = """\
# Offset lag

In records. The truth is that of a look of ours, of the partition with most.

{lags}

# Time lag

The age of the first unread record, of the worst partition of a topic, and what is allowed. A
program without a column has no such number.

{ages}
"""
# What a program is blamed for on the page.
_BLAMED = (Verdict.LATE, Verdict.WRONG)


# By number, scenario's title and program's name.
Cells: TypeAlias = Mapping[tuple[int, str, str], Cell]


def write_page(
    page: str, programs: Sequence[Program], scenarios: Sequence[Scenario], cells: Cells
) -> str:
    """Returns the page with the tables of this run in the place of its own."""
    run = _RUN.format(
        scenarios=len(scenarios),
        kafka=".".join(map(str, kafka_version())),
        names=", ".join(f"{each.name} ({each.version})" for each in programs),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        counts=_count(programs, cells),
    )
    return replace_part(replace_part(page, "run", run), "tables", _blame(programs, cells))


def write_tables(programs: Sequence[Program], scenarios: Sequence[Scenario], cells: Cells) -> str:
    """Returns a table of every cell for each of the two numbers."""
    lags, ages = (_tabulate(number, programs, scenarios, cells) for number in (LAG, AGE))
    return _TABLES.format(lags=lags, ages=ages)


def replace_part(page: str, name: str, text: str) -> str:
    """Returns the page with the text between the marks of this name."""
    begin, end = f"<!-- begin of {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}{text.strip()}\n{end}{rest.partition(end)[2]}"


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell_text(cell: Cell, number: int) -> str:
    """Returns a cell: right, late, absent or wrong, with the truth and the share of the looks."""
    if cell.verdict == Verdict.RIGHT:
        return "right"
    share = "" if cell.looks == cell.of else f", {cell.looks} of {cell.of}"
    if cell.value is None:
        return f"absent{share}"
    word = "**wrong**" if cell.verdict == Verdict.WRONG else "late"
    return f"{word}: {_write(cell.value, number)} ({truth_text(cell.expected, number)}{share})"


def truth_text(expected: Expected, number: int) -> str:
    """Returns what would have been right."""
    found = []
    for low, high in expected.ranges:
        bounds = dict.fromkeys((_write(max(0.0, low), number), _write(high, number)))
        found.append(" to ".join(bounds))
    return " or ".join(dict.fromkeys(found)) or "none"


def _write(value: float, number: int) -> str:
    return f"{value:,.0f}" if number == LAG else format_short_duration(value, round)


def _count(programs: Sequence[Program], cells: Cells) -> str:
    heads, rows = ["program"], [[each.name] for each in programs]
    for number, name in NUMBERS.items():
        heads += [f"{name}: right", *(each.name.lower() for each in Verdict if each)]
        for row in rows:
            own = [cell.verdict for at, cell in cells.items() if at[::2] == (number, row[0])]
            row += [str(own.count(each)) if own else "-" for each in Verdict]
    return table_of(heads, rows)


def _blame(programs: Sequence[Program], cells: Cells) -> str:
    """Returns the scenarios in which each program showed a wrong or a late number."""
    rows = []
    for program in programs:
        row = [program.name]
        for number in NUMBERS:
            own = {at[1]: cell.verdict for at, cell in cells.items() if at[::2] == (number, row[0])}
            blamed = (title for title, verdict in own.items() if verdict in _BLAMED)
            row.append("; ".join(blamed) if own else "-")
        rows.append(row)
    heads = ["program", *(f"wrong or late {name}" for name in NUMBERS.values())]
    return table_of(heads, rows)


def _tabulate(
    number: int, programs: Sequence[Program], scenarios: Sequence[Scenario], cells: Cells
) -> str:
    names = [each.name for each in programs if number == LAG or each.age]
    rows = []
    for each in scenarios:
        shown = [cells[number, each.title, name] for name in names]
        truth = truth_text(shown[0].expected, number)
        texts = (cell_text(cell, number) for cell in shown)
        rows.append([each.title, each.planted, truth, *texts])
    return table_of(["scenario", "planted", "truth", *names], rows)
