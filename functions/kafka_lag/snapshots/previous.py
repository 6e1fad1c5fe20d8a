# SPDX-License-Identifier: Apache-2.0
"""Knowledge of previous runs: loaded by a cold process, handed on from run to run by a warm one.

It is the newest complete snapshot, and log end offsets over time: all of the latest runs, then
fewer and fewer; at a run a minute, 32 points reach back 8 h.
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

LOOKBACK_DAYS = 7
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_UNREADABLE_ALLOWED = 5

LOG_END_COLUMNS = (
    *("topic", "topic_id", "partition_id"),
    *("asked_at", "read_at", "unread_reason", "end_offset"),
)

# A cold start waits for answers, not for its processor: 32 objects take four turns instead of 32.
_READS_AT_ONCE = 8

# Warnings by name; a lost rule on a bucket can make all objects unreadable.
_NAMED_WARNINGS = 3

# So many intervals with every run in them, then so many times twice as far with half as many.
_EVERY_RUN_INTERVALS = 8
_DOUBLINGS = 6

# Runs beside the schedule (by hand, or after a shorter interval) must not be points without end.
_POINTS_PER_INTERVAL = 4


@dataclass(frozen=True, slots=True)
class Loaded(Generic[T]):
    """A loaded value, and sentences about what could not be loaded."""

    value: T
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """The newest snapshot, when runs were (ms, ascending), and the log ends of some of them.

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
        """Return what the next run starts from."""
        times = tuple(sorted(self.ends))
        return PreviousRuns(self.newest, tuple(self.ends[time] for time in times), times)

    def add_run(self, snapshot: Snapshot, interval_ms: int, *, stored: bool) -> Memory:
        """Return what is known after one more run, for the run an interval later.

        Once the store takes snapshots again, what it misses is forgotten: the next run loads.
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
    """Return what the store knows before the run scheduled at `taken_at`, ms.

    Raises StoreError when the store itself does not answer.
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
    """The newest set that all three objects complete, scheduled before `taken_at`; an empty
    snapshot where there is none.

    Looks back seven days. A set that is incomplete or unreadable is warned of, and the one before
    it is taken. Raises StoreError when the store itself does not answer.
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
    """The log ends of these runs, by their times, ms; an object that is missing or unreadable
    costs its own only.

    Raises StoreError when the store itself does not answer.
    """

    def read(time: int) -> Frame | str:
        try:
            return read_dataset(store, contract.TOPIC_PARTITIONS, cluster, time, LOG_END_COLUMNS)
        except UnusableError as error:
            key = object_key(contract.TOPIC_PARTITIONS, cluster, time)
            return f"the end offsets of {key} were left out: {error}"

    answers = dict(zip(times, _call_at_once(read, times), strict=True))
    warnings = [answer for answer in answers.values() if isinstance(answer, str)]
    more = len(warnings) - _NAMED_WARNINGS
    if more > 0:
        rest = f"and the end offsets of {more} more runs were left out"
        warnings = [*warnings[:_NAMED_WARNINGS], rest]
    frames = {time: answer for time, answer in answers.items() if isinstance(answer, Frame)}
    return Loaded(frames, tuple(warnings))


def select_log_ends(topic_partitions: Frame) -> Frame:
    """Return the columns of `topic_partitions` that later runs need."""
    columns = {name: topic_partitions.columns[name] for name in LOG_END_COLUMNS}
    return Frame(columns, len(topic_partitions))


def downsample(times: Iterable[int], taken_at: int, interval_ms: int) -> list[int]:
    """Return the run times, ms, ascending, whose log ends the run of `taken_at` starts from.

    The last 8 intervals keep the first run in each quarter of an interval, so every scheduled
    one; ages from 8·2^(j-1) to 8·2^j intervals keep the first run in each slot of 2^j intervals,
    j = 1..6. Slots are aligned to the epoch and lie in one another, and the first is that of all
    runs, retained or not: what is dropped once is never wanted again, so a run that steps from
    point to point knows the same as one that starts cold. `times` must hold all since
    `needed_since`.
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
    """The earliest run time, ms, on which downsampling for `taken_at` depends."""
    widest = interval_ms << _DOUBLINGS
    return max(0, (taken_at - _EVERY_RUN_INTERVALS * widest) // widest * widest)


def _slot_quarters(age: int, interval_ms: int) -> int | None:
    """Return the width of slots at this age, in quarters of an interval; null if none are kept."""
    doublings = ((age - 1) // (_EVERY_RUN_INTERVALS * interval_ms)).bit_length()
    if doublings > _DOUBLINGS:
        return None
    return _POINTS_PER_INTERVAL << doublings if doublings else 1


def _choose_points(
    times: Iterable[int], newest: Snapshot, taken_at: int, interval_ms: int
) -> set[int]:
    """Runs whose log ends are wanted; the newest set's always, however old it is."""
    points = set(downsample(times, taken_at, interval_ms))
    return points | {newest.taken_at} if newest.taken_at else points


def _list_runs_backwards(store: SnapshotStore, cluster: str, taken_at: int) -> Iterator[int]:
    """Runs before this one, the latest first: of an hour, as a rule enough, then day by day."""
    oldest = taken_at - LOOKBACK_DAYS * _DAY_MS
    since, before = taken_at - _HOUR_MS, taken_at
    while since < before:
        yield from reversed(list_runs(store, contract.GROUPS, cluster, since, before))
        since, before = max(oldest, since - _DAY_MS), since


def _call_at_once(call: Callable[[A], B], arguments: Iterable[A]) -> list[B]:
    """All results, in order. The first error ends it, and calls that have not begun are not made:
    a store that hangs costs one time-out then, not one for each.

    Stores are shared among threads: boto3's clients may be, as its guide to threads says.
    """
    pool = ThreadPoolExecutor(_READS_AT_ONCE)
    try:
        return list(pool.map(call, arguments))
    finally:
        pool.shutdown(cancel_futures=True)
