# SPDX-License-Identifier: Apache-2.0
"""The only pass over `topic_partitions`: a day of each topic's partitions, per leader and run."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.day.levels import both_levels, clock, fine_level, first_and_last, run_level
from kafka_lag_report.day.net_rise import net_rise
from kafka_lag_report.day.skewed import RATE_EXCESS, skewed

TOPIC = ("cluster", "topic")
SEGMENT = ("topic_id", "partition_id", "leader", "leader_rack")


def reduced(topic_partitions: DataFrame) -> DataFrame:
    """Segments and runs in one frame, for `topic_segments` and `topic_minutes`; worth keeping."""
    rows = topic_partitions.where("unread_reason IS NULL").select(
        *TOPIC,
        *SEGMENT,
        "taken_at",
        clock().alias("second"),
        "end_offset",
        "retention_ms",
        _unlimited().alias("unlimited"),
        "produce_rate",
    )
    return both_levels(rows, TOPIC, SEGMENT, _measures())


def topic_segments(levels: DataFrame) -> DataFrame:
    """What each partition's day was like under each leader; times are seconds of the UTC day.

    `retention_seconds` is the newest known, at `retention_known_at`; null: unlimited, or unknown.
    `retention_unlimited` is the newest known, at `unlimited_known_at`: nothing is deleted for age.
    """
    limited = sf.when(sf.col("retention_ms") >= 0, sf.col("retention_ms") / 1000)
    return (
        fine_level(levels)
        .withColumn("retention_seconds", limited)
        .withColumnRenamed("unlimited", "retention_unlimited")
        .drop("retention_ms", "rates", "rate_sum", "rate_max")
    )


def topic_minutes(levels: DataFrame) -> DataFrame:
    """Whether production was skewed at each run, by the partitions' produce rates."""
    uneven = skewed(sf.col("rate_max"), sf.col("rate_sum"), sf.col("rates"), RATE_EXCESS)
    return run_level(levels).select(*TOPIC, "taken_at", uneven.alias("skewed"))


def produced(segments: DataFrame) -> DataFrame:
    """Records `produced` in the day per cluster, topic and partition; null: seen fewer than twice.

    How far the end offset rose within each topic id: a recreated topic starts anew, and an end
    that went back (unclean leader election) is not negative production. What was there at the
    first sight of a topic id is nobody's day and does not count.
    """
    by_id = segments.groupBy(*TOPIC, "topic_id", "partition_id").agg(
        net_rise("end", "ends").alias("rise")
    )
    return by_id.groupBy(*TOPIC, "partition_id").agg(sf.sum("rise").alias("produced"))


def _unlimited() -> Column:
    """Null unless one setting says so, or both say no."""
    return (sf.col("retention_ms") < 0) | ~sf.col("cleanup_policy").contains("delete")


def _measures() -> dict[str, Column]:
    known = sf.when(sf.col("retention_ms").isNotNull(), sf.col("second"))
    judged = sf.when(sf.col("unlimited").isNotNull(), sf.col("second"))
    found = first_and_last("end_offset")
    return {
        "reads": sf.count("second"),
        "first_at": sf.min("second"),
        "last_at": sf.max("second"),
        "rates": sf.count("produce_rate"),
        "rate_sum": sf.sum("produce_rate"),
        "rate_max": sf.max("produce_rate"),
        "retention_ms": sf.max_by("retention_ms", known),
        "retention_known_at": sf.max(known),
        "unlimited": sf.max_by("unlimited", judged),
        "unlimited_known_at": sf.max(judged),
        **{"ends" if name == "times" else f"end_{name}": c for name, c in found.items()},
    }
