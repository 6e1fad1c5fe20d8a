# SPDX-License-Identifier: Apache-2.0
"""Which unusual hours are worth a line beside the day's incidents."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from kafka_lag_report.findings import Findings, GroupDay, Listed, UnusualHour
from kafka_lag_report.incident import Incident, Kind
from kafka_lag_report.sentences import incident_of, plain
from kafka_lag_report.unusual import unusual_incidents

DAY = date(2026, 1, 31)


def at(hour: int) -> datetime:
    return datetime(2026, 1, 31, hour, tzinfo=UTC)


def hour(number: int, group: str = "g", measure: str = "produce_rate", **more: Any) -> UnusualHour:
    values = {"value": 91.0, "usual": 20.0, "deviation": 30.0, "direction": "high", **more}
    return UnusualHour(group, number, measure, **values)


def lines(*hours: UnusualHour, others: tuple[Incident, ...] = (), groups: int = 20) -> list[str]:
    days = Listed((GroupDay("g"),), groups)
    findings = Findings("c", DAY, groups=days, unusual=Listed(hours, len(hours)))
    return [plain(incident_of(one, DAY)) for one in unusual_incidents(findings, others)]


def test_hours_in_a_row_are_one_line_with_the_farthest_value() -> None:
    assert lines(hour(9), hour(10, value=120.0, deviation=40.0)) == [
        "g: produce rate 120/s from 09:00 to 11:00, usually 20/s."
    ]


@pytest.mark.parametrize(("deviation", "end"), [(5.9, "11:00"), (6.0, "12:00")])
def test_the_tail_of_a_moving_average_is_no_hour(deviation: float, end: str) -> None:
    (line,) = lines(hour(10), hour(11, deviation=deviation))

    assert f"from 10:00 to {end}," in line


STALL = Incident(kind=Kind.STALLED, level="serious", group="g", since=at(9), until=at(11))


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


def test_less_lag_than_usual_is_no_line() -> None:
    assert lines(hour(9, measure="lag", direction="low", deviation=-9.0)) == []


@pytest.mark.parametrize(("groups", "count"), [(2, 2), (3, 1)])
def test_a_holiday_is_one_line_for_the_cluster(groups: int, count: int) -> None:
    every = [
        hour(number, f"g{name}", direction="low", deviation=-8.0)
        for name in range(groups)
        for number in range(8, 20)
    ]

    said = lines(*every)

    assert len(said) == count
    if count == 1:
        assert said == [
            "The produce rate of 3 groups (15% of all) was lower than usual at this time of the "
            "week, from 08:00 to 20:00."
        ]


def test_hours_with_a_hole_between_are_two_lines() -> None:
    assert lines(hour(2), hour(22)) == [
        "g: produce rate 91/s from 02:00 to 03:00, usually 20/s.",
        "g: produce rate 91/s from 22:00 to 23:00, usually 20/s.",
    ]


def test_groups_that_share_no_hour_are_a_line_each() -> None:
    said = lines(hour(2, "a"), hour(12, "b"), hour(20, "c"), groups=500)

    assert [line[:3] for line in said] == ["a: ", "b: ", "c: "]


def test_of_many_are_the_hours_that_they_share() -> None:
    shared = [hour(number, name) for name in "abc" for number in (8, 9, 10)]
    # one goes on a little; another is mostly alone
    alone = [hour(number, "d") for number in range(10, 14)]

    said = lines(*shared, hour(11, "a"), *alone)

    assert said == [
        "The produce rate of 4 groups (20% of all) was higher than usual at this time of the "
        "week, from 08:00 to 11:00.",
        "d: produce rate 91/s from 10:00 to 14:00, usually 20/s.",
    ]


def test_many_higher_and_many_lower_are_two_lines() -> None:
    said = lines(
        *(hour(9, f"h{name}") for name in range(3)),
        *(hour(9, f"l{name}", direction="low", deviation=-9.0) for name in range(5)),
    )

    assert [line[:50] for line in said] == [
        "The produce rate of 3 groups (15% of all) was high",
        "The produce rate of 5 groups (25% of all) was lowe",
    ]


def test_of_one_group_more_and_later_less_are_two_lines() -> None:
    assert len(lines(hour(9), hour(10, direction="low", deviation=-9.0))) == 2


@pytest.mark.parametrize(("begin", "count"), [(10, 1), (11, 2)])
def test_lag_at_another_time_is_another_matter(begin: int, count: int) -> None:
    assert len(lines(hour(9), hour(begin, measure="lag"))) == count


def test_of_one_group_rate_lag_and_age_are_one_line() -> None:
    said = lines(hour(9, measure="lag"), hour(9, measure="time_lag_seconds"), hour(9))

    assert said == ["g: produce rate 91/s from 09:00 to 10:00, usually 20/s."]


def test_a_measure_of_a_later_version_is_named_and_has_a_plain_number() -> None:
    assert lines(hour(3, measure="temperature", value=1234.5, usual=None)) == [
        "g: temperature 1,234 from 03:00 to 04:00, usually \u2013."
    ]
