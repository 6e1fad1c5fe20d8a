# SPDX-License-Identifier: Apache-2.0
"""All cases by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from dev.time_lag_bench.cases import shapes
from dev.time_lag_bench.cases.case import DAY, HOUR, Case, Random, Records
from dev.time_lag_bench.cases.mixed import mixed
from dev.time_lag_bench.cases.shapes import MINUTE
from dev.time_lag_bench.logs import Ints

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
    *shapes_: Callable[[Random, int], Ints | Records],
) -> Callable[[Random, int], list[Records]]:
    return lambda rng, now: [_records(make(rng, now)) for make in shapes_]


def _records(made: Ints | Records) -> Records:
    return made if isinstance(made, Records) else Records.of(made)


def _single(rng: Random, now: int) -> list[Records]:
    return [Records.of(np.array([now - int(10**exponent)])) for exponent in rng.uniform(3, 8.6, 8)]


def _soon(rng: Random, now: int) -> Ints:
    return np.sort(now + rng.integers(0, _LIVE_MS, 250))


def _ended_days_ago(rng: Random, now: int) -> Ints:
    return shapes.steady(rng, now - 4 * DAY, 2_000)


def _a_week(rng: Random, now: int) -> Ints:
    return shapes.steady(rng, now, 5_000, 2 * MINUTE)


def _a_week_by_chance(rng: Random, now: int) -> Ints:
    return shapes.by_chance(rng, now, span=7 * DAY)


def _dense(rng: Random, now: int) -> Ints:
    return shapes.steady(rng, now, 9_000, 100)


_LIST = (
    Case("steady", "a record a minute", _each(*[shapes.steady] * 4)),
    Case("bursty", "hours of silence between bursts", _each(*[shapes.bursty] * 4)),
    Case("idle", "the newest record is days old", _each(*[_ended_days_ago] * 3)),
    Case(
        "stuck",
        "a commit that stands for five days",
        _each(_a_week, _a_week, _a_week_by_chance),
        unread_since=(5 * DAY, 5 * DAY + 2 * HOUR),
    ),
    Case("one-record", "nothing else was ever written", _single, groups=6),
    Case("one-millisecond", "thousands of records at once", _each(*[shapes.equal] * 3)),
    Case(
        "backwards",
        "late data, a back-fill, falling times",
        _each(shapes.late, shapes.back_filled, shapes.falling),
    ),
    Case(
        "ahead",
        "a producer's clock is ahead: 30 minutes, two years",
        _each(shapes.ahead, shapes.ahead, shapes.ahead_at_first, shapes.years_ahead),
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
        _each(shapes.steady, shapes.by_chance, shapes.bursty, shapes.late),
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
        _each(shapes.steady, shapes.by_chance, shapes.bursty, shapes.late),
        config=_COMPACTED,
        kept=0.2,
    ),
    Case(
        "deleted-head",
        "DeleteRecords took a third",
        _each(shapes.steady, shapes.bursty, shapes.ahead_at_first, shapes.back_filled_last),
        config=_SEGMENTS,
        deleted=0.3,
    ),
    Case(
        "overtaken",
        "the log start has passed the commit",
        _each(shapes.steady, shapes.by_chance, shapes.ahead_at_first),
        config=_SEGMENTS,
        deleted=0.5,
        below_start=True,
    ),
    Case("sixty-groups", "all on one partition", _each(shapes.by_chance), groups=60),
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
