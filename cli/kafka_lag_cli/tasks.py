# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag tasks`: the tasks that groups need, from the snapshots of a folder or a bucket."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag.contract import TASKS_QUARTILES
from kafka_lag.lag.columns import Column
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.views.latest_run import LatestRun
from kafka_lag.wording.formatting import (
    format_count,
    format_iso_time,
    format_minute,
    format_quantity,
    format_rate,
)
from kafka_lag.wording.tasks import (
    count_partitions_wanted,
    explain_limits,
    explain_tasks_needed,
    is_in_vain,
)
from kafka_lag_cli.help_sections import command
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.state.groups_over_time import (
    AT_ONCE,
    MINUTE_MS,
    GroupsOverTime,
    Period,
    read_period,
)
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.state.runs import find_runs, groups_of, run_of_group
from kafka_lag_cli.terminal.group_rows import Row
from kafka_lag_cli.terminal.group_table import show_number
from kafka_lag_cli.terminal.progress import count_objects
from kafka_lag_cli.terminal.records import TABLE, output_option, write_records
from kafka_lag_cli.terminal.text import ColumnLayout, open_screen, print_line, printable

_NEEDED = "tasks_needed"
_MOST_DAYS = 400
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HOURS = 24
_HOUR_MS = 60 * MINUTE_MS
# The epoch began on a Thursday.
_EPOCH_HOUR = _WEEKDAYS.index("Thu") * _HOURS
_RIGHT = ("members", "needed", "median", "upper quartile", "most")
_GROUPS = ColumnLayout(
    names=("group", "cluster", *_RIGHT, "why"),
    right=_RIGHT,
    shortened={"group": 16, "why": 8},
    cut_in_middle=("group", "cluster"),
)
# Of the newest row, as snapshots have them.
_NOW = (
    *("members", _NEEDED, "last_tasks_needed", "tasks_needed_reason", "capacity"),
    *("capacity_low", "capacity_high", "produce_rate", "consume_rate", "lag", "time_lag_seconds"),
    *("sla_seconds", "partitions", "hottest_topic", "hottest_partition", "hottest_share"),
)
_QUARTILES = ("minutes_known", "lower_quartile", "median", "upper_quartile", "most")
_EXAMPLES = """\b
examples:
  kafka-lag tasks billing --state ./lag
  kafka-lag tasks billing --state s3://kafka-lag-data --days 28
  kafka-lag tasks --all --output csv
"""


@command("tasks", epilog=_EXAMPLES)
@click.argument("group", required=False)
@click.option("--all", "every", is_flag=True, help="list every group")
@place_options
@click.option("--cluster", metavar="NAME", help="name of the cluster, if there are several")
@click.option(
    "--days",
    type=WholeNumber(1, _MOST_DAYS),
    metavar="N",
    default=14,
    help="days before the newest snapshot (14)",
)
@click.option(
    "--members-per-task",
    type=WholeNumber(1, 1000),
    metavar="N",
    default=1,
    help="members that a task of the service runs (1)",
)
@output_option
def tasks(
    group: str | None,
    every: bool,
    place: SnapshotPlace,
    cluster: str | None,
    days: int,
    members_per_task: int,
    output: str,
) -> None:
    """Say how many tasks GROUP needs now and by hour of the week, and why.

    The numbers are the collector's own, those of TasksNeeded.
    """
    if (group is None) != every:
        raise click.UsageError("Name one group, or give --all.")
    store = place.open_store(AT_ONCE)
    runs = find_runs(store, place.describe(), cluster)
    if group is not None:
        runs = [run_of_group(group, runs)]
    found = [each for run in runs for each in _read_groups(store, run, group, days)]
    if group is None:
        records = [describe_group(*each) for each in found]
        if output == TABLE:
            print_groups(records, days, open_screen())
        else:
            write_records(records, output, sys.stdout, names=_names_of_records())
        return
    ((name, row, over_time),) = found
    if output == TABLE:
        print_group(name, row, over_time, members_per_task, open_screen())
        return
    whole = describe_in_full(name, row, over_time, members_per_task)
    key = {"cluster": name, "consumer_group": group}
    write_records((key | each for each in whole["hours_of_week"]), output, sys.stdout, whole=whole)


