# SPDX-License-Identifier: Apache-2.0
"""Which partitions lost unread records to retention, or came nearest to it, and when."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from glue_jobs.partition_day import GROUP_PARTITION, LOST


def retention_risk(group_partition_days: DataFrame) -> DataFrame:
    """One row per cluster, group, topic and partition, each value its worst of the day or null.

    `retention_risk` is LOST if any run saw lost records, else the snapshots' worst word, else null:
    a margin in records alone does not say how long it lasts. `least_margin` is in records and
    harmless where `lag_at_least_margin` is 0, as nothing unread was there to lose.
    """
    return group_partition_days.select(
        *GROUP_PARTITION,
        sf.when(sf.col("records_lost") > 0, LOST).otherwise(sf.col("risk")).alias("retention_risk"),
        "records_lost",
        sf.col("least_margin.value").alias("least_margin"),
        sf.col("least_margin.taken_at").alias("least_margin_at"),
        sf.col("least_margin.lag").alias("lag_at_least_margin"),
        sf.col("least_time.value").alias("least_seconds_until_loss"),
        sf.col("least_time.taken_at").alias("least_seconds_until_loss_at"),
    )
