# SPDX-License-Identifier: Apache-2.0
"""Speeds over uneven intervals, and the time to work off a backlog at these speeds."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.rates import estimate_time_since
from kafka_lag.lag.recent import Recent
from tests.functions.lag.strips import Strips, split_strips

# Averages over five minutes: what a minute adds weighs 0.1294.
CASES = split_strips(
    """
    reads a record a second
        end                 0 +60x5
        commit              0 +60
        consume_rate        ? 1x5
        drain_seconds       0x6
        group.produce_rate  ? 1x5
        group.consume_rate  ? 1x5
    reads three times as fast from now on
        end            500 +60x3
        commit         0 60 240 420
        consume_rate   ? 1 1.259 1.484
        drain_seconds  ? ? 1467 536.9
    does not move
        end            9 +60x3
        commit         9
        consume_rate   ? 0x3
        age_growth     ? 1x3
        drain_seconds  0 ?x3
    goes back and reads on
        end           500 +60x4
        commit        300 360 40 100 160
        consume_rate  ? 1x4
    commits for the first time
        end           500
        commit        - 60 120
        consume_rate  ?x2 1
    deletes its commit
        end           500
        commit        0 60 -
        consume_rate  ? 1 ?
    reads after what was deleted
        end           1000
        start         600
        commit        0 660
        consume_rate  ? 1
    commits within what was deleted
        end           1000
        start         600
        commit        0 540
        consume_rate  ? 0
    reads to the end and beyond
        end           0 60 119 240
        commit        0 60 120 240
        consume_rate  ? 1x3
    of a topic that was recreated
        topic_id            a a b b
        end                 0 60 120 180
        commit              0 60 120 180
        consume_rate        ? 1 ? 1
        group.produce_rate  ? 1 ? 1
    of a log that was cut
        end                 100 160 50 110
        commit              0
        group.produce_rate  ? 1 ? 1
    to which nothing is written any more
        end                 0 60 60 60
        commit              0
        group.produce_rate  ? 1 0.8706 0.7579
    that is not read in one run
        end                 0 60 timeout 180
        commit              0 60 60 180
        consume_rate        ? 1 1 1
        group.produce_rate  ? 1 1 1
    catches up
        end                  6000 +60x4
        commit               0 +180
        consume_rate         ? 3x4
        drain_seconds        ? 2940 2880 2820 2760
        group.drain_seconds  ? 2940 2880 2820 2760
    holds its distance
        end            6000 +60x4
        commit         0 +60
        drain_seconds  ?x5
    lags by what is allowed, and falls behind
        end            7 +1x2
        commit         0
        drain_seconds  0 ? ?
    needs more than a year
        end            40_000_000 +0x2
        commit         0 +60
        drain_seconds  ?x3
    """
)
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


# The last values of a group, against lists of Python.

MOST = 5
VALUES = st.integers(0, 50).map(float)
LISTS = st.lists(VALUES, max_size=MOST)


def recent(*lists: Sequence[float]) -> Recent:
    return Recent.of(Strings.of(tuple(each) or None for each in lists), MOST)


@given(LISTS, LISTS)
def test_lists_are_what_they_were(first: list[float], second: list[float]) -> None:
    expected = [tuple(first) or None, tuple(second) or None]
    assert recent(first, second).to_lists().to_list() == expected


def test_of_a_longer_list_the_last_are_there() -> None:
    lists = Strings.of([(1.0, 2.0, 3.0)])
    assert Recent.of(lists, 2).to_lists().to_list() == [(2.0, 3.0)]


@given(LISTS, st.none() | VALUES, st.integers(0, 7))
def test_a_known_value_is_appended_so_many_times(
    values: list[float], value: float | None, times: int
) -> None:
    found = recent(values).appended(Column.optional([value], np.float64), np.array([times]))
    more = [] if value is None else [value] * times
    assert found.to_lists().to_list() == [tuple((values + more)[-MOST:]) or None]


@given(LISTS)
def test_the_median_is_the_upper_of_two(values: list[float]) -> None:
    expected = sorted(values)[len(values) // 2] if values else None
    assert recent(values).upper_median().to_list() == [expected]


@given(LISTS)
def test_the_mean_and_the_least_are_of_those_that_are_there(values: list[float]) -> None:
    found = recent(values)
    mean = sum(values) / len(values) if values else None
    assert found.mean().to_list() == [pytest.approx(mean)]
    assert found.minimum().to_list() == [min(values, default=None)]
    assert found.last(2).minimum().to_list() == [min(values[-2:], default=None)]


@given(LISTS, st.floats(0, 10))
def test_at_the_even_rate_no_values_in_a_row_are_worked_off_later(
    values: list[float], late: float
) -> None:
    rows = [values[a:b] for a in range(len(values)) for b in range(a + 1, len(values) + 1)]
    rates = [sum(each) / (len(each) + late) for each in rows]
    expected = max([*rates, sum(values) / len(values)]) if values else None
    found = recent(values).even_rate(np.array([late])).to_list()
    assert found == [pytest.approx(expected)]


def test_the_even_rate_of_runs_three_seconds_apart_takes_little_memory() -> None:
    runs = Recent(np.ones((20, 300)), np.full(20, 300))
    tracemalloc.start()
    try:
        runs.even_rate(np.full(20, 2.5))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20 * runs.values.nbytes


def test_the_greatest_is_of_all_but_the_newest() -> None:
    assert recent([3.0, 9.0, 4.0, 11.0, 12.0]).without(2).maximum().to_list() == [9.0]
    assert recent([11.0, 12.0]).without(2).maximum().to_list() == [None]


@given(LISTS)
def test_noise_is_in_the_differences_of_neighbours(values: list[float]) -> None:
    squares = [(b - a) ** 2 for a, b in pairwise(values)]
    expected = math.sqrt(sum(squares) / max(2 * len(squares), 1))
    assert recent(values).noise().to_list() == [pytest.approx(expected)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([], 0.0, id="nothing"),
        pytest.param([5.0], 0.0, id="one"),
        pytest.param([1.0, 1.0, 9.0, 9.0, 9.0, 2.0, 2.0], 0.0, id="waves"),
        pytest.param([1.0, 2.0, 1.0, 2.0, 1.0], 1 / 0.954, id="each is another"),
    ],
)
def test_usual_noise_sees_no_single_steps(values: list[float], expected: float) -> None:
    assert recent(values).usual_noise().to_list() == [pytest.approx(expected)]


def test_values_are_kept_to_a_thousandth() -> None:
    assert recent([1.23456]).to_lists().to_list() == [(1.235,)]


@given(st.lists(st.tuples(VALUES, st.integers(1, 130)), min_size=1, max_size=60))
def test_a_value_is_the_mean_of_its_slot_and_of_one_that_goes_on_as_the_one_before(
    runs: list[tuple[float, int]],
) -> None:
    """Rates with the seconds that each held, from the beginning of a slot of a minute on."""
    found, now = recent([]), 600
    each_second: list[float] = []
    for rate, seconds in runs:
        now += seconds
        each_second += [rate] * seconds
        lasted = np.array([seconds * 1_000])
        found = found.averaged(Column.of([rate]), lasted, now * 1_000, 60_000)
    slots = [each_second[at : at + 60] for at in range(0, len(each_second), 60)]
    # What came before the first run is not known, and all of that run is one value.
    if len(slots) - runs[0][1] // 60 > MOST + 1:
        rest = [sum(slots[-2]) / 60] * (60 - len(slots[-1]))
        slots[-1] = [*slots[-1], *rest]
        expected = [sum(slot) / 60 for slot in slots[-MOST:]]
        (values,) = found.to_lists().to_list()
        assert values == pytest.approx(expected, abs=0.01)


def test_an_unknown_rate_changes_no_slot() -> None:
    unknown = Column.unknown(1, np.float64)
    found = recent([3.0, 4.0]).averaged(unknown, np.array([90_000]), 720_000, 60_000)
    assert found.to_lists().to_list() == [(3.0, 4.0)]
