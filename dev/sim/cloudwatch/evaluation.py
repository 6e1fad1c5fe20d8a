# SPDX-License-Identifier: Apache-2.0
"""One evaluation of an alarm: from the newest data points, some missing, to a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kafka_lag_config.simulation.evaluation import ALARM, INSUFFICIENT_DATA, OK, Counts

# A data point: breaching or not, None if it is missing.
Point: TypeAlias = bool | None


def state_of(
    points: Sequence[Point], counts: Counts, previous: str, undecided: str = "retain"
) -> str:
    """Returns the state after these points of the evaluation range, oldest first.

    If there are as many real points as periods, the newest of them decide. If there are fewer, all
    of them count, and missing points are filled in only up to the number of periods.
    """
    real = [point for point in points if point is not None]
    missing = counts.periods - len(real)
    if missing <= 0:
        return _counted(sum(real[-counts.periods :]), counts)
    if counts.missing in ("breaching", "notBreaching"):
        filled = missing if counts.missing == "breaching" else 0
        return _counted(sum(real) + filled, counts)
    if real and (sum(real) >= counts.datapoints or not all(real)):
        return _counted(sum(real), counts)
    if counts.missing == "ignore":
        return previous
    return _breaches_and_gaps(points, counts, previous if undecided == "retain" else OK)


def _counted(breaching: int, counts: Counts) -> str:
    return ALARM if breaching >= counts.datapoints else OK


def _breaches_and_gaps(points: Sequence[Point], counts: Counts, undecided: str) -> str:
    """Returns the state by AWS's rule on premature alarms.

    The oldest breach must be no younger than M points.
    """
    if all(point is None for point in points):
        return INSUFFICIENT_DATA
    oldest = next(index for index, point in enumerate(points) if point is not None)
    return ALARM if len(points) - oldest >= counts.datapoints else undecided
