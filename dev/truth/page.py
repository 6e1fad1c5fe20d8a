# SPDX-License-Identifier: Apache-2.0
"""Writes the result: tables for `docs/migrating.md`, and a line for each wrong number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from dev.kafka.jars import kafka_version
from dev.sim.live.planting import Scenario
from dev.truth.judge import NUMBERS, Cell, Verdict
from dev.truth.programs import Program

_RUN = """\
{scenarios} scenarios were planted on three real brokers of Kafka {kafka} and read side by side by
{names}. `python -m dev.truth` did it on {date} and wrote the tables of this
page. So many scenarios each program showed right, late, not at all, or wrong:

{counts}
"""
# Verdicts for which the page names a program.
_BLAMED = (Verdict.LATE, Verdict.WRONG)

# The keys are the number, the scenario's title and the program's name.
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


def list_cells(cells: Cells) -> Iterator[str]:
    """Yields a line for each value that was not right, with the truth and the share of looks."""
    for (number, title, program), cell in cells.items():
        if cell.verdict != Verdict.RIGHT:
            shown = "nothing" if cell.value is None else f"{cell.value:,.0f}"
            truth = " or ".join(f"{low:,.0f} to {high:,.0f}" for low, high in cell.expected.ranges)
            yield (
                f"{title}: {program} showed a {NUMBERS[number]} of {shown}, "
                f"{cell.verdict.name.lower()} in {cell.looks} of {cell.of} looks; "
                f"the truth is {truth or 'none'}"
            )


def replace_part(page: str, name: str, text: str) -> str:
    """Returns the page with the text between the marks of this name."""
    begin, end = f"<!-- begin of {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}{text.strip()}\n{end}{rest.partition(end)[2]}"


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
