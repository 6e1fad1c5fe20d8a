# SPDX-License-Identifier: Apache-2.0
"""Seconds, none of them negative, as people say them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

Rounding: TypeAlias = Callable[[float], int]

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# Below so many seconds: the unit, then the finer one for the rest, each with its length.
_IN_TWO = (
    (_HOUR, "min", _MINUTE, "s", 1),
    (_DAY, "h", _HOUR, "min", _MINUTE),
    (math.inf, "d", _DAY, "h", _HOUR),
)
# Below two of the next unit this one still says more.
_IN_ONE = ((2 * _HOUR, "min", _MINUTE), (2 * _DAY, "h", _HOUR), (math.inf, "d", _DAY))
# Below so many seconds their tenths are told.
_TENTHS = 10


def in_two(seconds: float, rounded: Rounding = round) -> str:
    """Two units at most, as in "2 h 10 min", the finer one rounded."""
    short = _in_seconds(seconds, _MINUTE, rounded)
    if short:
        return short
    unit, length, finer, step, whole = next(
        (unit, length, finer, step, rounded(seconds / step) * step)
        for limit, unit, length, finer, step in _IN_TWO
        if rounded(seconds / step) * step < limit
    )
    rest = whole % length // step
    return f"{whole // length:,} {unit}" + (f" {rest} {finer}" if rest else "")


def in_one(seconds: float, rounded: Rounding) -> str:
    """One unit, as in "3 h" or "90 s", for what needs no more."""
    short = _in_seconds(seconds, 2 * _MINUTE, rounded)
    if short:
        return short
    return next(
        f"{rounded(seconds / length):,} {unit}"
        for limit, unit, length in _IN_ONE
        if rounded(seconds / length) * length < limit
    )


def _in_seconds(seconds: float, limit: int, rounded: Rounding) -> str | None:
    """Seconds alone, where that is below the limit."""
    tenths = rounded(seconds * 10)
    if tenths < _TENTHS * 10:
        return f"{tenths / 10:g} s"
    whole = rounded(seconds)
    return f"{whole} s" if whole < limit else None
