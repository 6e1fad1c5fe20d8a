# SPDX-License-Identifier: Apache-2.0
"""Knowledge of previous runs: loaded by a cold process, passed from run to run by a warm one.

It consists of the newest complete snapshot and of log end offsets over time: those of all latest
runs, and of fewer runs the older they are. At a run a minute, 32 points reach back 8 h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import PreviousRuns, Snapshot
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.store import SnapshotStore, list_runs, read_dataset

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
LOOKBACK_MS = 7 * _DAY_MS
_UNREADABLE_ALLOWED = 5

LOG_END_COLUMNS = (
    *("topic", "topic_id", "partition_id"),
    *("asked_at", "read_at", "unread_reason", "end_offset"),
)

# A cold start waits for answers, not for its processor: 32 objects take the time of four reads.
_READS_AT_ONCE = 8

# Unreadable objects that are named; a missing right on the bucket can make all objects unreadable.
_NAMED_WARNINGS = 3

# Every run of the last eight intervals is kept, and half as many for each doubling of the age.
_EVERY_RUN_INTERVALS = 8
_DOUBLINGS = 6

# Limits the points of unscheduled runs (started by hand, or after a shorter interval).
_POINTS_PER_INTERVAL = 4


@dataclass(frozen=True, slots=True)
class Loaded(Generic[T]):
    """A loaded value, and sentences about objects that could not be loaded."""

    value: T
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """The newest snapshot, the times of runs (ms, ascending), and the log ends of some of them.

    `stored` says that all of it is in the store, so that a cold start would know the same.
    """

    newest: Snapshot
    times: tuple[int, ...] = ()
    ends: Mapping[int, Frame] = field(default_factory=dict)
    stored: bool = True

    @classmethod
    def empty(cls) -> Memory:
        """Returns the memory before the first run."""
        return cls(Snapshot.empty())

    def previous_runs(self) -> PreviousRuns:
        """Returns the previous runs in the form that the next run needs."""
        times = tuple(sorted(self.ends))
        return PreviousRuns(self.newest, tuple(self.ends[time] for time in times), times)

    def add_run(self, snapshot: Snapshot, interval_ms: int, *, stored: bool) -> Memory:
        """Returns the memory after one more run, for the run an interval later.

        Returns an empty memory once the store accepts snapshots again. The next run then loads, and
        forgets runs that the store lacks.
        """
        if stored and not self.stored:
            return Memory.empty()
        following = snapshot.taken_at + interval_ms
        since = needed_since(following, interval_ms)
        times = (*(time for time in self.times if time >= since), snapshot.taken_at)
        points = _choose_points(times, snapshot, following, interval_ms)
        known = {**self.ends, snapshot.taken_at: select_log_ends(snapshot.topic_partitions)}
        return Memory(snapshot, times, {t: known[t] for t in points if t in known}, stored)


def load_memory(
    store: SnapshotStore, cluster: str, taken_at: int, interval_ms: int
) -> Loaded[Memory]:
    """Returns the memory of the store's runs before the one scheduled at `taken_at`, ms.

    Raises StoreError if the store itself does not answer.
    """
    loaded = load_newest(store, cluster, taken_at)
    newest = loaded.value
    since = needed_since(taken_at, interval_ms)
    times = list_runs(store, contract.TOPIC_PARTITIONS, cluster, since, taken_at)
    points = _choose_points(times, newest, taken_at, interval_ms)
    read = load_log_ends(store, cluster, sorted(points - {newest.taken_at}))
    ends = read.value
    if newest.taken_at in points:
        ends[newest.taken_at] = select_log_ends(newest.topic_partitions)
    return Loaded(Memory(newest, tuple(times), ends), loaded.warnings + read.warnings)


def load_newest(store: SnapshotStore, cluster: str, taken_at: int) -> Loaded[Snapshot]:
    """Returns the newest complete set of three objects before `taken_at`, else an empty snapshot.

    Looks back seven days. A set that is incomplete or unreadable causes a warning, and the one
    before it is taken. Raises StoreError if the store itself does not answer.
    """
    warnings: list[str] = []
    for candidate in _list_runs_backwards(store, cluster, taken_at):
        try:
            frames = [
                read_dataset(store, dataset, cluster, candidate) for dataset in contract.DATASETS
            ]
        except UnusableError as error:
            key = object_key(contract.GROUPS, cluster, candidate)
            warnings.append(f"the snapshot set of {key} was skipped: {error}")
            if len(warnings) == _UNREADABLE_ALLOWED:
                break
            continue
        return Loaded(Snapshot(candidate, *frames), tuple(warnings))
    return Loaded(Snapshot.empty(), tuple(warnings))


def load_log_ends(
    store: SnapshotStore, cluster: str, times: Sequence[int]
) -> Loaded[dict[int, Frame]]:
    """Returns the log ends of these runs by their times, ms.

    An object that is missing or unreadable causes a warning and is left out. Raises StoreError if
    the store itself does not answer.
    """

    def read(time: int) -> Frame | str:
        try:
            return read_dataset(store, contract.TOPIC_PARTITIONS, cluster, time, LOG_END_COLUMNS)
        except UnusableError as error:
            key = object_key(contract.TOPIC_PARTITIONS, cluster, time)
            return f"the end offsets of {key} were left out: {error}"

    answers = dict(zip(times, _call_in_parallel(read, times), strict=True))
    warnings = [answer for answer in answers.values() if isinstance(answer, str)]
    more = len(warnings) - _NAMED_WARNINGS
    if more > 0:
        rest = f"and the end offsets of {more} more runs were left out"
        warnings = [*warnings[:_NAMED_WARNINGS], rest]
    frames = {time: answer for time, answer in answers.items() if isinstance(answer, Frame)}
    return Loaded(frames, tuple(warnings))


def select_log_ends(topic_partitions: Frame) -> Frame:
    """Returns the columns of `topic_partitions` that later runs need."""
    columns = {name: topic_partitions.columns[name] for name in LOG_END_COLUMNS}
    return Frame(columns, len(topic_partitions))


def downsample(times: Iterable[int], taken_at: int, interval_ms: int) -> list[int]:
    """Returns the run times, ms, ascending, whose log ends the run of `taken_at` starts from.

    The last 8 intervals keep the first run in each quarter of an interval, so every scheduled one.
    Ages from 8·2^(j-1) to 8·2^j intervals keep the first run in each slot of 2^j intervals, j =
    1..6. Slots are aligned to the epoch and nested, and the first run of a slot is the first of all
    runs, retained or not. A dropped run is therefore never needed again, and a warm function knows
    the same as one that starts cold. `times` must hold all runs since `needed_since`.
    """
    retained: list[int] = []
    earlier: int | None = None
    for time in sorted(time for time in times if time < taken_at):
        quarters = _slot_quarters(taken_at - time, interval_ms)
        if quarters is not None:
            width = quarters * interval_ms
            slot = time * _POINTS_PER_INTERVAL // width
            if earlier is None or earlier * _POINTS_PER_INTERVAL // width != slot:
                retained.append(time)
        earlier = time
    return retained


def needed_since(taken_at: int, interval_ms: int) -> int:
    """Returns the earliest run time, ms, on which downsampling for `taken_at` depends."""
    widest = interval_ms << _DOUBLINGS
    return max(0, (taken_at - _EVERY_RUN_INTERVALS * widest) // widest * widest)


def _slot_quarters(age: int, interval_ms: int) -> int | None:
    """Returns the width of slots at this age, in quarters of an interval; None if none are kept."""
    doublings = ((age - 1) // (_EVERY_RUN_INTERVALS * interval_ms)).bit_length()
    if doublings > _DOUBLINGS:
        return None
    return _POINTS_PER_INTERVAL << doublings if doublings else 1


def _choose_points(
    times: Iterable[int], newest: Snapshot, taken_at: int, interval_ms: int
) -> set[int]:
    """Returns the runs whose log ends are needed; the newest set's always, whatever its age."""
    points = set(downsample(times, taken_at, interval_ms))
    return points | {newest.taken_at} if newest.taken_at else points


def _list_runs_backwards(store: SnapshotStore, cluster: str, taken_at: int) -> Iterator[int]:
    """Yields the runs before this one, the latest first.

    Lists the last hour, which is usually enough, and then day by day.
    """
    oldest = taken_at - LOOKBACK_MS
    since, before = taken_at - _HOUR_MS, taken_at
    while since < before:
        yield from reversed(list_runs(store, contract.GROUPS, cluster, since, before))
        since, before = max(oldest, since - _DAY_MS), since


def _call_in_parallel(call: Callable[[A], B], arguments: Iterable[A]) -> list[B]:
    """Returns all results, in order. After the first error no further call begins.

    A store that hangs therefore costs one timeout, not one for each call. Threads share the store:
    boto3's guide allows that for clients.
    """
    pool = ThreadPoolExecutor(_READS_AT_ONCE)
    try:
        return list(pool.map(call, arguments))
    finally:
        pool.shutdown(cancel_futures=True)
