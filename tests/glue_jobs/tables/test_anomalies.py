# SPDX-License-Identifier: Apache-2.0
"""Unusual values of a group and hour: each case is a group at 7 o'clock."""

from datetime import date, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from kafka_lag_report.queries import Queries
from kafka_lag_report.schemas import REPORTS
from tests.glue_jobs.days import Row, frame_of

pytestmark = pytest.mark.spark

BEFORE = StructType([*REPORTS["lag_hourly"].fields, StructField("dt", StringType())])
TIME_LAG, LAG, PRODUCED = "time_lag_seconds", "lag", "produce_rate"
STEADY: list[float | None] = [100.0] * 6
ODD_WEEKS: list[float | None] = [100.0, 110.0, 90.0, 100.0, 120.0, 9000.0]

# measure, the weeks before, today -> usual, spread, deviation, direction, days; None: nothing said.
# A group of one hour: its spread is twice the median deviation.
CASES: dict[str, tuple[str, list[float | None], float | None, tuple[Any, ...] | None]] = {
    "far above": (TIME_LAG, STEADY, 160.0, (100.0, 0.0, 6.0, "high", 6)),
    "far below": (TIME_LAG, STEADY, 40.0, (100.0, 0.0, -6.0, "low", 6)),
    "just far enough": (TIME_LAG, STEADY, 150.0, (100.0, 0.0, 5.0, "high", 6)),
    "not far enough": (TIME_LAG, STEADY, 149.9, None),
    "a tenth of the usual, where it is more": (
        TIME_LAG,
        [1000.0] * 3,
        1600.0,
        (1000.0, 0.0, 6.0, "high", 3),
    ),
    "seconds are nothing": (TIME_LAG, [0.0] * 6, 49.0, None),
    "a minute is something": (TIME_LAG, [0.0] * 6, 60.0, (0.0, 0.0, 6.0, "high", 6)),
    "a few records of lag are nothing": (LAG, [0.0] * 6, 99.0, None),
    "a queue where none was": (LAG, [0.0] * 6, 120.0, (0.0, 0.0, 6.0, "high", 6)),
    "a queue that grew": (LAG, [1000.0] * 6, 3000.0, (1000.0, 0.0, 20.0, "high", 6)),
    "a few records are nothing": (PRODUCED, [0.0] * 6, 0.9, None),
    "production where none was": (PRODUCED, [0.0] * 6, 1.2, (0.0, 0.0, 6.0, "high", 6)),
    "production that stopped": (PRODUCED, [50.0] * 6, 0.0, (50.0, 0.0, -10.0, "low", 6)),
    "by the spread of the weeks, an odd one among them": (
        TIME_LAG,
        ODD_WEEKS,
        225.0,
        (105.0, 20.0, 6.0, "high", 6),
    ),
    "within the spread of the weeks": (TIME_LAG, ODD_WEEKS, 204.0, None),
    "between two middle weeks": (
        TIME_LAG,
        [100.0, 110.0] * 3,
        168.0,
        (105.0, 10.0, 6.0, "high", 6),
    ),
    "history too short": (TIME_LAG, [100.0] * 2, 9000.0, None),
    "weeks that knew nothing are no history": (TIME_LAG, [100.0] * 2 + [None] * 4, 9000.0, None),
    "unknown today": (TIME_LAG, STEADY, None, None),
}
# Of days on which every other hour was steady: the spread is 1.4826 times the median deviation.
QUIET_DAY = "by the spread of the hour alone"


def unusual(spark: SparkSession, today: list[Row], before: list[Row]) -> list[Row]:
    """The rows of the report on these hours."""
    queries = Queries(spark)
    queries.view("lag_hourly", frame_of(spark, REPORTS["lag_hourly"], today))
    queries.view("past_hours", frame_of(spark, BEFORE, before))
    queries.derive("reductions/usual_hours")
    return [row.asDict() for row in queries.run("tables/anomalies").collect()]


def _hour(case: str, measure: str, value: float | None, **more: Any) -> Row:
    return {"consumer_group": case, "hour": 7, measure: value, **more}


def _saturday(weeks_ago: int) -> str:
    return str(date(2026, 1, 31) - timedelta(weeks=weeks_ago))


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[str, Any]:
    today = [_hour(case, measure, value) for case, (measure, _, value, _) in CASES.items()]
    today.append(_hour(QUIET_DAY, TIME_LAG, 105.0 + 6 * 1.4826 * 10))
    before = [
        _hour(case, measure, value, dt=_saturday(week + 1))
        for case, (measure, values, _, _) in CASES.items()
        for week, value in enumerate(values)
    ]
    before += [
        _hour(QUIET_DAY, TIME_LAG, value, dt=_saturday(week + 1))
        for week, value in enumerate([95.0, 115.0] * 3)
    ]
    before += [
        {**_hour(QUIET_DAY, TIME_LAG, 100.0, dt=_saturday(week + 1)), "hour": hour}
        for week in range(6)
        for hour in (8, 9, 10)
    ]
    # the other hours and groups of a history are no history of this one
    other = [
        {**row, **change}
        for row in before
        if row["consumer_group"] == "history too short"
        for change in ({"hour": 8}, {"consumer_group": "another"})
    ]
    return {row["consumer_group"]: row for row in unusual(spark, today, [*before, *other])}


