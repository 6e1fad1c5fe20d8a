# SPDX-License-Identifier: Apache-2.0
"""Delays: the age that records of a retry topic reach on purpose is no lag in time."""

from __future__ import annotations

import pytest

from kafka_lag.lag.columns import Strings
from kafka_lag.lag.delays import find_delays
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules
from tests.functions.lag.strips import Strips, split_strips

# A record a second; those who wait read it after five minutes, in the next run.
STRIPS = split_strips(
    """
    waits
        end               0 +60
        commit            0x7 +60
        time_lag_seconds  0x6 29.97 59.49x33
        lag               0 60 120 180 240 300 360x34
        scaling_lag       0x6 60x34
        drain_seconds     0x6
        group.capacity    ?x40
        status            OKx40
    waits, and hangs once it has read for a while
        end               0 +60
        commit            0x7 +60x13 +0
        time_lag_seconds  0x6 29.97 59.49x13 119.49 179.49
        scaling_lag       0x6 60x14 120 180
        status            OKx30 STALLx10
    waits, and cannot be read
        end                     0 +60x3 no_leader
        commit                  0
        group.time_lag_seconds  0x8
    does not wait
        end             0 +60
        commit          0x7 +60
        scaling_lag     0 60 120 180 240 300 360x34
        group.capacity  ?x10 1x30
    """
)
RETENTION = """
    end               0 +60
    commit            0x7 +60x3 +0
    cleanup_policy    delete
    retention_ms      1200000
    retention_bytes   -1
    runs              30
"""
RULES = Rules(delay_seconds=ByName.of([("^waits", 300)]))
RUNS = Strips(STRIPS, RULES)


@pytest.mark.parametrize("name", STRIPS)
def test_only_the_age_beyond_the_delay_counts(name: str) -> None:
    RUNS.check(name)


def test_retention_counts_the_whole_age() -> None:
    runs = Strips({"waits": RETENTION, "plain": RETENTION}, RULES)
    delayed, plain = (runs.said(name, "seconds_until_loss") for name in ("waits", "plain"))
    assert delayed[-8:] == plain[-8:]
    assert delayed[-1] < plain[0]


def test_a_delay_is_the_topics_or_else_the_groups() -> None:
    rows = Frame.of(
        {
            "consumer_group": Strings.of(["late", "late", "g", "g"]),
            "topic": Strings.of(["retry", "orders", "retry", "orders"]),
        }
    )
    rules = Rules(delay_seconds=ByName.of([("late", 60), ("^retry", 300.5)]))
    assert find_delays(rows, rules).to_list() == [300.5, 60, 300.5, None]
