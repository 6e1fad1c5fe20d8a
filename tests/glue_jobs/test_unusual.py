# SPDX-License-Identifier: Apache-2.0
"""Unusual hours that get a line beside the day's incidents."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import pytest

from kafka_lag_report.findings import Findings, Listed
from kafka_lag_report.incident import Incident, Kind
from kafka_lag_report.schemas import Row
from kafka_lag_report.sentences import join_words, word_incident
from kafka_lag_report.unusual import find_unusual_incidents
from tests.glue_jobs.page.pages import group_day, row_of
from tests.golden import Golden, write_once

DAY = date(2026, 1, 31)


def at(hour: int) -> datetime:
    return datetime(2026, 1, 31, hour, tzinfo=UTC)


def hour(number: int, group: str = "g", measure: str = "produce_rate", **more: Any) -> Row:
    values = {"value": 91.0, "usual": 20.0, "deviation": 30.0, "direction": "high", **more}
    return row_of("anomalies", consumer_group=group, hour=number, measure=measure, **values)


def lines(*hours: Row, others: tuple[Incident, ...] = (), groups: int = 20) -> list[str]:
    days = Listed((group_day("g"),), groups)
    findings = Findings("c", DAY, groups=days, unusual=Listed(hours, len(hours)))
    return [join_words(word_incident(one, DAY)) for one in find_unusual_incidents(findings, others)]


STALL = Incident(kind=Kind.STALLED, level="serious", group="g", since=at(9), until=at(11))
LOW: dict[str, Any] = {"direction": "low", "deviation": -8.0}
SHARED = [hour(number, name) for name in "abc" for number in (8, 9, 10)]
# Unusual hours; their lines are in the golden file.
CASES: dict[str, Sequence[Row]] = {
    "hours in a row, with the farthest value": [hour(9), hour(10, value=120.0, deviation=40.0)],
    "the tail of a moving average": [hour(10), hour(11, deviation=5.9)],
    "no tail": [hour(10), hour(11, deviation=6.0)],
    "less lag than usual": [hour(9, measure="lag", **LOW)],
    "a holiday of two groups is a line each": [
        hour(number, name, **LOW) for name in "ab" for number in range(8, 20)
    ],
    "a holiday of three is one line": [
        hour(number, name, **LOW) for name in "abc" for number in range(8, 20)
    ],
    "a hole between": [hour(2), hour(22)],
    "groups that share no hour": [hour(2, "a"), hour(12, "b"), hour(20, "c")],
    "many have the hours that they share, one goes on a little, another is mostly alone": [
        *SHARED,
        hour(11, "a"),
        *(hour(number, "d") for number in range(10, 14)),
    ],
    "many higher and many lower": [
        *(hour(9, f"h{name}") for name in range(3)),
        *(hour(9, f"l{name}", **LOW) for name in range(5)),
    ],
    "more and later less": [hour(9), hour(10, **LOW)],
    "lag beside the rate": [hour(9), hour(10, measure="lag")],
    "lag at another time": [hour(9), hour(11, measure="lag")],
    "rate, lag and age": [hour(9, measure="lag"), hour(9, measure="time_lag_seconds"), hour(9)],
    "a measure of a later version": [hour(3, measure="temperature", value=1234.5, usual=None)],
}


def test_unusual_hours_are_few_lines(golden: Golden) -> None:
    # beside 500 groups a few that share no hour are not many
    cases = [
        (name, lines(*hours, groups=500 if "share no" in name else 20))
        for name, hours in CASES.items()
    ]

    golden.holds("report-unusual.txt", write_once(cases))


@pytest.mark.parametrize(
    ("number", "measure", "group", "said"),
    [
        (8, "lag", "g", True),
        (9, "lag", "g", False),
        (10, "time_lag_seconds", "g", False),
        # what was left behind is worked off
        (12, "lag", "g", False),
        (13, "lag", "g", True),
        (10, "lag", "other", True),
        # no stall makes producers write more
        (10, "produce_rate", "g", True),
    ],
)
def test_what_an_incident_explains_is_no_line(
    number: int, measure: str, group: str, said: bool
) -> None:
    assert bool(lines(hour(number, group, measure), others=(STALL,))) == said
