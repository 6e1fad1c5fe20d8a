# SPDX-License-Identifier: Apache-2.0
"""A state that another process may be collecting into, beside which `show` only reads."""

from __future__ import annotations

from pathlib import Path

from kafka_lag.snapshots.keys import taken_at_of
from kafka_lag.snapshots.store import SnapshotStore

# The folder of a state in which a file named after a cluster holds the seconds between two runs.
_COLLECTED = "collected"
# One run may be missing, and the next takes some seconds.
_LATE = 3


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


def mark_collected(state: Path, cluster: str, interval: int) -> None:
    """Leaves word in the folder of a state that its cluster is collected each `interval` s."""
    path = state / _COLLECTED / cluster
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{interval}\n")


def find_interval(state: Path, cluster: str, now: float) -> int | None:
    """The interval, ms, of whoever collects the cluster into the state at `now`, s; None: nobody.

    What was left by a process that has ended counts for as long as a run of it may be late.
    """
    path = state / _COLLECTED / cluster
    try:
        interval, since = int(path.read_text()), now - path.stat().st_mtime
    except (OSError, ValueError):
        return None
    return interval * 1000 if since <= _LATE * interval else None
