# SPDX-License-Identifier: Apache-2.0
"""The states of many alarms at once: one condition on a grid of minutes and series.

The same states, minute by minute, as `timeline` of dev/sim gives for one alarm, which reads like
AWS's text. Only alarms that read Maximum, which is every one of this project on groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_lag_config.simulation.evaluation import Assumptions, Counts

Grid = npt.NDArray[np.float64]
States = npt.NDArray[np.int8]
Counted = npt.NDArray[np.int16]

# States as numbers, ranked by what a person does about them.
OK, INSUFFICIENT_DATA, ALARM = 0, 1, 2
# A result that leaves the state as it was.
_KEEP = -1
# Data points.
_MISSING, _HOLDS, _BREACHES = -1, 0, 1
_COMPARISONS = {
    "GreaterThanOrEqualToThreshold": np.greater_equal,
    "GreaterThanThreshold": np.greater,
    "LessThanThreshold": np.less,
    "LessThanOrEqualToThreshold": np.less_equal,
}
_THREE_HOURS = 180
# Series that are evaluated together: a row of their values is a line of the processor's cache, and
# what is held beside them stays within it. With 32 the same work takes 1.8 times as long.
_BLOCK = 8

_ASSUMED = Assumptions()


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of an alarm: the operator in CloudFormation's words, one bound for all series
    or one for each, M of N, and the minutes of a period.

    `contributors`: the series are contributors of a query's alarm, which are OK or in ALARM only.
    `pending`, `recovery`: minutes of an alarm by PromQL, which counts no data points: its last
    value within so many periods breaches or not, all of the time; None for other alarms.
    """

    operator: str
    bound: float | npt.NDArray[np.float64]
    counts: Counts
    period: int = 1
    contributors: bool = False
    pending: int | None = None
    recovery: int = 0


def find_states(
    values: Grid, condition: Condition, assumed: Assumptions = _ASSUMED, delay: int = 0
) -> States:
    """The state of each series, a column, at the end of each minute, a row.

    `values` are what was published in a minute, NaN for nothing; they are seen `delay` minutes
    later. Before the first row there is nothing. An alarm begins in INSUFFICIENT_DATA, a
    contributor in OK.
    """
    states = np.empty(values.shape, np.int8)
    for first in range(0, values.shape[1], _BLOCK):
        block = slice(first, first + _BLOCK)
        bound = condition.bound
        own = bound if isinstance(bound, float | int) else bound[block]
        states[:, block] = (
            _evaluate(values[:, block], condition, own, assumed, delay)
            if condition.pending is None
            else _evaluate_promql(values[:, block], condition, own, condition.pending, delay)
        )
    return states


def find_spans(states: States, state: int = ALARM) -> Iterator[tuple[int, int, int]]:
    """Each series, first minute and minute after the last in which it is in a state, in order."""
    is_in = np.zeros((states.shape[0] + 2, states.shape[1]), np.int8)
    is_in[1:-1] = states == state
    changes = np.diff(is_in, axis=0).T
    series, begins = np.nonzero(changes == 1)
    _, ends = np.nonzero(changes == -1)
    yield from zip(series.tolist(), begins.tolist(), ends.tolist(), strict=True)


