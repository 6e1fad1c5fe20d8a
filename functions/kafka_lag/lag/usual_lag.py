# SPDX-License-Identifier: Apache-2.0
"""Groups beside what is usual for them at this hour of this weekday."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import DTYPES, Frame, locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.previous_rows import seconds_between
from kafka_lag.lag.rates import ewma_weight

# Measure, and the columns with its usual value and the spread of runs around it.
_MEASURES = (
    ("lag", "usual_lag", "lag_spread"),
    ("time_lag_seconds", "usual_time_lag", "time_lag_spread"),
    ("produce_rate", "usual_produce_rate", "produce_rate_spread"),
)
_GROUP = ("consumer_group",)


def add_unusual(groups: Frame, figures: Frame, before: Frame, taken_at: int, rules: Rules) -> Frame:
    """The groups with `usual_lag` (records), `usual_time_lag` (s), `usual_produce_rate`
    (records/s), `unusual_since` (ms, of a run) and `unusual`; `before` has those of the last run.

    `figures` are the usual ones of the run's weekday and hour. `unusual`: whether lag, time lag or
    the records written lie contract.FAR spreads or more from their usual value, up or down, for
    contract.FAR_RUNS runs. It is true where one is known to be, unknown where none was learnt or
    one that was is not known in this run. `unusual_since` is the first of the runs that are so.
    """
    at = locate(groups, figures, _GROUP)
    old = before.lazy_take(locate(groups, before, _GROUP))
    of_group = figures.take(at)
    far, learnt = np.zeros(len(groups), bool), np.zeros(len(groups), bool)
    missing = np.zeros(len(groups), bool)
    for measure, usual_name, spread_name in _MEASURES:
        usual, value = of_group.numbers(usual_name), groups.numbers(measure)
        if measure == "produce_rate":
            value = _rate_of_this_run(groups, old, rules)
            # A file of an older release knows nothing of it, and the first run of a group neither.
            usual = usual.only(value.known)
        learnt |= usual.known
        missing |= usual.known & ~value.known
        far |= _is_far(value, usual, of_group.numbers(spread_name), contract.FLOORS[measure])
    known = far | (learnt & ~missing)
    now = Column.of(np.full(len(groups), taken_at, np.int64))
    # A run in which it is not known does not end it.
    since = old.numbers("unusual_since").only(far | ~known).or_else(now.only(far))
    lasts = taken_at - since >= (contract.FAR_RUNS - 1) * rules.interval_ms
    return groups.with_columns(
        usual_lag=of_group.numbers("usual_lag"),
        usual_time_lag=of_group.numbers("usual_time_lag"),
        usual_produce_rate=of_group.numbers("usual_produce_rate"),
        unusual_since=since,
        unusual=Column((far & lasts).astype(DTYPES[contract.BOOLEAN]), known),
    )


def _rate_of_this_run(groups: Frame, old: Frame, rules: Rules) -> Column:
    """Records/s written since the run before, out of the two moving averages.

    The average alone would show only after minutes that nobody writes any more.
    """
    now, last = groups.numbers("produce_rate"), old.numbers("produce_rate")
    seconds = seconds_between(groups, old)
    weight = ewma_weight(seconds, rules)
    return ((now - last * (1.0 - weight)) / weight).only(seconds > 0).clip(0.0)


def _is_far(value: Column, usual: Column, spread: Column, floor: float) -> Mask:
    least = np.maximum(usual.fill(0.0) * contract.USUAL_PART, floor)
    scale = np.maximum(spread.fill(0.0), least)
    above = value - usual
    mask: Mask = (above >= contract.FAR * scale) | (above <= -contract.FAR * scale)
    return mask
