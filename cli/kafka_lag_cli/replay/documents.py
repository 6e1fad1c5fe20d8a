# SPDX-License-Identifier: Apache-2.0
"""A configuration on past days: which days, which clusters, and its pages on them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import click

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.connecting.deployment_file import read_deployment
from kafka_lag_cli.replay.alarms import explain_left_out, metrics_watched
from kafka_lag_cli.replay.pages import Page, find_pages
from kafka_lag_cli.replay.recorded import Recorded, read_recorded
from kafka_lag_cli.state.groups_over_time import DAY_MS
from kafka_lag_cli.state.place import SnapshotPlace
from kafka_lag_cli.terminal.progress import count_objects
from kafka_lag_cli.terminal.text import printable
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment

# What is replayed unless days are named, and the most that history holds.
DEFAULT_DAYS, _MOST_DAYS = 30, 400
_FEW = 3

# What was recorded of a cluster, as one configuration has it, and the other.
Days: TypeAlias = tuple[Recorded, Cluster, Cluster | None]


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


def find_period(first: str | None, last: str | None) -> tuple[int, int]:
    """From the beginning of the first day to the end of the last or now, ms UTC."""
    now = int(time.time() * 1000)
    end = _day("--to", last) if last else datetime.fromtimestamp(now / 1000, UTC).date()
    begin = _day("--from", first) if first else end - timedelta(days=DEFAULT_DAYS - 1)
    if begin > end:
        raise click.UsageError(f"--from is {begin} and after --to, {end}.")
    if (end - begin).days >= _MOST_DAYS:
        raise click.UsageError(f"{begin} to {end} are more than {_MOST_DAYS} days.")
    since, until = _midnight(begin), _midnight(end) + DAY_MS - 1
    if since > now:
        raise click.UsageError(f"{begin} has not been yet.")
    return since, min(until, now)


def _day(option: str, value: str) -> date:
    try:
        return datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise click.UsageError(f"{option} {value} must be a date, written 2026-01-31.") from None


def _midnight(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def read_document(path: Path, name: str | None) -> Deployment:
    """With all its clusters, or one. Raises ConfigError, ConfigurationError, UsageError."""
    if not path.is_file():
        raise click.UsageError(f"There is no {path}: name a configuration by --config FILE.")
    deployment = read_deployment(path)
    names = [each.name for each in deployment.clusters]
    if name is not None and name not in names:
        raise ConfigError(f"{path} has no cluster {name}: there is {format_list(names, _FEW)}.")
    clusters = tuple(each for each in deployment.clusters if name in (None, each.name))
    return deployment.model_copy(update={"clusters": clusters})


def read_days(
    store: BrowsableStore,
    place: SnapshotPlace,
    wanted: tuple[Cluster, ...],
    since: int,
    until: int,
    others: tuple[Cluster, ...] = (),
) -> Iterator[Days]:
    """Yields the recorded days of each cluster, with the cluster of that name among `others`.

    Raises ConfigError if no cluster has any.
    """
    by_name = {each.name: each for each in others}
    stored = _stored_clusters(store)
    if not any(cluster.name in stored for cluster in wanted):
        there = f"there is {format_list(stored, _FEW)}" if stored else "it holds none at all"
        names = format_list([each.name for each in wanted], _FEW)
        raise ConfigError(f"There are no snapshots of {names} in {place.describe()}; {there}.")
    for cluster in wanted:
        if cluster.name not in stored:
            sentence = f"There are no snapshots of {cluster.name}: it is left out."
            click.echo(printable(sentence), err=True)
            continue
        other = by_name.get(cluster.name)
        metrics = metrics_watched(cluster) | (metrics_watched(other) if other else frozenset())
        try:
            with count_objects() as progress:
                recorded = read_recorded(store, cluster.name, metrics, since, until, progress)
        except ConfigError as error:
            if len(wanted) == 1:
                raise
            click.echo(printable(str(error)), err=True)
            continue
        yield recorded, cluster, other


def _stored_clusters(store: BrowsableStore) -> list[str]:
    """Return the names of clusters with snapshots or a history."""
    history = store.folders(f"{contract.HISTORY_PREFIX}/{contract.GROUPS}/")
    of_history = {name.removeprefix("cluster=") for name in history}
    return sorted(of_history.union(Snapshots(store, time.time).clusters()))


def replay_days(recorded: Recorded, cluster: Cluster, groups: tuple[str, ...]) -> Replay:
    """Returns the pages of the days; of these groups alone, if any is named."""
    pages = find_pages(recorded, cluster, groups)
    return Replay(recorded, cluster, pages, tuple(explain_left_out(cluster, recorded.groups)))
