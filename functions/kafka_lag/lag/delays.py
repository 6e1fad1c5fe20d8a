# SPDX-License-Identifier: Apache-2.0
"""Consumers that wait on purpose: readers of retry and delay topics.

They read a record only once it is `delay_seconds` old, so that much of its age is no lag in time.
A record is due once it is that old.
"""

from __future__ import annotations

import numpy as np

from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules


def find_delays(rows: Frame, rules: Rules) -> Column:
    """Returns each row's configured delay, s: its topic's, else its group's, else unknown."""
    if not rules.delay_seconds.choices:
        return Column.unknown(len(rows), np.float64)
    of_topic = rows.strings("topic").numbers_of(rules.delay_seconds.get)
    return of_topic.or_else(rows.strings("consumer_group").numbers_of(rules.delay_seconds.get))


def find_due_time(rows: Frame, read_at: Column) -> Column:
    """Returns the time, ms, before which records must have come to be due when a row was read."""
    return read_at - (rows.numbers("delay_seconds").fill(0.0) * 1_000).astype(np.int64)


def find_oldest_age(rows: Frame) -> Column:
    """Returns the age, s, of the next record with its delay; at most that if it is not due."""
    return rows.numbers("time_lag_seconds") + rows.numbers("delay_seconds").fill(0.0)


def count_undue(rows: Frame, produce_rate: Column) -> Column:
    """Returns how many records of each row's lag are not due yet, by the rate of the last minutes.

    It is 0 without a delay. All are not due if the next one is not, or if its age is unknown.
    """
    delay, lag = rows.numbers("delay_seconds"), rows.numbers("lag")
    none = Column.constant(0, len(rows), np.int64)
    if not delay.known.any():
        return none
    written = (produce_rate * delay).rint().fill(0.0).astype(np.int64)
    some = Column(np.minimum(written, lag.values), lag.known)
    undue = some.where(rows.numbers("time_lag_seconds") > 0, lag)
    return undue.where(delay.known, none)
