# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag tasks`: the tasks that groups need, from the snapshots of a folder or a bucket."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.views.latest_run import LatestRun
from kafka_lag_cli.help_sections import command
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.state.groups_over_time import AT_ONCE, Period, read_period
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.state.runs import find_runs, groups_of, run_of_group
from kafka_lag_cli.tasks.advice import (
    COLUMNS,
    Advice,
    Needed,
    advise,
    summarise_group,
)
from kafka_lag_cli.tasks.output import print_advice, print_groups, write_advice, write_groups
from kafka_lag_cli.terminal.progress import count_objects
from kafka_lag_cli.terminal.records import TABLE, output_option
from kafka_lag_cli.terminal.text import open_screen

_MOST_DAYS = 400
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
    if group is None:
        lines = [line for run in runs for line in _summarise(store, run, days)]
        if output == TABLE:
            print_groups(lines, days, open_screen())
        else:
            write_groups(lines, output, sys.stdout)
        return
    advice = _advise(store, run_of_group(group, runs), group, days, members_per_task)
    if output == TABLE:
        print_advice(advice, open_screen())
    else:
        write_advice(advice, output, sys.stdout)


def _summarise(store: BrowsableStore, run: LatestRun, days: int) -> Iterator[Needed]:
    """A line for each group of a cluster."""
    rows = groups_of(run)
    period = Period.of(run.taken_at, days, run.interval_seconds)
    names = [row["consumer_group"] for row in rows]
    with count_objects() as progress:
        over_time = read_period(store, run.cluster, period, names, COLUMNS, progress)
    for row in rows:
        yield summarise_group(run.cluster, row, over_time)


def _advise(
    store: BrowsableStore, run: LatestRun, group: str, days: int, members_per_task: int
) -> Advice:
    (row,) = (row for row in groups_of(run) if row["consumer_group"] == group)
    period = Period.of(run.taken_at, days, run.interval_seconds)
    with count_objects() as progress:
        over_time = read_period(store, run.cluster, period, [group], COLUMNS, progress)
    return advise(run.cluster, row, over_time, members_per_task)


if __name__ == "__main__":
    tasks()
