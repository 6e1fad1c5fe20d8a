# SPDX-License-Identifier: Apache-2.0
"""The judge takes lines that are right, and no others."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from dev.days.describe import Absent, Event, Rows, Slow, Span
from dev.report_judge.drawn import drawn
from dev.report_judge.judge import match_lines
from dev.report_judge.planted import NOBODY, Planted, add_unread_hours

DAY = date(2026, 1, 31)
STOP = Planted(who="g", says=NOBODY, since=9, until=11, never="stalled")
AGED = replace(STOP, unread_hours=2.0)
RIGHT = "Stopped: g had no members from 09:00 to 11:00."


def faults(line: str | None, planted: Planted = STOP, *more: str) -> list[str]:
    found: list[str] = []
    match_lines([planted], [*([line] if line else []), *more], DAY, "page", found)
    return found


@pytest.mark.parametrize(
    ("line", "planted"),
    [
        (RIGHT, STOP),
        ("g had no members from 09:01 to 11:01.", STOP),
        ("g had no members from 21:30 the day before until 11:00.", replace(STOP, since=-2.5)),
        ("g had no members from 20:00 on 29 January until 11:00.", replace(STOP, since=-28)),
        ("g had no members from 09:00, still at midnight.", replace(STOP, until=None)),
        ("g had no members all day, and still at midnight.", replace(STOP, since=None, until=None)),
        (f"{RIGHT} Up to 4 records were unread, the oldest 1 h 58 min old.", AGED),
        (f"{RIGHT} Up to 4 records were unread, the oldest at least 9 min old.", AGED),
        (
            f"{RIGHT} It lost at least 95 records (kept 1 h; 2 h 4 min would have been enough).",
            replace(AGED, lost=(90, 100)),
        ),
        (
            "g-late fell from 09:00 to 11:00: g-late-1 owns it.",
            replace(STOP, who="g-late", says="g-late-1.*owns"),
        ),
        (
            "g had no members from 09:00 to 11:00. It lost at least 95 records.",
            replace(STOP, lost=(90, 100)),
        ),
    ],
)
def test_what_is_right_is_no_fault(line: str, planted: Planted) -> None:
    assert faults(line, planted) == []


@pytest.mark.parametrize(
    ("line", "planted", "fault"),
    [
        (None, STOP, "missing: g"),
        ("h had no members from 09:00 to 11:00.", STOP, "about nothing that happened"),
        ("g-2 had no members from 09:00 to 11:00.", STOP, "about nothing that happened"),
        ("g had no members from 09:02 to 11:00.", STOP, "begins at"),
        ("g had no members from 09:00 to 11:02.", STOP, "ends at"),
        ("g had no members from 09:00 to 10:58.", STOP, "ends at"),
        ("g had no members.", STOP, "has no time"),
        ("g had no members from 09:00.", STOP, "has no end"),
        ("g had no members from 09:00, still at midnight.", STOP, "is said to be still so"),
        (RIGHT, replace(STOP, until=None), "is not said to be still so"),
        ("g was slow from 09:00 to 11:00.", STOP, "does not say"),
        ("g had no members from 09:00 to 11:00: stalled.", STOP, "says stalled"),
        (f"{RIGHT} At 14:00 it was worse.", STOP, "names a time after its end"),
        (f"{RIGHT} It lost at least 5 records.", STOP, "nothing was lost"),
        (RIGHT, replace(STOP, lost=(90, 100)), "does not say how much was lost"),
        (f"{RIGHT} It lost at least 101 records.", replace(STOP, lost=(90, 100)), "101 lost, not"),
        ("g had no members from 09:00 to 11:00.", replace(STOP, since=None), "before the day"),
        (
            "g had no members from 20:00 the day before until 11:00, since before midnight.",
            replace(STOP, since=None),
            "which nobody knows",
        ),
        (f"{RIGHT} It was the oldest 1 h 50 min old.", AGED, "2.00 h old"),
        (f"{RIGHT} It was the oldest at least 2 h 10 min old.", AGED, "2.00 h old"),
        (
            f"{RIGHT} It lost at least 95 records (kept for 1 h; 9 h would have been enough).",
            replace(AGED, lost=(90, 100)),
            "2.00 h would have been enough",
        ),
        (
            f"{RIGHT} It lost at least 95 records (kept for 1 h; 90 min would have been enough).",
            replace(AGED, lost=(90, 100)),
            "2.00 h would have been enough",
        ),
        ("g-late fell from 09:00 to 11:00.", replace(STOP, who="g-late", says="late"), "not say"),
        (
            "g-late fell from 09:00 to 11:00: g-late-topic.",
            replace(STOP, who="g-late", says="late"),
            "does not say",
        ),
        (
            "g-still had no members from 09:00 to 24:00.",
            replace(STOP, who="g-still", until=None),
            "is not said to be still so",
        ),
    ],
)
def test_what_is_false_or_missing_is_a_fault(
    line: str | None, planted: Planted, fault: str
) -> None:
    (found,) = [each for each in faults(line, planted) if fault in each]

    assert found.startswith("page: ")


def test_an_incident_that_is_said_twice_is_a_fault() -> None:
    assert [each.split(":")[1].strip() for each in faults(RIGHT, STOP, RIGHT)] == ["said twice"]


def test_two_incidents_of_one_group_are_held_against_a_line_each() -> None:
    later: Any = replace(STOP, since=16, until=17)
    found: list[str] = []
    lines = ["g had no members from 16:00 to 17:00.", RIGHT]

    assert match_lines([STOP, later], lines, DAY, "page", found) == {0, 1}
    assert found == []


@pytest.mark.parametrize("seed", range(5))
def test_what_is_drawn_can_be_told_within_the_day(seed: int) -> None:
    days = drawn(seed)

    assert days == drawn(seed) != drawn(seed + 1)
    assert len({day.name for day in days}) == len(days) >= 14
    assert {day.name for day in days if not day.incidents} == {
        day.name for day in days if day.name.endswith(("calm", "away-for-minutes"))
    }
    for one in (one for day in days for one in day.incidents):
        assert one.since is not None
        assert -4 < one.since < (one.until or 24) <= 24
        assert one.until is None or one.until > 0.5


def _absent(begin: float, end: float) -> Absent:
    return Absent(when=Span(begin, end), group="g")


def _slow(begin: float, end: float, share: float = 0.0) -> Slow:
    return Slow(when=Span(begin, end), rows=Rows(group="g"), share=share)


@pytest.mark.parametrize(
    ("events", "until", "hours"),
    [
        ([_absent(9, 11)], 11, 2),
        ([_absent(-40, 99)], None, 64),
        ([_slow(6, 9), _absent(9, 11)], 11, 5),
        ([_slow(6, 8), _absent(9, 11)], 11, 2),
        ([_slow(9, 11, 0.5)], 11, None),
        ([_slow(9, 12)], 11, None),
        ([_slow(8, 11), _absent(9, 11)], 11, None),
    ],
)
def test_for_how_long_nothing_was_read_follows_from_what_was_done(
    events: list[Event], until: float | None, hours: float | None
) -> None:
    (one,) = add_unread_hours([replace(STOP, until=until)], events)

    assert one.unread_hours == hours
