# SPDX-License-Identifier: Apache-2.0
"""A group's partitions over the day: how much lag, and under whom it stood."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag_report.day.group_partitions import GROUP_TOPIC

PARTITION = (*GROUP_TOPIC, "partition_id")
MEMBER = ("member_id", "client_id", "client_host")


def group_partition_days(segments: DataFrame) -> DataFrame:
    """`mean_lag` per group, topic and partition, with the `leader` and the member it stood under.

    The mean is over the runs that knew the lag; null: none did. Leader and member are those whose
    segments hold most of the day's lag, of equals those seen most often.
    """
    # all steps are within a group's topic: one shuffle for all, also for what reports do next
    rows = segments.repartition(*GROUP_TOPIC).withColumns(
        {"by_leader": _held(("leader",)), "by_member": _held(MEMBER)}
    )
    days = rows.groupBy(*PARTITION).agg(
        sf.try_divide(sf.sum("lag_sum").cast("double"), sf.sum("lags")).alias("mean_lag"),
        sf.min("by_leader").alias("by_leader"),
        sf.min("by_member").alias("by_member"),
    )
    return days.select(
        *PARTITION, "mean_lag", "by_leader.leader", *(f"by_member.{name}" for name in MEMBER)
    )


def _held(who: Sequence[str]) -> Column:
    """A struct with one of `who`; the least of a partition is the one with most lag under it."""
    same = Window.partitionBy(*PARTITION, *who)
    lag = sf.coalesce(sf.sum("lag_sum").over(same), sf.lit(0))
    # a struct puts null first, but of equals those with a name are named
    names = [column for name in who for column in (sf.isnull(name), sf.col(name))]
    return sf.struct(-lag, -sf.sum("reads").over(same), *names)
