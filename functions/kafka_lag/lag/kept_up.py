# SPDX-License-Identifier: Apache-2.0
"""Averages of a group while it kept up, with which the cause rules compare it later."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Seconds
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.movement import most_observations
from kafka_lag.lag.previous_rows import is_read, seconds_between
from kafka_lag.lag.sets import Sets

# A group keeps up in a run if its time lag is at most this many intervals; or this share of a
# window if it is no more than in the previous run: the time lag of many groups goes up and down.
_KEEPS_UP_INTERVALS, _KEEPS_UP_WINDOWS = 2.0, 0.5
# A group that was never seen to keep up does so if it reads at least this share of what is written.
_READS_SHARE = 0.9
# Half-life of the averages, in windows: a rise over an hour still stands out against them.
_HALF_LIFE_WINDOWS = 6.0
# After this many windows without a reading, rates cover a time that no run saw.
_RATES_UNSEEN_WINDOWS = 0.5
# A rate this many times above or below the average is a flood or a lull, and counts only once it
# has lasted for a window. From the second number on, the average then starts again from it.
_OTHER_LEVEL, _NEW_LEVEL = 2.0, 3.0


def add_kept_up(e: Evaluation) -> Frame:
    """Returns the groups with the columns `kept_up_*` and `other_level_since`.

    `kept_up_at`, ms, is the last run in which the group kept up. `kept_up_members` and
    `kept_up_produce_rate` are moving averages over those runs. They become unknown, and
    `kept_up_weight` NaN, if the group does not keep up after a long time without a reading, because
    its rates then cover that time as well. `other_level_since`, ms: since when records are written
    at another level than the average.
    """
    groups, old, run = e.groups, e.old_groups, e.run
    age, rate = groups.numbers("time_lag_seconds"), groups.numbers("produce_rate")
    fine = groups.strings("status").is_in([contract.OK]) & is_read(groups)
    young = age <= _KEEPS_UP_INTERVALS * run.interval_seconds
    comes_and_goes = age <= _KEEPS_UP_WINDOWS * run.window_seconds
    comes_and_goes &= age <= old.numbers("time_lag_seconds")
    fine &= (young | comes_and_goes) & rate.known
    # A time lag without an upper bound does not prove that a group keeps up.
    fine &= groups.numbers("time_lag_error_seconds").known
    # A small time lag does not prove it either if the group has read nothing since it was first
    # seen.
    reads = groups.numbers("consume_rate")
    fine &= (reads > 0) | (rate == 0)
    # Nor does it in the first runs of a group that reads less than is written: its backlog is young
    # because nobody saw it begin.
    fine &= (reads >= _READS_SHARE * rate) | old.numbers("kept_up_at").known
    now = run.now(len(groups))
    usual = old.numbers("kept_up_produce_rate")
    other = (rate > _OTHER_LEVEL * usual) | (rate * _OTHER_LEVEL < usual)
    # A flood after a lull is another level than the lull was.
    turned = (rate > usual) != (old.numbers("produce_rate") > usual)
    since = old.numbers("other_level_since").only(~turned).or_else(now).only(other)
    learns = fine & ~run.within_window(since)
    half_life = _HALF_LIFE_WINDOWS * run.window_seconds
    passed = seconds_between(groups, old).fill(0.0)
    weight = 1.0 - np.exp2(-passed / half_life)
    weight = np.maximum(weight, _find_least_share(e))
    new_level = (rate > _NEW_LEVEL * usual) | (rate * _NEW_LEVEL < usual)
    weight = np.where(learns, np.where(new_level, 1.0, weight), 0.0)
    known = learns | (passed < _RATES_UNSEEN_WINDOWS * run.window_seconds)
    e.kept_up_weight = weight = np.where(known, weight, np.nan)
    return groups.with_columns(
        kept_up_at=now.only(fine).or_else(old.numbers("kept_up_at")),
        kept_up_produce_rate=_average(usual, rate, weight),
        kept_up_members=_average(old.numbers("kept_up_members"), groups.numbers("members"), weight),
        other_level_since=since,
    )


def add_kept_up_rate(e: Evaluation) -> Frame:
    """Returns the rows with `kept_up_rate`.

    It is the records/s written to the partition in the runs in which its group kept up.
    """
    last, rate = e.previous.rows.numbers("kept_up_rate"), e.of_topic.numbers("produce_rate")
    return e.rows.with_columns(kept_up_rate=_average(last, rate, e.kept_up_weight[e.at_group]))


def _average(last: Column, value: Column, weight: Seconds) -> Column:
    """Returns the moving average; a run without weight starts none, one with NaN forgets it."""
    last, seen = last.only(~np.isnan(weight)), value.only(weight > 0) * 1.0
    return (last * (1.0 - weight) + seen * weight).or_else(last).or_else(seen)


def _find_least_share(e: Evaluation) -> Seconds:
    """Returns the least weight of this run in a group's averages.

    It is 1/n in a group's n-th run with a rate, and 0 after half a window. Otherwise the first run
    would count for hours.
    """
    seen = Sets(e.at_group, len(e.groups)).maximum(e.rows.numbers("observations")).fill(2)
    counts = seen * 2 < most_observations(e.run)
    shares: Seconds = np.where(counts, 1.0 / np.maximum(seen - 1, 1), 0.0)
    return shares
