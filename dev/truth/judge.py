# SPDX-License-Identifier: Apache-2.0
"""Cells: what a program showed of a scenario, against what was true at the time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from dev.truth.planted import (
    Expected,
    GroupPartition,
    GroupTopic,
    Planted,
    expected_worst,
    partitions_by_topic,
)

# An age is right within the larger of these, in seconds and as a share of it.
AGE_WITHIN, AGE_SHARE = 5.0, 0.1
# A program may be so much later than its own interval, in seconds; and what was true so long
# before that is late and not wrong.
IN_TIME, LATE_WITHIN = 10.0, 120.0


class Verdict(IntEnum):
    """Of a value; a cell has the worst of its looks and partitions."""

    RIGHT = 0
    LATE = 1
    ABSENT = 2
    WRONG = 3


@dataclass(frozen=True, slots=True)
class Look:
    """One answer of one program, asked for from `began` to `ended`; `error`: there was none."""

    program: str
    began: float
    ended: float
    lags: Mapping[GroupPartition, float] = field(default_factory=dict)
    ages: Mapping[GroupTopic, float] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One value at one look; `where` names what it is of."""

    verdict: Verdict
    value: float | None
    expected: Expected
    where: tuple[str, ...]

    @property
    def error(self) -> float:
        """How far the value is off; 0 where there is nothing to compare."""
        if self.value is None or not self.expected.ranges:
            return 0.0
        if not math.isfinite(self.value):
            return math.inf
        return min(
            max(each.low - self.value, self.value - each.high, 0.0) for each in self.expected.ranges
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """The worst judgement, and how many of so many looks were as bad."""

    worst: Judgement
    looks: int
    of: int

    @property
    def verdict(self) -> Verdict:
        """As of the worst look."""
        return self.worst.verdict


def judge_value(
    value: float | None, now: Expected, before: Expected, where: tuple[str, ...]
) -> Judgement:
    """Against what is true in time, and what was true a while before."""
    if value is None:
        return Judgement(Verdict.ABSENT if now.present else Verdict.RIGHT, None, now, where)
    if now.allows(value):
        return Judgement(Verdict.RIGHT, value, now, where)
    late = before.allows(value)
    return Judgement(Verdict.LATE if late else Verdict.WRONG, value, now, where)


def judge_lags(
    planted: Planted, keys: Sequence[GroupPartition], looks: Sequence[Look], interval: float
) -> Cell:
    """The cell of offset lag, partition by partition."""

    def judged(look: Look) -> Iterable[Judgement]:
        since = look.began - interval - IN_TIME
        for key in keys:
            yield judge_value(
                look.lags.get(key),
                planted.expected_lag(key, since, look.ended),
                planted.expected_lag(key, since - LATE_WITHIN, since),
                (key[0], key[1], str(key[2])),
            )

    return _cell(looks, judged)


def judge_ages(
    planted: Planted, keys: Sequence[GroupPartition], looks: Sequence[Look], interval: float
) -> Cell:
    """The cell of time lag: of each group and topic the worst partition's."""

    def expected(partitions: Sequence[GroupPartition], since: float, until: float) -> Expected:
        worst = expected_worst(planted.expected_age(each, since, until) for each in partitions)
        return Expected(
            worst.present, tuple(each.widened(AGE_WITHIN, AGE_SHARE) for each in worst.ranges)
        )

    def judged(look: Look) -> Iterable[Judgement]:
        since = look.began - interval - IN_TIME
        for at, partitions in partitions_by_topic(keys).items():
            yield judge_value(
                look.ages.get(at),
                expected(partitions, since, look.ended),
                expected(partitions, since - LATE_WITHIN, since),
                at,
            )

    return _cell(looks, judged)


def _cell(looks: Sequence[Look], judged: Callable[[Look], Iterable[Judgement]]) -> Cell:
    worst = [max(judged(look), key=lambda each: (each.verdict, each.error)) for look in looks]
    if not worst:
        nothing = Judgement(Verdict.ABSENT, None, Expected(True), ())
        return Cell(nothing, 0, 0)
    chosen = max(worst, key=lambda each: (each.verdict, each.error))
    return Cell(chosen, sum(each.verdict == chosen.verdict for each in worst), len(looks))
