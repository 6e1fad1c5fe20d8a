# SPDX-License-Identifier: Apache-2.0
"""How old, how fast and how near to loss a group is: the worst of its partitions."""

from __future__ import annotations

import numpy as np

from functions import contract
from functions.lag.columns import Column, Words
from functions.lag.frame import AnyColumn, Frame
from functions.lag.groups.counted import Counted
from functions.lag.sets import Sets


def ages(sets: Sets, counted: Counted) -> dict[str, AnyColumn]:
    """The time lag of each set with the error of the set's maximum, and its method.

    The true maximum lies between the largest lower and the largest upper bound. A row that has
    no upper bound, or was not read now, may be older than all: at_least, the error unknown.
    """
    bounds, told = counted.ages, counted.ages.told()
    estimate, least = oldest(sets, counted), sets.maximum(bounds.least)
    unbounded = (~bounds.most.known | counted.unknown) & ~counted.uncommitted
    most = sets.maximum(bounds.most, unbounded).only(estimate.known)
    below = estimate.values - np.where(least.known, least.values, 0.0)
    error = np.maximum(most.values - estimate.values, below)
    method = bounds.method.take(sets.first_at_maximum(told.known, told.values))
    at_least = Words.constant(contract.METHOD_AT_LEAST, sets.count)
    return {
        "time_lag_seconds": estimate,
        "time_lag_error_seconds": Column(error, most.known),
        "time_lag_method": method.only(most.known).or_else(at_least.only(estimate.known)),
    }


def oldest(sets: Sets, counted: Counted) -> Column:
    """The largest age of each set, s; unknown also where it would be 0 beside an unknown one."""
    told = counted.ages.told()
    largest = sets.maximum(told)
    blind = sets.have(~told.known & ~counted.uncommitted)
    return largest.only(~blind | (largest.values > 0))


def speeds(sets: Sets, rows: Frame, counted: Counted) -> dict[str, AnyColumn]:
    """Records a second, summed over rows whose rate is known, and the longest drain time, s.

    Nothing behind drains in 0; a row behind that is not catching up, or whose lag is missing,
    makes it unknown.
    """
    lagging, drain = counted.lagging(), rows.numbers("drain_seconds")
    needed = np.where(lagging, drain.values, 0.0)
    endless = counted.missing | (lagging & ~drain.known)
    return {
        "produce_rate": sets.total(counted.produce_rate),
        "consume_rate": sets.total(rows.numbers("consume_rate")),
        "drain_seconds": sets.maximum(Column(needed, counted.lag.known), endless),
    }


def until_loss(sets: Sets, counted: Counted) -> Column:
    """Least time to a loss, s, among rows at risk; the longest told where none is at risk.

    Unknown where no row's is known.
    """
    seconds = np.clip(counted.until_loss.values, 0.0, contract.NO_LOSS_SECONDS)
    told = Column(seconds, counted.until_loss.known)
    longest = Column(np.full(sets.count, contract.NO_LOSS_SECONDS), sets.have(told.known))
    return sets.minimum(told.only(counted.at_risk)).or_else(longest)
