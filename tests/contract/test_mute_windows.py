# SPDX-License-Identifier: Apache-2.0
"""The times at which mute windows are open, and the groups that they mute."""

from __future__ import annotations

import json

import pytest

from kafka_lag.contract.mute_windows import Mute, MuteWindow, find_mute, parse_cron
from kafka_lag.lag.group_settings import Rules
from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.strips import Strips

# Noon is that of Saturday, 2026-01-31.
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("cron", "hours", "open_from"),
    [
        ("30 11 * * *", 1, -30 * MINUTE),
        ("30 10 * * *", 1, None),
        ("0 12 * * *", 1, 0),
        ("1 12 * * *", 1, None),
        ("0 11,22 * * SAT", 2, -HOUR),
        ("0 11 * * SUN-FRI", 2, None),
        ("0 22 * * FRI", 24, -14 * HOUR),
        ("30 23 * * FRI", 13, -12 * HOUR - 30 * MINUTE),
        ("0 6-12 31 JAN *", 3, 0),
        ("0,56 9 * * *", 3, -3 * HOUR + 56 * MINUTE),
        ("0 12 17 1 *", 15 * 24, -14 * DAY),
        ("0 11 * 2 *", 2, None),
        ("0 0 * * 0", 7 * 24, -6 * DAY - 12 * HOUR),
    ],
)
def test_a_window_is_open_from_its_last_beginning_on(
    cron: str, hours: int, open_from: int | None
) -> None:
    found = MuteWindow(hours * HOUR, cron).find_open(NOON)

    begin = None if open_from is None else NOON + open_from
    assert found == (None if begin is None else Mute(begin, begin + hours * HOUR))


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "0 2 * *",
        "60 2 * * *",
        "0 2 0 * *",
        "0 2 * * MOO",
        "0 2 1 * MON",
        "0 5-2 * * *",
        "*/5 * * * *",
        "0 2 * * mon",
    ],
)
def test_an_expression_that_is_none_is_refused(cron: str) -> None:
    with pytest.raises(ValueError, match=r"^(must|has)"):
        parse_cron(cron)


def test_windows_that_are_open_together_are_one() -> None:
    windows = [
        MuteWindow(2 * HOUR, at_ms=NOON - HOUR, reason="first", losses=True),
        MuteWindow(2 * HOUR, at_ms=NOON, reason="last", groups="^bill"),
        MuteWindow(9 * HOUR, at_ms=NOON + 1),
    ]

    assert find_mute(windows, "billing", NOON) == Mute(NOON - HOUR, NOON + 2 * HOUR, "last", True)
    assert find_mute(windows, "mailer", NOON) == Mute(NOON - HOUR, NOON + HOUR, "first", True)
    assert find_mute(windows[1:2], "billing", NOON + 2 * HOUR) is None


def test_the_row_of_a_group_has_the_open_window() -> None:
    rules = Rules(mutes=(MuteWindow(2 * MINUTE, at_ms=NOON + MINUTE, groups="^bill", reason="r"),))
    strips = Strips(dict.fromkeys(("billing", "mailer"), "runs 4\nend 0"), rules)

    said = [each and json.loads(each)["reason"] for each in strips.said("billing", "group.muted")]
    assert said == [None, "r", "r", None]
    assert strips.said("mailer", "group.muted") == [None] * 4
