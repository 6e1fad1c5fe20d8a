# SPDX-License-Identifier: Apache-2.0
"""Speeds from one reading to the next: producing, consuming, growing older, draining."""

from __future__ import annotations

import numpy as np

from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.partitions.memory import Memory, Seconds, elapsed, recreated, updated
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
    made = _less(topics.numbers("end_offset"), was.numbers("end_offset"))
    rate = _ewma(was.numbers("produce_rate"), made, elapsed(topics, was), rules)
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
    was, passed = memory.was, elapsed(rows, memory.was)
    now = rows.numbers("committed_offset")
    moved = _less(now, was.numbers("committed_offset"))
    consumed = _ewma(was.numbers("consume_rate"), moved.only(moved.values >= 0), passed, rules)
    consume_rate = consumed.only(now.known)
    older = _less(rows.numbers("time_lag_seconds"), was.numbers("time_lag_seconds"))
    growth = _ewma(was.numbers("age_growth"), _growth(older, passed), passed, rules)
    return updated(
        rows,
        consume_rate=consume_rate,
        age_growth=growth,
        drain_seconds=_drain(rows.numbers("lag"), consume_rate, produce_rate, allowed),
    )


def _less(now: Column, was: Column) -> Column:
    return Column(now.values - was.values, now.known & was.known)


def _growth(older: Column, passed: Seconds) -> Column:
    return Column(np.clip(older.values, 0.0, passed), older.known)


def _ewma(old: Column, change: Column, seconds: Seconds, rules: Rules) -> Column:
    """The mean with the speed of a change in it, weighed by how long it took.

    The half-life is half the window, 5 minutes unless configured, over uneven intervals: weight
    1 - 2^(-seconds/half-life), the first sample 1.
    """
    half_life = rules.window_ms / 2_000
    told = change.known & (seconds > 0)
    speed = np.where(told, change.values, 0) / np.where(told, seconds, 1.0)
    weight = 1.0 - np.exp2(-seconds / half_life)
    mean = np.where(old.known, old.values * (1.0 - weight) + speed * weight, speed)
    return Column(np.where(told, mean, old.values), told | old.known)


def _drain(lag: Column, consume: Column, produce: Column, allowed: Column) -> Column:
    none = lag.known & (lag.values <= allowed.values)
    both = lag.known & consume.known & produce.known
    less = np.where(both, consume.values - produce.values, 0.0)
    shrinks = (less > 0) & (lag.values <= less * LONGEST_DRAIN_SECONDS)
    seconds = np.where(shrinks, lag.values, 0) / np.where(shrinks, less, 1.0)
    return Column(np.where(none, 0.0, seconds), none | shrinks)
