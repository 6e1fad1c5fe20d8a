# SPDX-License-Identifier: Apache-2.0
"""How old, how fast and how near to loss a group is: the worst of its partitions."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Words
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.groups.counted import Counted
from kafka_lag.lag.sets import Sets


def errors(sets: Sets, counted: Counted, estimate: Column) -> dict[str, AnyColumn]:
    """How far the time lag of each set may be off, and how it was found.

    `estimate` is the time lag. The true one lies between the largest lower and the largest upper
    bound. A row that has no upper bound, or was not read now, may be older than all: at_least, the
    error unknown.
    """
    bounds, age = counted.ages, counted.counts.age
    least = sets.maximum(bounds.least)
    most = sets.maximum(bounds.most, counted.counts.unbounded).only(estimate.known)
    below = np.maximum(estimate.values - np.where(least.known, least.values, 0.0), 0.0)
    error = np.maximum(most.values - estimate.values, below)
    method = bounds.method.take(sets.first_at_maximum(age.known, age.values))
    at_least = Words.constant(contract.METHOD_AT_LEAST, sets.count)
    return {
        "time_lag_error_seconds": Column(error, most.known),
        "time_lag_method": method.only(most.known).or_else(at_least.only(estimate.known)),
    }


def speeds(sets: Sets, rows: Frame, counted: Counted) -> dict[str, AnyColumn]:
    """Records a second, summed, and the longest drain time, s.

    A rate is unknown where one of its parts is; nothing is consumed of a partition without a
    commit. Nothing behind drains in 0; a row behind that is not catching up, or whose lag is
    missing, makes it unknown.
    """
    lagging, drain = counted.lagging(), rows.numbers("drain_seconds")
    needed, missing = np.where(lagging, drain.values, 0.0), counted.counts.missing
    produced, consumed = counted.produce_rate, rows.numbers("consume_rate")
    moving = rows.numbers("committed_offset").known
    endless = missing | (lagging & ~drain.known)
    return {
        "produce_rate": sets.total(produced, missing | ~produced.known),
        "consume_rate": sets.total(consumed, missing | (moving & ~consumed.known)),
        "drain_seconds": sets.maximum(Column(needed, counted.counts.lag.known), endless),
    }


def until_loss(sets: Sets, counted: Counted) -> Column:
    """Least time to a loss, s, among rows known to be at risk, whatever is unknown beside them.

    Where there is none it is the longest told, if the risk of every row that may lag is known.
    """
    unsure = sets.have(~counted.risk_known & ~counted.counts.uncommitted)
    safe = sets.have(counted.risk_known) & ~unsure
    longest = Column(np.full(sets.count, contract.NO_LOSS_SECONDS), safe)
    return sets.minimum(counted.until_loss).or_else(longest)
