# SPDX-License-Identifier: Apache-2.0
"""Averages of a group while it kept up, with which the cause rules compare it later."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Columns, Frame
from kafka_lag.lag.movement import most_observations
from kafka_lag.lag.previous_rows import is_read, seconds_between
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets

# A group keeps up in a run if its time lag is at most this many intervals; or this share of a
# window if it is no more than in the previous run: the time lag of many groups goes up and down.
_KEEPS_UP_INTERVALS, _KEEPS_UP_WINDOWS = 2.0, 0.5
# Half-life of the averages, in windows: a rise over an hour still stands out against them.
_HALF_LIFE_WINDOWS = 6.0
# After this many windows without a reading, rates cover a time that no run saw.
_RATES_UNSEEN_WINDOWS = 0.5
# A group that keeps up with this many times its average produce rate starts a new average.
_NEW_LEVEL = 3.0

Floats: TypeAlias = npt.NDArray[np.float64]


def add_kept_up(groups: Frame, old: Frame, rows: Frame, at_group: Rows, run: Run) -> Frame:
    """Returns the groups with `kept_up_at`, ms, `kept_up_members` and `kept_up_produce_rate`.

    The last two are moving averages over the runs in which the group kept up. They become unknown
    if the group does not keep up after a long time without a reading, because its rates then cover
    that time as well.
    """
    age, rate = groups.numbers("time_lag_seconds"), groups.numbers("produce_rate")
    fine = groups.strings("status").is_in([contract.OK]) & is_read(groups)
    young = age <= _KEEPS_UP_INTERVALS * run.interval_seconds
    comes_and_goes = age <= _KEEPS_UP_WINDOWS * run.window_seconds
    comes_and_goes &= age <= old.numbers("time_lag_seconds")
    fine &= (young | comes_and_goes) & rate.known
    # A time lag without an upper bound does not prove that a group keeps up.
    fine &= groups.numbers("time_lag_error_seconds").known
    # Nor does a small one if the group has read nothing since it was first seen.
    fine &= (groups.numbers("consume_rate") > 0) | (rate == 0)
    now = run.now(len(groups))
    half_life = _HALF_LIFE_WINDOWS * run.window_seconds
    passed = seconds_between(groups, old).fill(0.0)
    weight = 1.0 - np.exp2(-passed / half_life)
    weight = np.maximum(weight, _find_least_share(groups, rows, at_group, run))
    known = fine | (passed < _RATES_UNSEEN_WINDOWS * run.window_seconds)
    usual = old.numbers("kept_up_produce_rate")
    weight = np.where(fine & (rate > _NEW_LEVEL * usual), 1.0, weight)
    values = {"kept_up_produce_rate": rate, "kept_up_members": groups.numbers("members")}
    averages: Columns = {}
    for name, value in values.items():
        last, seen = old.numbers(name).only(known), value.only(fine) * 1.0
        averages[name] = (last * (1.0 - weight) + seen * weight).or_else(last).or_else(seen)
    kept_up_at = now.only(fine).or_else(old.numbers("kept_up_at"))
    return groups.with_columns(kept_up_at=kept_up_at, **averages)


def _find_least_share(groups: Frame, rows: Frame, at_group: Rows, run: Run) -> Floats:
    """Returns the least weight of this run in a group's averages: 1/n in its n-th run with a rate,
    0 after half a window. Otherwise the first run would count for hours."""
    seen = Sets(at_group, len(groups)).maximum(rows.numbers("observations")).fill(2)
    shares: Floats = np.where(seen * 2 < most_observations(run), 1.0 / np.maximum(seen - 1, 1), 0.0)
    return shares
