# SPDX-License-Identifier: Apache-2.0
"""Numbers, durations, times and names as people read them."""

from __future__ import annotations

import ast
import math
import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract, formatting
from kafka_lag.formatting import (
    NO_BREAK_SPACE,
    code_point,
    cut_end,
    cut_middle,
    escape_name,
    explain_tasks_needed,
    format_age,
    format_bytes,
    format_count,
    format_duration,
    format_factor,
    format_iso_time,
    format_list,
    format_minute,
    format_quantity,
    format_rate,
    format_share,
    format_short_duration,
    format_sla_used,
    format_time_left,
    format_time_of_day,
    python_escape,
    question_mark,
)
from tests.builders import MINUTE, NOON

HOUR, DAY = 60 * MINUTE, 24 * 60 * MINUTE
SECONDS = {"s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
AGES = st.floats(0, 60 * 365 * 86_400.0)


def read_back(text: str) -> float:
    parts = re.findall(r"([\d.,]+) (s|min|h|d)", text)
    return sum(float(number.replace(",", "")) * SECONDS[unit] for number, unit in parts)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.4, "0 s"),
        (59.6, "1 min"),
        (570.0, "9 min 30 s"),
        (599.6, "10 min"),
        (630.0, "10 min"),
        (3_569.0, "59 min"),
        (3_599.0, "1 h"),
        (11_520.0, "3 h 12 min"),
        (86_399.0, "1 d"),
        (187_200.0, "2 d 4 h"),
        (2_000 * 86_400.0, "2,000 d"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
    assert format_duration(seconds, space=NO_BREAK_SPACE) == text.replace(" ", NO_BREAK_SPACE)


@pytest.mark.parametrize(
    ("seconds", "text"),
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
def test_a_precise_duration_has_tenths_and_more_seconds(seconds: float, text: str) -> None:
    assert format_duration(seconds, precise=True) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.9, "0 s"),
        (119.9, "119 s"),
        (120, "2 min"),
        (7_199, "119 min"),
        (7_200, "2 h"),
        (9_359, "2.5 h"),
        (172_799, "47.9 h"),
        (172_800, "2 d"),
        (20 * 86_400 + 8_640, "20.1 d"),
        (1_234.5 * 86_400, "1,234.5 d"),
    ],
)
def test_a_short_duration_is_rounded_down_to_one_unit(seconds: float, text: str) -> None:
    assert format_short_duration(seconds) == text


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
    show = partial(format_short_duration, precise=True)
    assert (show(seconds, math.floor), show(seconds, math.ceil)) == (least, most)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_time_or_share_that_is_no_number_is_said_to_be_unknown(number: float) -> None:
    assert format_duration(number, precise=True) == "an unknown time"
    assert format_short_duration(number, round) == "an unknown time"
    assert format_time_left(number, space=NO_BREAK_SPACE) == "an\u00a0unknown\u00a0time"
    assert format_sla_used(number) == "an unknown share"


@given(AGES)
def test_what_is_rounded_down_is_never_more_and_up_never_less(seconds: float) -> None:
    slack = 1e-6 * max(seconds, 1)
    for show in (format_short_duration, format_duration):
        for precise in (False, True):
            assert read_back(show(seconds, math.floor, precise=precise)) <= seconds + slack
            assert read_back(show(seconds, math.ceil, precise=precise)) >= seconds - slack


@given(AGES)
def test_two_units_are_off_by_half_of_the_finer_one_at_most(seconds: float) -> None:
    text = format_duration(seconds, precise=True)
    finest = 0.05 if seconds < 10 else 0.5 if seconds < 3_600 else 30 if seconds < 86_400 else 1_800
    assert abs(read_back(text) - seconds) <= finest + 1e-6


@pytest.mark.parametrize(
    ("at", "text"), [(NOON - 90_000, "1 min 30 s"), (NOON, "0 s"), (NOON + MINUTE, "0 s")]
)
def test_an_age_is_never_negative(at: int, text: str) -> None:
    assert format_age(at, NOON) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (1234.5, "1,234"), (10**7, "10,000,000")])
def test_a_count_has_separators(number: float, text: str) -> None:
    assert format_count(number) == text


@pytest.mark.parametrize(
    ("number", "many", "text"),
    [(0, None, "0 boxes"), (1, None, "1 box"), (1_000, None, "1,000 boxes"), (2, "Box", "2 Box")],
)
def test_a_quantity_has_its_noun_in_the_right_number(
    number: int, many: str | None, text: str
) -> None:
    assert format_quantity(number, "box", many or "boxes") == text
    assert format_quantity(number, "group").endswith("group" if number == 1 else "groups")


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "0/s"), (0.04, "0.0/s"), (2.25, "2.2/s"), (10, "10/s"), (12345.6, "12,346/s")],
)
def test_a_rate_is_precise_where_it_is_small(number: float, text: str) -> None:
    assert format_rate(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1,023 B"), (1536, "1.5 KiB"), (2**50, "1,024 TiB")],
)
def test_bytes_are_in_units_of_1024(number: int, text: str) -> None:
    assert format_bytes(number) == text
    assert format_bytes(number, space=NO_BREAK_SPACE) == text.replace(" ", NO_BREAK_SPACE)


