# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag tasks`: the tasks that groups need, from the snapshots of a folder or a bucket."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

import click

from kafka_lag import contract
from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.formatting import format_list, format_quantity
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.views.latest_run import LatestRun, Snapshots, UnreadableCluster, find_latest_run
from kafka_lag_cli.numbers import WholeNumber
from kafka_lag_cli.state.groups_over_time import AT_ONCE, Period, read_period
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.tasks.advice import (
    COLUMNS_OF_ALL,
    COLUMNS_OF_ONE,
    Advice,
    Needed,
    Service,
    advise,
    summarise_group,
)
from kafka_lag_cli.tasks.output import print_advice, print_groups, write_advice, write_groups
from kafka_lag_cli.terminal.group_rows import FORMATS, TABLE, Row, rows_of
from kafka_lag_cli.terminal.progress import count_objects
from kafka_lag_cli.terminal.text import hint_at_name, open_screen, printable

_MOST_DAYS, _MOST_TASKS = 400, 10_000
_FEW = 3
_EXAMPLES = """\b
examples:
  kafka-lag tasks billing --state ./lag
  kafka-lag tasks billing --bucket kafka-lag-data --region eu-west-1 --days 28
  kafka-lag tasks --all --output csv
"""


@click.command("tasks", epilog=_EXAMPLES)
@click.argument("group", required=False)
@click.option("--all", "every", is_flag=True, help="A line for each group.")
@place_options
@click.option("--cluster", metavar="NAME", help="Of several that are in there, this one alone.")
@click.option(
    "--days",
    type=WholeNumber(1, _MOST_DAYS),
    metavar="N",
    default=14,
    help="Days before the newest snapshot that are looked back on (14).",
)
@click.option(
    "--members-per-task",
    type=WholeNumber(1, 1000),
    metavar="N",
    default=1,
    help="As it is configured; snapshots do not say (1).",
)
@click.option(
    "--min",
    "least",
    type=WholeNumber(0, _MOST_TASKS),
    metavar="N",
    default=1,
    help="The least tasks of the comparison (1).",
)
@click.option(
    "--max",
    "most",
    type=WholeNumber(1, _MOST_TASKS),
    metavar="N",
    help="The most tasks of the comparison (default: one member a partition).",
)
@click.option("--output", type=click.Choice(FORMATS), default=TABLE)
def tasks(
    group: str | None,
    every: bool,
    place: SnapshotPlace,
    cluster: str | None,
    days: int,
    members_per_task: int,
    least: int,
    most: int | None,
    output: str,
) -> None:
    """How many tasks a GROUP needs now and by hour of the week, and why.

    It also says where more tasks do not help, and what the numbers of tasks that were needed would
    have done in the past, beside what was. The newest snapshot's time is now. The numbers are the
    collector's own, those of TasksNeeded.
    """
    if (group is None) != every:
        raise click.UsageError("Name one group, or give --all.")
    if most is not None and least > most:
        raise click.UsageError(f"--min is {least} and above --max, {most}.")
    try:
        store = place.open_store(AT_ONCE)
        runs = _newest_runs(store, place, cluster)
        if group is None:
            lines = [line for run in runs for line in _summarise(store, run, days)]
            if output == TABLE:
                print_groups(lines, days, open_screen())
            else:
                write_groups(lines, output, sys.stdout)
            return
        advice = _advise(
            store, _run_of(group, runs), group, days, Service(least, most, members_per_task)
        )
        if output == TABLE:
            print_advice(advice, open_screen())
        else:
            write_advice(advice, output, sys.stdout)
    except ReporterError as error:
        raise click.ClickException(printable(str(error))) from error


def _newest_runs(
    store: BrowsableStore, place: SnapshotPlace, cluster: str | None
) -> list[LatestRun]:
    """The newest run of each cluster, or of one. Raises ConfigError where there is none."""
    snapshots = Snapshots(store, time.time)
    clusters = snapshots.clusters()
    if not clusters:
        raise ConfigError(
            f"There are no snapshots in {place.describe()}: run kafka-lag watch first."
        )
    if cluster is not None and cluster not in clusters:
        raise ConfigError(
            f"There is no cluster {cluster} in {place.describe()}; there is "
            f"{format_list(clusters, _FEW)} (--cluster)."
        )
    wanted = clusters if cluster is None else [cluster]
    found = [find_latest_run(snapshots, each, int(time.time() * 1000)) for each in wanted]
    runs = [run for run in found if isinstance(run, LatestRun)]
    if not runs:
        broken = ", ".join(run.cluster for run in found if isinstance(run, UnreadableCluster))
        raise ConfigError(
            f"No run of {broken or 'these clusters'} in {place.describe()} can be read; its "
            "snapshots are of another version, or damaged."
        )
    return runs


def _rows(run: LatestRun) -> list[Row]:
    """The groups that there are still, by name."""
    gone = run.groups.strings("status_reason").is_in(contract.LAST_ROW_REASONS)
    return sorted(rows_of(run.groups.where(~gone)), key=lambda row: row["consumer_group"])


def _run_of(group: str, runs: Sequence[LatestRun]) -> LatestRun:
    """The run that has the group. Raises ConfigError where none has, or several."""
    names = {run.cluster: {row["consumer_group"] for row in _rows(run)} for run in runs}
    having = [run for run in runs if group in names[run.cluster]]
    if len(having) == 1:
        return having[0]
    if having:
        clusters = format_list([run.cluster for run in having], _FEW)
        raise ConfigError(f"{group} is a group of {clusters}: name one of them by --cluster.")
    every = sorted(set().union(*names.values()))
    hint = hint_at_name(group, every)
    raise ConfigError(f"There is no group {group} in the newest snapshot; {hint}")


def _summarise(store: BrowsableStore, run: LatestRun, days: int) -> Iterator[Needed]:
    """A line for each group of a cluster."""
    rows = _rows(run)
    period = Period.of(run.taken_at, days, run.interval_seconds)
    names = [row["consumer_group"] for row in rows]
    with count_objects() as progress:
        over_time = read_period(store, run.cluster, period, names, COLUMNS_OF_ALL, progress)
    for row in rows:
        yield summarise_group(run.cluster, row, over_time)


def _advise(
    store: BrowsableStore, run: LatestRun, group: str, days: int, service: Service
) -> Advice:
    """Raises ConfigError for a group of which no number was known in all the time."""
    (row,) = (row for row in _rows(run) if row["consumer_group"] == group)
    period = Period.of(run.taken_at, days, run.interval_seconds)
    with count_objects() as progress:
        over_time = read_period(store, run.cluster, period, [group], COLUMNS_OF_ONE, progress)
    found = advise(run.cluster, row, over_time, service)
    if row["tasks_needed"] is None and found.now.needed is None:
        raise ConfigError(
            f"How many tasks {group} needs was not known in {format_quantity(days, 'day')}: "
            f"{found.now.why}. Capacity is learnt while there is a backlog; or set `capacity` in "
            "the collector's document."
        )
    return found


if __name__ == "__main__":
    tasks()
