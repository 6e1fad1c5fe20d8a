# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as words."""

import pytest

from kafka_lag_report.summary.cause import Cause
from kafka_lag_report.summary.wording import counted, number, percent, shown, span


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (None, "-"),
        (0.0, "0 s"),
        (119.9, "119 s"),
        (120.0, "2 min"),
        (7_199.0, "119 min"),
        (7_200.0, "2 h"),
        (18_719.0, "5.1 h"),
        (172_800.0, "2 d"),
        (2_592_000.0, "30 d"),
    ],
)
def test_time_is_told_in_one_unit_and_never_too_long(seconds: float | None, told: str) -> None:
    assert span(seconds) == told


@pytest.mark.parametrize(
    ("share", "told"),
    [(None, "-"), (1.0, "100%"), (0.99999, "99.9%"), (0.932, "93.2%"), (0.07, "7%"), (0.0, "0%")],
)
def test_only_all_of_it_is_a_hundred_percent(share: float | None, told: str) -> None:
    assert percent(share) == told


def test_an_unknown_number_is_a_dash_and_not_zero() -> None:
    assert (number(None), number(0.0), number(1234.5, ",.1f")) == ("-", "0", "1,234.5")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (None, "-"),
        ("orders", "orders"),
        ("a\x1b[2J\nb\r\u202ec\ud800", "a?[2J?b??c?"),
        ("né 数", "né 数"),
        ("123456789", "12345678…"[:7] + "…"),
    ],
)
def test_a_name_is_one_line_without_commands(name: str | None, told: str) -> None:
    assert shown(name, 8 if name == "123456789" else None) == told


def test_things_are_counted_in_their_number() -> None:
    assert [counted(n, "object") for n in (0, 1, 4320)] == [
        "0 objects",
        "1 object",
        "4,320 objects",
    ]


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (Cause("unexplained", (0, 1, 2)), "unexplained"),
        (Cause("production", (0,)), "production (partition 0)"),
        (Cause("broker", (0, 3), leader=7), "broker 7 (partitions 0, 3)"),
        (
            Cause("consumer", (1, 2, 3, 4, 5, 6), client_id="c\n1", client_host="/10.0.0.1"),
            "consumer c?1 at /10.0.0.1 (partitions 1, 2, 3, 4 and 2 more)",
        ),
    ],
)
def test_a_cause_names_what_is_to_blame(cause: Cause, told: str) -> None:
    assert str(cause) == told
