# SPDX-License-Identifier: Apache-2.0
"""For how long a run speaks: cases are clusters, their runs seconds of the day."""

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.day.runs import intervals, run_weights, weighed
from tests.glue_jobs.days import Row, frame

pytestmark = pytest.mark.spark

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)

# runs -> their weights, the interval
CASES: dict[str, tuple[list[float], list[float], float]] = {
    "one a minute": ([0, 60, 120], [60, 60, 60], 60),
    "one every five minutes": ([0, 300, 600], [300, 300, 300], 300),
    "one that is missing is spoken for": ([0, 60, 180, 240], [60, 120, 60, 60], 60),
    "a long silence is not": ([0, 60, 120, 720], [60, 60, 120, 60], 60),
    "nor one after the first": ([0, 600, 660, 720], [120, 60, 60, 60], 60),
    "twice the pause before, not the usual one": (
        [0, 60, 120, 130, 190],
        [60, 60, 10, 20, 60],
        60,
    ),
    "the interval is the median": ([0, 60, 180], [60, 120, 90], 90),
    "the last one ends at midnight": ([86280, 86340, 86370], [60, 30, 30], 45),
    "a single one": ([7200], [60], 60),
    "a single one before midnight": ([86370], [30], 60),
    "to the millisecond": ([0, 60.001, 120], [60.001, 59.999, 60], 60),
}


def at(second: float) -> datetime:
    return MIDNIGHT + timedelta(seconds=second)


def _rows() -> list[Row]:
    return [
        {"cluster": case, "taken_at": at(second), "consumer_group": group, "unread_reason": why}
        for case, (seconds, _, _) in CASES.items()
        for second in seconds
        # a run counts once, also when nothing could be read
        for group, why in (("a", "timeout"), ("b", "timeout"))
    ]


@pytest.fixture(name="weights", scope="module")
def _weights(spark: SparkSession) -> dict[tuple[str, datetime], float]:
    rows = run_weights(frame(spark, "groups", _rows())).selectExpr(
        "cluster", "unix_millis(taken_at) AS at", "weight"
    )
    return {
        (row["cluster"], datetime.fromtimestamp(row["at"] / 1000, UTC)): row["weight"]
        for row in rows.collect()
    }


@pytest.mark.parametrize("case", CASES)
def test_weight_of_a_run(weights: dict[tuple[str, datetime], float], case: str) -> None:
    seconds, expected, _ = CASES[case]

    assert [weights[case, at(second)] for second in seconds] == pytest.approx(expected, abs=1e-9)


def test_each_run_has_one_weight(weights: dict[tuple[str, datetime], float]) -> None:
    assert len(weights) == sum(len(seconds) for seconds, _, _ in CASES.values())


def test_interval_is_the_median_gap(spark: SparkSession) -> None:
    found = intervals(frame(spark, "groups", _rows())).collect()

    assert {row["cluster"]: row["interval"] for row in found} == {
        case: pytest.approx(interval, abs=1e-9) for case, (_, _, interval) in CASES.items()
    }


def test_a_time_without_a_run_weighs_an_interval(spark: SparkSession) -> None:
    runs = [("c", at(0), 45.0)]
    rows = [("c", at(0), "a run"), ("c", at(60), "no run"), ("other", at(0), "no run at all")]
    weights = spark.createDataFrame(runs, "cluster string, taken_at timestamp, weight double")
    usual = spark.createDataFrame([("c", 300.0)], "cluster string, interval double")
    moments = spark.createDataFrame(rows, "cluster string, seen_at timestamp, what string")

    found = weighed(moments, weights, usual, at="seen_at").collect()

    assert {row["what"]: row["weight"] for row in found} == {
        "a run": 45.0,
        "no run": 300.0,
        "no run at all": 60.0,
    }
