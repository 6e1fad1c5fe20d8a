# SPDX-License-Identifier: Apache-2.0
"""Numbers, durations, times and names as people read them."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import wording
from kafka_lag.wording.formatting import (
    NO_BREAK_SPACE,
    code_point,
    cut_end,
    cut_middle,
    escape_name,
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
from tests.golden import Golden

HOUR, DAY = 60 * MINUTE, 24 * 60 * MINUTE
SECONDS = {"s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
AGES = st.floats(0, 60 * 365 * 86_400.0)


def read_back(text: str) -> float:
    parts = re.findall(r"([\d.,]+) (s|min|h|d)", text)
    return sum(float(number.replace(",", "")) * SECONDS[unit] for number, unit in parts)


# Each side of every rounding and of every change of unit.
DURATIONS = (
    *(0.0, 0.04, 0.31, 0.9, 9.95, 10.4, 59.6, 60.0, 119.5, 120.0, 125.0, 570.0, 599.6, 630.0),
    *(3_569.0, 3_599.6, 7_199.0, 7_200.0, 9_359.0, 11_520.0, 86_399.0, 169_201.0, 172_799.0),
    *(172_800.0, 187_200.0, 442_800.0, 864_000.0, 1_736_640.0, 106_660_800.0, 172_800_000.0),
)


def test_durations_as_people_read_them(golden: Golden) -> None:
    one_unit = partial(format_short_duration, precise=True)
    rows = [("seconds", "two units", "precise", "one unit", "at least", "at most")]
    for seconds in DURATIONS:
        two = format_duration(seconds)
        assert format_duration(seconds, space=NO_BREAK_SPACE) == two.replace(" ", NO_BREAK_SPACE)
        precise, short = format_duration(seconds, precise=True), format_short_duration(seconds)
        least, most = one_unit(seconds, math.floor), one_unit(seconds, math.ceil)
        rows.append((f"{seconds:,}", two, precise, short, least, most))

    golden.holds("durations.txt", "\n".join(" | ".join(f"{e:>13}" for e in row) for row in rows))


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
    ("written", "texts"),
    [
        (map(format_count, (0, 1234.5, 10**7)), "0; 1,234; 10,000,000"),
        (map(format_rate, (0.0, 0.04, 2.25, 10, 12345.6)), "0/s; 0.0/s; 2.2/s; 10/s; 12,346/s"),
        (map(format_bytes, (0, 1023, 1536, 2**50)), "0 B; 1,023 B; 1.5 KiB; 1,024 TiB"),
        (map(format_factor, (1234.56,)), "1,234.6\u00d7"),
        (map(format_share, (0.0, 0.00099, 0.001, 0.33)), "0%; <0.1%; 0.1%; 33%"),
        (map(format_share, (0.667, 0.999, 0.9991, 1.0)), "66.7%; 99.9%; >99.9%; 100%"),
        ([format_quantity(n, "group") for n in (0, 1)], "0 groups; 1 group"),
        ([format_quantity(n, "box", "boxes") for n in (1, 2)], "1 box; 2 boxes"),
        ([format_age(NOON - ms, NOON) for ms in (90_000, 0, -MINUTE)], "1 min 30 s; 0 s; 0 s"),
        ([format_time_of_day(NOON - HOUR, NOON)], "11:00 UTC"),
        ([format_time_of_day(NOON - 3 * DAY - MINUTE, NOON)], "2026-01-28 11:59 UTC"),
        ([format_iso_time(NOON + 5)], "2026-01-31T12:00:00Z"),
        ([format_iso_time(NOON + 5, "milliseconds")], "2026-01-31T12:00:00.005Z"),
        ([format_minute(NOON + 59_999)], "2026-01-31 12:00 UTC"),
        ([format_list("abcd"[:n], 2) for n in (0, 1, 2, 4)], "; a; a, b; a, b and 2 more"),
        ([cut_middle(text, 6) for text in ("abcdef", "abcdefg")], "abcdef; abc\u2026efg"),
        ([cut_end(text, 6) for text in ("abcdef", "abcdefg")], "abcdef; abc..."),
    ],
)
def test_numbers_times_and_lists_as_people_read_them(written: Iterable[str], texts: str) -> None:
    assert "; ".join(written) == texts


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


def test_it_is_python_3_11() -> None:
    # What is packed for Glue runs there.
    for path in Path(wording.__file__).parent.glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 11))
