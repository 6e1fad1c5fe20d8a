# SPDX-License-Identifier: Apache-2.0
"""Hard bounds for the time from which a record could be read: log ends that runs saw before."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import PreviousRuns

_PARTITION = ("topic", "partition_id")
_NEVER = np.iinfo(np.int64).max
# A run begins when it is scheduled, or is late; the clocks of AWS agree much better than this.
_EARLY_MS, _LATE_MS = 1_000, 60_000


@dataclass(frozen=True, slots=True)
class Ends:
    """Per run (rows, the oldest first, this one last) and partition: end, clock before and after.

    `usable` is false where a run knew nothing of the partition, or nothing that can be trusted;
    `contradicted` counts readings left out because of other runs' clocks. `doubted`, by partition,
    is the earliest time, ms, told by a clock that is not trusted, where such a one was the last
    before this run's: what that run left behind is not to be believed from this time on.
    """

    end: Rows
    asked: Rows
    read: Rows
    usable: Mask
    contradicted: int
    doubted: Column


def ends_of(partitions: Frame, earlier: tuple[Frame, ...], on_time: Mask | None = None) -> Ends:
    """The ends known for these topic_partitions rows, each of which was read now.

    `on_time` marks the earlier runs whose clock may be right; None: nobody can tell.
    """
    runs = [_aligned(partitions, run) for run in earlier]
    runs.append((partitions, np.zeros(len(partitions), bool)))
    end, asked, read = (_stacked(runs, n) for n in ("end_offset", "asked_at", "read_at"))
    known = _once(asked.values, read.values, end.known & asked.known & read.known)
    same = _unbroken(end.values, known, np.array([other for _, other in runs]))
    known = same if on_time is None else same & np.append(on_time, True)[:, np.newaxis]
    trusted = _in_order(asked.values, read.values, known)
    contradicted = int((known & ~trusted).sum())
    nobody_can_tell = np.full(len(partitions), on_time is None)
    doubted = _doubted(asked.values, same, trusted).only(~nobody_can_tell)
    return Ends(end.values, asked.values, read.values, trusted, contradicted, doubted)


def bounds_of(ends: Ends, column: Rows, offset: Rows) -> Bounds:
    """Bounds for records by what log ends say; `column` is each record's partition in `ends`.

    An end at or below the record, told after the moment it was asked for, proves that the record
    came later than that; an end beyond it proves that it was there when the answer came.
    """
    length = len(offset)
    after, before = Column.unknown(length), Column.unknown(length)
    end_after, end_before = Column.unknown(length), Column.unknown(length)
    for run in range(len(ends.end)):
        end, usable = ends.end[run][column], ends.usable[run][column]
        _put(after, end_after, usable & (end <= offset), ends.asked[run][column], end)
        first = usable & (end > offset) & ~before.known
        _put(before, end_before, first, ends.read[run][column], end)
    return Bounds(after, before, end_after, end_before)


def _aligned(partitions: Frame, run: Frame) -> tuple[Frame, Mask]:
    """The run's rows in our order, and where they are of another topic by the same name."""
    rows = run.take(locate(partitions, run, _PARTITION))
    theirs = rows.strings("topic_id")
    ours = partitions.strings("topic_id").codes_in(theirs.categories)
    differs = ~(ours.known & (ours.values == theirs.codes.values))
    return rows, partitions.strings("topic_id").known & theirs.known & differs


def on_schedule(
    partitions: Frame, past: PreviousRuns, taken_at: int, interval_ms: int
) -> Mask | None:
    """Earlier runs whose clock may be that of their schedule, as all whose schedule is unknown.

    None where this run's own clock contradicts `taken_at`, for which it was scheduled.
    """
    most = max(interval_ms, _LATE_MS)
    if not _in_time(partitions, taken_at, most):
        return None
    runs = zip_longest(past.ends, past.scheduled[: len(past.ends)])
    return np.array([time is None or _in_time(run, time, most) for run, time in runs], bool)


def _in_time(run: Frame, taken_at: int, most_late: int) -> bool:
    """By its latest reading; rows that were carried tell of the clocks of runs before."""
    asked = run.numbers("asked_at").only(~run.strings("unread_reason").known)
    late = asked.values[asked.known].max(initial=0) - taken_at
    return not asked.known.any() or bool(-_EARLY_MS <= late <= most_late)


def _doubted(asked: Rows, known: Mask, trusted: Mask) -> Column:
    """The earliest time told by a wrong clock, where the last before this run was such a one."""
    good = known[:-1] & trusted[:-1]
    # The latest readings only: right ones in between end what an earlier wrong clock said.
    since = ~np.logical_or.accumulate(good[::-1], axis=0)[::-1]
    bad = known[:-1] & since
    earliest = np.where(bad, asked[:-1], _NEVER).min(axis=0, initial=_NEVER)
    return Column(earliest, np.asarray(bad.any(axis=0)))


