# SPDX-License-Identifier: Apache-2.0
"""What a run knows of earlier ones: loaded when cold, handed on from run to run while warm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import PreviousRuns, Snapshot
from kafka_lag.snapshots.ends import ends_of, read_ends
from kafka_lag.snapshots.history import newest_before
from kafka_lag.snapshots.runs import run_times
from kafka_lag.snapshots.store import SnapshotStore
from kafka_lag.snapshots.thinning import kept, needed_since


@dataclass(frozen=True, slots=True)
class Memory:
    """The newest snapshot, when runs were (ms, ascending), and the end offsets of some of them.

    `stored` says that all of it is in the store, so that a cold start would know the same.
    """

    newest: Snapshot
    times: tuple[int, ...] = ()
    ends: Mapping[int, Frame] = field(default_factory=dict)
    stored: bool = True

    @classmethod
    def empty(cls) -> Memory:
        """Before the first run."""
        return cls(Snapshot.empty())

    def previous_runs(self) -> PreviousRuns:
        """What the next run starts from."""
        times = tuple(sorted(self.ends))
        return PreviousRuns(self.newest, tuple(self.ends[time] for time in times), times)

    def then(self, snapshot: Snapshot, interval_ms: int, *, stored: bool) -> Memory:
        """What is known after one more run, for the one that follows an interval later.

        Once the store takes snapshots again, what it lacks is forgotten: the next run loads.
        """
        if stored and not self.stored:
            return Memory.empty()
        following = snapshot.taken_at + interval_ms
        since = needed_since(following, interval_ms)
        times = (*(time for time in self.times if time >= since), snapshot.taken_at)
        points = _points(times, snapshot, following, interval_ms)
        known = {**self.ends, snapshot.taken_at: ends_of(snapshot.topic_partitions)}
        return Memory(snapshot, times, {t: known[t] for t in points if t in known}, stored)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory, and what could not be read of it, in words."""

    memory: Memory
    complaints: tuple[str, ...] = ()


def recall(store: SnapshotStore, cluster: str, taken_at: int, interval_ms: int) -> Recalled:
    """What the store knows before the run scheduled at `taken_at`, ms.

    Raises StoreError when the store itself does not answer.
    """
    loaded = newest_before(store, cluster, taken_at)
    newest = loaded.snapshot
    since = needed_since(taken_at, interval_ms)
    times = run_times(store, contract.TOPIC_PARTITIONS, cluster, since, taken_at)
    points = _points(times, newest, taken_at, interval_ms)
    read = read_ends(store, cluster, sorted(points - {newest.taken_at}))
    ends = dict(read.frames)
    if newest.taken_at in points:
        ends[newest.taken_at] = ends_of(newest.topic_partitions)
    return Recalled(Memory(newest, tuple(times), ends), loaded.complaints + read.complaints)


def _points(times: Iterable[int], newest: Snapshot, taken_at: int, interval_ms: int) -> set[int]:
    """Runs whose end offsets are wanted; the newest set's always, however old it is."""
    points = set(kept(times, taken_at, interval_ms))
    return points | {newest.taken_at} if newest.taken_at else points