def _read_groups(
    store: BrowsableStore, run: LatestRun, group: str | None, days: int
) -> Iterator[tuple[str, Row, GroupsOverTime]]:
    """Yields the cluster, the newest row of each of its groups, or of one, and the period."""
    rows = [row for row in groups_of(run) if group in (None, row["consumer_group"])]
    period = Period.of(run.taken_at, days, run.interval_seconds)
    names = [row["consumer_group"] for row in rows]
    with count_objects() as progress:
        over_time = read_period(store, run.cluster, period, names, [_NEEDED], progress)
    yield from ((run.cluster, row, over_time) for row in rows)


def _names_of_records() -> tuple[str, ...]:
    return ("cluster", "consumer_group", "taken_at", *_NOW, "why", *_QUARTILES)


def describe_group(cluster: str, row: Row, over_time: GroupsOverTime) -> dict[str, Any]:
    """Returns a group's newest row, as far as it is about tasks, and the quartiles of a period."""
    needed = over_time.of_group(row["consumer_group"]).numbers(_NEEDED)
    return {
        "cluster": cluster,
        "consumer_group": row["consumer_group"],
        "taken_at": format_iso_time(row["taken_at"]),
        **{name: row[name] for name in _NOW},
        "why": _explain(row),
        **find_quartiles(_known(needed), over_time.period.slot_ms),
    }


def _explain(row: Row) -> str:
    """Returns why so many now, and whether more help, with names as Kafka has them."""
    why = explain_tasks_needed(row)
    if row["members"] == 0:
        return f"nobody reads; {why}"
    return f"more do not help; {why}" if is_in_vain(row) else why


def describe_in_full(
    cluster: str, row: Row, over_time: GroupsOverTime, members_per_task: int
) -> dict[str, Any]:
    """Returns the same with what limits the group, and each hour of the week."""
    return describe_group(cluster, row, over_time) | {
        "capacity_samples": list(row["capacity_samples"] or ()),
        "partitions_wanted": count_partitions_wanted(row),
        "more_tasks_do_not_help": list(explain_limits(row, members_per_task)),
        "since": format_iso_time(over_time.period.since),
        "slot_seconds": over_time.period.slot_ms // 1000,
        "runs_read": int(over_time.has_run.sum()),
        "runs_unreadable": over_time.unreadable,
        "hours_of_week": list(_summarise_week(row, over_time)),
    }


def _summarise_week(row: Row, over_time: GroupsOverTime) -> Iterator[dict[str, Any]]:
    """Yields all 168 hours from Monday's first on, in UTC."""
    runs = over_time.of_group(row["consumer_group"])
    needed = runs.numbers(_NEEDED)
    hours = runs.numbers("taken_at").values // _HOUR_MS + _EPOCH_HOUR
    of_week = hours % (len(_WEEKDAYS) * _HOURS)
    for number in range(len(_WEEKDAYS) * _HOURS):
        day, hour = divmod(number, _HOURS)
        values = _known(needed.only(of_week == number))
        yield {
            "weekday": _WEEKDAYS[day],
            "hour": hour,
            **find_quartiles(values, over_time.period.slot_ms),
        }


def _known(needed: Column) -> npt.NDArray[np.int32]:
    values: npt.NDArray[np.int32] = needed.values[needed.known]
    return values


