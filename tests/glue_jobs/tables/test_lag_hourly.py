# SPDX-License-Identifier: Apache-2.0
"""A group's hours, weighted by how long each run stands."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.tables.lag_hourly import lag_hourly
from tests.glue_jobs.days import Row, frame
from tests.glue_jobs.tables.frames import found_in, minute, weighed

pytestmark = pytest.mark.spark

# seconds for which the run of each minute stands
RUNS: dict[float, float] = {0: 60.0, 1: 180.0, 59: 60.0, 60: 30.0, 1439: 60.0}

# minute -> what was seen; the hour; its row
CASES: dict[str, tuple[dict[float, Row], int, Row]] = {
    "means by time": (
        {
            0: {"time_lag_seconds": 10.0, "lag": 100, "produce_rate": 1.0, "consume_rate": 2.0},
            1: {"time_lag_seconds": 20.0, "lag": 200, "produce_rate": 2.0, "consume_rate": 4.0},
        },
        0,
        {
            "known_minutes": 4.0,
            "time_lag_seconds": 17.5,
            "time_lag_max": 20.0,
            "time_lag_deviation": 5.0,
            "time_lag_high": 19.5,
            "lag": 175.0,
            "lag_deviation": 50.0,
            "lag_high": 195.0,
            "produce_rate": 1.75,
            "produce_rate_deviation": 0.5,
            "produce_rate_max": 2.0,
            "consume_rate": 3.5,
        },
    ),
    "least ages": (
        {
            0: {"time_lag_seconds": 10.0, "time_lag_error_seconds": 1.0},
            1: {"time_lag_seconds": 20.0},
            59: {"lag": 1},
        },
        0,
        {"known_minutes": 4.0, "time_lag_least_minutes": 3.0},
    ),
    "each by its own known time": (
        {0: {"time_lag_seconds": 10.0}, 1: {"lag": 200}},
        0,
        {"known_minutes": 1.0, "time_lag_seconds": 10.0, "lag": 200.0, "produce_rate": None},
    ),
    "an hour ends before the next": (
        {59: {"lag": 1}, 60: {"lag": 7}},
        1,
        {
            "lag": 7.0,
            "lag_deviation": 0.0,
            "lag_high": 7.0,
            "known_minutes": 0.0,
            "time_lag_seconds": None,
            "time_lag_max": None,
        },
    ),
    "the last hour": ({1439: {"lag": 3}}, 23, {"lag": 3.0}),
    "what was not read is unknown": (
        {0: {"lag": 3}, 1: {"lag": 900, "unread_reason": "timeout"}},
        0,
        {"lag": 3.0},
    ),
}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[tuple[str, int], Any]:
    seen = [
        {"consumer_group": case, "taken_at": minute(n), **row}
        for case, (rows, _, _) in CASES.items()
        for n, row in rows.items()
    ]
    denied = {"consumer_group": "denied", "taken_at": minute(0), "unread_reason": "denied"}
    report = lag_hourly(weighed(frame(spark, "groups", [*seen, denied]), RUNS))
    return {(row["consumer_group"], row["hour"]): row for row in found_in(report)}


@pytest.mark.parametrize("case", CASES)
def test_hour(found: dict[tuple[str, int], Any], case: str) -> None:
    _, hour, expected = CASES[case]

    row = found[case, hour]
    assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_only_hours_in_which_a_group_was_read_have_a_row(
    found: dict[tuple[str, int], Any],
) -> None:
    assert found.keys() == {
        *((case, hour) for case, (_, hour, _) in CASES.items()),
        ("an hour ends before the next", 0),
    }
