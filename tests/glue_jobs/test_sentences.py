# SPDX-License-Identifier: Apache-2.0
"""Numbers in sentences; a name can neither break a line nor hide its letters."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.wording.formatting import format_duration
from kafka_lag_report.page.attention import format_clock
from kafka_lag_report.sentences import (
    DASH,
    LONGEST_NAME,
    join_words,
    word_cause,
    word_known,
    word_name,
    word_time_left,
)
from tests.glue_jobs.page.pages import DAY, skew_of


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, DASH), (math.nan, DASH), (math.inf, DASH), (0.0, "0 s"), (570.0, "9 min 30 s")],
)
def test_unknown_is_a_dash_and_never_a_zero(value: float | None, text: str) -> None:
    assert word_known(format_duration, value) == text


def test_time_left_is_never_said_too_long() -> None:
    assert [word_time_left(5_999.0), word_time_left(59.9)] == ["1 h 39 min", "59 s"]


def test_of_skew_without_a_cause_it_is_said_what_its_partitions_have_in_common() -> None:
    unexplained = skew_of("g", "t", True, False, cause="unexplained", cause_partitions=(2, 5))

    assert join_words(word_cause(unexplained)) == "no cause is known for partitions 2, 5"
    assert join_words(word_cause({**unexplained, "cause_leader": 3})) == (
        "partitions 2, 5 are all led by broker 3, under which no other group lags: "
        "no cause is known"
    )


def test_a_time_of_another_day_says_its_date() -> None:
    late = datetime(2026, 2, 1, 4, 12, tzinfo=UTC)

    assert format_clock(late, DAY).replace("\u00a0", " ") == "2026-02-01 04:12"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("orders", "orders"),
        (None, DASH),
        ("", "(empty name)"),
        ("a\nb", "a\\u000ab"),
        ("no\u202eiturb", "no\\u202eiturb"),
        ("line\u2028end", "line\\u2028end"),
        ("\ud800", "\\ud800"),
        ("größe", "größe"),
    ],
)
def test_what_does_not_print_is_spelled_out(name: str | None, shown: str) -> None:
    assert word_name(name) == shown


def test_a_long_name_keeps_both_ends() -> None:
    shown = word_name("a" + "x" * 30_000 + "z")

    assert (shown[0], shown[-1], len(shown)) == ("a", "z", LONGEST_NAME + 1)


@given(st.text(min_size=1))
def test_no_name_is_shown_longer_than_it_may_be(name: str) -> None:
    shown = word_name(name * 50)

    assert len(shown) <= LONGEST_NAME + 1
    assert shown.isprintable()
