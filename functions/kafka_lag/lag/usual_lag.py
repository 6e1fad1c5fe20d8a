# SPDX-License-Identifier: Apache-2.0
"""Groups compared with their usual figures at this hour of this weekday."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import DTYPES, Frame, locate
from kafka_lag.lag.previous_rows import seconds_between
from kafka_lag.lag.rates import ewma_weight
from kafka_lag.lag.run import Run

# Measure, and the columns with its usual value and the spread of runs around it.
_MEASURES = (
    ("lag", "usual_lag", "lag_spread"),
    ("time_lag_seconds", "usual_time_lag", "time_lag_spread"),
    ("produce_rate", "usual_produce_rate", "produce_rate_spread"),
)
# Hours are in UTC, and people live by local time: after a clock change a cluster's day lies an hour
# beside the usual one. This many times as many groups must agree with that as disagree.
_MOST = 2


def add_unusual(
    groups: Frame, figures: Frame, before: Frame, run: Run, beside: Sequence[Frame] = ()
) -> Frame:
    """Returns the groups with `usual_lag` (records), `usual_time_lag` (s), `usual_produce_rate`
    (records/s), `unusual_since` (ms, of a run) and `unusual`; `before` has the previous rows.

    `figures` are the usual ones of the run's weekday and hour. `unusual`: true if lag, time lag or
    produce rate has been contract.FAR spreads or more from its usual value, up or down, for
    contract.FAR_RUNS runs. It is unknown if none of them is that far and none was learnt, or one
    that was learnt is not known in this run. `unusual_since` is the first of these runs.
    `beside` has the figures of the hours to which a clock change may have moved the day. A group
    that is as usual by one of these is not unusual, unless it was before, as long as most groups
    agree with that hour.
    """
    old = before.lazy_take(locate(groups, before, contract.GROUP_KEY))
    rate = _rate_of_this_run(groups, old, run)
    of_group = figures.take(locate(groups, figures, contract.GROUP_KEY))
    far, known = _compare(groups, of_group, rate)
    far &= ~_is_moved(groups, rate, far, known, beside) | (old.numbers("unusual") == 1)
    now = run.now(len(groups))
    # A run that does not know it does not end the time since when it is far.
    since = old.numbers("unusual_since").only(far | ~known).or_else(now.only(far))
    lasts = run.taken_at - since >= (contract.FAR_RUNS - 1) * run.rules.interval_ms
    return groups.with_columns(
        usual_lag=of_group.numbers("usual_lag"),
        usual_time_lag=of_group.numbers("usual_time_lag"),
        usual_produce_rate=of_group.numbers("usual_produce_rate"),
        unusual_since=since,
        unusual=Column((far & lasts).astype(DTYPES[contract.BOOLEAN]), known),
    )


def _compare(groups: Frame, usual: Frame, rate: Column) -> tuple[Mask, Mask]:
    """Marks groups that are far from their `usual` figures, and groups for which that is known.

    `rate`: records/s written since the previous run.
    """
    far, learnt = np.zeros(len(groups), bool), np.zeros(len(groups), bool)
    missing = np.zeros(len(groups), bool)
    for measure, usual_name, spread_name in _MEASURES:
        figure, value = usual.numbers(usual_name), groups.numbers(measure)
        if measure == "produce_rate":
            value = rate
            # It is unknown in files of an older release and in the first run of a group.
            figure = figure.only(value.known)
        learnt |= figure.known
        missing |= figure.known & ~value.known
        far |= _is_far(value, figure, usual.numbers(spread_name), contract.FLOORS[measure])
    return far, far | (learnt & ~missing)


def _is_moved(groups: Frame, rate: Column, far: Mask, known: Mask, beside: Sequence[Frame]) -> Mask:
    """Marks groups that are far from the usual figures, but as usual by a neighbouring hour.

    That is the hour to which the cluster's day has moved; no group is marked unless most agree that
    it has.
    """
    moved = np.zeros(len(groups), bool)
    for figures in beside:
        usual = figures.take(locate(groups, figures, contract.GROUP_KEY))
        far_beside, known_beside = _compare(groups, usual, rate)
        fits = far & known_beside & ~far_beside
        if fits.sum() >= _MOST * (known & ~far & far_beside).sum() and fits.sum() > moved.sum():
            moved = fits
    return moved


def _rate_of_this_run(groups: Frame, old: Frame, run: Run) -> Column:
    """Returns the records/s written since the previous run, computed from the two moving averages.

    The average alone would show only after minutes that nothing is written any more.
    """
    now, last = groups.numbers("produce_rate"), old.numbers("produce_rate")
    seconds = seconds_between(groups, old)
    weight = ewma_weight(seconds, run.rules)
    return ((now - last * (1.0 - weight)) / weight).only(seconds > 0).clip(0.0)


def _is_far(value: Column, usual: Column, spread: Column, floor: float) -> Mask:
    least = np.maximum(usual.fill(0.0) * contract.USUAL_PART, floor)
    scale = np.maximum(spread.fill(0.0), least)
    above = value - usual
    mask: Mask = (above >= contract.FAR * scale) | (above <= -contract.FAR * scale)
    return mask
