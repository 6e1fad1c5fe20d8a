# SPDX-License-Identifier: Apache-2.0
"""Speeds over uneven intervals, and how long a backlog takes at them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.previous_rows import match_previous
from kafka_lag.lag.rates import (
    LONGEST_DRAIN_SECONDS,
    add_produce_rate,
    add_rates,
    estimate_time_since,
)
from tests.builders import MINUTE
from tests.functions.lag.builders import (
    BEFORE,
    LATER,
    NOW,
    Row,
    column,
    first,
    numbers_of,
    rows,
    snapshot,
    topic_rows,
)

RATES = ("consume_rate", "age_growth", "drain_seconds")
UNREAD = {"unread_reason": "timeout"}
# Of a mean, what a minute's sample weighs.
MINUTES = 1 - 2 ** (-60 / 300)


def rated(previous: Row, now: Row, produce: float | None = None, allowed: int = 0) -> Frame:
    frame = rows(now)
    memory = match_previous(frame, snapshot(rows(previous, at=BEFORE)))
    return add_rates(frame, memory, column([produce]), column([allowed], "long"), Rules())


def produced(previous: Row, now: Row) -> float | None:
    newest = snapshot(rows(), topic_rows(previous, at=BEFORE))
    (rate,) = first(add_produce_rate(topic_rows(now), newest, Rules()), "produce_rate")
    return rate if rate is None else float(rate)


@pytest.mark.parametrize(
    ("previous", "now", "rate"),
    [
        pytest.param({}, {"committed_offset": 60}, None, id="first-commit"),
        pytest.param({"committed_offset": 0}, {"committed_offset": 60}, 1.0, id="first-sample"),
        pytest.param({"committed_offset": 9}, {"committed_offset": 9}, 0.0, id="unmoved"),
        pytest.param({"committed_offset": 9}, {"committed_offset": 8}, None, id="first-a-rewind"),
        pytest.param(
            {"committed_offset": 0, "consume_rate": 1.0},
            {"committed_offset": 180},
            1.0 + 2.0 * MINUTES,
            id="a-minute-faster",
        ),
        pytest.param(
            {"committed_offset": 0, "consume_rate": 1.0, "read_at": NOW + LATER - 5 * MINUTE},
            {"committed_offset": 900},
            2.0,
            id="a-half-life-faster",
        ),
        pytest.param(
            {"committed_offset": 9, "consume_rate": 1.5},
            {"committed_offset": 4},
            1.5,
            id="a-rewind-keeps-the-rate",
        ),
        pytest.param(
            {"committed_offset": 0, "consume_rate": 1.5, "read_at": NOW + LATER},
            {"committed_offset": 60},
            1.5,
            id="no-time-passed",
        ),
        pytest.param(
            {"committed_offset": 0, "consume_rate": 1.5, "read_at": NOW + 2 * MINUTE},
            {"committed_offset": 60},
            1.5,
            id="clock-went-back",
        ),
        pytest.param(
            {"committed_offset": 0, "start_offset": 600},
            {"committed_offset": 660, "start_offset": 600},
            1.0,
            id="what-was-deleted-was-not-read",
        ),
        pytest.param(
            {"committed_offset": 0, "start_offset": 600},
            {"committed_offset": 540, "start_offset": 600},
            0.0,
            id="within-what-was-deleted",
        ),
        pytest.param(
            {"committed_offset": 0, "end_offset": 50},
            {"committed_offset": 60, "end_offset": 59},
            None,
            id="beyond-the-end",
        ),
        pytest.param(
            {"committed_offset": 60, "end_offset": 59},
            {"committed_offset": 120, "end_offset": 120},
            None,
            id="was-beyond-the-end",
        ),
        pytest.param(
            {"committed_offset": 0, "end_offset": 0},
            {"committed_offset": 60, "end_offset": 60},
            1.0,
            id="right-at-the-end",
        ),
        pytest.param({"committed_offset": 9, "consume_rate": 1.5}, {}, None, id="commit-deleted"),
        pytest.param(
            {"committed_offset": 0, "consume_rate": 1.5, "topic_id": "a"},
            {"committed_offset": 60, "topic_id": "b"},
            None,
            id="topic-recreated",
        ),
    ],
)
def test_a_group_consumes_as_fast_as_its_commit_moves(
    previous: Row, now: Row, rate: float | None
) -> None:
    assert first(rated(previous, now), "consume_rate") == (pytest.approx(rate),)


@pytest.mark.parametrize(
    ("previous", "now", "growth"),
    [
        pytest.param(10.0, 40.0, 0.5, id="half-as-fast-as-time"),
        pytest.param(10.0, 70.0, 1.0, id="stuck"),
        pytest.param(10.0, 500.0, 1.0, id="never-faster-than-time"),
        pytest.param(500.0, 10.0, 0.0, id="never-negative"),
        pytest.param(None, 10.0, None, id="unknown-before"),
        pytest.param(10.0, None, None, id="unknown-now"),
    ],
)
def test_an_age_grows_between_not_at_all_and_as_fast_as_time(
    previous: float | None, now: float | None, growth: float | None
) -> None:
    found = rated({"time_lag_seconds": previous}, {"time_lag_seconds": now})
    assert first(found, "age_growth") == (growth,)


def test_growth_is_kept_while_the_age_is_unknown() -> None:
    assert first(rated({"age_growth": 0.25, "time_lag_seconds": 9.0}, {}), "age_growth") == (0.25,)


@pytest.mark.parametrize(
    ("lag", "consume", "produce", "drain"),
    [
        pytest.param(600, 3.0, 1.0, 300.0, id="catching-up"),
        pytest.param(600, 1.0, 1.0, None, id="holding"),
        pytest.param(600, 1.0, 3.0, None, id="falling-behind"),
        pytest.param(600, 3.0, None, None, id="production-unknown"),
        pytest.param(600, None, 1.0, None, id="consumption-unknown"),
        pytest.param(None, 3.0, 1.0, None, id="lag-unknown"),
        pytest.param(0, None, None, 0.0, id="nothing-to-drain"),
        pytest.param(7, 1.0, 3.0, 0.0, id="20-allowed"),
        pytest.param(31_536_000, 1.0, 0.0, 31_536_000.0, id="a-year"),
        pytest.param(31_536_001, 1.0, 0.0, None, id="longer-than-a-year"),
        pytest.param(2**62, 1e-9, 0.0, None, id="longer-than-ages"),
        pytest.param(8, 5e-324, 0.0, None, id="a-difference-of-noise"),
    ],
)
def test_a_backlog_drains_at_what_is_consumed_beyond_what_is_produced(
    lag: int | None, consume: float | None, produce: float | None, drain: float | None
) -> None:
    previous = {"committed_offset": 9, "consume_rate": consume, "read_at": NOW + LATER}
    found = rated(previous, {"committed_offset": 9, "lag": lag}, produce, allowed=7)
    assert first(found, "drain_seconds") == (drain,)


@pytest.mark.parametrize(
    ("previous", "now", "rate"),
    [
        pytest.param({}, {"end_offset": 60}, None, id="first-end"),
        pytest.param({"end_offset": 0}, {"end_offset": 60}, 1.0, id="first-sample"),
        pytest.param(
            {"end_offset": 0, "produce_rate": 1.0},
            {"end_offset": 0},
            1.0 - MINUTES,
            id="idle-since-a-minute",
        ),
        pytest.param(
            {"end_offset": 9, "produce_rate": 1.0}, {"end_offset": 8}, None, id="6-end-went-back"
        ),
        pytest.param(
            {"end_offset": 0, "topic_id": "a", "produce_rate": 1.0},
            {"end_offset": 60, "topic_id": "b"},
            None,
            id="topic-recreated",
        ),
        pytest.param(
            {"end_offset": 0, "produce_rate": 1.0},
            {"end_offset": 0, "produce_rate": 1.0, **UNREAD},
            1.0,
            id="unread",
        ),
    ],
)
def test_producers_are_as_fast_as_the_end_moves(
    previous: Row, now: Row, rate: float | None
) -> None:
    assert produced(previous, now) == pytest.approx(rate)


def test_an_unread_row_keeps_its_rates() -> None:
    carried = {"committed_offset": 9, "consume_rate": 2.0, "age_growth": 0.5, "drain_seconds": 7.0}
    found = rated(carried, {**carried, **UNREAD}, produce=1.0)
    assert first(found, *RATES) == (2.0, 0.5, 7.0)


@given(st.lists(st.integers(1, 10_000_000), min_size=1, max_size=20), st.integers(0, 1_000))
def test_a_constant_speed_is_told_whatever_the_intervals(intervals: list[int], speed: int) -> None:
    at, frame = NOW, rows({"committed_offset": 0})
    for interval in intervals:
        at += interval
        now = rows({"committed_offset": (at - NOW) * speed}, at=at)
        memory = match_previous(now, snapshot(frame))
        frame = add_rates(now, memory, column([0.0]), column([0], "long"), Rules())
    assert first(frame, "consume_rate") == (pytest.approx(speed * 1_000),)


OFFSET = st.none() | st.integers(0, 2**62)
RATE = st.none() | st.floats(0, 2**62)
ROW = st.fixed_dictionaries(
    {
        "committed_offset": OFFSET,
        "end_offset": OFFSET,
        "lag": OFFSET,
        "time_lag_seconds": st.none() | st.floats(0, 1e9),
        "read_at": st.none() | st.integers(BEFORE, NOW),
        "consume_rate": RATE,
        "produce_rate": RATE,
        "age_growth": st.none() | st.floats(0, 1),
    }
)


@given(ROW, ROW, RATE, st.integers(0, 2**62))
def test_no_rate_is_ever_negative_or_infinite(
    previous: Row, now: Row, produce: float | None, allowed: int
) -> None:
    with np.errstate(all="raise", under="ignore"):
        found = rated(previous, now, produce, allowed)
        rate = produced(previous, now)
    numbers = [*numbers_of(found, *RATES), rate or 0.0]
    assert all(np.isfinite(numbers))
    assert min(numbers) >= 0.0
    assert all(growth <= 1.0 for growth in numbers_of(found, "age_growth"))
    assert all(drain <= LONGEST_DRAIN_SECONDS for drain in numbers_of(found, "drain_seconds"))


@pytest.mark.parametrize(("window", "weight"), [(600_000, MINUTES), (120_000, 0.5)])
def test_a_short_window_forgets_a_first_reading_sooner(window: int, weight: float) -> None:
    now, rules = rows({"committed_offset": 160}), Rules(window_ms=window)
    previous = rows({"committed_offset": 100, "consume_rate": 100.0}, at=BEFORE)
    none = column([0], "long")
    found = add_rates(now, match_previous(now, snapshot(previous)), column([0.0]), none, rules)
    assert first(found, "consume_rate") == (pytest.approx(100 - 99 * weight),)


@pytest.mark.parametrize("minutes", [5, 11, 20, 60, 600])
def test_a_change_is_as_long_ago_as_averages_took_to_show_so_much_of_it(minutes: int) -> None:
    shown = 1 - 2 ** (-minutes / 5)
    (since,) = estimate_time_since(column([minutes * 60 / shown]), Rules()).to_list()
    assert since == pytest.approx(minutes * 60, abs=1)
