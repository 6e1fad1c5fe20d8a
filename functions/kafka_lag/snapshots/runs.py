# SPDX-License-Identifier: Apache-2.0
"""Which runs left snapshots: their scheduled times, by the keys in the store."""

from __future__ import annotations

from kafka_lag.snapshots.keys import day_prefix, first_key, taken_at_of
from kafka_lag.snapshots.store import SnapshotStore

_DAY_MS = 24 * 3_600_000


def run_times(
    store: SnapshotStore, dataset: str, cluster: str, since: int, before: int
) -> list[int]:
    """Times of the runs, ms, `since` <= time < `before`, that wrote a dataset, ascending.

    Raises StoreError.
    """
    first = first_key(dataset, cluster, since)
    days = range(since // _DAY_MS, (before - 1) // _DAY_MS + 1)
    prefixes = [day_prefix(dataset, cluster, day * _DAY_MS) for day in days]
    times = [taken_at_of(key) for prefix in prefixes for key in store.keys(prefix, first)]
    return sorted(time for time in times if time is not None and since <= time < before)
