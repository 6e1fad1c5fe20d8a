# SPDX-License-Identifier: Apache-2.0
"""Judges whether a program showed a true lag or age. Times are seconds since 1970."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias

from dev.sim.live.logs import AGE, LAG, Expected, GroupPartition, History

# An age is right within the larger of these, in seconds and as a share of it.
AGE_WITHIN, AGE_SHARE = 5.0, 0.1
# A program may be so much later than its own interval; and what was true so long before that is
# late and not wrong.
IN_TIME, LATE_WITHIN = 10.0, 120.0

NUMBERS = {LAG: "lag", AGE: "time lag"}
Values: TypeAlias = Mapping[tuple[object, ...], float]


class Verdict(IntEnum):
    """The verdict on a value; a cell has the worst one of its looks and partitions."""

    RIGHT = 0
    LATE = 1
    ABSENT = 2
    WRONG = 3


@dataclass(frozen=True, slots=True)
class Look:
    """One answer of one program, asked for from `began` to `ended`; nothing if none came."""

    program: str
    began: float
    ended: float
    shown: tuple[Values, Values] = ({}, {})


@dataclass(frozen=True, slots=True)
class Cell:
    """The worst value that a program showed of a scenario; so many looks of all were so bad."""

    verdict: Verdict
    value: float | None
    expected: Expected
    looks: int = 0
    of: int = 0

    def rank(self) -> tuple[Verdict, float]:
        """Returns the key of the worst of several; of equals, the one with the largest value."""
        return self.verdict, max((high for _, high in self.expected.ranges), default=0.0)


def judge(
    number: int,
    history: History,
    keys: Iterable[GroupPartition],
    looks: Sequence[Look],
    interval: float,
) -> Cell:
    """Judges a program's values for these partitions, which it reads once an interval."""
    subjects: dict[tuple[object, ...], list[GroupPartition]] = defaultdict(list)
    for key in keys:
        subjects[key if number == LAG else key[:2]].append(key)
    worst = []
    for look in looks:
        since, cells = look.began - interval - IN_TIME, []
        for where, partitions in subjects.items():
            now = history.expect(number, partitions, since, look.ended)
            before = history.expect(number, partitions, since - LATE_WITHIN, since)
            value = look.shown[number].get(where)
            if number == AGE:
                now, before = widen(now), widen(before)
            cells.append(Cell(judge_value(value, now, before), value, now))
        worst.append(max(cells, key=Cell.rank))
    chosen = max(worst, key=Cell.rank, default=Cell(Verdict.ABSENT, None, Expected(True)))
    alike = sum(each.verdict == chosen.verdict for each in worst)
    return replace(chosen, looks=alike, of=len(looks))


def judge_value(value: float | None, now: Expected, before: Expected) -> Verdict:
    """Judges a value by the truth at its time, and by the truth some time before."""
    if value is None:
        return Verdict.ABSENT if now.present else Verdict.RIGHT
    if now.allows(value):
        return Verdict.RIGHT
    return Verdict.LATE if before.allows(value) else Verdict.WRONG


def widen(ages: Expected) -> Expected:
    """Returns ages with the allowance to both sides."""
    ranges = (
        (low - max(AGE_WITHIN, low * AGE_SHARE), high + max(AGE_WITHIN, high * AGE_SHARE))
        for low, high in ages.ranges
    )
    return Expected(ages.present, tuple(ranges))
