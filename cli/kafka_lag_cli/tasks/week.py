# SPDX-License-Identifier: Apache-2.0
"""Tasks needed by hour of the week, in UTC: the quartiles of what was known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_lag.contract import TASKS_QUARTILES
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag_cli.state.groups_over_time import MINUTE_MS

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = 24
_HOUR_MS = 60 * MINUTE_MS
# The epoch began on a Thursday.
_EPOCH_HOUR = WEEKDAYS.index("Thu") * HOURS


@dataclass(frozen=True, slots=True)
class Quartiles:
    """Quartiles of numbers of tasks, each of them needed once; `minutes` are the known ones."""

    minutes: int
    lower: int
    median: int
    upper: int
    most: int


@dataclass(frozen=True, slots=True)
class HourOfWeek:
    """`hour` of `weekday`, 0 for Monday, in UTC; `needed` None where nothing was known."""

    weekday: int
    hour: int
    needed: Quartiles | None


def find_quartiles(needed: Column, slot_ms: int) -> Quartiles | None:
    """Return quartiles of the known values, each for one slot; null if none is known."""
    return _quartiles(needed.values[needed.known], slot_ms)


def summarise_week(runs: Frame, slot_ms: int) -> Iterator[HourOfWeek]:
    """All 168 hours from Monday's first on, by `taken_at` and `tasks_needed`."""
    needed = runs.numbers("tasks_needed")
    hours = runs.numbers("taken_at").values // _HOUR_MS + _EPOCH_HOUR
    of_week = hours % (len(WEEKDAYS) * HOURS)
    for number in range(len(WEEKDAYS) * HOURS):
        values = needed.values[needed.known & (of_week == number)]
        yield HourOfWeek(number // HOURS, number % HOURS, _quartiles(values, slot_ms))


def _quartiles(values: npt.NDArray[np.int32], slot_ms: int) -> Quartiles | None:
    if not len(values):
        return None
    lower, median, upper = np.quantile(values, TASKS_QUARTILES, method="inverted_cdf")
    minutes = len(values) * slot_ms // MINUTE_MS
    return Quartiles(minutes, int(lower), int(median), int(upper), int(values.max()))
