# SPDX-License-Identifier: Apache-2.0
"""Skewed topics from `partition_skew`, and the partitions of the worst of them."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as sf

from kafka_lag_report.page.frames.worst import worst
from kafka_lag_report.page.model import Bar, Listed, TopicSkew

Topic = tuple[str, str]


def topic_skews(partition_skew: DataFrame, limit: int) -> Listed[TopicSkew]:
    """Lag skew before production skew, the most records over an even share first."""
    lag, made = (sf.coalesce(name, sf.lit(False)) for name in ("lag_skewed", "production_skewed"))
    order = (
        lag.desc(),
        (sf.col("lag_max") - sf.col("lag_mean")).desc_nulls_last(),
        (sf.col("production_max") - sf.col("production_mean")).desc_nulls_last(),
        *("consumer_group", "topic"),
    )
    rows, total = worst(partition_skew.where(lag | made), order, limit)
    return Listed(tuple(_skew(row) for row in rows), total)


def bars(partitions: DataFrame, topics: Sequence[Topic], limit: int) -> dict[Topic, Listed[Bar]]:
    """The partitions of these (group, topic), in their order; of many those with most lag."""
    if not topics:
        return {}
    wanted = reduce(
        or_, ((sf.col("consumer_group") == g) & (sf.col("topic") == t) for g, t in topics)
    )
    key = ("consumer_group", "topic")
    by_lag = (sf.col("mean_lag").desc_nulls_last(), "partition_id")
    ranked = (
        partitions.where(wanted)
        .withColumn("place", sf.row_number().over(Window.partitionBy(*key).orderBy(*by_lag)))
        .withColumn("total", sf.count("*").over(Window.partitionBy(*key)))
        .where(sf.col("place") <= limit)
    )
    rows = ranked.orderBy(*key, "partition_id").limit(limit * len(topics)).collect()
    return {
        topic: _bars([row for row in rows if tuple(row[k] for k in key) == topic])
        for topic in topics
    }


def _bars(rows: Sequence[Row]) -> Listed[Bar]:
    drawn = (
        Bar(row["partition_id"], row["leader"], row["mean_lag"], row["produced"]) for row in rows
    )
    return Listed(tuple(drawn), rows[0]["total"] if rows else 0)


def _skew(row: Row) -> TopicSkew:
    return TopicSkew(
        group=row["consumer_group"],
        topic=row["topic"],
        lag_skewed=bool(row["lag_skewed"]),
        production_skewed=bool(row["production_skewed"]),
        partitions=row["lag_partitions"],
        mean=row["lag_mean"],
        top_partition=row["lag_top_partition"],
        top_share=row["lag_top_share"],
        even_share=row["lag_even_share"],
        skewed_minutes=row["lag_skewed_minutes"],
        made_top_partition=row["production_top_partition"],
        made_top_share=row["production_top_share"],
        made_even_share=row["production_even_share"],
        cause=row["cause"],
        cause_partitions=tuple(row["cause_partitions"] or ()),
        cause_leader=row["cause_leader"],
        cause_member=row["cause_member"],
        cause_client=row["cause_client_id"],
        cause_host=row["cause_client_host"],
    )
