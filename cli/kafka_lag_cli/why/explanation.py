# SPDX-License-Identifier: Apache-2.0
"""Why a group is behind: its cause, other groups in trouble, its last hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import BrowsableStore, read_dataset
from kafka_lag.wording.causes import CauseText, describe_cause
from kafka_lag_cli.state.groups_over_time import Progress
from kafka_lag_cli.terminal.group_rows import Row
from kafka_lag_cli.why.timeline import Timeline, read_timeline

HOUR_MS = 3_600_000
_BAD = (contract.WARN, contract.ERR)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one group in the run at `row["taken_at"]`.

    `others` are groups in WARN or ERR that read the same topics.
    """

    cluster: str
    row: Row
    text: CauseText | None
    others: tuple[Row, ...]
    timeline: Timeline


def explain(
    store: BrowsableStore,
    cluster: str,
    group: str,
    newest: Snapshot,
    hours: float,
    interval_ms: int,
    progress: Progress,
) -> Explanation:
    """Returns the explanation of a group in the snapshot of runs `interval_ms` apart.

    Raises StoreError.
    """
    rows = {row["consumer_group"]: row for row in newest.groups.to_dicts()}
    row = rows[group]
    since = newest.taken_at - int(hours * HOUR_MS)
    timeline = read_timeline(store, cluster, group, newest, since, interval_ms, progress)
    return Explanation(
        cluster=cluster,
        row=row,
        text=describe_cause(row),
        others=tuple(_find_others(newest, group, rows)),
        timeline=timeline,
    )


def read_snapshot(store: BrowsableStore, cluster: str, taken_at: int) -> Snapshot:
    """All of a run. Raises StoreError; UnusableError where it cannot be read."""
    return Snapshot(
        taken_at, *(read_dataset(store, name, cluster, taken_at) for name in contract.DATASETS)
    )


def _find_others(snapshot: Snapshot, group: str, rows: Mapping[str, Row]) -> Iterator[Row]:
    """Groups in trouble that read a topic of the group, by name."""
    partitions = snapshot.group_partitions
    names, topics = (partitions.strings(name) for name in ("consumer_group", "topic"))
    own = topics.only(names.is_in([group])).pruned().categories
    for name in sorted(set(names.only(topics.is_in(own)).pruned().categories) - {group}):
        if name in rows and rows[name]["status"] in _BAD:
            yield rows[name]
