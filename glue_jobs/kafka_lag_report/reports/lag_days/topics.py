# SPDX-License-Identifier: Apache-2.0
"""The day of each topic of a group, over its partitions."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.day.net_rise import net_rise
from kafka_lag_report.day.runs import weighed
from kafka_lag_report.reports.lag_days.weighted import levels, with_percentiles

TOPIC = ("cluster", "consumer_group", "topic")


def topic_days(
    minutes: DataFrame, segments: DataFrame, weights: DataFrame, intervals: DataFrame
) -> DataFrame:
    """A row for each group's topic of which any partition was read."""
    measures = {**levels(), "midnight": sf.date_trunc("day", sf.min("taken_at"))}
    runs = (
        with_percentiles(weighed(minutes, weights, intervals), TOPIC)
        .groupBy(*TOPIC)
        .agg(*(measure.alias(name) for name, measure in measures.items()))
    )
    days = _offsets(segments).join(runs, [*TOPIC])
    seen = days.withColumns({f"{end}_seen": _time(f"{end}_at") for end in ("first", "last")})
    return weighed(seen, weights, intervals, at="last_seen").withColumnRenamed(
        "weight", "last_weight"
    )


def _offsets(segments: DataFrame) -> DataFrame:
    """Records a second, and seconds of the day between which any partition was read."""
    # all that follows is within a group's topic: one shuffle for all
    topics = segments.repartition(*TOPIC)
    partitions = topics.groupBy(*TOPIC, "topic_id", "partition_id").agg(
        net_rise("end", "ends").alias("produced"),
        net_rise("committed", "commits").alias("consumed"),
        sf.min("first_at").alias("first_at"),
        sf.max("last_at").alias("last_at"),
    )
    seconds = sf.max("last_at") - sf.min("first_at")
    return partitions.groupBy(*TOPIC).agg(
        sf.try_divide(sf.sum("produced"), seconds).alias("produce_rate"),
        sf.try_divide(sf.sum("consumed"), seconds).alias("consume_rate"),
        sf.min("first_at").alias("first_at"),
        sf.max("last_at").alias("last_at"),
    )


def _time(second: str) -> Column:
    return sf.timestamp_seconds(sf.unix_seconds("midnight") + sf.col(second))
