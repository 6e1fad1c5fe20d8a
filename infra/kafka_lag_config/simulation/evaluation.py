# SPDX-License-Identifier: Apache-2.0
"""What an evaluation of an alarm goes by: its counts, and what AWS leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OK, ALARM, INSUFFICIENT_DATA = "OK", "ALARM", "INSUFFICIENT_DATA"


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Assumptions on what AWS leaves open about alarms; a rule must be right under each of them.

    `extra_points`: how far the evaluation range exceeds the evaluation periods; AWS's examples
    have 2 and the number is not stated. `undecided`: the state when all that is known breaches but
    is too little and too young for an alarm, either the one before or OK.
    `series_end`: when a query no longer returns a series that ended, with its last value in the
    evaluation range or with the last in three hours, which is as far as such alarms look.
    `empty_series`: what FILL makes of a metric without any value in the evaluation range, either
    its value or nothing.
    """

    extra_points: int = 2
    undecided: Literal["retain", "OK"] = "retain"
    series_end: Literal["range", "three hours"] = "range"
    empty_series: Literal["filled", "missing"] = "filled"


@dataclass(frozen=True, slots=True)
class Counts:
    """M of N and what a missing point is taken for: missing, ignore, breaching, notBreaching."""

    datapoints: int
    periods: int
    missing: str = "missing"
