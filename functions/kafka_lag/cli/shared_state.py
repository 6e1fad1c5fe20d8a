# SPDX-License-Identifier: Apache-2.0
"""A state that another process may be collecting into, beside which `show` only reads."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from kafka_lag import contract
from kafka_lag.snapshots.keys import taken_at_of
from kafka_lag.snapshots.store import SnapshotStore, list_runs

_HOUR_MS = 3_600_000
# Two pauses show an interval; more than these need not be looked at.
_LEAST_RUNS, _MOST_RUNS = 3, 21
# A run is listed some seconds after its time, and one may be missing.
_LATE = 2


class HeldStore:
    """A store of which new objects are held in memory until they are saved."""

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store
        self._held: dict[str, bytes] = {}

    def keys(self, prefix: str, after: str = "") -> list[str]:
        held = {key for key in self._held if key.startswith(prefix) and key > after}
        return sorted(held.union(self._store.keys(prefix, after)))

    def read(self, key: str) -> bytes:
        return self._held[key] if key in self._held else self._store.read(key)

    def write_once(self, key: str, data: bytes) -> bool:
        """Whether it is new among those held; what the store has is not looked at."""
        return self._held.setdefault(key, data) is data

    def save(self, taken_at: int) -> None:
        """Writes the objects of one run, in the order they came, unless the store has them."""
        for key, data in self._held.items():
            if taken_at_of(key) == taken_at:
                self._store.write_once(key, data)


def find_interval(store: SnapshotStore, cluster: str, now: int) -> int | None:
    """Of whoever collects the cluster into the store at `now`, ms, the interval in whole seconds,
    in ms; None where nobody is seen to. Raises StoreError.
    """
    runs = list_runs(store, contract.GROUPS, cluster, now - _HOUR_MS, now + 1)[-_MOST_RUNS:]
    if len(runs) < _LEAST_RUNS:
        return None
    pause = median(later - earlier for earlier, later in pairwise(runs))
    if now - runs[-1] > _LATE * pause:
        return None
    return max(round(pause / 1000), 1) * 1000
