# SPDX-License-Identifier: Apache-2.0
"""What is written: the times of records, how they are batched, and where commits lie, by case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from dev.benchmarks.time_lag.logs import Ints

Random: TypeAlias = np.random.Generator
Codec: TypeAlias = Literal["none", "lz4", "zstd"]

HOUR = 3_600_000
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class Records:
    """A partition's records in the order written: their own times, and when each came, ms."""

    times: Ints
    appended: Ints

    @classmethod
    def of(cls, times: Ints) -> Records:
        """Records of right clocks: none came before its own time, and one may be late."""
        return cls(times, np.maximum.accumulate(times))


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which logs come about.

    `partitions` makes a topic's records, given the moment they should end at (`pace` `at once`)
    or begin at (`live` and `transactions`, which are written as that time passes). Codecs take
    turns over partitions; a `batch` holds so many records at most. `kept` is the
    share of a compacted topic's records that have a key of their own; `deleted` the share of
    each log that is deleted at the end. `unread_since` as in `logs.chosen`.
    """

    name: str
    summary: str
    partitions: Callable[[Random, int], list[Records]]
    topics: int = 1
    groups: int = 16
    config: Mapping[str, str] = field(default_factory=dict)
    codecs: tuple[Codec, ...] = ("none",)
    batch: int = 250
    pace: Literal["at once", "live", "transactions"] = "at once"
    kept: float | None = None
    deleted: float = 0.0
    below_start: bool = False
    unread_since: tuple[int, int] | None = None
    allowed_lag: int = 0

    @property
    def names(self) -> list[str]:
        """The topics."""
        return [f"{self.name}-{number:02}" for number in range(self.topics)]

    def groups_of(self, topic: str) -> list[str]:
        """The groups that read a topic; each also reads a neighbour, where there are several."""
        first = self.names.index(topic)
        return [f"{self.name}-group-{first + number:02}" for number in range(self.groups)]


MINUTE = 60_000


def steady(rng: Random, now: int, count: int = 4_000, every: int = MINUTE) -> Ints:
    """One record after the other, each up to a quarter of the step early or late."""
    step = max(1, every // 4)
    return now - every * np.arange(count, 0, -1) + rng.integers(-step, step, count)


def by_chance(rng: Random, now: int, count: int = 3_000, span: int = 3 * DAY) -> Ints:
    """As customers come: no step at all."""
    return np.sort(now - rng.integers(0, span, count))


def bursty(rng: Random, now: int, bursts: int = 24, size: int = 150) -> Ints:
    """A minute of records, then two to nine hours of silence."""
    begins = now - np.cumsum(rng.integers(2 * HOUR, 9 * HOUR, bursts))
    return np.sort((begins[:, None] + rng.integers(0, MINUTE, (bursts, size))).ravel())


def equal(rng: Random, now: int, runs: int = 3, size: int = 2_500) -> Ints:
    """Thousands of records of one millisecond, a few alone around them."""
    return np.sort(np.append(np.repeat(by_chance(rng, now, runs), size), by_chance(rng, now, 40)))


def late(rng: Random, now: int) -> Ints:
    """Every tenth record comes up to six hours after its time."""
    times = steady(rng, now)
    some = rng.choice(len(times), len(times) // 10, replace=False)
    times[some] -= rng.integers(0, 6 * HOUR, len(some))
    return times


def back_filled(rng: Random, now: int) -> Ints:
    """In the middle a thousand records that are days older than those around them."""
    times = steady(rng, now)
    middle = len(times) // 2
    return np.insert(times, middle, times[middle] - 2 * DAY + np.arange(1_000) * 1_000)


def falling(rng: Random, now: int) -> Ints:
    """The newest record first."""
    return steady(rng, now, count=1_000)[::-1].copy()


def ahead(rng: Random, now: int, by: int = HOUR // 2, share: float = 0.002) -> Records:
    """A few records of a producer whose clock is ahead, one of them minutes ago."""
    came = steady(rng, now)
    wrong = rng.random(len(came)) < share
    wrong[-10] = True
    return Records(came + by * wrong, np.maximum.accumulate(came))


def ahead_at_first(rng: Random, now: int) -> Records:
    """In the first third a clock was a day ahead now and then."""
    came = steady(rng, now)
    times = came.copy()
    times[rng.choice(len(came) // 3, len(came) // 60)] += DAY
    return Records(times, came)


def years_ahead(rng: Random, now: int) -> Records:
    """One record in the middle is dated two years ahead."""
    came = steady(rng, now)
    times = came.copy()
    times[len(times) // 2] += 730 * DAY
    return Records(times, came)


def back_filled_last(rng: Random, now: int) -> Ints:
    """The first third is new, the rest was written after it and is older."""
    new, old = steady(rng, now - HOUR, 1_000), steady(rng, now - 3 * DAY, 2_000)
    return np.append(new, old)


_COUNT = 300


def mixed(rng: Random, now: int) -> list[Records]:
    """Thirteen partitions, each of any shape, some hundred records long."""
    weights = np.array([weight for weight, _ in _SHAPES])
    picked = rng.choice(len(_SHAPES), 13, p=weights / weights.sum())
    return [Records.of(_SHAPES[place][1](rng, now)) for place in picked]


def _regular(rng: Random, now: int) -> Ints:
    return steady(rng, now, _COUNT, int(rng.integers(100, 10 * MINUTE)))


def _idle(rng: Random, now: int) -> Ints:
    return _regular(rng, now - int(rng.integers(HOUR, 4 * DAY)))


def _busy(rng: Random, now: int) -> Ints:
    return by_chance(rng, now, 4 * _COUNT, int(rng.integers(HOUR, 6 * DAY)))


def _sparse(rng: Random, now: int) -> Ints:
    return by_chance(rng, now, _COUNT, int(rng.integers(HOUR, 6 * DAY)))


def _bursty(rng: Random, now: int) -> Ints:
    return bursty(rng, now, 6, _COUNT // 6)


def _late(rng: Random, now: int) -> Ints:
    return _sparse(rng, now) - rng.integers(0, HOUR, _COUNT)


def _equal(rng: Random, now: int) -> Ints:
    return equal(rng, now, 2, _COUNT // 2)


_SHAPES: tuple[tuple[int, Callable[[Random, int], Ints]], ...] = (
    (5, _regular),
    (4, _idle),
    (5, _busy),
    (2, _sparse),
    (2, _bursty),
    (1, _late),
    (1, _equal),
)


WIDE = "wide"
MOVING = "moving"

_SEGMENTS = {"segment.ms": str(6 * HOUR)}  # by the records' own times
_COMPACTED = {
    **_SEGMENTS,
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.001",
    "delete.retention.ms": "0",
}
_LIVE_MS = 12_000


def _each(
    *makers: Callable[[Random, int], Ints | Records],
) -> Callable[[Random, int], list[Records]]:
    return lambda rng, now: [_records(make(rng, now)) for make in makers]


def _records(made: Ints | Records) -> Records:
    return made if isinstance(made, Records) else Records.of(made)


def _single(rng: Random, now: int) -> list[Records]:
    return [Records.of(np.array([now - int(10**exponent)])) for exponent in rng.uniform(3, 8.6, 8)]


def _soon(rng: Random, now: int) -> Ints:
    return np.sort(now + rng.integers(0, _LIVE_MS, 250))


def _ended_days_ago(rng: Random, now: int) -> Ints:
    return steady(rng, now - 4 * DAY, 2_000)


def _a_week(rng: Random, now: int) -> Ints:
    return steady(rng, now, 5_000, 2 * MINUTE)


def _a_week_by_chance(rng: Random, now: int) -> Ints:
    return by_chance(rng, now, span=7 * DAY)


def _dense(rng: Random, now: int) -> Ints:
    return steady(rng, now, 9_000, 100)


_LIST = (
    Case("steady", "a record a minute", _each(*[steady] * 4)),
    Case("bursty", "hours of silence between bursts", _each(*[bursty] * 4)),
    Case("idle", "the newest record is days old", _each(*[_ended_days_ago] * 3)),
    Case(
        "stuck",
        "a commit that stands for five days",
        _each(_a_week, _a_week, _a_week_by_chance),
        unread_since=(5 * DAY, 5 * DAY + 2 * HOUR),
    ),
    Case("one-record", "nothing else was ever written", _single, groups=6),
    Case("one-millisecond", "thousands of records at once", _each(*[equal] * 3)),
    Case(
        "backwards",
        "late data, a back-fill, falling times",
        _each(late, back_filled, falling),
    ),
    Case(
        "ahead",
        "a producer's clock is ahead: 30 minutes, two years",
        _each(ahead, ahead, ahead_at_first, years_ahead),
        config={"message.timestamp.after.max.ms": str(1_000 * DAY)},
    ),
    Case(
        "log-append-time",
        "dated by the broker",
        _each(_soon, _soon, _soon),
        config={"message.timestamp.type": "LogAppendTime"},
        pace="live",
    ),
    Case(
        "compressed",
        "thousands of records a batch, lz4 and zstd",
        _each(steady, by_chance, bursty, late),
        codecs=("lz4", "zstd"),
        batch=10_000,
    ),
    Case(
        "transactions",
        "markers take offsets",
        _each(_soon, _soon, _soon),
        pace="transactions",
        allowed_lag=1,
    ),
    Case(
        "compacted",
        "most offsets hold no record any more",
        _each(steady, by_chance, bursty, late),
        config=_COMPACTED,
        kept=0.2,
    ),
    Case(
        "deleted-head",
        "DeleteRecords took a third",
        _each(steady, bursty, ahead_at_first, back_filled_last),
        config=_SEGMENTS,
        deleted=0.3,
    ),
    Case(
        "overtaken",
        "the log start has passed the commit",
        _each(steady, by_chance, ahead_at_first),
        config=_SEGMENTS,
        deleted=0.5,
        below_start=True,
    ),
    Case("sixty-groups", "all on one partition", _each(by_chance), groups=60),
    Case(
        MOVING,
        "commits move, minutes behind a steady producer",
        _each(*[_dense] * 4),
        unread_since=(MINUTE, 4 * MINUTE),
    ),
    Case(
        WIDE,
        "some 2,000 lagging positions of every shape",
        mixed,
        topics=80,
        groups=2,
        batch=10_000,
    ),
)

CASES: Mapping[str, Case] = MappingProxyType({case.name: case for case in _LIST})
