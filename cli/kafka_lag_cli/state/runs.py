# SPDX-License-Identifier: Apache-2.0
"""The run of each cluster in a store that a command is about: the newest, or that of a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from kafka_lag import contract
from kafka_lag.errors import ConfigError, UnusableError
from kafka_lag.snapshots.store import BrowsableStore, list_runs, read_dataset
from kafka_lag.views.latest_run import (
    HOUR_MS,
    LatestRun,
    Snapshots,
    UnreadableCluster,
    find_latest_run,
)
from kafka_lag.wording.formatting import format_list, format_minute, format_quantity
from kafka_lag_cli.terminal.group_rows import Row, add_urgency
from kafka_lag_cli.terminal.text import hint_at_name, printable

# In an error.
_MOST_CLUSTERS = 3
_OF_GONE = ("consumer_group", "status_reason", "lag", "records_skipped")


def find_runs(
    store: BrowsableStore, where: str, cluster: str | None, at: int | None = None
) -> list[LatestRun]:
    """Returns the newest run of each cluster, or of one; with `at`, ms, the last one up to then.

    `where` is what errors call the store. Raises ConfigError where there is none, or where runs are
    missing just before `at`.
    """
    snapshots = Snapshots(store, time.time)
    clusters = snapshots.clusters()
    if not clusters:
        raise ConfigError(f"There are no snapshots in {where}: run kafka-lag watch first.")
    if cluster is not None and cluster not in clusters:
        raise ConfigError(
            f"There is no cluster {cluster} in {where}; there is "
            f"{format_list(clusters, _MOST_CLUSTERS)} (--cluster)."
        )
    wanted = clusters if cluster is None else [cluster]
    now = int(time.time() * 1000) if at is None else at
    found = [find_latest_run(snapshots, each, now, at) for each in wanted]
    runs = [run for run in found if isinstance(run, LatestRun)]
    broken = ", ".join(run.cluster for run in found if isinstance(run, UnreadableCluster))
    if at is not None:
        if not broken:
            _check_time(runs, at, where)
        runs = [run for run in runs if not run.is_old]
    if not runs:
        raise ConfigError(
            f"No run of {broken or 'these clusters'} in {where} can be read; its "
            "snapshots are of another version, or damaged."
        )
    return runs


def _check_time(runs: Sequence[LatestRun], at: int, where: str) -> None:
    """Raises ConfigError where no cluster has a run of that time."""
    if any(not run.is_old for run in runs):
        return
    last = max((run.taken_at for run in runs), default=None)
    before = (
        ", and none before" if last is None else f"; the last before is of {format_minute(last)}"
    )
    raise ConfigError(f"There are no snapshots of {format_minute(at)} in {where}{before}.")


def groups_of(run: LatestRun) -> list[Row]:
    """Returns the groups that still exist, by name, with the place of each among others."""
    gone = run.groups.strings("status_reason").is_in(contract.LAST_ROW_REASONS)
    return sorted(add_urgency(run.groups.where(~gone)), key=lambda row: row["consumer_group"])


def check_gone(store: BrowsableStore, group: str, runs: Sequence[LatestRun], hours: float) -> None:
    """Raises ConfigError with what became of a group that none of the runs has and one before did.

    It is looked for in the `hours` before each run, the newest first.
    """
    if any(group in {row["consumer_group"] for row in groups_of(run)} for run in runs):
        return
    for run in runs:
        since = run.taken_at - int(hours * HOUR_MS)
        times = list_runs(store, contract.GROUPS, run.cluster, since, run.taken_at)
        for at in sorted({*times, run.taken_at}, reverse=True):
            with suppress(UnusableError):
                rows = read_dataset(store, contract.GROUPS, run.cluster, at, _OF_GONE).to_dicts()
                if found := [row for row in rows if row["consumer_group"] == group]:
                    raise ConfigError(_describe_gone(found[0], run.cluster, at))


def _describe_gone(row: Row, cluster: str, at: int) -> str:
    name = printable(row["consumer_group"])
    if row["status_reason"] != contract.GONE:
        lag = row["lag"]
        left = "" if lag is None else f", {format_quantity(lag, 'record')} behind"
        return f"{name} on {cluster} was last seen at {format_minute(at)}{left}."
    unread = row["records_skipped"]
    left = f"; {format_quantity(unread, 'record')} were left unread" if unread else ""
    return (
        f"{name} on {cluster} is gone since {format_minute(at)}: its offsets expired, or somebody "
        f"deleted it{left}."
    )


def run_of_group(group: str, runs: Sequence[LatestRun], at: int | None = None) -> LatestRun:
    """The run that has the group, of those found for `at`. Raises ConfigError where none has, or
    several.
    """
    names = {run.cluster: {row["consumer_group"] for row in groups_of(run)} for run in runs}
    having = [run for run in runs if group in names[run.cluster]]
    if len(having) == 1:
        return having[0]
    if having:
        clusters = format_list([run.cluster for run in having], _MOST_CLUSTERS)
        raise ConfigError(f"{group} is a group of {clusters}: name one of them by --cluster.")
    every = sorted(set().union(*names.values()))
    hint = hint_at_name(group, every)
    which = "newest snapshot" if at is None else f"snapshot of {format_minute(at)}"
    raise ConfigError(f"There is no group {group} in the {which}; {hint}")
