# SPDX-License-Identifier: Apache-2.0
"""Speeds over uneven intervals, and how long a backlog takes at them."""

from __future__ import annotations

import pytest

from kafka_lag.lag.columns import Column
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.rates import estimate_time_since
from tests.functions.lag.strips import Strips

# Averages over five minutes: what a minute adds weighs 0.1294.
CASES = {
    "reads a record a second": """
        end           0 +60x5
        commit        0 +60
        consume_rate  ? 1x5
        drain_seconds 0x6
        group.produce_rate  ? 1x5
        group.consume_rate  ? 1x5
    """,
    "reads three times as fast from now on": """
        end           500 +60x3
        commit        0 60 240 420
        consume_rate  ? 1 1.259 1.484
        drain_seconds ? ? 1467 536.9
    """,
    "does not move": """
        end           9 +60x3
        commit        9
        consume_rate  ? 0x3
        age_growth    ? 1x3
        drain_seconds 0 ?x3
    """,
    "goes back and reads on": """
        end           500 +60x4
        commit        300 360 40 100 160
        consume_rate  ? 1x4
    """,
    "commits for the first time": """
        end           500
        commit        - 60 120
        consume_rate  ?x2 1
    """,
    "deletes its commit": """
        end           500
        commit        0 60 -
        consume_rate  ? 1 ?
    """,
    "reads after what was deleted": """
        end           1000
        start         600
        commit        0 660
        consume_rate  ? 1
    """,
    "commits within what was deleted": """
        end           1000
        start         600
        commit        0 540
        consume_rate  ? 0
    """,
    "reads to the end and beyond": """
        end           0 60 119 240
        commit        0 60 120 240
        consume_rate  ? 1x3
    """,
    "of a topic that was recreated": """
        topic_id      a a b b
        end           0 60 120 180
        commit        0 60 120 180
        consume_rate  ? 1 ? 1
        group.produce_rate  ? 1 ? 1
    """,
    "of a log that was cut": """
        end           100 160 50 110
        commit        0
        group.produce_rate  ? 1 ? 1
    """,
    "to which nothing is written any more": """
        end           0 60 60 60
        commit        0
        group.produce_rate  ? 1 0.8706 0.7579
    """,
    "that is not read in one run": """
        end           0 60 timeout 180
        commit        0 60 60 180
        consume_rate  ? 1 1 1
        group.produce_rate  ? 1 1 1
    """,
    "catches up": """
        end           6000 +60x4
        commit        0 +180
        consume_rate  ? 3x4
        drain_seconds ? 2940 2880 2820 2760
        group.drain_seconds  ? 2940 2880 2820 2760
    """,
    "holds its distance": """
        end           6000 +60x4
        commit        0 +60
        drain_seconds ?x5
    """,
    "lags by what is allowed, and falls behind": """
        end           7 +1x2
        commit        0
        drain_seconds 0 ? ?
    """,
    "needs more than a year": """
        end           40_000_000 +0x2
        commit        0 +60
        drain_seconds ?x3
    """,
}
RUNS = Strips(CASES, Rules(lookup_budget=0, allowed_lag=ByName.of([("allowed", 7)])))


@pytest.mark.parametrize("name", CASES)
def test_a_group_is_as_fast_as_its_commit_and_its_log_move(name: str) -> None:
    RUNS.check(name)


def test_a_short_window_forgets_a_first_reading_sooner() -> None:
    text = "end 9000\ncommit 0 6000 6060\nconsume_rate ? 100 50.5"
    Strips({"g": text}, Rules(window_ms=120_000)).check("g")


def test_a_speed_is_the_same_whatever_the_intervals() -> None:
    minutes = (0, 1, 1.5, 9, 60, 61)
    text = f"end 999999\ncommit {' '.join(str(round(each * 60)) for each in minutes)}"
    found = Strips({"g": text}, minutes=minutes).said("g", "consume_rate")
    assert found == [None, *[pytest.approx(1)] * 5]


@pytest.mark.parametrize("minutes", [5, 11, 20, 60, 600])
def test_a_change_is_as_long_ago_as_averages_took_to_show_so_much_of_it(minutes: int) -> None:
    shown = 1 - 2 ** (-minutes / 5)
    seconds = Column.of([minutes * 60 / shown])
    (since,) = estimate_time_since(seconds, Rules()).to_list()
    assert since == pytest.approx(minutes * 60, abs=1)
