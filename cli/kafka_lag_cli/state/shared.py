# SPDX-License-Identifier: Apache-2.0
"""A state that others keep snapshots in, too: what of it is one's own, and who collects."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kafka_lag.lag.carry_over import accept_rows
from kafka_lag.lag.group_settings import Rules
from kafka_lag.snapshots.keys import taken_at_of
from kafka_lag.snapshots.previous import load_newest
from kafka_lag.snapshots.store import BrowsableStore, SnapshotStore

# The folder of a state in which a file named after a cluster holds the seconds between two runs.
_COLLECTED = "collected"
# One run may be missing, and the next takes some seconds.
_LATE = 3
_OF_CLUSTER = "cluster="


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
        """Holds an object. Returns true if it is new among those held; the store is not read."""
        return self._held.setdefault(key, data) is data

    def save(self, taken_at: int) -> None:
        """Writes the objects of one run in their order, unless the store has them."""
        for key, data in self._held.items():
            if taken_at_of(key) == taken_at:
                self._store.write_once(key, data)


class NarrowedStore:
    """A store for runs that filters narrow. It takes none while its newest run has groups or topics
    that the filters hide: the newest run counts as the whole cluster.

    `warn` is called when a run is first not taken.
    """

    def __init__(self, store: SnapshotStore, rules: Rules, warn: Callable[[], None]) -> None:
        self._store = store
        self._rules = rules
        self._warn = warn
        self._warned = False
        self._takes: dict[int | None, bool] = {}

    def keys(self, prefix: str, after: str = "") -> list[str]:
        return self._store.keys(prefix, after)

    def read(self, key: str) -> bytes:
        return self._store.read(key)

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes an object. Returns false for a run that is not taken."""
        at = taken_at_of(key)
        if at not in self._takes:
            self._takes = {at: not self._holds_more(key, at or 0)}
        return self._takes[at] and self._store.write_once(key, data)

    def _holds_more(self, key: str, taken_at: int) -> bool:
        """Return true if the newest run up to `taken_at` has groups or topics that the filters
        hide."""
        cluster = key.partition(_OF_CLUSTER)[2].partition("/")[0]
        newest = load_newest(self._store, cluster, taken_at + 1).value
        frames = (newest.groups, newest.topic_partitions)
        holds_more = not all(accept_rows(frame, self._rules).all() for frame in frames)
        if holds_more and not self._warned:
            self._warned = True
            self._warn()
        return holds_more


class OneCluster:
    """A store's objects of one cluster; none while `find_name` does not know its name.

    An exporter that published its neighbours' would report each twice, or one that nobody reads.
    """

    def __init__(self, store: BrowsableStore, find_name: Callable[[], str | None]) -> None:
        self._store = store
        self._find_name = find_name

    def folders(self, prefix: str) -> list[str]:
        return [name for name in self._store.folders(prefix) if self._is_own(f"{prefix}{name}")]

    def keys(self, prefix: str, after: str = "") -> list[str]:
        return [key for key in self._store.keys(prefix, after) if self._is_own(key)]

    def read(self, key: str) -> bytes:
        return self._store.read(key)

    def write_once(self, key: str, data: bytes) -> bool:
        return self._store.write_once(key, data)

    def _is_own(self, path: str) -> bool:
        own = f"{_OF_CLUSTER}{self._find_name()}"
        return all(each == own for each in path.split("/") if each.startswith(_OF_CLUSTER))


def mark_collected(state: Path, cluster: str, interval: int) -> None:
    """Leaves word in the folder of a state that its cluster is collected each `interval` s.

    There is none on a disk that is full: the runs, which are not kept there either, say why.
    """
    path = state / _COLLECTED / cluster
    with suppress(OSError):
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