def _stacked(runs: list[tuple[Frame, Mask]], name: str) -> Column:
    columns = [frame.numbers(name) for frame, _ in runs]
    return Column(np.array([c.values for c in columns]), np.array([c.known for c in columns]))


def _once(asked: Rows, read: Rows, known: Mask) -> Mask:
    """Each reading once: a row that could not be read repeats the times of its last reading.

    The first to tell of it is not always still there, as older runs are thinned out.
    """
    first = known.copy()
    last_asked, last_read = np.full_like(asked[0], -1), np.full_like(read[0], -1)
    for run in range(len(known)):
        first[run] &= (asked[run] != last_asked) | (read[run] != last_read)
        last_asked = np.where(known[run], asked[run], last_asked)
        last_read = np.where(known[run], read[run], last_read)
    return first


def _unbroken(end: Rows, known: Mask, other: Mask) -> Mask:
    """Readings since which the end never went back and the topic stayed the same."""
    later = np.where(known, end, _NEVER)
    least = np.minimum.accumulate(later[::-1], axis=0)[::-1]
    broken = other | (known & (end > least))
    since = np.logical_or.accumulate(broken[::-1], axis=0)[::-1]
    mask: Mask = known & ~since
    return mask


def _in_order(asked: Rows, read: Rows, known: Mask) -> Mask:
    """Readings that ended before every later one began, and began after every earlier ended.

    One that is ahead of this run's own clock is wrong by itself, and no witness against others.
    """
    usable = known.copy()
    usable[:-1] &= read[:-1] <= asked[-1]
    begun_later = np.minimum.accumulate(np.where(usable, asked, _NEVER)[::-1], axis=0)[::-1]
    ended_before = np.maximum.accumulate(np.where(usable, read, -1), axis=0)
    fine = usable & (asked <= read)
    fine[:-1] &= read[:-1] <= begun_later[1:]
    fine[1:-1] &= asked[1:-1] >= ended_before[:-2]
    # This run's own clock is what "now" means, right or wrong.
    fine[-1] = usable[-1]
    return fine


def _put(times: Column, ends: Column, where: Mask, time: Rows, end: Rows) -> None:
    times.values[where], times.known[where] = time[where], True
    ends.values[where], ends.known[where] = end[where], True


# A follower that hangs holds the high watermark back for so long before it leaves the in-sync
# replicas (replica.lag.time.max.ms, by default): the log's end as consumers see it stands still,
# though records are appended, and a record's time may be as much earlier than it could be read.
HELD_BACK_MS = 30_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """`after` and `before`, ms, hold that time between them; unknown is unbounded.

    `end_after` and `end_before` are the log's ends at those moments; unknown where a bound is
    not from a reading of the log's end.
    """

    after: Column
    before: Column
    end_after: Column
    end_before: Column

    @property
    def width(self) -> Column:
        """How far the bounds are apart, ms."""
        known = self.after.known & self.before.known
        return Column(np.where(known, self.before.values - self.after.values, 0), known)

    def take(self, rows: Rows) -> Bounds:
        """The bounds of these records."""
        return Bounds(
            self.after.take(rows),
            self.before.take(rows),
            self.end_after.take(rows),
            self.end_before.take(rows),
        )

    def within(self, other: Bounds) -> Bounds:
        """These bounds, tightened by record times; these alone where the two contradict.

        Times that come before these by HELD_BACK_MS at most do not: then the bounds hold both.
        """
        both = self.after.known & other.before.known
        floor = self.after.values - HELD_BACK_MS
        clash = both & (other.before.values < floor)
        clash |= self.before.known & other.after.known & (other.after.values > self.before.values)
        early = both & (other.before.values < self.after.values)
        held_back = early | (both & other.after.known & (other.after.values < self.after.values))
        low = np.where(other.after.known, np.maximum(other.after.values, floor), floor)
        later = _better(self.after, other.after, clash, other.after.values > self.after.values)
        sooner = _better(self.before, other.before, clash, other.before.values < self.before.values)
        sooner &= ~early
        return Bounds(
            Column.of(low).where(held_back & ~clash, other.after.where(later, self.after)),
            other.before.where(sooner, self.before),
            other.end_after.where(later, self.end_after),
            other.end_before.where(sooner, self.end_before),
        )


def carried_bounds(after: Column, before: Column) -> Bounds:
    """Bounds that an earlier run found; the log's ends at those moments are not known any more."""
    return Bounds(after, before, Column.unknown(len(after)), Column.unknown(len(before)))


def _better(ours: Column, theirs: Column, clash: Mask, tighter: Mask) -> Mask:
    mask: Mask = theirs.known & ~clash & (~ours.known | tighter)
    return mask
