# SPDX-License-Identifier: Apache-2.0
"""What is unusual for a group and hour: each case is a group at 7 o'clock."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.schemas.reports import LAG_HOURLY
from kafka_lag_report.tables.anomalies import anomalies
from tests.glue_jobs.days import Row
from tests.glue_jobs.tables.frames import found_in, rows_of

pytestmark = pytest.mark.spark

HOURS = "cluster string, " + ", ".join(
    f"{field.name} {field.dataType.simpleString()}" for field in LAG_HOURLY.fields
)
TIME_LAG, PRODUCED = "time_lag_seconds", "produce_rate"
STEADY: list[float | None] = [100.0] * 8
ODD_DAYS: list[float | None] = [100.0, 120.0, 80.0, 100.0, 140.0, 60.0, 100.0, 9000.0]

# measure, the days before, today -> usual, spread, deviation, direction, days; None: nothing said
CASES: dict[str, tuple[str, list[float | None], float | None, tuple[Any, ...] | None]] = {
    "far above": (TIME_LAG, STEADY, 160.0, (100.0, 0.0, 6.0, "high", 8)),
    "far below": (TIME_LAG, STEADY, 40.0, (100.0, 0.0, -6.0, "low", 8)),
    "just far enough": (TIME_LAG, STEADY, 150.0, (100.0, 0.0, 5.0, "high", 8)),
    "not far enough": (TIME_LAG, STEADY, 149.9, None),
    "a tenth of the usual, where it is more": (
        TIME_LAG,
        [1000.0] * 7,
        1600.0,
        (1000.0, 0.0, 6.0, "high", 7),
    ),
    "seconds are nothing": (TIME_LAG, [0.0] * 7, 49.0, None),
    "a minute is something": (TIME_LAG, [0.0] * 7, 60.0, (0.0, 0.0, 6.0, "high", 7)),
    "a few records are nothing": (PRODUCED, [0.0] * 7, 0.9, None),
    "production where none was": (PRODUCED, [0.0] * 7, 1.2, (0.0, 0.0, 6.0, "high", 7)),
    "production that stopped": (PRODUCED, [50.0] * 7, 0.0, (50.0, 0.0, -10.0, "low", 7)),
    "by the spread of the days, an odd one among them": (
        TIME_LAG,
        ODD_DAYS,
        397.0,
        (100.0, 20.0, 297 / (1.4826 * 20), "high", 8),
    ),
    "within the spread of the days": (TIME_LAG, ODD_DAYS, 245.0, None),
    "between two middle days": (
        TIME_LAG,
        [100.0, 110.0] * 4,
        163.0,
        (105.0, 5.0, 58 / 10.5, "high", 8),
    ),
    "history too short": (TIME_LAG, [100.0] * 6, 9000.0, None),
    "days that knew nothing are no history": (TIME_LAG, [100.0] * 6 + [None] * 8, 9000.0, None),
    "unknown today": (TIME_LAG, STEADY, None, None),
}


def _hour(case: str, measure: str, value: float | None, **more: Any) -> Row:
    return {"consumer_group": case, "hour": 7, measure: value, **more}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[str, Any]:
    today = [_hour(case, measure, value) for case, (measure, _, value, _) in CASES.items()]
    before = [
        _hour(case, measure, value, dt=f"2026-01-{day + 1:02}")
        for case, (measure, values, _, _) in CASES.items()
        for day, value in enumerate(values)
    ]
    # the other hours, groups and clusters of a history are no history of this one
    other = [
        {**row, **change}
        for row in before
        if row["consumer_group"] == "history too short"
        for change in ({"hour": 8}, {"cluster": "other"})
    ]
    report = anomalies(
        rows_of(spark, HOURS, today), rows_of(spark, f"{HOURS}, dt string", [*before, *other])
    )
    return {row["consumer_group"]: row for row in found_in(report)}


@pytest.mark.parametrize("case", [case for case, (*_, row) in CASES.items() if row])
def test_unusual_hour(found: dict[str, Any], case: str) -> None:
    measure, _, value, expected = CASES[case]

    row = found[case]
    assert (row["hour"], row["measure"], row["value"]) == (7, measure, value)
    names = ("usual", "spread", "deviation", "direction", "days")
    assert tuple(row[name] for name in names) == pytest.approx(expected, abs=1e-9)


def test_quiet_hours_have_no_row(found: dict[str, Any]) -> None:
    assert found.keys() == {case for case, (*_, row) in CASES.items() if row}
