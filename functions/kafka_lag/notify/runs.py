# SPDX-License-Identifier: Apache-2.0
"""The complete runs between two times, however many of their events were lost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.snapshots.keys import hour_prefix, object_key, taken_at_of
from kafka_lag.snapshots.parquet import from_parquet
from kafka_lag.snapshots.previous import LOOKBACK_DAYS
from kafka_lag.snapshots.store import SnapshotStore

_HOUR_MS = 3_600_000
_KEPT = 8
# The collector itself remembers no longer.
_SOUGHT_BACK_MS = LOOKBACK_DAYS * 24 * _HOUR_MS


class Runs(Protocol):
    """Times are scheduled ones, ms UTC. All methods raise StoreError."""

    def between(self, cluster: str, after: int, until: int) -> Iterator[int]:
        """Complete runs after the one time, until the other and with it, the oldest first."""

    def groups(self, cluster: str, taken_at: int) -> Frame:
        """The `groups` dataset of a run. Raises UnusableError where it cannot be read."""


class StoredRuns:
    """In a store of snapshots; nothing is listed or read before it is asked for.

    The newest sets are kept, as each channel asks for them.
    """

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store
        self._kept = lru_cache(maxsize=_KEPT)(self._read)

    def between(self, cluster: str, after: int, until: int) -> Iterator[int]:
        """Complete runs, sought back at most as far as the collector does."""
        first = max(after + 1, until - _SOUGHT_BACK_MS)
        for hour in range(first // _HOUR_MS, until // _HOUR_MS + 1):
            keys = self._store.keys(hour_prefix(contract.GROUPS, cluster, hour * _HOUR_MS))
            times = (taken_at_of(key) for key in keys)
            yield from (time for time in times if time and first <= time <= until)

    def groups(self, cluster: str, taken_at: int) -> Frame:
        """All columns of the run's groups."""
        return self._kept(cluster, taken_at)

    def _read(self, cluster: str, taken_at: int) -> Frame:
        key = object_key(contract.GROUPS, cluster, taken_at)
        return from_parquet(self._store.read(key), contract.GROUPS)
