# SPDX-License-Identifier: Apache-2.0
"""What the page's filters show; a name can neither break a line nor hide what it is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.formatting import NO_BREAK_SPACE
from kafka_lag.views.page_format import DASH, FILTERS, MAX_NAME_LENGTH, margin, name, state
from tests.functions.views.page.rows import DAY, MINUTE, NOON


@pytest.mark.parametrize("filter_name", ["duration", "count", "rate", "size"])
@pytest.mark.parametrize("unknown", [None, math.nan, math.inf])
def test_an_unknown_number_is_a_dash_and_says_why(filter_name: str, unknown: float | None) -> None:
    assert FILTERS[filter_name](unknown) == DASH.format("unknown")
    assert FILTERS[filter_name](unknown, "<why>") == DASH.format("<why>")


@pytest.mark.parametrize(
    ("filter_name", "values", "text"),
    [
        ("duration", (11_520.0,), "3 h 12 min"),
        ("size", (1_536,), "1.5 KiB"),
        ("moment", (NOON - 3 * DAY - MINUTE, NOON), "2026-01-28 11:59 UTC"),
        ("since", (NOON - 90_000, NOON), "1 min 30 s"),
        ("margin", (5.4,), "± 6 s"),
    ],
)
def test_no_line_is_broken_within_a_number_and_its_unit(
    filter_name: str, values: tuple[float, ...], text: str
) -> None:
    assert FILTERS[filter_name](*values) == text.replace(" ", NO_BREAK_SPACE)


def test_a_clock_ahead_of_ours_shows_no_negative_age() -> None:
    assert FILTERS["since"](NOON + MINUTE, NOON) == f"0{NO_BREAK_SPACE}s"


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0.0, ""), (0.2, "± 1 s"), (5.4, "± 6 s")]
)
def test_an_error_is_rounded_up(seconds: float | None, text: str) -> None:
    assert margin(seconds).replace(NO_BREAK_SPACE, " ") == text


def test_a_state_of_two_words_may_be_broken() -> None:
    assert state("CompletingRebalance") == "Completing Rebalance"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", "(empty name)"), ("a\nb", "a\\u000ab"), ("no\u202eiturb", "no\\u202eiturb")],
)
def test_what_does_not_print_is_escaped(text: str, shown: str) -> None:
    assert name(text) == shown


@given(st.text(min_size=1))
def test_no_name_is_shown_longer_than_it_may_be(text: str) -> None:
    shown = name(text * 50)

    assert len(shown) <= MAX_NAME_LENGTH + 1
    assert shown.isprintable()
