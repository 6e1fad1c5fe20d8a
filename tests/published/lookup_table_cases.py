# SPDX-License-Identifier: Apache-2.0
"""The cases with which kafka-lag-exporter tests its look-up table, and our result for each.

Numbers and answers are those of github.com/seglo/kafka-lag-exporter at commit
3fcb3c79f5a62745a167e9bc4cd92f0228cf9ad5, the table kept in memory and the one kept in Redis, in
`src/test/scala/com/lightbend/kafkalagexporter/LookupTableSpec.scala`. Its cases about the number of
points that it keeps are left out, because no look-up follows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from kafka_lag.contract import METHOD_AT_LEAST, METHOD_INTERPOLATED, METHOD_NONE

# The log's end, and when it was read.
Point: TypeAlias = tuple[int, int]

# What the look-up table answers where it predicts no time.
TOO_FEW_POINTS, LAG_IS_ZERO = "TooFewPoints", "LagIsZero"

INTERPOLATED, AT_LEAST, NOTHING = METHOD_INTERPOLATED, METHOD_AT_LEAST, METHOD_NONE


@dataclass(frozen=True, slots=True)
class Case:
    """Points, the committed offset asked for, and the time since when it is not the end.

    `theirs` is a predicted time or a word; `ours` the time stated at the last point, if any, by
    `method`. `why` is given where theirs lies outside of what ours states as proven.
    """

    points: Sequence[Point]
    asked: int
    theirs: float | str
    ours: float | None
    method: str | None
    why: str = ""


_OLDER = "older than all readings: at least as old as the first, no line drawn on beyond it"
_PAST_END = "a commit past the end leaves nothing unread: 0, and never a time to come"
_FLAT = "an idle log ages from its first reading on: the error is unbounded, the value is not"

_SQUARE = [(100, 100), (200, 200)]
_STEPS = [(100, 30), (200, 60), (200, 120), (200, 700), (300, 730), (300, 9_000), (400, 9_030)]
_IDLE = [(100, 100), (100, 200), (100, 300), (100, 400)]
# The table in memory starts with two points more, and has dropped them when it is asked.
_FASTER = [(0, 0), (10, 1), (200, 2), (3_000, 3), (40_000, 4)]

# Ours dates the middle of the next unread record: half a record later than where it begins.
CASES = {
    "no point": Case([], 0, TOO_FEW_POINTS, None, None),
    "one point": Case([(100, 100)], 0, TOO_FEW_POINTS, None, None),
    "one point, read to it": Case([(0, 100)], 0, LAG_IS_ZERO, 100, NOTHING),
    "square, 150": Case(_SQUARE, 150, 150, 150.5, INTERPOLATED),
    "square, 100": Case(_SQUARE, 100, 100, 100.5, INTERPOLATED),
    "square, 10": Case(_SQUARE, 10, 10, 100, AT_LEAST, _OLDER),
    "square, 300": Case(_SQUARE, 300, 300, 200, NOTHING, _PAST_END),
    "steps, 199": Case(_STEPS, 199, 59.7, 59.85, INTERPOLATED),
    "steps, 200": Case(_STEPS, 200, 700, 700.15, INTERPOLATED),
    "steps, 250": Case(_STEPS, 250, 715, 715.15, INTERPOLATED),
    "steps, 300": Case(_STEPS, 300, 9_000, 9_000.15, INTERPOLATED),
    "idle, read to its end": Case([(0, 0), (0, 100)], 0, LAG_IS_ZERO, 100, NOTHING),
    "idle, 99": Case(_IDLE, 99, -inf, 100, AT_LEAST, _FLAT),
    "idle, 101": Case(_IDLE, 101, inf, 400, NOTHING, _PAST_END),
    "faster, 1600": Case(_FASTER, 1_600, 2.5, 2.50018, INTERPOLATED),
    "faster, 0": Case(_FASTER, 0, 0, 0.05, INTERPOLATED),
    "faster, 10": Case(_FASTER, 10, 1, 1.00263, INTERPOLATED),
    "faster, 3000": Case(_FASTER, 3_000, 3, 3.00001, INTERPOLATED),
    "faster, 40000": Case(_FASTER, 40_000, LAG_IS_ZERO, 4, NOTHING),
    "faster, -10000": Case(_FASTER, -10_000, -1, 0, AT_LEAST, _OLDER),
    "faster, 50000": Case(_FASTER, 50_000, 5, 4, NOTHING, _PAST_END),
    "two refused points, 120": Case(
        [(100, 100), (110, 90), (90, 110)], 120, TOO_FEW_POINTS, 110, NOTHING, _PAST_END
    ),
}


@dataclass(frozen=True, slots=True)
class Refused:
    """A point that the look-up table refuses after `FIRST`, and what ours warns of on taking it."""

    point: Point
    warning: str
    why: str


FIRST: Point = (100, 100)
_CLOCK, _CLOCK_WHY = "clocks contradict", "this run's clock is what now means; the other goes"
_BACK, _BACK_WHY = (
    "recreated or truncated",
    "an end that goes back is a new log's, and is so at once",
)

REFUSED = [
    Refused((110, 90), _CLOCK, _CLOCK_WHY),
    Refused((90, 110), _BACK, _BACK_WHY),
    Refused((110, -1), _CLOCK, _CLOCK_WHY),
    Refused((-1, 110), _BACK, _BACK_WHY),
]
