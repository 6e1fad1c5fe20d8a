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
LAG, TIME_LAG = "lag", "time lag"
# Around what `python -m dev.truth.sizes` writes into a page.
SIZES_BEGIN, SIZES_END = "<!-- begin of sizes -->", "<!-- end of sizes -->"
_Write = Callable[[float], str]
_MINUTE, _HOUR = 60.0, 3600.0
# Rows shown of a list.
_ROWS = 3


_HEAD = """\
# What lag exporters show, and what is true

{scenarios} scenarios were planted on three real brokers of Kafka {kafka} and read side by side by
{names}. `python -m dev.truth` did it on {date}, in {minutes} minutes, and wrote this page. So many
scenarios each program showed right, late, not at all, or wrong:
"""
_JUDGED = """\
- **The truth** is what was planted: offsets that the brokers acknowledged, the timestamps of
  records, and commits. A record is as old as its timestamp, so that hours are planted in a second.
- **Right**: true at a moment of the scrape, or up to the program's own interval and {in_time} s
  before; an age within {within} s or {share}, whichever is more. Where a number has two honest
  readings, such as deleted records counted as lag or not, both are right.
- **Late**: true up to {late} s before that. **Absent**: no value where there is one, or no answer
  within 10 s, Prometheus' own limit. **Wrong**: any other value. In parentheses stands what would
  have been right.
- A cell is the worst of all its partitions and looks. Looks are 15 s apart; "2 of 6": so many were
  as bad.
- Each program runs as its own documentation recommends: [versions and settings](#programs).
"""
_BESIDE = """\
## Each wrong value beside Kafka's own tools

`kafka-consumer-groups --describe --all-groups`, right behind the last look, has group, topic,
partition, committed offset, log end, lag. It knows no ages: `kafka-console-consumer --offset
COMMITTED --isolation-level read_committed` shows when the next record was written.
"""
_TAKE = """\
## What they take

{partitions:,} group-partitions; each program is scraped each 15 s, all run at once on two cores
beside the brokers. Start is until the first answer with a lag. CPU and requests are of a minute.

| program | start s | slowest scrape s | CPU s | peak MB | requests | most of them |
|---|---|---|---|---|---|---|
"""
_AGAIN = """\
## To run it again

`python -m dev.truth` runs what is there; with `--only steady bursty` some scenarios, into a page
below `.local/truth`. A program is the executable `.local/truth/NAME-VERSION/NAME`: build or
install it there as its own documentation says, or take what its project releases. One that is not
there is named and left out. What each is started with stands in `dev/truth/programs.py`, what is
planted in `dev/truth/scenarios.py`.
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
    """All that a run found. Cells by scenario's title and program's name; no age: no cell.

    `truths` by "lag" or "time lag" and title: of the partition, or topic, that has most. `beside`
    by these and where: what Kafka's own tools say. `sizes`: a section that is there already.
    """

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
    truths: Mapping[tuple[str, str], Expected] = field(default_factory=dict)
    beside: Mapping[tuple[str, str, tuple[str, ...]], Sequence[str]] = field(default_factory=dict)
    compared: str = ""
    sizes: str = ""


def verdicts(result: Result) -> dict[str, str]:
    """The verdict of each cell, by a name of its own: what two runs are compared by."""
    return {
        f"{number}, {title}, {program}": cell.verdict.name.lower()
        for title, program, number, cell in all_cells(result)
    }


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
        result.compared,
        _losses(result),
        "## How it is judged\n\n" + _judged(result),
        "## Offset lag\n\nIn records. The truth is the last look's, of the partition with most.\n\n"
        + _table(result, LAG, planted=True),
        "## Time lag\n\nThe age of the first unread record, of the worst partition of a topic. "
        f"`{NONE}`: the program has no such number.\n\n" + _table(result, TIME_LAG),
        _wrong(result),
        _costs(result),
        result.sizes,
        _programs(result),
        _AGAIN,
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


_WRITE: Mapping[str, _Write] = {LAG: _records, TIME_LAG: seconds}


def sizes_in(page: str) -> str:
    """The section of sizes of a page, its marks included; empty where it has none."""
    begin, end = page.find(SIZES_BEGIN), page.find(SIZES_END)
    return page[begin : end + len(SIZES_END)] if 0 <= begin < end else ""


def with_sizes(page: str, section: str) -> str:
    """The page with this section of sizes in the place of its own, or at its end."""
    marked = f"{SIZES_BEGIN}\n{section.strip()}\n{SIZES_END}"
    own = sizes_in(page)
    return page.replace(own, marked) if own else f"{page}\n{marked}\n"


def all_cells(result: Result) -> Iterator[tuple[str, str, str, Cell]]:
    """Of all cells: scenario, program, which number, the cell."""
    for number, cells in ((LAG, result.lags), (TIME_LAG, result.ages)):
        for (title, name), cell in cells.items():
            yield title, name, number, cell


def _head(result: Result) -> str:
    return _HEAD.format(
        date=result.date,
        minutes=f"{result.minutes:.0f}",
        scenarios=len(result.scenarios),
        kafka=result.kafka,
        names=", ".join(each.name for each in result.programs),
    )


def _judged(result: Result) -> str:
    text = _JUDGED.format(
        in_time=f"{IN_TIME:.0f}",
        within=f"{AGE_WITHIN:.0f}",
        share=f"{AGE_SHARE:.0%}",
        late=f"{LATE_WITHIN:.0f}",
    )
    if result.left_out:
        named = "; ".join(f"{name} ({why})" for name, why in result.left_out.items())
        text += f"- Left out: {named}."
    return text


def _table(result: Result, number: str, *, planted: bool = False) -> str:
    cells = result.lags if number == LAG else result.ages
    names = [each.name for each in result.programs if any(n == each.name for _, n in cells)]
    heads = ["scenario", *(["planted"] if planted else []), "truth", *names]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for scenario in result.scenarios:
        truth = result.truths.get((number, scenario.title))
        row = [scenario.title]
        row += [scenario.planted] if planted else []
        row.append(NONE if truth is None else truth_text(truth, _WRITE[number]))
        row += [cell_text(cells.get((scenario.title, name)), _WRITE[number]) for name in names]
        lines.append("| " + " | ".join(map(_escaped, row)) + " |")
    return "\n".join(lines)


def _counts(result: Result) -> str:
    verdicts_of = " | ".join(each.name.lower() for each in Verdict)
    lines = [
        f"| program | lag: {verdicts_of} | time lag: {verdicts_of} |",
        "|---" * (1 + 2 * len(Verdict)) + "|",
    ]
    for program in result.programs:
        row = [program.name]
        for cells in (result.lags, result.ages):
            counts = Counter(
                cell.verdict for (_, name), cell in cells.items() if name == program.name
            )
            row += [str(counts[each]) if counts else NONE for each in Verdict]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _losses(result: Result) -> str:
    ours = result.programs[0].name
    limits = {each.title: each.limit for each in result.scenarios}
    lines = [
        f"- {title}, {number}: {cell_text(cell, _WRITE[number])} {_where(cell.worst)}. "
        + limits[title]
        for title, name, number, cell in all_cells(result)
        if name == ours and cell.verdict != Verdict.RIGHT
    ]
    return "## Where ours is not right\n\n" + ("\n".join(lines) or "Nowhere in this run.")


def _wrong(result: Result) -> str:
    shown: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for title, name, number, cell in all_cells(result):
        if cell.verdict == Verdict.WRONG:
            text = f"{name} {cell_text(cell, _WRITE[number])}"
            shown.setdefault((title, number, cell.worst.where), []).append(text)
    lines = [_BESIDE]
    for at, texts in shown.items():
        title, number, where = at
        lines.append(f"- {title}, {number}: {'; '.join(texts)}")
        rows = result.beside.get(at, ())
        lines += [f"  {row}" for row in rows[:_ROWS]]
        if not rows:
            lines.append(f"  The tool lists no such row: `{' '.join(where)}`")
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
    return "\n".join(lines)


def _where(judgement: Judgement) -> str:
    return "`" + " ".join(judgement.where) + "`" if judgement.where else ""


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
