# SPDX-License-Identifier: Apache-2.0
"""The newest complete set of snapshots before a run, and the writing of the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.errors import UnusableError
from kafka_lag.snapshots.format import from_parquet, to_parquet
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.runs import run_times
from kafka_lag.snapshots.store import SnapshotStore

SOUGHT_BACK_DAYS = 7
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_UNREADABLE_ALLOWED = 5


@dataclass(frozen=True, slots=True)
class Loaded:
    """A snapshot (empty when there is none) and what was wrong with newer ones, in words."""

    snapshot: Snapshot
    complaints: tuple[str, ...] = ()


def newest_before(store: SnapshotStore, cluster: str, taken_at: int) -> Loaded:
    """The newest set that all three objects complete, scheduled before `taken_at`.

    Sought back seven days. A set that is incomplete or unreadable is complained of, and the one
    before it is taken. Raises StoreError when the store itself does not answer.
    """
    complaints: list[str] = []
    for candidate in _candidates(store, cluster, taken_at):
        try:
            frames = [
                from_parquet(store.read(object_key(dataset, cluster, candidate)), dataset)
                for dataset in contract.DATASETS
            ]
        except UnusableError as error:
            key = object_key(contract.GROUPS, cluster, candidate)
            complaints.append(f"the snapshot set of {key} was skipped: {error}")
            if len(complaints) == _UNREADABLE_ALLOWED:
                break
            continue
        return Loaded(Snapshot(candidate, *frames), tuple(complaints))
    return Loaded(Snapshot.empty(), tuple(complaints))


def write(store: SnapshotStore, cluster: str, snapshot: Snapshot) -> int:
    """Writes what is missing of the set, `groups` last; how many objects were written."""
    return sum(
        store.write_once(
            object_key(dataset, cluster, snapshot.taken_at),
            to_parquet(snapshot.dataset(dataset), dataset),
        )
        for dataset in contract.DATASETS
    )


def _candidates(store: SnapshotStore, cluster: str, taken_at: int) -> Iterator[int]:
    """Runs before this one, the latest first: of an hour, as a rule enough, then day by day."""
    oldest = taken_at - SOUGHT_BACK_DAYS * _DAY_MS
    since, before = taken_at - _HOUR_MS, taken_at
    while since < before:
        yield from reversed(run_times(store, contract.GROUPS, cluster, since, before))
        since, before = max(oldest, since - _DAY_MS), since
