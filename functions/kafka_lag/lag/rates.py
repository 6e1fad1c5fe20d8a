# SPDX-License-Identifier: Apache-2.0
"""Speeds from one reading to the next: producing, consuming, growing older, draining."""

from __future__ import annotations

import numpy as np

from kafka_lag.lag.carry_over import Memory, recreated, seconds_between, updated
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.rules import Rules

# A backlog that takes longer than a year is not being worked off: rates differ by noise alone.
LONGEST_DRAIN_SECONDS = 365 * 86_400.0
_PARTITION = ("topic", "partition_id")
_COMPARED = ("topic_id", "end_offset", "read_at", "produce_rate")


def with_produce_rate(topics: Frame, before: Snapshot, rules: Rules) -> Frame:
    """`produce_rate` of each partition: records/s by which its end moved, EWMA.

    Unknown at the first reading of a topic and of one recreated; a silent row keeps its rate.
    """
    old = before.topic_partitions
    at = locate(topics, old, _PARTITION)
    was = Frame.of({name: old.columns[name].take(at) for name in _COMPARED})
    same = ~recreated(topics, was)
    produced = topics.numbers("end_offset") - was.numbers("end_offset")
    rate = _ewma(was.numbers("produce_rate"), produced, seconds_between(topics, was), rules)
    return updated(topics, produce_rate=rate.only(same))


def with_rates(
    rows: Frame, memory: Memory, produce_rate: Column, allowed: Column, rules: Rules
) -> Frame:
    """Speeds of each row that was read now, EWMAs, unknown until two readings can tell.

    `consume_rate`: records/s by which the commit moved; going back is no speed.
    `age_growth`: seconds by which the time lag grows in a second, each sample within 0 and 1.
    `drain_seconds`: lag ÷ (consume_rate - `produce_rate`), 0 when the lag is `allowed`; unknown
    when it does not shrink, or would take longer than a year.
    """
    was, seconds = memory.was, seconds_between(rows, memory.was)
    committed = rows.numbers("committed_offset")
    consumed = committed - was.numbers("committed_offset")
    consume_rate = _ewma(was.numbers("consume_rate"), consumed.only(consumed >= 0), seconds, rules)
    consume_rate = consume_rate.only(committed.known)
    older = rows.numbers("time_lag_seconds") - was.numbers("time_lag_seconds")
    growth = _ewma(was.numbers("age_growth"), older.clip(0.0, seconds), seconds, rules)
    return updated(
        rows,
        consume_rate=consume_rate,
        age_growth=growth,
        drain_seconds=_drain_seconds(rows.numbers("lag"), consume_rate, produce_rate, allowed),
    )


def _ewma(mean: Column, change: Column, seconds: Column, rules: Rules) -> Column:
    """The mean with the speed of a change in it, weighed by how long it took.

    The half-life is half the window, 5 minutes unless configured, over uneven intervals: weight
    1 - 2^(-seconds/half-life), the first sample 1.
    """
    half_life = rules.window_ms / 2_000
    weight = 1.0 - np.exp2(-seconds.fill(0.0) / half_life)
    speed = change / seconds
    return (mean * (1.0 - weight) + speed * weight).or_else(speed).or_else(mean)


def _drain_seconds(lag: Column, consume: Column, produce: Column, allowed: Column) -> Column:
    shrinks_by = consume - produce
    works_off = (shrinks_by > 0) & (lag <= shrinks_by * LONGEST_DRAIN_SECONDS)
    nothing = Column.of(np.zeros(len(lag))).only(lag <= allowed)
    return nothing.or_else((lag / shrinks_by).only(works_off))
