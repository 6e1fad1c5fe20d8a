# SPDX-License-Identifier: Apache-2.0
"""Logs on brokers, and the right lags and ages at a time.

They follow from the records written and the commits made. Times are seconds since 1970.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any, TypeAlias

from confluent_kafka import Message

# A program reads commits and log ends one after the other: so far apart.
READS_APART = 3.0

GroupPartition: TypeAlias = tuple[str, str, int]
# Values that are right, bounds included.
Range: TypeAlias = tuple[float, float]
# Programs show lags by group, topic and partition, or the worst ages by group and topic.
LAG, AGE = 0, 1


@dataclass(frozen=True, slots=True)
class Expected:
    """The right values; `present`: a value must (True), must not (False) or may (None) be shown."""

    present: bool | None
    ranges: tuple[Range, ...] = ()

    def allows(self, value: float) -> bool:
        """Returns whether the value is right."""
        return any(low <= value <= high for low, high in self.ranges)


@dataclass(slots=True)
class Log:
    """A partition from its creation to its deletion, with its end and its start by time.

    `unreadable` offsets hold markers, or records that no reader of committed records is given.
    """

    begun: float
    over: float = math.inf
    ends: list[tuple[float, int]] = field(default_factory=list)
    starts: list[tuple[float, int]] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    unreadable: set[int] = field(default_factory=set)

    def append(self, acknowledged: float, offset: int, stamp: float) -> None:
        """Takes a record with its timestamp."""
        self.offsets.append(offset)
        self.stamps.append(stamp)
        self.ends.append((acknowledged, offset + 1))

    def measure(
        self, committed: int, begin: float, end: float
    ) -> Iterator[tuple[object, tuple[Range, Range]]]:
        """Yields lag and age from begin to end by each honest reading, with the reading's name.

        Records that no reader is given count or do not count. If the commit lies outside the log,
        either the log's start counts or the commit.
        """
        least = _last(self.ends, begin - READS_APART) or 0
        most = _last(self.ends, end + READS_APART) or 0
        start = _last(self.starts, begin) or 0
        inside = start <= committed <= most
        for first in (committed,) if inside else (committed, start):
            for name, skipped in (("all", set[int]()), ("readable", self.unreadable)):
                lag = _count(first, least, skipped), _count(first, most, skipped)
                place = bisect_left(self.offsets, first)
                while place < len(self.offsets) and self.offsets[place] in skipped:
                    place += 1
                if place == len(self.offsets) or self.offsets[place] >= most:
                    age = 0.0, 0.0
                else:
                    low, high = (max(0.0, at - self.stamps[place]) for at in (begin, end))
                    age = low if self.offsets[place] < least else 0.0, high
                yield (first == committed, name), (lag, age)


def _count(first: int, end: int, skipped: Iterable[int]) -> int:
    return max(0, end - first) - sum(first <= each < end for each in skipped)


def _last(changes: Sequence[tuple[float, int | None]], at: float) -> int | None:
    """Returns the value at a time; None before the first one."""
    place = bisect_right(changes, at, key=lambda each: each[0])
    return changes[place - 1][1] if place else None


class History:
    """All logs and commits of a run. No value is right too for `hidden` topics."""

    def __init__(self) -> None:
        self.logs: dict[tuple[str, int], list[Log]] = defaultdict(list)
        self.commits: dict[GroupPartition, list[tuple[float, int | None]]] = defaultdict(list)
        self.hidden: set[str] = set()

    def take(self, error: object, message: Message) -> None:
        """Takes a record that the brokers acknowledged now; nothing if there is an error."""
        if error is None:
            # A record that was written has all of these, whatever the client's types say.
            at: Any = message.topic(), message.partition()
            offset: Any = message.offset()
            self.logs[at][-1].append(time.time(), offset, message.timestamp()[1] / 1_000)

    def expect(
        self, number: int, keys: Iterable[GroupPartition], since: float, until: float
    ) -> Expected:
        """Returns the right values at some moment of the time; of several partitions the worst."""
        known = [
            each
            for each in (self._expect(number, key, since, until) for key in keys)
            if each.present is not False
        ]
        if not known:
            return Expected(False)
        # Partitions with several readings are few, so that all pairings of them are few.
        worst = (
            (max(low for low, _ in ranges), max(high for _, high in ranges))
            for ranges in product(*(each.ranges for each in known))
        )
        present = True if any(each.present for each in known) else None
        return Expected(present, tuple(dict.fromkeys(worst)))

    def _expect(self, number: int, at: GroupPartition, since: float, until: float) -> Expected:
        lives, commits = self.logs[at[1:]], self.commits[at]
        changes = {each for each, _ in commits}
        for log in lives:
            changes |= {log.begun, log.over, *(each for each, _ in log.starts)}
        bounds = [since, *sorted(each for each in changes if since < each < until), until]
        found: dict[object, list[Range]] = defaultdict(list)
        missing = at[1] in self.hidden
        for begin, end in pairwise(bounds):
            committed = _last(commits, begin)
            alive = next((log for log in lives if log.begun <= begin < log.over), None)
            if committed is None or alive is None:
                missing = True
                continue
            for reading, values in alive.measure(committed, begin, end):
                found[reading].append(values[number])
        ranges = [
            (min(low for low, _ in each), max(high for _, high in each)) for each in found.values()
        ]
        present = False if not found else None if missing else True
        return Expected(present, tuple(dict.fromkeys(ranges)))
