# SPDX-License-Identifier: Apache-2.0
"""Skew: the measures against their definitions, and what counts as skewed."""

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from glue_jobs.partition_skew import partition_skew, spread
from glue_jobs.schemas import CLUSTER, PARTITION_SKEW

pytestmark = pytest.mark.spark

LAGS = "cluster string, consumer_group string, topic string, partition_id int, mean_lag double"
PRODUCED = "cluster string, topic string, partition_id int, produced long"

# values by partition -> max_to_mean, top partition, top share, even share, gini, skewed
SPREADS: dict[str, tuple[list[float | None], tuple[Any, ...]]] = {
    "the demo": ([667, 166, 167], (2.001, 0, 0.667, 1 / 3, 0.334, True)),
    "even": ([500, 500, 500, 500], (1.0, 0, 0.25, 0.25, 0.0, False)),
    "all in one": ([0, 900, 0], (3.0, 1, 1.0, 1 / 3, 2 / 3, True)),
    "two partitions, 3 to 1": ([100, 300], (1.5, 1, 0.75, 0.5, 0.25, True)),
    "just under the factor": ([1010, 2990], (1.495, 1, 0.7475, 0.5, 0.2475, False)),
    "too few to be a finding": ([3, 1, 0], (2.25, 0, 0.75, 1 / 3, 0.5, False)),
    "one partition": ([5000], (1.0, 0, 1.0, 1.0, 0.0, False)),
    "nothing to share": ([0, 0], (1.0, None, 0.5, 0.5, 0.0, False)),
    "an unknown one is left out": ([None, 600, 200], (1.5, 1, 0.75, 0.5, 0.25, True)),
    "nothing known": ([None, None], (None, None, None, None, None, None)),
}


def _by_definition(values: list[float]) -> float:
    """Gini as half the relative mean difference over all pairs."""
    pairs = sum(abs(a - b) for a in values for b in values)
    return pairs / (2 * len(values) * sum(values)) if sum(values) else 0.0


def test_measures_of_spread(spark: SparkSession) -> None:
    rows = [
        ("demo", case, partition, value if value is None else float(value))
        for case, (values, _) in SPREADS.items()
        for partition, value in enumerate(values)
    ]
    days = spark.createDataFrame(rows, "cluster string, topic string, partition_id int, v double")

    found = {row["topic"]: row for row in spread(days, ("cluster", "topic"), "v", "x").collect()}

    names = ("max_to_mean", "top_partition", "top_share", "even_share", "gini", "skewed")
    for case, (_, expected) in SPREADS.items():
        actual = tuple(found[case][f"x_{name}"] for name in names)
        assert actual == pytest.approx(expected, abs=1e-12), case


@pytest.mark.parametrize("case", [c for c, (v, _) in SPREADS.items() if None not in v])
def test_the_expected_gini_is_the_mean_difference(case: str) -> None:
    values, expected = SPREADS[case]

    assert _by_definition([value or 0.0 for value in values]) == pytest.approx(expected[4])


def test_production_is_the_topics_own_beside_each_groups_lag(spark: SparkSession) -> None:
    lags = [("c", group, "t", p, lag) for group, lag in (("a", 0.0), ("b", None)) for p in (0, 1)]
    produced = [("c", "t", 0, 400), ("c", "t", 1, 0), ("c", "unread by any", 0, 9)]
    skew = partition_skew(
        spark.createDataFrame(lags, LAGS), spark.createDataFrame(produced, PRODUCED)
    )

    rows = {row["consumer_group"]: row for row in skew.collect()}

    assert {group: row["production_skewed"] for group, row in rows.items()} == {
        "a": True,
        "b": True,
    }
    assert {group: row["lag_skewed"] for group, row in rows.items()} == {"a": False, "b": None}
    assert {group: row["lag_partitions"] for group, row in rows.items()} == {"a": 2, "b": 0}


def test_the_same_topic_in_two_clusters_is_two_topics(spark: SparkSession) -> None:
    lags = [(cluster, "g", "t", p, 1.0) for cluster in ("a", "b") for p in (0, 1)]
    produced = [("a", "t", 0, 400), ("a", "t", 1, 0), ("b", "t", 0, 400), ("b", "t", 1, 400)]
    skew = partition_skew(
        spark.createDataFrame(lags, LAGS), spark.createDataFrame(produced, PRODUCED)
    )

    skewed = {row["cluster"]: row["production_skewed"] for row in skew.collect()}

    assert skewed == {"a": True, "b": False}


def test_a_topic_never_read_has_unknown_production(spark: SparkSession) -> None:
    lags = spark.createDataFrame([("c", "g", "t", 0, 7.0)], LAGS)

    row = partition_skew(lags, spark.createDataFrame([], PRODUCED)).collect()[0]

    assert row["lag_max"] == 7.0
    assert (row["production_partitions"], row["production_skewed"]) == (None, None)


def test_the_report_has_the_columns_it_declares(spark: SparkSession) -> None:
    empty = partition_skew(spark.createDataFrame([], LAGS), spark.createDataFrame([], PRODUCED))

    declared = StructType([CLUSTER, *PARTITION_SKEW.fields])
    assert [(f.name, f.dataType) for f in empty.schema] == [(f.name, f.dataType) for f in declared]