@pytest.mark.parametrize(
    ("at", "text"),
    [(NOON - HOUR, "11:00 UTC"), (NOON - 3 * DAY - MINUTE, "2026-01-28 11:59 UTC")],
)
def test_a_time_of_another_day_has_its_date(at: int, text: str) -> None:
    assert format_time_of_day(at, NOON) == text


def test_a_time_for_machines_is_iso_8601() -> None:
    assert format_iso_time(NOON + 5) == "2026-01-31T12:00:00Z"
    assert format_iso_time(NOON + 5, "milliseconds") == "2026-01-31T12:00:00.005Z"
    assert format_minute(NOON + 59_999) == "2026-01-31 12:00 UTC"


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c", "d"], "a, b and 2 more")],
)
def test_a_long_list_is_cut_and_counted(names: list[str], text: str) -> None:
    assert format_list(names, 2) == text


@pytest.mark.parametrize(
    ("name", "for_pages", "for_messages", "for_terminals"),
    [
        ("", "(empty name)", "(no name)", "''"),
        ("a\nb", "a\\u000ab", "a?b", "a\\nb"),
        ("a\x1b[2J", "a\\u001b[2J", "a?[2J", "a\\x1b[2J"),
        ("no\u202eiturb", "no\\u202eiturb", "no?iturb", "no\\u202eiturb"),
        ("zażółć 1", *3 * ("zażółć 1",)),
        (" a b ", "\\u0020a b\\u0020", "?a b?", "\\x20a b\\x20"),
        ("  ", "\\u0020\\u0020", "??", "\\x20\\x20"),
    ],
)
def test_what_does_not_print_is_escaped(
    name: str, for_pages: str, for_messages: str, for_terminals: str
) -> None:
    assert escape_name(name) == escape_name(name, code_point) == for_pages
    assert escape_name(name, question_mark, "(no name)") == for_messages
    assert escape_name(name, python_escape, "''") == for_terminals


@pytest.mark.parametrize(
    ("text", "without_middle", "without_end"),
    [("abcdef", "abcdef", "abcdef"), ("abcdefg", "abc\u2026efg", "abc...")],
)
def test_a_long_text_is_cut(text: str, without_middle: str, without_end: str) -> None:
    assert (cut_middle(text, 6), cut_end(text, 6)) == (without_middle, without_end)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1.0, "100%"),
        (0.0, "0%"),
        (0.667, "66.7%"),
        (0.33, "33%"),
        (0.00099, "<0.1%"),
        (0.001, "0.1%"),
        (0.9991, ">99.9%"),
        (0.999, "99.9%"),
    ],
)
def test_a_share_is_all_or_nothing_only_when_it_is(share: float, text: str) -> None:
    assert format_share(share) == text


def test_a_factor_has_a_tenth() -> None:
    assert format_factor(1234.56) == "1,234.6\u00d7"


def test_it_is_python_3_11() -> None:
    # What is packed for Glue runs there.
    ast.parse(Path(formatting.__file__).read_text(), feature_version=(3, 11))


WRITTEN = {
    "tasks_needed_reason": contract.NEEDED_FOR_RATE,
    "rates_lately": (110.0, 130.0),
    "capacity": 30.0,
    "lag": 45_000,
    "hottest_topic": "orders",
    "hottest_partition": 3,
    "hottest_share": 0.61,
    "shared_limit_members": 3,
    "shared_limit_rate": 75.0,
}


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("rate", "120/s are written, one member reads 30/s"),
        ("recent_rate", "up to 130/s were written in the last 15 minutes, one member reads 30/s"),
        ("backlog", "120/s are written, one member reads 30/s, 45,000 records lie there"),
        (
            "hot_partition",
            "120/s are written, one member reads 30/s; partition 3 of orders carries 61%",
        ),
        (
            "partitions",
            "120/s are written, one member reads 30/s: each partition has a member of its own, and "
            "more read nothing",
        ),
        (
            "shared_limit",
            "3 members read 75/s with a backlog and more read no more: something that they share, "
            "as a database, is full",
        ),
        ("no_capacity", "no capacity known: no minute with a backlog was seen yet"),
        ("partitions_unread", "a partition was not read in this run"),
        ("no_rate", "a partition was read only once so far"),
        (None, "not known"),
    ],
)
def test_why_a_group_needs_so_many_tasks(reason: str | None, sentence: str) -> None:
    assert explain_tasks_needed({**WRITTEN, "tasks_needed_reason": reason}) == sentence
