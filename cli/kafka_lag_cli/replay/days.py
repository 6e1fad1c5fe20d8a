# SPDX-License-Identifier: Apache-2.0
"""A configuration on past days: which days, which clusters, and its pages on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import click

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.help_sections import add_options
from kafka_lag_cli.replay.alarms import explain_left_out, metrics_watched
from kafka_lag_cli.replay.pages import Page, find_pages
from kafka_lag_cli.replay.recorded import Recorded, read_recorded
from kafka_lag_cli.state.groups_over_time import AT_ONCE
from kafka_lag_cli.state.place import SnapshotPlace
from kafka_lag_cli.terminal.progress import count_objects
from kafka_lag_cli.terminal.text import printable
from kafka_lag_config.cluster import Cluster

# Days that are replayed unless others are named, and the most that history holds.
_DEFAULT_DAYS, _MOST_DAYS = 30, 400
_DAY = timedelta(days=1)
# Before it nothing was recorded; thirty days before the year 1 are no date.
_FIRST_YEAR = 2000
# In an error.
_MOST_CLUSTERS = 3

# A cluster's recorded days, its configuration, and that of the other file.
Days: TypeAlias = tuple[Recorded, Cluster, Cluster | None]


def _day(text: str) -> datetime:
    with suppress(ValueError):
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        if day.year >= _FIRST_YEAR:
            return day
    raise click.BadParameter(f"{text!r} must be a date since {_FIRST_YEAR}, written 2026-01-31")


period_options = add_options(
    click.option(
        "--from",
        "first",
        type=_day,
        metavar="YYYY-MM-DD",
        help=f"first UTC day ({_DEFAULT_DAYS} days in all)",
    ),
    click.option("--to", "last", type=_day, metavar="YYYY-MM-DD", help="last UTC day (today)"),
)


@dataclass(frozen=True, slots=True)
class Replay:
    """A cluster's recorded minutes and its pages; `left_out` says what a replay cannot know."""

    recorded: Recorded
    cluster: Cluster
    pages: tuple[Page, ...]
    left_out: tuple[str, ...]

    @property
    def days(self) -> float:
        """The total time of the minutes, in days."""
        return len(self.recorded.has_run) / (24 * 60)


def find_period(first: datetime | None, last: datetime | None) -> tuple[int, int]:
    """From the beginning of the first day to the end of the last or now, ms UTC."""
    now = datetime.now(UTC)
    end = last or now.replace(hour=0, minute=0, second=0, microsecond=0)
    begin = first or end - (_DEFAULT_DAYS - 1) * _DAY
    if begin > end or begin > now:
        raise click.UsageError(f"--from {begin:%F} must be a past day, and not after --to.")
    if end - begin >= _MOST_DAYS * _DAY:
        raise click.UsageError(f"{begin:%F} to {end:%F} are more than {_MOST_DAYS} days.")
    until = min(end + _DAY - timedelta(milliseconds=1), now)
    return int(begin.timestamp() * 1000), int(until.timestamp() * 1000)


def read_days(
    place: SnapshotPlace,
    wanted: Sequence[Cluster],
    period: tuple[int, int],
    others: Sequence[Cluster] = (),
) -> Iterator[Days]:
    """Yields the recorded days of each cluster, with the cluster of that name among `others`.

    Raises ConfigError if no cluster has any; of several one that has none is named and left out.
    """
    by_name = {each.name: each for each in others}
    store, found = place.open_store(AT_ONCE), False
    for number, cluster in enumerate(wanted, 1):
        other = by_name.get(cluster.name)
        metrics = metrics_watched(cluster) | (metrics_watched(other) if other else frozenset())
        try:
            with count_objects() as progress:
                recorded = read_recorded(store, cluster.name, metrics, *period, progress)
        except ConfigError as error:
            where = place.describe()
            sentence = (
                _explain_missing(cluster.name, store, where)
                or f"{error} See --state, which is {where}."
            )
            if number == len(wanted) and not found:
                raise ConfigError(sentence) from error
            click.echo(printable(sentence), err=True)
            continue
        found = True
        yield recorded, cluster, other


def _explain_missing(cluster: str, store: BrowsableStore, where: str) -> str | None:
    """Returns a sentence about a cluster that the store lacks; null if the store has it."""
    stored = {
        folder.removeprefix("cluster=")
        for prefix in (contract.SNAPSHOT_PREFIX, contract.HISTORY_PREFIX)
        for folder in store.folders(f"{prefix}/{contract.GROUPS}/")
    }
    if cluster in stored:
        return None
    there = f"there is {format_list(sorted(stored), _MOST_CLUSTERS)}" if stored else "it has none"
    return f"There are no snapshots of {cluster} in {where}; {there}."


def replay_days(recorded: Recorded, cluster: Cluster) -> Replay:
    """Returns the pages of the days."""
    left_out = tuple(explain_left_out(cluster, recorded.groups))
    return Replay(recorded, cluster, find_pages(recorded, cluster), left_out)
