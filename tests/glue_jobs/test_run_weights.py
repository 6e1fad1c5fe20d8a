# SPDX-License-Identifier: Apache-2.0
"""For how long a run stands, and aggregates over rows that stand for so long."""

from datetime import UTC, datetime, timedelta
from statistics import fmean, quantiles
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.run_weights import (
    run_weights,
    usual_interval,
    weighted_mean,
    weighted_minutes,
    weights_of,
)
from kafka_lag_report.tables.lag_summary import PERCENTILES, with_percentiles
from tests.glue_jobs.days import frame

pytestmark = pytest.mark.spark

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)

# runs in seconds of the day -> their weights, the interval
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


def micros(seconds: list[float]) -> list[int]:
    return [round(at(second).timestamp() * 1_000_000) for second in seconds]


@pytest.mark.parametrize("case", CASES)
def test_weight_of_a_run(case: str) -> None:
    seconds, expected, _ = CASES[case]

    assert weights_of(micros(seconds)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_interval_is_the_median_gap(case: str) -> None:
    seconds, _, interval = CASES[case]

    assert usual_interval(micros(seconds)) == pytest.approx(interval, abs=1e-9)


def test_a_day_without_a_run_has_no_weight() -> None:
    assert (weights_of([]), usual_interval([])) == ([], 60.0)


def test_each_run_with_a_row_counts_once(spark: SparkSession) -> None:
    # also when nothing could be read
    rows = [
        {"taken_at": at(second), "consumer_group": group, "unread_reason": "timeout"}
        for second in (60.001, 0)
        for group in "ab"
    ]

    assert run_weights(frame(spark, "groups", rows)).times == micros([0, 60.001])


def test_a_time_without_a_run_weighs_an_interval(spark: SparkSession) -> None:
    seconds = (0, 300, 600, 650)
    weights = run_weights(frame(spark, "groups", [{"taken_at": at(second)} for second in seconds]))
    rows = [(at(600), "a run"), (at(60), "no run")]
    moments = spark.createDataFrame(rows, "taken_at timestamp, what string")

    found = weights.weigh(moments).collect()

    assert {row["what"]: row["weight"] for row in found} == {"a run": 50.0, "no run": 300.0}


# values and their weights in seconds
VALUES: dict[str, list[tuple[float | None, float]]] = {
    "alike": [(30.0, 60), (10.0, 60), (20.0, 60)],
    "one stands for longer": [(10.0, 60), (20.0, 60), (30.0, 60), (40.0, 180)],
    "unknown does not count": [(10.0, 60), (None, 600), (20.0, 60)],
    "parts of a second round half up": [(10.0, 2.5), (20.0, 1.5), (30.0, 1.49)],
    "at least a second": [(10.0, 0.2), (20.0, 1), (30.0, 0.1)],
    "equal values": [(7.0, 60), (7.0, 30), (9.0, 1)],
}
TIMES = {
    "parts of a second round half up": [3, 2, 1],
    "at least a second": [1, 1, 1],
}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[str, Any]:
    rows = [(case, value, float(w)) for case, pairs in VALUES.items() for value, w in pairs]
    rows += [("never known", None, 60.0)]
    frame = spark.createDataFrame(rows, "case string, lag double, weight double")
    measures = {"mean": weighted_mean("lag"), "minutes": weighted_minutes("lag > 10")}
    runs = frame.withColumn("time_lag", 2 * sf.col("lag"))
    found = with_percentiles(runs, ["case"], measures)
    return {row["case"]: row for row in found.collect()}


@pytest.mark.parametrize("case", VALUES)
def test_percentiles_repeat_a_value_each_second(found: dict[str, Any], case: str) -> None:
    times = TIMES.get(case, [round(weight) for _, weight in VALUES[case]])
    seconds = [
        value
        for (value, _), count in zip(VALUES[case], times, strict=True)
        for _ in range(count)
        if value is not None
    ]

    cuts = quantiles(seconds, n=100, method="inclusive")
    levels = [found[case][f"lag_{level}"] for level in PERCENTILES]
    assert levels == pytest.approx([cuts[49], cuts[94], cuts[98]], abs=1e-9)
    assert found[case]["time_lag_p50"] == pytest.approx(2 * cuts[49], abs=1e-9)


@pytest.mark.parametrize("case", VALUES)
def test_mean_is_over_the_known_time(found: dict[str, Any], case: str) -> None:
    known = [(value, weight) for value, weight in VALUES[case] if value is not None]

    expected = fmean([value for value, _ in known], [weight for _, weight in known])
    assert found[case]["mean"] == pytest.approx(expected, abs=1e-9)


def test_minutes_are_weights_where_the_condition_held(found: dict[str, Any]) -> None:
    assert found["one stands for longer"]["minutes"] == pytest.approx(5.0)


def test_what_was_never_known_has_no_mean_and_no_minutes(found: dict[str, Any]) -> None:
    row = found["never known"]

    levels = [row[f"lag_{level}"] for level in PERCENTILES]
    assert (levels, row["mean"], row["minutes"]) == ([None] * 3, None, 0.0)
