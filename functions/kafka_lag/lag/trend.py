# SPDX-License-Identifier: Apache-2.0
"""Finds whether a group's lag grew, shrank or stayed over its last five readings."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import is_read, seconds_between
from kafka_lag.lag.recent import Recent

READINGS = 5
# Kendall's S: rising pairs of readings less falling ones, of ten. From 8 on at most one pair goes
# against the trend, which five readings in random order do in 1 of 24 cases.
_CLEAR_PAIRS = 8
# A change by less than this share of what was written meanwhile does not count as a trend.
_CLEAR_SHARE = 0.05


def add_trend(e: Evaluation) -> Frame:
    """Returns the groups with `lags_lately`, their last five lags, and `trend`.

    `trend` is contract.GROWING, STEADY or SHRINKING. It is unknown if the lag is unknown in this
    run, or in fewer than five runs. The readings start again after a window without one, and after
    an unknown lag, because a topic that was hidden comes back with its backlog.
    """
    groups, old, run = e.groups, e.old_groups, e.run
    lag = groups.numbers("lag").only(is_read(groups))
    recent = ~(seconds_between(groups, old) > run.window_seconds) & old.numbers("lag").known
    before = Recent.of(old.strings("lags_lately").only(recent), READINGS)
    lately = before.appended(lag * 1.0, np.ones(len(groups), np.int64))
    values = lately.values
    pairs = sum(np.sign(values[:, b] - values[:, a]) for a, b in combinations(range(READINGS), 2))
    written = groups.numbers("produce_rate").fill(0.0) * run.interval_seconds * (READINGS - 1)
    change = values[:, -1] - values[:, 0]
    clear = (np.abs(pairs) >= _CLEAR_PAIRS) & (np.abs(change) > _CLEAR_SHARE * written)
    codes = np.where(clear, np.sign(change), 0).astype(np.int64) + 1
    known = lag.known & (lately.count == READINGS)
    return groups.with_columns(
        lags_lately=lately.to_lists(), trend=Strings(Column(codes, known), contract.TRENDS)
    )
