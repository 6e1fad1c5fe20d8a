# SPDX-License-Identifier: Apache-2.0
"""One row per partition saying what its day was like: the only pass over the snapshots' rows.

Every report is derived from these small frames, so that a day is read once whatever is reported.
Rows with an `unread_reason` repeat what an earlier run saw, possibly the day before, and count
as unknown here.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

LOST, AT_RISK, SAFE = "LOST", "AT_RISK", "SAFE"

GROUP_PARTITION = ("cluster", "consumer_group", "topic", "partition_id")
TOPIC_PARTITION = ("cluster", "topic", "partition_id")


def group_partition_days(group_partitions: DataFrame) -> DataFrame:
    """Lag, loss and margin of the day per cluster, group, topic and partition; null: never known.

    `mean_lag` is the average over the runs that knew the lag, which is the time average as long as
    runs are evenly spaced; `least_margin` and `least_time` are (value, taken_at, lag) at the first
    worst moment; `risk` is the worst word of the snapshots.
    """
    read = sf.col("unread_reason").isNull()
    known = group_partitions.select(
        *GROUP_PARTITION,
        "taken_at",
        *(sf.when(read, sf.col(name)).alias(name) for name in ("lag", "records_lost")),
        sf.when(read, _margin()).alias("margin"),
        sf.when(read, sf.col("seconds_until_loss")).alias("seconds"),
        sf.when(read, sf.col("retention_risk")).alias("risk"),
    )
    return known.groupBy(*GROUP_PARTITION).agg(
        sf.avg("lag").alias("mean_lag"),
        sf.max("records_lost").alias("records_lost"),
        _least("margin").alias("least_margin"),
        _least("seconds").alias("least_time"),
        _worst_word("risk").alias("risk"),
    )


def topic_partition_days(topic_partitions: DataFrame) -> DataFrame:
    """Records `produced` in the day per cluster, topic and partition; null: seen fewer than twice.

    The sum of the end offset's rises from run to run within one topic id: a recreated topic starts
    anew, and an end offset that went back (unclean leader election) is not negative production.
    What was there at the first sight of a topic id is nobody's day and does not count.
    """
    runs = Window.partitionBy("cluster", "topic", "topic_id", "partition_id").orderBy("taken_at")
    before = sf.lag("end_offset").over(runs)
    # greatest() skips nulls, so without the guard a first sight would be a rise of 0
    rise = sf.when(before.isNotNull(), sf.greatest(sf.col("end_offset") - before, sf.lit(0)))
    seen = topic_partitions.where("unread_reason IS NULL AND end_offset IS NOT NULL")
    rises = seen.select(*TOPIC_PARTITION, rise.alias("rise"))
    return rises.groupBy(*TOPIC_PARTITION).agg(sf.sum("rise").alias("produced"))


def _margin() -> Column:
    """Records between the log start and the commit, 0 at least; null when either is unknown."""
    distance = sf.col("committed_offset") - sf.col("start_offset")
    # greatest() skips nulls and would call an unknown margin 0, the worst there is
    computed = sf.when(distance.isNotNull(), sf.greatest(distance, sf.lit(0)))
    return sf.coalesce(sf.col("retention_margin"), computed)


def _least(name: str) -> Column:
    """Least (value, taken_at, lag); the guard keeps nulls out, which sort first in a struct."""
    value = sf.col(name)
    moment = sf.struct(value.alias("value"), "taken_at", "lag")
    return sf.min(sf.when(value.isNotNull(), moment))


def _worst_word(name: str) -> Column:
    worst = sf.lit(None).cast("string")
    for word in (SAFE, AT_RISK, LOST):
        worst = sf.when(sf.bool_or(sf.col(name) == word), word).otherwise(worst)
    return worst
