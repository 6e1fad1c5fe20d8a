# SPDX-License-Identifier: Apache-2.0
"""What was planted: records and commits with the times of their acknowledgements, and the lag and
the age that a program may show of them. Times are seconds since 1970."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

# A program reads commits and log ends one after the other: so far apart, in seconds.
READS_APART = 3.0

TopicPartition = tuple[str, int]
GroupTopic = tuple[str, str]
GroupPartition = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Range:
    """Values that are right, bounds included; `reading` says by which definition."""

    low: float
    high: float
    reading: str = ""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def widened(self, least: float, share: float) -> Range:
        """With an allowance to both sides: the larger of `least` and the share of the bound."""
        low = self.low - max(least, self.low * share)
        return Range(low, self.high + max(least, self.high * share), self.reading)


@dataclass(frozen=True, slots=True)
class Expected:
    """What may be shown in a span of time. `present`: a value must be, must not be, null: may."""

    present: bool | None
    ranges: tuple[Range, ...] = ()

    def allows(self, value: float) -> bool:
        """Whether the value is one of those that are right."""
        return any(value in each for each in self.ranges)


@dataclass(slots=True)
class Change:
    """A value that held from a time between `sent` and `acked` on; null: none."""

    sent: float
    acked: float
    offset: int | None


@dataclass(slots=True)
class PlantedLog:
    """One partition of a topic: `ends` and `starts` by time, the timestamp of each record."""

    ends: list[Change] = field(default_factory=list)
    starts: list[Change] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    # Records that no consumer is given: aborted, or compacted away.
    unreadable: set[int] = field(default_factory=set)
    # Of the topics that had the name before: when each was gone, its offsets and timestamps.
    before: list[tuple[float, list[int], list[float]]] = field(default_factory=list)

    def first_readable(self, offset: int, time: float) -> float | None:
        """The timestamp of the first record at the offset or behind it; null where none is."""
        offsets, stamps = self.offsets, self.stamps
        for gone, earlier, their_stamps in reversed(self.before):
            if time < gone:
                offsets, stamps = earlier, their_stamps
        for place in range(bisect_left(offsets, offset), len(offsets)):
            if offsets[place] not in self.unreadable:
                return stamps[place]
        return None

    def gone(self, sent: float, acked: float) -> None:
        """The topic is deleted."""
        for changes in (self.ends, self.starts):
            changes.append(Change(sent, acked, None))
        self.before.append((acked, self.offsets, self.stamps))
        self.offsets, self.stamps = [], []


@dataclass(frozen=True, slots=True)
class Moment:
    """What is possible at one time: commits, and bounds of the log's end and start."""

    commits: frozenset[int | None]
    ends: tuple[int | None, int | None]
    start: int


