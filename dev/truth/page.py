# SPDX-License-Identifier: Apache-2.0
"""The result as a page: `docs/truth.md`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dev.truth.judge import AGE_SHARE, AGE_WITHIN, IN_TIME, LATE_WITHIN, Cell, Judgement, Verdict
from dev.truth.planted import Expected
from dev.truth.programs import Program
from dev.truth.scenarios import Scenario

NONE = "-"
_Write = Callable[[float], str]
_MINUTE, _HOUR = 60.0, 3600.0
# Rows shown of a list.
_ROWS = 3


_HEAD = """\
# What lag exporters show, and what is true

`make truth` wrote this page on {date}, in {minutes} minutes: {scenarios} scenarios on three real
brokers of Kafka {kafka}, all at once, read side by side by {names}. {compared}

- **The truth** is what was planted: the offsets that the planter's own producers saw acknowledged,
  with their timestamps, and the commits that it wrote. A record is as old as its timestamp, so
  that hours are planted in a second.
- **Right**: true at some moment since the program's own interval before the scrape, and {in_time} s
  more; an age within {within} s or {share}, whichever is more. Where a number has two honest
  readings, such as deleted records counted as lag or not, both are right.
- **Late**: true up to {late} s before that. **Absent**: no value where there is one, or no answer
  within 10 s, Prometheus' own limit. **Wrong**: any other value; the truth is in parentheses.
- A cell is the worst of all its partitions and looks. Looks are 15 s apart; "2 of 8": so many
  were as bad.