def test_an_age_that_may_be_any_greater_is_called_high_and_never_low(spark: SparkSession) -> None:
    values = {"low": 40.0, "high": 160.0, "low for sure": 40.0, "produced": 200.0}
    minutes = {"low": 5.0, "high": 5.0, "low for sure": 0.0, "produced": 5.0}
    measures = dict.fromkeys(values, TIME_LAG) | {"produced": PRODUCED}
    today = [
        _hour(case, measures[case], value, time_lag_least_minutes=minutes[case])
        for case, value in values.items()
    ]
    before = [
        _hour(case, measure, value, dt=_saturday(week + 1))
        for case, measure in measures.items()
        for week, value in enumerate(STEADY)
    ]

    found = unusual(spark, today, before)

    said = {row["consumer_group"]: row["value_is_least"] for row in found}
    assert said == {"high": True, "low for sure": False, "produced": False}


def test_a_day_that_lies_an_hour_beside_the_usual_one_is_a_clock_change(
    spark: SparkSession,
) -> None:
    def day(shift: int, **more: Any) -> list[Row]:
        """Traffic of shops that open at 8 and close at 20, by a clock that is so far off."""
        busy = [1000.0 if 8 <= hour + shift < 20 else 5.0 for hour in range(24)]
        # from hour to hour it differs by more than any tolerance
        rates = [rate * (1 + (hour + shift) % 5) for hour, rate in enumerate(busy)]
        return [
            {"consumer_group": group, "hour": hour, PRODUCED: rate, **more}
            for group in ("one", "two")
            for hour, rate in enumerate(rates)
        ]

    before = [row for week in range(6) for row in day(0, dt=_saturday(week + 1))]
    said = {}
    for name, shift in SHIFTED.items():
        # one group stood at noon
        today = [
            {**row, PRODUCED: 0.0} if (row["consumer_group"], row["hour"]) == ("two", 12) else row
            for row in day(shift)
        ]
        found = unusual(spark, today, before)
        said[name] = {(row["consumer_group"], row["hour"]) for row in found}

    assert said["same"] == said["spring"] == said["autumn"] == {("two", 12)}
    assert len(said["three hours off"]) > 20


def test_jobs_that_are_late_are_no_clock_change(spark: SparkSession) -> None:
    def day(late: int, **more: Any) -> list[Row]:
        """Jobs that run at 1 for two hours; the first of them are an hour late."""
        return [
            {
                "consumer_group": f"job-{number:02}",
                "hour": hour,
                **dict.fromkeys(
                    (LAG, PRODUCED), 9000.0 if hour - (number < late) in (1, 2) else 1.0
                ),
                **more,
            }
            for number in range(23)
            for hour in range(24)
        ]

    before = [row for week in range(6) for row in day(0, dt=_saturday(week + 1))]
    said = {}
    for name, late in LATE.items():
        found = unusual(spark, day(late), before)
        said[name] = {(row["consumer_group"], row["hour"]) for row in found}

    assert said == {
        name: {(f"job-{number:02}", hour) for number in range(late) for hour in (1, 3)}
        if late <= 15
        else set()
        for name, late in LATE.items()
    }


# How many of 23 jobs are late; from two thirds on the day is.
LATE = {"on time": 0, "three": 3, "some": 15, "most": 16}
SHIFTED = {"same": 0, "spring": 1, "autumn": -1, "three hours off": 3}


@pytest.mark.parametrize("case", [case for case, (*_, row) in CASES.items() if row])
def test_unusual_hour(found: dict[str, Any], case: str) -> None:
    measure, _, value, expected = CASES[case]

    row = found[case]
    assert (row["hour"], row["measure"], row["value"]) == (7, measure, value)
    names = ("usual", "spread", "deviation", "direction", "days")
    assert tuple(row[name] for name in names) == pytest.approx(expected, abs=1e-9)


def test_an_hour_that_varies_more_than_others_has_a_spread_of_its_own(
    found: dict[str, Any],
) -> None:
    row = found[QUIET_DAY]
    assert (row["usual"], row["spread"]) == (105.0, pytest.approx(14.826))
    assert row["deviation"] == pytest.approx(6.0)


def test_quiet_hours_have_no_row(found: dict[str, Any]) -> None:
    unusual = {case for case, (*_, row) in CASES.items() if row}
    assert found.keys() == {*unusual, QUIET_DAY}
