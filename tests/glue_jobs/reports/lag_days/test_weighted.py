# SPDX-License-Identifier: Apache-2.0
"""Time-weighted aggregates against their definitions, with cases as groups of one frame."""

from statistics import fmean, quantiles
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.reports.lag_days.weighted import PERCENTILES, mean, minutes, with_percentiles

pytestmark = pytest.mark.spark

# values and their weights in seconds
CASES: dict[str, list[tuple[float | None, float]]] = {
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
    rows = [(case, value, float(w)) for case, pairs in CASES.items() for value, w in pairs]
    rows += [("never known", None, 60.0)]
    frame = spark.createDataFrame(rows, "case string, lag double, weight double")
    runs = with_percentiles(frame.withColumn("time_lag", 2 * sf.col("lag")), ["case"])
    measures = runs.groupBy("case").agg(
        sf.array(*(sf.max(f"lag_{level}") for level in PERCENTILES)).alias("percentiles"),
        sf.max("time_lag_p50").alias("of time lag"),
        mean("lag").alias("mean"),
        minutes(sf.col("lag") > 10).alias("minutes"),
    )
    return {row["case"]: row for row in measures.collect()}


@pytest.mark.parametrize("case", CASES)
def test_percentiles_repeat_a_value_each_second(found: dict[str, Any], case: str) -> None:
    times = TIMES.get(case, [round(weight) for _, weight in CASES[case]])
    seconds = [
        value
        for (value, _), count in zip(CASES[case], times, strict=True)
        for _ in range(count)
        if value is not None
    ]

    cuts = quantiles(seconds, n=100, method="inclusive")
    assert found[case]["percentiles"] == pytest.approx([cuts[49], cuts[94], cuts[98]], abs=1e-9)
    assert found[case]["of time lag"] == pytest.approx(2 * cuts[49], abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_mean_is_over_the_known_time(found: dict[str, Any], case: str) -> None:
    known = [(value, weight) for value, weight in CASES[case] if value is not None]

    expected = fmean([value for value, _ in known], [weight for _, weight in known])
    assert found[case]["mean"] == pytest.approx(expected, abs=1e-9)


def test_minutes_are_weights_where_the_condition_held(found: dict[str, Any]) -> None:
    assert found["one stands for longer"]["minutes"] == pytest.approx(5.0)


def test_what_was_never_known_has_no_mean_and_no_minutes(found: dict[str, Any]) -> None:
    row = found["never known"]

    assert (row["percentiles"], row["mean"], row["minutes"]) == ([None] * 3, None, 0.0)
