# SPDX-License-Identifier: Apache-2.0
"""Who holds more lag than its part of the partitions: the measures brokers and members share."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag_report.day.skewed import LAG_EXCESS

HOT_FACTOR = 2.0


def share(name: str, of: Sequence[str]) -> Column:
    """This row's part of the sum over all rows alike in `of`; null when the sum is 0."""
    return sf.try_divide(name, sf.sum(name).over(Window.partitionBy(*of)))


def judged(owners: DataFrame, of: Sequence[str]) -> DataFrame:
    """`lag_to_partitions`, and whether that is `hot` among all rows alike in `of`.

    1 is lag like everybody's: hot takes HOT_FACTOR of that, and a mean lag of LAG_EXCESS records
    above the mean of all, as a share of next to nothing says nothing.
    """
    mean = sf.avg("lag_mean").over(Window.partitionBy(*of))
    above = sf.col("lag_mean") - mean >= LAG_EXCESS
    factor = sf.try_divide("lag_share", "partitions_share")
    return owners.withColumn("lag_to_partitions", factor).withColumn(
        "hot", (sf.col("lag_to_partitions") >= HOT_FACTOR) & above
    )
