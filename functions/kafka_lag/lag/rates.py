# SPDX-License-Identifier: Apache-2.0
"""Rates from one reading to the next: producing, consuming, ageing and draining."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Seconds
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.previous_rows import is_recreated, seconds_between, set_where_read
from kafka_lag.lag.skips import has_skipped

# A backlog that takes longer than a year is not being worked off: the rates differ only by noise.
LONGEST_DRAIN_SECONDS = 365 * 86_400.0
# After this many half-lives the newest sample weighs 1 to the last digit.
_WHOLE_HALF_LIVES = 60.0
# After this many steps an estimate that is longer than the half-life is exact to a second.
_STEPS_TO_SOLVE = 30
_COMPARED = ("topic_id", "end_offset", "read_at", "produce_rate")


def add_produce_rate(e: Evaluation) -> Frame:
    """Returns the partitions with `produce_rate`: records/s by which the end moved, EWMA.

    It is unknown at the first reading of a topic, also of a recreated one. An unread row keeps its
    rate.
    """
    topics, every = e.topics, e.newest.topic_partitions
    at = locate(topics, every, contract.PARTITION_KEY)
    old = Frame.of({name: every.columns[name].take(at) for name in _COMPARED})
    same = ~is_recreated(topics, old)
    produced = topics.numbers("end_offset") - old.numbers("end_offset")
    rate = _ewma(old.numbers("produce_rate"), produced, seconds_between(topics, old), e.run.rules)
    return set_where_read(topics, produce_rate=rate.only(same))


def add_rates(e: Evaluation) -> Frame:
    """Returns the rows with their rates (EWMAs); unread rows are unchanged.

    All are unknown until there are two readings.
    `consume_rate`: records/s by which the commit moved. A commit that goes back is left out, and so
    is one beyond the end. It is unknown in a run in which the commit skipped records.
    `age_growth`: seconds by which the time lag grows in a second, each sample from 0 to 1.
    `drain_seconds`: lag ÷ (consume_rate - `produce_rate`); 0 if nothing of the lag can be
    read; unknown if the lag does not shrink, or if draining takes longer than a year. Records that
    wait for their delay count as no lag.
    """
    rows, old, rules = e.rows, e.previous.rows, e.run.rules
    seconds = seconds_between(rows, old)
    committed = rows.numbers("committed_offset")
    consume_rate = _ewma(old.numbers("consume_rate"), _count_consumed(rows, old), seconds, rules)
    consume_rate = consume_rate.only(committed.known & ~has_skipped(rows, old))
    older = rows.numbers("time_lag_seconds") - old.numbers("time_lag_seconds")
    growth = _ewma(old.numbers("age_growth"), older.clip(0.0, seconds), seconds, rules)
    return set_where_read(
        rows,
        consume_rate=consume_rate,
        age_growth=growth,
        drain_seconds=_estimate_drain_seconds(
            rows.numbers("lag") - e.undue,
            consume_rate,
            e.of_topic.numbers("produce_rate"),
            e.unreadable,
        ),
    )


def _count_consumed(rows: Frame, old: Frame) -> Column:
    """Returns the records read since the previous reading.

    Records that had been deleted by then are left out. It is unknown if a commit was beyond the end
    or went back.
    """
    now, then = rows.numbers("committed_offset"), old.numbers("committed_offset")
    within = ~(now > rows.numbers("end_offset")) & ~(then > old.numbers("end_offset"))
    start = old.numbers("start_offset")
    read = now - start.where(start > then, then)
    return read.only(within & (now >= then)).clip(0)


def ewma_weight(seconds: Column, rules: Rules) -> Seconds:
    """Returns the newest sample's weight in a rate, by the seconds since the last; 0 if unknown."""
    return _weight(seconds.fill(0.0), rules)


def estimate_time_since(seconds: Column, rules: Rules) -> Column:
    """Returns how long ago, s, a backlog began to grow.

    At the present difference of the rates it would take `seconds` to grow. Rates follow a change
    slowly: `t` seconds after it their difference is weight(t) of the final one. So `seconds` = t ÷
    weight(t), which has no closed solution; each step comes nearer from above. The result is 0 if
    no change is that recent.
    """
    longest = since = seconds.fill(0.0)
    for _ in range(_STEPS_TO_SOLVE):
        since = longest * _weight(since, rules)
    return Column(since, seconds.known)


def _weight(seconds: Seconds, rules: Rules) -> Seconds:
    half_lives = np.minimum(seconds / (rules.window_ms / 2_000), _WHOLE_HALF_LIVES)
    weight: Seconds = 1.0 - np.exp2(-half_lives)
    return weight


def _ewma(mean: Column, change: Column, seconds: Column, rules: Rules) -> Column:
    """Returns the moving average with one more sample: `change` in `seconds`.

    The half-life is half the window, 5 minutes unless configured, over uneven intervals: weight
    1 - 2^(-seconds/half-life), the first sample 1.
    """
    weight = ewma_weight(seconds, rules)
    speed = change / seconds
    return (mean * (1.0 - weight) + speed * weight).or_else(speed).or_else(mean)


def _estimate_drain_seconds(
    lag: Column, consume: Column, produce: Column, allowed: Column
) -> Column:
    shrinks_by = consume - produce
    works_off = (shrinks_by > 0) & (lag <= shrinks_by * LONGEST_DRAIN_SECONDS)
    nothing = Column.of(np.zeros(len(lag))).only(lag <= allowed)
    return nothing.or_else((lag / shrinks_by).only(works_off))
