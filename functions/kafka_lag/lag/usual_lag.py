# SPDX-License-Identifier: Apache-2.0
"""Groups beside what is usual for them at this hour of this weekday."""

from __future__ import annotations

from collections.abc import Sequence

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
# Hours are those of UTC, and people live by local ones: after a clock change a cluster's day lies
# an hour beside the usual one. So many times as many groups must say that it does as say no.
_MOST = 2


def add_unusual(
    groups: Frame,
    figures: Frame,
    before: Frame,
    taken_at: int,
    rules: Rules,
    beside: Sequence[Frame] = (),
) -> Frame:
    """The groups with `usual_lag` (records), `usual_time_lag` (s), `usual_produce_rate`
    (records/s), `unusual_since` (ms, of a run) and `unusual`; `before` has those of the last run.

    `figures` are the usual ones of the run's weekday and hour. `unusual`: whether lag, time lag or
    the records written lie contract.FAR spreads or more from their usual value, up or down, for
    contract.FAR_RUNS runs. It is true where one is known to be, unknown where none was learnt or
    one that was is not known in this run. `unusual_since` is the first of the runs that are so.
    `beside` has the figures of the hours beside to which a clock change may have moved the day: a
    group that is as usual by those of one of them is not unusual, unless it was before, while most
    groups say that this hour is like that one.
    """
    old = before.lazy_take(locate(groups, before, _GROUP))
    rate = _rate_of_this_run(groups, old, rules)
    of_group = figures.take(locate(groups, figures, _GROUP))
    far, known = _compare(groups, of_group, rate)
    far &= ~_is_moved(groups, rate, far, known, beside) | (old.numbers("unusual") == 1)
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


def _compare(groups: Frame, usual: Frame, rate: Column) -> tuple[Mask, Mask]:
    """Groups that are far from their `usual` figures, and those of which it is known whether they
    are; `rate`: records/s that this run saw written.
    """
    far, learnt = np.zeros(len(groups), bool), np.zeros(len(groups), bool)
    missing = np.zeros(len(groups), bool)
    for measure, usual_name, spread_name in _MEASURES:
        figure, value = usual.numbers(usual_name), groups.numbers(measure)
        if measure == "produce_rate":
            value = rate
            # A file of an older release knows nothing of it, and the first run of a group neither.
            figure = figure.only(value.known)
        learnt |= figure.known
        missing |= figure.known & ~value.known
        far |= _is_far(value, figure, usual.numbers(spread_name), contract.FLOORS[measure])
    return far, far | (learnt & ~missing)


def _is_moved(groups: Frame, rate: Column, far: Mask, known: Mask, beside: Sequence[Frame]) -> Mask:
    """Groups that are far from what is usual at this hour, and as usual by the hour beside it to
    which the cluster's day has moved; none where most groups do not say that it has.
    """
    moved = np.zeros(len(groups), bool)
    for figures in beside:
        usual = figures.take(locate(groups, figures, _GROUP))
        far_beside, known_beside = _compare(groups, usual, rate)
        fits = far & known_beside & ~far_beside
        if fits.sum() >= _MOST * (known & ~far & far_beside).sum() and fits.sum() > moved.sum():
            moved = fits
    return moved


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
