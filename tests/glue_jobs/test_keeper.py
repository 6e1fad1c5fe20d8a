# SPDX-License-Identifier: Apache-2.0
"""What is kept between a day's scan and its reports."""

import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.aggregates import Keeper, keeping

pytestmark = pytest.mark.spark


def numbers(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(count, numPartitions=2).toDF("number")


def partitions(frame: DataFrame) -> int:
    return frame.rdd.getNumPartitions()


@pytest.mark.parametrize(("rows", "one"), [(3, True), (4, False)])
def test_only_a_small_frame_is_kept_in_one_partition(
    spark: SparkSession, rows: int, one: bool
) -> None:
    if spark.sparkContext.defaultParallelism == 1:
        pytest.skip("a single core keeps everything in one partition")
    keeper = Keeper(small=3)

    kept = keeper.keep(numbers(spark, rows))

    assert (partitions(kept) == 1, kept.count()) == (one, rows)
    keeper.release()


def test_rows_alike_in_the_keys_lie_together(spark: SparkSession) -> None:
    keeper = Keeper(small=0)

    kept = keeper.keep(keeper.lay(["key"], numbers(spark, 40).selectExpr("number % 7 AS key")))

    places = kept.select("key", sf.spark_partition_id()).distinct().collect()
    assert sorted(row["key"] for row in places) == [*range(7)]
    keeper.release()


def test_of_few_rows_each_frame_lies_in_one_partition(spark: SparkSession) -> None:
    keeper = Keeper(small=0, few_rows=True)

    kept = keeper.keep(keeper.lay(["number"], numbers(spark, 4)))

    assert (partitions(kept), kept.count()) == (1, 4)


@pytest.mark.parametrize("few_rows", [False, True])
def test_what_cannot_be_computed_fails_when_it_is_kept(spark: SparkSession, few_rows: bool) -> None:
    unreadable = numbers(spark, 4).selectExpr("raise_error('damaged') AS number")
    # Spark 3 leaves an executor's fault as Java threw it
    failures = (PySparkException, Py4JJavaError)

    with keeping(few_rows=few_rows) as keeper, pytest.raises(failures, match="damaged"):
        keeper.keep(unreadable)


def test_nothing_is_kept_once_it_is_released(spark: SparkSession) -> None:
    frame = numbers(spark, 4)
    with keeping() as keeper:
        keeper.keep(frame)
        # the plan that is kept is found again by whoever asks for the same rows
        assert frame.storageLevel.useMemory

    assert not frame.storageLevel.useMemory