def find_quartiles(values: npt.NDArray[np.int32], slot_ms: int) -> dict[str, int | None]:
    """Returns quartiles of numbers, each needed for one slot; null if there are none."""
    if not len(values):
        return dict.fromkeys(_QUARTILES) | {"minutes_known": 0}
    quartiles = np.quantile(values, TASKS_QUARTILES, method="inverted_cdf")
    found = (len(values) * slot_ms // MINUTE_MS, *quartiles, values.max())
    return dict(zip(_QUARTILES, map(int, found), strict=True))


def print_groups(records: Sequence[Mapping[str, Any]], days: int, screen: Console) -> None:
    """Prints a line a group."""
    several = len({each["cluster"] for each in records}) > 1
    lines = [
        {
            "group": Text(printable(each["consumer_group"])),
            "cluster": Text(each["cluster"]),
            "members": show_number(each["members"]),
            "needed": show_number(each[_NEEDED]),
            "median": show_number(each["median"]),
            "upper quartile": show_number(each["upper_quartile"]),
            "most": show_number(each["most"]),
            "why": Text(printable(each["why"])),
        }
        for each in records
    ]
    layout = _GROUPS if several else _GROUPS.without("cluster")
    caption = f"median, upper quartile and most of the tasks needed in {_days(days)}"
    screen.print(layout.table(lines, screen.width, [caption]))


def _days(days: int) -> str:
    return format_quantity(days, "day")


def print_group(
    cluster: str, row: Row, over_time: GroupsOverTime, members_per_task: int, screen: Console
) -> None:
    """Prints the tasks needed now and by hour of the week, and what limits them."""
    whole = describe_in_full(cluster, row, over_time, members_per_task)
    at, wanted = format_minute(over_time.period.until), whole["partitions_wanted"]
    more = "" if wanted is None else f"; {wanted:,} would allow what is written to be read"
    print_line(screen, f"{printable(row['consumer_group'])} on {cluster} at {at}", "bold")
    for line in (
        f"tasks needed      {_count(row[_NEEDED])}: {explain_tasks_needed(row)}",
        f"members now       {_count(row['members'])}",
        f"one member reads  {_describe_capacity(row)}",
        f"partitions        {_count(row['partitions'])}{more}",
        *whole["more_tasks_do_not_help"],
    ):
        print_line(screen, line)
    screen.print()
    if whole["minutes_known"]:
        screen.print(_week_table(whole["hours_of_week"]))
    print_line(screen, _describe_week(whole, over_time.period))


def _count(number: int | None) -> str:
    return "?" if number is None else format_count(number)


def _describe_capacity(row: Row) -> str:
    if row["capacity"] is None:
        return "?"
    samples = len(row["capacity_samples"] or ())
    text = format_rate(row["capacity"])
    if row["capacity_low"] is not None:
        text += f", {format_rate(row['capacity_low'])} to {format_rate(row['capacity_high'])}"
    return f"{text} by {format_quantity(samples, 'minute')} with a backlog"


def _week_table(week: Sequence[Mapping[str, Any]]) -> Table:
    """Returns a row for each hour in which something is known, median and upper quartile a day."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("UTC", *_WEEKDAYS):
        table.add_column(name, justify="right")
    for hour in range(_HOURS):
        cells = week[hour::_HOURS]
        if any(each["minutes_known"] for each in cells):
            table.add_row(f"{hour:02}", *map(_range, cells))
    return table


def _range(needed: Mapping[str, Any]) -> Text:
    median, upper = needed["median"], needed["upper_quartile"]
    return show_number(median) if median == upper else Text(f"{median}..{upper}")


def _describe_week(whole: Mapping[str, Any], period: Period) -> str:
    slot = format_quantity(period.slot_ms // MINUTE_MS, "minute")
    if not whole["minutes_known"]:
        text = f"Tasks needed were not known in {_days(period.days)}. `capacity` may be configured."
    else:
        text = (
            f"Tasks needed by hour of the week in UTC: median..upper quartile of "
            f"{whole['minutes_known']:,} minutes in {_days(period.days)}; "
            f"{format_quantity(whole['runs_read'], 'run')} read, one in {slot}."
        )
    if whole["runs_unreadable"]:
        text += f" {format_quantity(whole['runs_unreadable'], 'run')} cannot be read."
    return text
