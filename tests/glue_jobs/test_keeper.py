# SPDX-License-Identifier: Apache-2.0
"""What is kept between a day's scan and its reports."""

import pytest
from pyspark.sql import DataFrame, SparkSession

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


def test_nothing_is_kept_once_it_is_released(spark: SparkSession) -> None:
    frame = numbers(spark, 4)
    with keeping() as keeper:
        keeper.keep(frame)
        # the plan that is kept is found again by whoever asks for the same rows
        few = frame.coalesce(spark.sparkContext.defaultParallelism)
        assert few.storageLevel.useMemory

    assert not few.storageLevel.useMemory
