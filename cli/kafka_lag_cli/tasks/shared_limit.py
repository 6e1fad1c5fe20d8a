# SPDX-License-Identifier: Apache-2.0
"""Days on which more members read no more: something that they share, as a database, is full.

While a backlog stands on several partitions, every member has work, so twice the members read twice
as much. What is compared is the rate of few members with that of more on the same day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Mask
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.shared_limit import LEAST_GAIN
from kafka_lag_cli.state.groups_over_time import DAY_MS, MINUTE_MS

COLUMNS = ("members", "partitions", "consume_rate", "lag", "max_lag")
# A backlog stands where all members have work for so long, and most of it is not on one partition,
# which one member reads whatever the others do.
_BACKLOG_SECONDS, _MOST_ON_ONE = 120.0, 0.5
# `consume_rate` is a moving average with a half-life of 5 minutes.
_SETTLED_MS = 15 * MINUTE_MS
# Of each number of members, so that one odd run decides nothing.
_LEAST_MINUTES = 15
_LEAST_RUNS = 3


@dataclass(frozen=True, slots=True)
class SaturatedDay:
    """On a `day` in UTC `fewer` members read so much with a backlog, records/s, and `more` so."""

    day: str
    fewer: int
    rate_of_fewer: float
    more: int
    rate_of_more: float

    @property
    def is_slower(self) -> bool:
        """True if more members read less in all, rather than just no more."""
        return self.rate_of_more < self.rate_of_fewer * (1 - LEAST_GAIN / 5)


def find_saturated_days(runs: Frame, slot_ms: int) -> Iterator[SaturatedDay]:
    """The days in order; `runs` have `taken_at` and `COLUMNS`."""
    members, rate = runs.numbers("members"), runs.numbers("consume_rate")
    usable = _has_backlog(runs) & _is_settled(runs)
    days = runs.numbers("taken_at").values // DAY_MS
    least = max(_LEAST_RUNS, _LEAST_MINUTES * MINUTE_MS / slot_ms)
    for day in np.unique(days[usable]):
        of_day = usable & (days == day)
        numbers, counts = np.unique(members.values[of_day], return_counts=True)
        often = numbers[counts >= least]
        if len(often) > 1:
            found = _compare(of_day, members.values, rate.values, int(often[0]), int(often[-1]))
            if found is not None:
                name = datetime.fromtimestamp(int(day) * DAY_MS / 1000, UTC).date().isoformat()
                yield SaturatedDay(name, int(often[0]), found[0], int(often[-1]), found[1])


def _compare(
    rows: Mask, members: npt.NDArray[np.int32], rates: npt.NDArray[np.float64], few: int, many: int
) -> tuple[float, float] | None:
    """Their rates, if the many gain too little."""
    rate_of_few, rate_of_many = (
        float(np.median(rates[rows & (members == number)])) for number in (few, many)
    )
    expected = rate_of_few * many / few - rate_of_few
    too_little = rate_of_many - rate_of_few <= expected * LEAST_GAIN
    return (rate_of_few, rate_of_many) if too_little else None


def _has_backlog(runs: Frame) -> Mask:
    rate, lag = runs.numbers("consume_rate"), runs.numbers("lag")
    members = runs.numbers("members")
    found: Mask = (
        (rate > 0)
        & (lag >= rate * _BACKLOG_SECONDS)
        & (runs.numbers("max_lag") <= lag * _MOST_ON_ONE)
        & (members > 0)
        & (members <= runs.numbers("partitions"))
    )
    return found


def _is_settled(runs: Frame) -> Mask:
    """Mask runs whose members, and whether there is a backlog, have been the same for a while."""
    times, members = runs.numbers("taken_at").values, runs.numbers("members")
    standing = _has_backlog(runs)
    same = np.zeros(len(runs), bool)
    same[1:] = (members.values[1:] == members.values[:-1]) & standing[1:] & standing[:-1]
    began = np.maximum.accumulate(np.where(same, 0, times))
    settled: Mask = standing & (times - began >= _SETTLED_MS)
    return settled