class Planted:
    """The record of all that was planted; written by many threads.

    `also` are further readings of a lag or an age that are as good as the first, such as records
    that were deleted unread counted as lag, or not.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.logs: dict[TopicPartition, PlantedLog] = defaultdict(PlantedLog)
        self.commits: dict[GroupPartition, list[Change]] = defaultdict(list)
        self.also_lags: dict[GroupPartition, list[Range]] = defaultdict(list)
        # Nobody can know these: no value is right as well.
        self.unknowable: set[GroupPartition] = set()
        self.also_stamps: dict[GroupPartition, list[tuple[float | None, str]]] = defaultdict(list)

    def expected_lag(self, at: GroupPartition, since: float, until: float) -> Expected:
        """The lags that are true at a time of the span."""
        with self.lock:
            found: list[Range] = []
            missing = False
            for _, moment in self._moments(at, since, until):
                for committed in moment.commits:
                    if committed is None or moment.ends[0] is None or moment.ends[1] is None:
                        missing = True
                        continue
                    unread = [max(0, end - committed) for end in moment.ends if end is not None]
                    if committed >= moment.start:
                        found.append(Range(min(unread), max(unread)))
                        continue
                    left = [max(0, end - moment.start) for end in moment.ends if end is not None]
                    found.append(Range(min(left), max(left), "what is left"))
                    found.append(Range(min(unread), max(unread), "deleted records counted"))
            return _expected(found, missing or at in self.unknowable, self.also_lags[at])

    def expected_age(self, at: GroupPartition, since: float, until: float) -> Expected:
        """The ages of the first unread record at a time of the span, in seconds."""
        with self.lock:
            log = self.logs[at[1], at[2]]
            found: list[Range] = []
            missing = False
            for time, moment in self._moments(at, since, until):
                for committed in moment.commits:
                    if committed is None or moment.ends[0] is None or moment.ends[1] is None:
                        missing = True
                        continue
                    least, most = moment.ends[0], moment.ends[1]
                    for offset, reading in _unread(committed, moment.start):
                        stamp = log.first_readable(offset, time)
                        age = 0.0 if stamp is None or most <= offset else max(0.0, time - stamp)
                        found.append(Range(0.0 if least <= offset else age, age, reading))
            also = [
                Range(*(2 * (0.0,) if stamp is None else (since - stamp, until - stamp)), reading)
                for stamp, reading in self.also_stamps[at]
            ]
            return _expected(found, missing or at in self.unknowable, also)

    def _moments(
        self, at: GroupPartition, since: float, until: float
    ) -> Iterator[tuple[float, Moment]]:
        log, commits = self.logs[at[1], at[2]], self.commits[at]
        for time in sorted({since, until, *_times([*log.ends, *commits], since, until)}):
            lows = _possible(log.ends, time - READS_APART)
            highs = _possible(log.ends, time + READS_APART)
            now = _possible(log.ends, time)
            gone = None in now and len(now) == 1
            ends = (None, None) if gone else (_least(lows), _most(highs))
            starts = [each for each in _possible(log.starts, time) if each is not None]
            yield time, Moment(_possible(commits, time), ends, max(starts, default=0))


def expected_worst(each: Iterable[Expected]) -> Expected:
    """Of the partitions of a topic: the largest age, where one is shown."""
    known = [one for one in each if one.present is not False]
    if not known:
        return Expected(False)
    ranges = reduce(_larger, (one.ranges for one in known))
    present = True if any(one.present for one in known) else None
    return Expected(present, ranges)


def expected_largest(each: Iterable[Expected]) -> Expected:
    """The one whose values are the largest; that nothing is shown where none has any."""
    shown = [one for one in each if one.ranges]
    return max(shown, key=lambda one: max(e.high for e in one.ranges), default=Expected(False))


def _larger(some: tuple[Range, ...], others: tuple[Range, ...]) -> tuple[Range, ...]:
    found = {
        Range(max(a.low, b.low), max(a.high, b.high), a.reading or b.reading)
        for a in some
        for b in others
    }
    return tuple(sorted(found, key=lambda each: (bool(each.reading), each.low)))


def _unread(committed: int, start: int) -> list[tuple[int, str]]:
    if committed >= start:
        return [(committed, "")]
    return [(start, "what is left"), (committed, "deleted records counted")]


def _expected(found: Iterable[Range], missing: bool, also: Iterable[Range]) -> Expected:
    by_reading: dict[str, Range] = {}
    for each in found:
        known = by_reading.get(each.reading, each)
        low, high = min(known.low, each.low), max(known.high, each.high)
        by_reading[each.reading] = Range(low, high, each.reading)
    if not by_reading:
        return Expected(False)
    return Expected(None if missing else True, (*by_reading.values(), *also))


def _times(changes: Iterable[Change], since: float, until: float) -> Iterator[float]:
    for each in changes:
        for time in (each.sent, each.acked):
            if since < time < until:
                yield time


def _possible(changes: list[Change], time: float) -> frozenset[int | None]:
    """The last value acknowledged by then, and those that were under way."""
    settled: int | None = None
    under_way: set[int | None] = set()
    for each in changes:
        if each.acked <= time:
            settled = each.offset
            under_way.clear()
        elif each.sent <= time:
            under_way.add(each.offset)
    return frozenset({settled, *under_way})


def _least(values: Iterable[int | None]) -> int | None:
    return min((each for each in values if each is not None), default=None)


def _most(values: Iterable[int | None]) -> int | None:
    return max((each for each in values if each is not None), default=None)


def partitions_by_topic(
    keys: Iterable[GroupPartition],
) -> Mapping[GroupTopic, list[GroupPartition]]:
    """The keys of each group and topic."""
    found: dict[GroupTopic, list[GroupPartition]] = defaultdict(list)
    for key in keys:
        found[key[0], key[1]].append(key)
    return found
