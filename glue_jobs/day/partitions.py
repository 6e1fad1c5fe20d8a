# SPDX-License-Identifier: Apache-2.0
"""A group's partitions over the day: how much lag, and under whom it stood."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from glue_jobs.day.group_partitions import GROUP_TOPIC

PARTITION = (*GROUP_TOPIC, "partition_id")
MEMBER = ("member_id", "client_id", "client_host")


def group_partition_days(segments: DataFrame) -> DataFrame:
    """`mean_lag` per group, topic and partition, with the `leader` and the member it stood under.

    The mean is over the runs that knew the lag; null: none did. Leader and member are those whose
    segments hold most of the day's lag, of equals those seen most often.
    """
    days = segments.groupBy(*PARTITION).agg(
        sf.try_divide(sf.sum("lag_sum").cast("double"), sf.sum("lags")).alias("mean_lag")
    )
    for who in (("leader",), MEMBER):
        days = days.join(_most(segments, who), [*PARTITION], "left")
    return days


def _most(segments: DataFrame, who: Sequence[str]) -> DataFrame:
    """For each partition the one of `who` under which most lag stood."""
    held = segments.groupBy(*PARTITION, *who).agg(
        sf.sum("lag_sum").alias("lag_sum"), sf.sum("reads").alias("reads")
    )
    return held.withColumn("place", _place(who)).where("place = 1").select(*PARTITION, *who)


def _place(who: Sequence[str]) -> Column:
    by = [sf.coalesce("lag_sum", sf.lit(0)).desc(), sf.col("reads").desc()]
    names = [sf.col(name).asc_nulls_last() for name in who]
    return sf.row_number().over(Window.partitionBy(*PARTITION).orderBy(*by, *names))
