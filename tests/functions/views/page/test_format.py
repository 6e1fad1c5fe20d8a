# SPDX-License-Identifier: Apache-2.0
"""Numbers as people say them; a name can neither break a line nor hide what it is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.views import page_format
from tests.functions.views.page.rows import DAY, HOUR, MINUTE, NOON


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, None),
        (math.nan, None),
        (0.0, "0 s"),
        (59.6, "1 min"),
        (570.0, "9 min 30 s"),
        (11520.0, "3 h 12 min"),
        (86399.0, "1 d"),
        (187200.0, "2 d 4 h"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float | None, text: str | None) -> None:
    said = page_format.duration(seconds)

    assert (said and said.replace(page_format.SPACE, " ")) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0.0, ""), (0.2, "± 1 s"), (5.4, "± 6 s")]
)
def test_an_error_is_rounded_up(seconds: float | None, text: str) -> None:
    assert page_format.margin(seconds).replace(page_format.SPACE, " ") == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, None), (0.0, "0/s"), (0.04, "0.0/s"), (2.25, "2.2/s"), (12345.6, "12,346/s")],
)
def test_a_rate_is_precise_where_it_is_small(number: float | None, text: str | None) -> None:
    assert page_format.rate(number) == text


@pytest.mark.parametrize(
    ("number", "text"), [(None, None), (0, "0 B"), (1536, "1.5 KiB"), (2**50, "1,024 TiB")]
)
def test_bytes_are_told_in_units_of_1024(number: int | None, text: str | None) -> None:
    said = page_format.size(number)

    assert (said and said.replace(page_format.SPACE, " ")) == text


@pytest.mark.parametrize(
    ("at", "text"),
    [(NOON - HOUR, "11:00 UTC"), (NOON - 3 * DAY - MINUTE, "28 Jan 11:59 UTC")],
)
def test_a_time_of_another_day_says_its_date(at: int, text: str) -> None:
    assert page_format.moment(at, NOON).replace(page_format.SPACE, " ") == text


def test_a_clock_ahead_of_ours_tells_no_negative_age() -> None:
    assert page_format.since(NOON + MINUTE, NOON).replace(page_format.SPACE, " ") == "0 s"


def test_a_state_of_two_words_may_be_broken() -> None:
    assert page_format.state("CompletingRebalance") == "Completing Rebalance"


@pytest.mark.parametrize(
    ("name", "shown"),
    [("", "(empty name)"), ("a\nb", "a\\u000ab"), ("no\u202eiturb", "no\\u202eiturb")],
)
def test_what_does_not_print_is_spelled_out(name: str, shown: str) -> None:
    assert page_format.name(name) == shown


@given(st.text(min_size=1))
def test_no_name_is_shown_longer_than_it_may_be(name: str) -> None:
    shown = page_format.name(name * 50)

    assert len(shown) <= page_format.MAX_NAME_LENGTH + 1
    assert shown.isprintable()
