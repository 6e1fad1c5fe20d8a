# SPDX-License-Identifier: Apache-2.0
"""Brokers side by side, and the consumers that hold more lag than their partitions explain."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.page.frames.worst import worst
from kafka_lag_report.page.model import Broker, Consumer, Listed


def brokers(broker_hotspots: DataFrame, limit: int) -> Listed[Broker]:
    """All brokers, the one with most lag first."""
    order = (
        sf.col("lag_share").desc_nulls_last(),
        sf.col("leader").asc_nulls_last(),
        "leader_rack",
    )
    rows, total = worst(broker_hotspots, order, limit)
    found = (
        Broker(
            leader=row["leader"],
            rack=row["leader_rack"],
            partitions_led=row["partitions_led"],
            partitions_share=row["partitions_share"],
            produce_share=row["produce_share"],
            lag_mean=row["lag_mean"],
            lag_share=row["lag_share"],
            lag_to_partitions=row["lag_to_partitions"],
            hot=row["hot"],
        )
        for row in rows
    )
    return Listed(tuple(found), total)


def hot_consumers(consumer_hotspots: DataFrame, limit: int) -> Listed[Consumer]:
    """Hot consumers only, the one with most records behind first."""
    order = (
        sf.col("lag_mean").desc_nulls_last(),
        *("consumer_group", "client_host", "client_id", "member_id"),
    )
    rows, total = worst(consumer_hotspots.where("hot"), order, limit)
    found = (
        Consumer(
            group=row["consumer_group"],
            host=row["client_host"],
            client=row["client_id"],
            member=row["member_id"],
            partitions_owned=row["partitions_owned"],
            partitions_share=row["partitions_share"],
            lag_mean=row["lag_mean"],
            lag_share=row["lag_share"],
            lag_to_partitions=row["lag_to_partitions"],
        )
        for row in rows
    )
    return Listed(tuple(found), total)