- Programs run as their own documentation recommends ([below](#programs)).
"""
_BESIDE = """\
## Each wrong value beside Kafka's own tool

`kafka-consumer-groups --describe --all-groups`, run right behind the last look: group, topic,
partition, current offset, log end offset, lag. It knows no ages.
"""
_TAKE = """\
## What they take

{partitions:,} group-partitions; each program is scraped each 15 s, all run at once on two cores
beside the brokers. Start is until the first answer with a lag. CPU and requests are of a minute.

| program | start s | slowest scrape s | CPU s | peak MB | requests | most of them |
|---|---|---|---|---|---|---|
"""
_RUN_AS = """
A program is run as the executable `.local/truth/NAME-VERSION/NAME`: build or install it there as
its own documentation says, or take what its project releases. One that is not there is left out and
named. What each is started with stands in `dev/truth/programs.py`. Newer versions of klag-exporter
are out, which date lag in another way by default; none was to be had.
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one program: to its first lag, and a minute of its run with a scrape each 15 seconds."""

    start: float | None
    cpu_seconds: float
    peak_bytes: int
    requests: Counter[str]
    slowest: float


@dataclass(frozen=True, slots=True)
class Result:
    """All that a run found. Cells by scenario's title and program's name; no age: no cell."""

    programs: Sequence[Program]
    scenarios: Sequence[Scenario]
    lags: Mapping[tuple[str, str], Cell]
    ages: Mapping[tuple[str, str], Cell]
    costs: Mapping[str, Cost]
    left_out: Mapping[str, str]
    kafka: str
    date: str
    minutes: float
    partitions: int
    tool: Mapping[tuple[str, str, str], Sequence[str]] = field(default_factory=dict)
    compared: str = ""


def verdicts(result: Result) -> dict[str, str]:
    """The verdict of each cell, by a name of its own: what two runs are compared by."""
    found = {}
    for kind, cells in (("lag", result.lags), ("time lag", result.ages)):
        for (title, program), cell in cells.items():
            found[f"{kind}, {title}, {program}"] = cell.verdict.name.lower()
    return found


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What is not the same, of cells that both have."""
    return [
        f"{name}: {before[name]}, then {verdict}"
        for name, verdict in now.items()
        if name in before and before[name] != verdict
    ]


def markdown_of(result: Result) -> str:
    """The whole page."""
    parts = [
        _head(result),
        _counts(result),
        "## Offset lag\n\n" + _table(result, result.lags, _records),
        "## Time lag\n\nThe age of the first unread record, of the worst partition of a topic. "
        f"`{NONE}`: the program has no such number.\n\n" + _table(result, result.ages, seconds),
        _losses(result),
        _wrong(result),
        _costs(result),
        _programs(result),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def cell_text(cell: Cell | None, write: _Write) -> str:
    """One cell: right; wrong with value and truth; absent; late. With the share of the looks."""
    if cell is None:
        return NONE
    if cell.verdict == Verdict.RIGHT:
        return "right"
    share = "" if cell.looks == cell.of else f", {cell.looks} of {cell.of}"
    worst = cell.worst
    if cell.verdict == Verdict.ABSENT:
        return f"absent{share}"
    shown = write(worst.value) if worst.value is not None else ""
    word = "**wrong**" if cell.verdict == Verdict.WRONG else "late"
    return f"{word}: {shown} ({truth_text(worst.expected, write)}{share})"


def truth_text(expected: Expected, write: _Write) -> str:
    """What would have been right."""
    if expected.present is False or not expected.ranges:
        return "none"
    found = []
    for each in expected.ranges:
        low, high = write(max(0.0, each.low)), write(each.high)
        found.append(low if low == high else f"{low} to {high}")
    return " or ".join(dict.fromkeys(found))


def seconds(value: float) -> str:
    """A length of time for people: 12 s, 5 min, 3.2 h, 6.5 d."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size < 2 * _MINUTE:
        return f"{value:.0f} s"
    if size < 2 * _HOUR:
        return f"{value / _MINUTE:.0f} min"
    if size < 48 * _HOUR:
        return f"{value / _HOUR:.1f} h"
    return f"{value / _HOUR / 24:.1f} d"


def _records(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else str(value)


def _head(result: Result) -> str:
    text = _HEAD.format(
        date=result.date,
        minutes=f"{result.minutes:.0f}",
        scenarios=len(result.scenarios),
        kafka=result.kafka,
        names=", ".join(each.name for each in result.programs),
        compared=result.compared,
        in_time=f"{IN_TIME:.0f}",
        within=f"{AGE_WITHIN:.0f}",
        share=f"{AGE_SHARE:.0%}",
        late=f"{LATE_WITHIN:.0f}",
    )
    if result.left_out:
        named = "; ".join(f"{name} ({why})" for name, why in result.left_out.items())
        text += f"\nLeft out: {named}."
    return text


def _table(result: Result, cells: Mapping[tuple[str, str], Cell], write: _Write) -> str:
    names = [each.name for each in result.programs if any(n == each.name for _, n in cells)]
    lines = ["| scenario | planted | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for scenario in result.scenarios:
        row = [scenario.title, _escaped(scenario.planted)]
        row += [_escaped(cell_text(cells.get((scenario.title, name)), write)) for name in names]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def _counts(result: Result) -> str:
    lines = [
        "## In numbers",
        "",
        "Scenarios: right, late, absent, wrong.",
        "",
        "| program | lag | time lag |",
        "|---|---|---|",
    ]
    for program in result.programs:
        row = [
            ", ".join(str(counts[each]) for each in Verdict) if counts else NONE
            for counts in (
                Counter(cell.verdict for (_, name), cell in cells.items() if name == program.name)
                for cells in (result.lags, result.ages)
            )
        ]
        lines.append(f"| {program.name} | {row[0]} | {row[1]} |")
    return "\n".join(lines)


def _cells(result: Result) -> Iterator[tuple[str, str, str, Cell, _Write]]:
    """Of all cells: scenario, program, which number, the cell, how its values are written."""
    for (title, name), cell in result.lags.items():
        yield title, name, "lag", cell, _records
    for (title, name), cell in result.ages.items():
        yield title, name, "time lag", cell, seconds


def _losses(result: Result) -> str:
    ours = result.programs[0].name
    lines = [
        f"- {title}, {number}: {cell_text(cell, write)} {_where(cell.worst)}"
        for title, name, number, cell, write in _cells(result)
        if name == ours and cell.verdict != Verdict.RIGHT
    ]
    return "## Where ours is not right\n\n" + ("\n".join(lines) or "Nowhere in this run.")


def _wrong(result: Result) -> str:
    lines = [_BESIDE]
    for title, name, number, cell, write in _cells(result):
        if cell.verdict != Verdict.WRONG:
            continue
        lines.append(f"- {name}, {title}, {number}: {cell_text(cell, write)}")
        rows = result.tool.get((title, cell.worst.where[0], cell.worst.where[1]), ())
        partition = cell.worst.where[2:]
        chosen = [row for row in rows if not partition or row.split()[2] == partition[0]]
        shown = [f"  `{row}`" for row in chosen[:_ROWS]]
        lines += shown or [f"  the tool lists no such row: {_where(cell.worst)}"]
    return "\n".join(lines)


def _costs(result: Result) -> str:
    lines = []
    for program in result.programs:
        cost = result.costs.get(program.name)
        if cost is None:
            continue
        most = ", ".join(f"{name} {count}" for name, count in cost.requests.most_common(_ROWS))
        start = NONE if cost.start is None else f"{cost.start:.1f}"
        lines.append(
            f"| {program.name} | {start} | {cost.slowest:.2f} | {cost.cpu_seconds:.2f} "
            f"| {cost.peak_bytes / 2**20:.0f} | {cost.requests.total():,} | {most} |"
        )
    return _TAKE.format(partitions=result.partitions) + "\n".join(lines)


def _programs(result: Result) -> str:
    lines = [
        "## Programs",
        "",
        "| program | version | where | configured by | reads the brokers |",
        "|---|---|---|---|---|",
    ]
    for each in result.programs:
        reads = f"each {each.interval:.0f} s" if each.interval else "at each scrape"
        version = each.version or "this commit"
        lines.append(f"| {each.name} | {version} | {each.home} | {each.recommended} | {reads} |")
    return "\n".join(lines) + "\n" + _RUN_AS


def _where(judgement: Judgement) -> str:
    return "`" + " ".join(judgement.where) + "`" if judgement.where else ""


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
