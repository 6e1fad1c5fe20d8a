# SPDX-License-Identifier: Apache-2.0
"""Durations as people say them, and rounded to the side that promises nothing."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.cli.tables.durations import in_one, in_two

SECONDS = {"s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
AGES = st.floats(0, 60 * 365 * 86_400.0)


def read_back(text: str) -> float:
    parts = re.findall(r"([\d.,]+) (s|min|h|d)", text)
    return sum(float(number.replace(",", "")) * SECONDS[unit] for number, unit in parts)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 s"),
        (0.04, "0 s"),
        (0.34, "0.3 s"),
        (9.96, "10 s"),
        (10.4, "10 s"),
        (42.4, "42 s"),
        (59.7, "1 min"),
        (60, "1 min"),
        (135, "2 min 15 s"),
        (3_599.6, "1 h"),
        (7_800, "2 h 10 min"),
        (86_399, "1 d"),
        (5 * 86_400 + 3 * 3_600, "5 d 3 h"),
        (2_000 * 86_400, "2,000 d"),
    ],
)
def test_two_units_are_enough(seconds: float, told: str) -> None:
    assert in_two(seconds) == told


@pytest.mark.parametrize(
    ("seconds", "least", "most"),
    [
        (0.31, "0.3 s", "0.4 s"),
        (9.95, "9.9 s", "10 s"),
        (119.5, "119 s", "2 min"),
        (125, "2 min", "3 min"),
        (7_199, "119 min", "2 h"),
        (47 * 3_600 + 1, "47 h", "2 d"),
        (10 * 86_400, "10 d", "10 d"),
    ],
)
def test_one_unit_is_rounded_to_the_side_that_is_wanted(
    seconds: float, least: str, most: str
) -> None:
    assert (in_one(seconds, math.floor), in_one(seconds, math.ceil)) == (least, most)


@given(AGES)
def test_what_is_rounded_down_is_never_more_and_up_never_less(seconds: float) -> None:
    slack = 1e-6 * max(seconds, 1)
    for told in (in_one, in_two):
        assert read_back(told(seconds, math.floor)) <= seconds + slack
        assert read_back(told(seconds, math.ceil)) >= seconds - slack


@given(AGES)
def test_two_units_are_off_by_half_of_the_finer_one_at_most(seconds: float) -> None:
    told = in_two(seconds)
    finest = 0.05 if seconds < 10 else 0.5 if seconds < 3_600 else 30 if seconds < 86_400 else 1_800
    assert abs(read_back(told) - seconds) <= finest + 1e-6