def find_breaches(
    values: Grid, operator: str, bound: float | npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Mask the values beyond the bound; a missing value is not."""
    found: npt.NDArray[np.bool_] = _COMPARISONS[operator](values, bound)
    return found


def _evaluate(
    values: Grid,
    condition: Condition,
    bound: float | npt.NDArray[np.float64],
    assumed: Assumptions,
    delay: int,
) -> States:
    counts = condition.counts
    length = counts.periods + assumed.extra_points
    real, breaching, deciding, oldest = _count_points(values, condition, bound, length, delay)
    result = np.where(breaching >= counts.datapoints, ALARM, OK).astype(np.int8)
    short = real < counts.periods
    whole = ~short
    result[whole] = np.where(deciding[whole] >= counts.datapoints, ALARM, OK)
    if counts.missing == "breaching":
        filled = breaching + (counts.periods - real)
        result[short] = np.where(filled[short] >= counts.datapoints, ALARM, OK)
    elif counts.missing != "notBreaching":
        open_ = short & (breaching < counts.datapoints) & (breaching == real)
        result[open_] = _KEEP
        if counts.missing != "ignore":
            undecided = _KEEP if assumed.undecided == "retain" else OK
            old_enough = oldest + 1 >= counts.datapoints
            result[open_] = np.where(old_enough[open_], ALARM, undecided)
            result[open_ & (real == 0)] = INSUFFICIENT_DATA
    if condition.contributors:
        result[result == INSUFFICIENT_DATA] = _KEEP
        result[~_returned(values, real, assumed, delay)] = OK
    return _keep(result, OK if condition.contributors else INSUFFICIENT_DATA)


def _evaluate_promql(
    values: Grid,
    condition: Condition,
    bound: float | npt.NDArray[np.float64],
    pending: int,
    delay: int,
) -> States:
    """Like a rule of Prometheus with `for` and `keep_firing_for`, evaluated each minute."""
    rows = np.arange(len(values))[:, None]
    came = np.maximum.accumulate(np.where(np.isnan(values), -1, rows), axis=0)
    newest = np.full(values.shape, -1)
    newest[delay:] = came[: len(values) - delay]
    lasts = condition.counts.periods * condition.period
    seen = np.take_along_axis(values, np.maximum(newest, 0), axis=0)
    seen[(newest < 0) | (rows - newest >= lasts)] = np.nan
    breaches = find_breaches(seen, condition.operator, bound)
    calm, breach = (
        np.maximum.accumulate(np.where(is_so, rows, -1), axis=0) for is_so in (~breaches, breaches)
    )
    result = np.full(values.shape, _KEEP, np.int8)
    result[breaches & (rows - calm > pending)] = ALARM
    result[~breaches & ((breach < 0) | (rows - breach > condition.recovery))] = OK
    return _keep(result, OK)


def _count_points(
    values: Grid,
    condition: Condition,
    bound: float | npt.NDArray[np.float64],
    length: int,
    delay: int,
) -> tuple[Counted, Counted, Counted, Counted]:
    """Count the data points of an evaluation range, by minute and series.

    Returns how many there are, how many breach, how many of the newest that there are periods, and
    how many periods back the oldest is.
    """
    real, breaching, deciding, oldest = (np.zeros(values.shape, np.int16) for _ in range(4))
    period, periods = condition.period, condition.counts.periods
    whole = _points(values, condition, bound, range(period))
    for back in range(length):
        ago = back * period
        points, rows = whole[: max(len(whole) - ago, 0)], slice(ago, None)
        if ago < delay:
            # Of the newest periods not everything has arrived.
            arrived = range(delay, ago + period)
            points, rows = _points(values, condition, bound, arrived), slice(None)
        is_real, breaches = points != _MISSING, points == _BREACHES
        deciding[rows] += breaches & (real[rows] < periods)
        breaching[rows] += breaches
        real[rows] += is_real
        oldest[rows][is_real] = back
    return real, breaching, deciding, oldest


def _points(
    values: Grid,
    condition: Condition,
    bound: float | npt.NDArray[np.float64],
    minutes: range,
) -> npt.NDArray[np.int8]:
    """Return the points of the values that came so many `minutes` before each minute."""
    greatest = np.full(values.shape, np.nan)
    for ago in minutes:
        if ago < len(values):
            later = greatest[ago:]
            np.fmax(later, values[: len(values) - ago], out=later)
    breaches = find_breaches(greatest, condition.operator, bound)
    points = np.where(breaches, _BREACHES, _HOLDS).astype(np.int8)
    points[np.isnan(greatest)] = _MISSING
    return points


def _returned(
    values: Grid, real: Counted, assumed: Assumptions, delay: int
) -> npt.NDArray[np.bool_]:
    """Mask the minutes in which a query still returns the series."""
    if assumed.series_end == "range":
        return real > 0
    known = np.zeros(values.shape, np.bool_)
    known[delay:] = ~np.isnan(values[: len(values) - delay])
    so_far = np.cumsum(known, axis=0, dtype=np.int32)
    # The last three hours, of which the newest have not arrived yet.
    since = np.zeros_like(so_far)
    width = _THREE_HOURS - delay
    since[width:] = so_far[:-width]
    found: npt.NDArray[np.bool_] = (real > 0) | (so_far > since)
    return found


def _keep(result: States, first: int) -> States:
    """Return the states; where the result keeps the state, it is that of the minute before."""
    rows = np.arange(1, len(result) + 1)[:, None]
    decided = np.maximum.accumulate(np.where(result != _KEEP, rows, 0), axis=0)
    whole = np.concatenate([np.full((1, result.shape[1]), first, np.int8), result])
    kept: States = np.take_along_axis(whole, decided, axis=0)
    return kept
