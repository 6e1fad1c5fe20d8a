# SPDX-License-Identifier: Apache-2.0
"""What a group was like while it kept up: averages with which a cause compares it later."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Rows
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.movement import most_observations
from kafka_lag.lag.previous_rows import is_read, seconds_between
from kafka_lag.lag.sets import Sets

# A group keeps up in a run whose oldest unread record is younger than so many intervals; or than
# such a part of a window and no older than in the run before: of many it comes and goes.
_KEEPS_UP_INTERVALS, _KEEPS_UP_WINDOWS = 2.0, 0.5
# Half-life of what it is compared with, in windows: a ramp of an hour still stands out against it.
_HALF_LIFE_WINDOWS = 6.0
# After so many windows without a reading rates are of a time that nobody saw.
_RATES_UNSEEN_WINDOWS = 0.5
# So many times the usual is the usual from now on of a group that keeps up with it.
_NEW_LEVEL = 3.0

Floats: TypeAlias = npt.NDArray[np.float64]


def add_kept_up(
    groups: Frame, old: Frame, rows: Frame, at_group: Rows, taken_at: int, rules: Rules
) -> Frame:
    """What the group was like while it kept up.

    Averages over the runs in which it did, as time goes by between two readings. They are forgotten
    of a group that does no more after a long time without a reading: what it reads and what is
    written is of that time as well then.
    """
    age, rate = groups.numbers("time_lag_seconds"), groups.numbers("produce_rate")
    fine = groups.strings("status").is_in([contract.OK]) & is_read(groups)
    young = age <= _KEEPS_UP_INTERVALS * rules.interval_ms / 1_000
    comes_and_goes = age <= _KEEPS_UP_WINDOWS * rules.window_ms / 1_000
    comes_and_goes &= age <= old.numbers("time_lag_seconds")
    fine &= (young | comes_and_goes) & rate.known
    # An age that is a least one proves nothing.
    fine &= groups.numbers("time_lag_error_seconds").known
    # Nor does a small one of a group that has read nothing since it was first seen.
    fine &= (groups.numbers("consume_rate") > 0) | (rate == 0)
    now = Column.of(np.full(len(groups), taken_at, np.int64))
    half_life = _HALF_LIFE_WINDOWS * rules.window_ms / 1_000
    passed = seconds_between(groups, old).fill(0.0)
    weight = 1.0 - np.exp2(-passed / half_life)
    weight = np.maximum(weight, _find_least_share(groups, rows, at_group, rules))
    known = fine | (passed < _RATES_UNSEEN_WINDOWS * rules.window_ms / 1_000)
    usual = old.numbers("kept_up_produce_rate")
    weight = np.where(fine & (rate > _NEW_LEVEL * usual), 1.0, weight)
    values = {"kept_up_produce_rate": rate, "kept_up_members": groups.numbers("members")}
    averages: dict[str, AnyColumn] = {}
    for name, value in values.items():
        last, seen = old.numbers(name).only(known), value.only(fine) * 1.0
        averages[name] = (last * (1.0 - weight) + seen * weight).or_else(last).or_else(seen)
    kept_up_at = now.only(fine).or_else(old.numbers("kept_up_at"))
    return groups.with_columns(kept_up_at=kept_up_at, **averages)


def _find_least_share(groups: Frame, rows: Frame, at_group: Rows, rules: Rules) -> Floats:
    """The least share of this run in a group's averages: one in n in its n-th run with a rate, 0
    after half a window. Else the first of all would count for hours."""
    seen = Sets(at_group, len(groups)).maximum(rows.numbers("observations")).fill(2)
    shares: Floats = np.where(
        seen * 2 < most_observations(rules), 1.0 / np.maximum(seen - 1, 1), 0.0
    )
    return shares
