# SPDX-License-Identifier: Apache-2.0
"""Numbers as people say them; a name can neither break a line nor hide what it is."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.page import words
from tests.glue_jobs.page.pages import DAY


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, words.DASH),
        (math.nan, words.DASH),
        (0.0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (570.0, "9 min 30 s"),
        (599.6, "10 min"),
        (3599.0, "1 h"),
        (11520.0, "3 h 12 min"),
        (86399.0, "1 d"),
        (187200.0, "2 d 4 h"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float | None, text: str) -> None:
    assert words.duration(seconds).replace(words.SPACE, " ") == text


@given(st.floats(0, 1e9))
def test_a_duration_never_says_sixty_of_what_has_a_larger_unit(seconds: float) -> None:
    said = words.duration(seconds).split(words.SPACE)

    assert not {("60", "s"), ("60", "min"), ("24", "h")} & set(
        zip(said[::2], said[1::2], strict=True)
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (None, words.DASH),
        (0.0, "0%"),
        (1.0, "100%"),
        (0.9999, ">99.9%"),
        (0.0001, "<0.1%"),
        (0.713, "71.3%"),
    ],
)
def test_all_and_nothing_are_said_only_when_exact(part: float | None, text: str) -> None:
    assert words.share(part) == text


def test_a_time_of_another_day_says_its_date() -> None:
    late = datetime(2026, 2, 1, 4, 12, tzinfo=UTC)

    assert words.clock(late, DAY).replace(words.SPACE, " ") == "04:12 on 1 February"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("orders", "orders"),
        (None, words.DASH),
        ("", "(empty name)"),
        ("a\nb", "a\\u000ab"),
        ("no\u202eiturb", "no\\u202eiturb"),
        ("line\u2028end", "line\\u2028end"),
        ("\ud800", "\\ud800"),
        ("größe", "größe"),
    ],
)
def test_what_does_not_print_is_spelled_out(name: str | None, shown: str) -> None:
    assert words.name(name) == shown


def test_a_long_name_keeps_both_ends() -> None:
    shown = words.name("a" + "x" * 30_000 + "z")

    assert (shown[0], shown[-1], len(shown)) == ("a", "z", words.LONGEST_NAME + 1)


@given(st.text(min_size=1))
def test_no_name_is_shown_longer_than_it_may_be(name: str) -> None:
    shown = words.name(name * 50)

    assert len(shown) <= words.LONGEST_NAME + 1
    assert shown.isprintable()


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((), ""), ((1, 4), "1, 4"), (tuple(range(10)), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more")],
)
def test_a_long_listing_ends_in_a_count(numbers: tuple[int, ...], text: str) -> None:
    assert words.listing(numbers) == text
