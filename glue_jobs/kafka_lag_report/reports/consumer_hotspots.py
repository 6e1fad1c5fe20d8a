# SPDX-License-Identifier: Apache-2.0
"""Which member of a group sits on the lag: the same share of it as of the partitions, or more."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag_report.day.net_rise import net_rise
from kafka_lag_report.reports.hotspots import judged, share
from kafka_lag_report.schemas.reports import CONSUMER_HOTSPOTS

_GROUP = ("cluster", "consumer_group")
_MEMBER = ("client_host", "client_id", "member_id")
_PARTITION = (*_GROUP, "topic", "partition_id")


def consumer_hotspots(segments: DataFrame) -> DataFrame:
    """A row per cluster, group and member; null `member_id`: while nobody owned the partitions.

    A partition that changed hands counts for each owner by its part of the runs. `lag_mean` is
    null where no lag was known while the member owned anything.
    """
    # all steps are within a group: one shuffle for all
    owned = (
        segments.repartition(*_GROUP)
        .groupBy(*_PARTITION, "topic_id", *_MEMBER)
        .agg(
            sf.sum("reads").alias("reads"),
            sf.sum("lags").alias("lags"),
            sf.sum("lag_sum").alias("lag_sum"),
            net_rise("committed", "commits").alias("consumed"),
        )
    )
    partition = Window.partitionBy(*_PARTITION)
    parts = owned.select(
        *_GROUP,
        *_MEMBER,
        "consumed",
        sf.try_divide("reads", sf.sum("reads").over(partition)).alias("part"),
        sf.try_divide("lag_sum", sf.sum("lags").over(partition)).alias("lag_part"),
    )
    members = parts.groupBy(*_GROUP, *_MEMBER).agg(
        sf.sum("part").alias("partitions_owned"),
        sf.sum("consumed").alias("consumed"),
        sf.sum("lag_part").alias("lag_mean"),
    )
    shares = members.select(
        "*",
        share("partitions_owned", _GROUP).alias("partitions_share"),
        share("lag_mean", _GROUP).alias("lag_share"),
    )
    return judged(shares, _GROUP).select("cluster", *CONSUMER_HOTSPOTS.names)
