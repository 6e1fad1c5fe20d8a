# SPDX-License-Identifier: Apache-2.0
"""Tasks needed for people and programs: tables, JSON, or CSV. Unknown is `?`, null or empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag.wording.formatting import (
    format_count,
    format_duration,
    format_iso_time,
    format_minute,
    format_quantity,
    format_rate,
    format_share,
    format_sla_used,
)
from kafka_lag_cli.state.groups_over_time import MINUTE_MS
from kafka_lag_cli.tasks.advice import Advice, Needed
from kafka_lag_cli.tasks.week import HOURS, WEEKDAYS, HourOfWeek, Quartiles
from kafka_lag_cli.terminal.group_rows import sla_used
from kafka_lag_cli.terminal.records import write_records
from kafka_lag_cli.terminal.text import ColumnLayout, printable, printable_line

_UNKNOWN = "?"
_RIGHT = ("members", "needed", "median", "upper quartile", "most", "SLA used")
_ALL = ColumnLayout(
    names=("group", "cluster", *_RIGHT, "why"),
    right=_RIGHT,
    shortened={"group": 16, "why": 8},
    cut_in_middle=("group", "cluster"),
)
# Of the newest row, as snapshots have them.
_NOW = (
    *("members", "tasks_needed", "last_tasks_needed", "tasks_needed_reason", "capacity"),
    *("capacity_low", "capacity_high", "produce_rate", "consume_rate", "lag", "time_lag_seconds"),
    *("sla_seconds", "partitions", "hottest_topic", "hottest_partition", "hottest_share"),
)
_QUARTILES = ("minutes_known", "lower_quartile", "median", "upper_quartile", "most")


def print_groups(lines: Sequence[Needed], days: int, screen: Console) -> None:
    """A line a group."""
    absent = set()
    if len({each.cluster for each in lines}) < 2:  # noqa: PLR2004
        absent.add("cluster")
    if not any(each.row["sla_seconds"] for each in lines):
        absent.add("SLA used")
    layout = _ALL.without(*absent)
    captions = [
        f"median, upper quartile and most of the tasks needed in {format_quantity(days, 'day')}"
    ]
    table = layout.table([_cells(each) for each in lines], screen.width, captions)
    screen.print(table)


def _cells(line: Needed) -> dict[str, Text]:
    needed, used = line.needed, sla_used(line.row)
    used_text = Text(format_sla_used(used)) if used is not None else _number(None)
    return {
        "group": Text(printable(line.row["consumer_group"])),
        "cluster": Text(line.cluster),
        "members": _number(line.row["members"]),
        "needed": _number(line.row["tasks_needed"]),
        "median": _number(needed.median if needed else None),
        "upper quartile": _number(needed.upper if needed else None),
        "most": _number(needed.most if needed else None),
        "SLA used": used_text if line.row["sla_seconds"] else Text(""),
        "why": Text(printable(line.why_in_short)),
    }


def _number(value: int | None) -> Text:
    return Text(_UNKNOWN, "dim") if value is None else Text(f"{value:,}")


def print_advice(advice: Advice, screen: Console) -> None:
    """Prints the tasks needed now and by hour of the week, and what limits them."""
    row = advice.now.row
    needed = _UNKNOWN if row["tasks_needed"] is None else f"{row['tasks_needed']:,}"
    screen.print(
        Text(
            f"{printable(row['consumer_group'])} on {advice.now.cluster} at "
            f"{format_minute(advice.period.until)}",
            "bold",
        ),
        soft_wrap=True,
    )
    _print_lines(screen, [("tasks needed", f"{needed}: {advice.now.why}"), *_facts(advice)])
    for sentence in advice.limits:
        _print(screen, sentence)
    screen.print()
    if advice.now.needed is not None:
        screen.print(_week_table(advice.week))
    _print(screen, _describe_week(advice))


def _print(screen: Console, line: str) -> None:
    screen.print(Text(printable_line(line)), soft_wrap=True)


def _print_lines(screen: Console, lines: Sequence[tuple[str, str]]) -> None:
    wide = max(len(name) for name, _ in lines) + 2
    for name, value in lines:
        _print(screen, f"{name:{wide}}{value}")


def _facts(advice: Advice) -> Iterator[tuple[str, str]]:
    row = advice.now.row
    yield "members now", _UNKNOWN if row["members"] is None else format_count(row["members"])
    yield "one member reads", _capacity(row)
    lag = _UNKNOWN if row["lag"] is None else f"{format_quantity(row['lag'], 'record')}"
    if row["time_lag_seconds"] is not None:
        lag += f", {format_duration(row['time_lag_seconds'])} old"
    yield "lag", lag
    if row["hottest_partition"] is not None:
        share = format_share(row["hottest_share"])
        partition = f"{row['hottest_topic']} {row['hottest_partition']}"
        yield "hottest partition", f"{partition}, {share} of what is written"
    partitions = _UNKNOWN if row["partitions"] is None else format_count(row["partitions"])
    if advice.partitions_wanted is not None:
        partitions += f"; {advice.partitions_wanted:,} would allow what is written to be read"
    yield "partitions", partitions


def _rate(rate: float | None) -> str:
    return _UNKNOWN if rate is None else format_rate(rate)


def _capacity(row: Mapping[str, Any]) -> str:
    if row["capacity"] is None:
        return _UNKNOWN
    samples = len(row["capacity_samples"] or ())
    text = format_rate(row["capacity"])
    if row["capacity_low"] is not None:
        text += f", {format_rate(row['capacity_low'])} to {format_rate(row['capacity_high'])}"
    return f"{text} by {format_quantity(samples, 'minute')} with a backlog"


def _week_table(week: Sequence[HourOfWeek]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("UTC", justify="right")
    for name in WEEKDAYS:
        table.add_column(name, justify="right")
    for hour in range(HOURS):
        cells = [week[day * HOURS + hour].needed for day in range(len(WEEKDAYS))]
        if any(cells):
            table.add_row(f"{hour:02}", *map(_range, cells))
    return table


def _range(needed: Quartiles | None) -> Text:
    if needed is None:
        return Text(_UNKNOWN, "dim")
    if needed.median == needed.upper:
        return Text(f"{needed.median}")
    return Text(f"{needed.median}..{needed.upper}")


def _describe_week(advice: Advice) -> str:
    needed, days = advice.now.needed, format_quantity(advice.period.days, "day")
    slot = format_quantity(advice.period.slot_ms // MINUTE_MS, "minute")
    if needed is None:
        text = f"Tasks needed were not known in {days}. `capacity` may be configured."
    else:
        text = (
            f"Tasks needed by hour of the week in UTC: median..upper quartile of "
            f"{needed.minutes:,} minutes in {days}; {format_quantity(advice.runs, 'run')} read, "
            f"one in {slot}."
        )
    if advice.unreadable:
        text += f" {format_quantity(advice.unreadable, 'run')} cannot be read."
    return text


def write_groups(lines: Sequence[Needed], form: str, out: TextIO) -> None:
    """The columns of the newest snapshot that are about tasks, and those of the period."""
    objects = [_now(each) | _quartiles(each.needed) for each in lines]
    names = ("cluster", "consumer_group", "taken_at", *_NOW, "why", *_QUARTILES)
    write_records(objects, form, out, names=names)


def write_advice(advice: Advice, form: str, out: TextIO) -> None:
    """JSON has all; CSV and NDJSON a row for each of the 168 hours of the week."""
    hours = [_hour(each) for each in advice.week]
    key = {"cluster": advice.now.cluster, "consumer_group": advice.now.row["consumer_group"]}
    write_records((key | each for each in hours), form, out, whole=_whole(advice, hours))


def _whole(advice: Advice, hours: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return _now(advice.now) | {
        "capacity_samples": list(advice.now.row["capacity_samples"] or ()),
        "partitions_wanted": advice.partitions_wanted,
        "more_tasks_do_not_help": list(advice.limits),
        "since": format_iso_time(advice.period.since),
        "slot_seconds": advice.period.slot_ms // 1000,
        "runs_read": advice.runs,
        "runs_unreadable": advice.unreadable,
        **_quartiles(advice.now.needed),
        "hours_of_week": list(hours),
    }


def _now(line: Needed) -> dict[str, Any]:
    return {
        "cluster": line.cluster,
        "consumer_group": line.row["consumer_group"],
        "taken_at": format_iso_time(line.row["taken_at"]),
        **{name: line.row[name] for name in _NOW},
        "why": line.why,
    }


def _hour(hour: HourOfWeek) -> dict[str, Any]:
    return {"weekday": WEEKDAYS[hour.weekday], "hour": hour.hour, **_quartiles(hour.needed)}


def _quartiles(needed: Quartiles | None) -> dict[str, int | None]:
    if needed is None:
        return dict.fromkeys(_QUARTILES) | {"minutes_known": 0}
    values = (needed.minutes, needed.lower, needed.median, needed.upper, needed.most)
    return dict(zip(_QUARTILES, values, strict=True))
