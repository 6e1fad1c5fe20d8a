# SPDX-License-Identifier: Apache-2.0
"""What a day was like for each group, and for each of its topics: lag, status, SLA, speed."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.reports.lag_days.groups import group_days
from kafka_lag_report.reports.lag_days.topics import topic_days
from kafka_lag_report.schemas.reports import LAG_SUMMARY


def lag_summary(
    groups: DataFrame,
    minutes: DataFrame,
    segments: DataFrame,
    weights: DataFrame,
    intervals: DataFrame,
) -> DataFrame:
    """A row per cluster, group and topic, and one with null `topic` for the group itself.

    The group's own row is what the metrics said (`groups`); it alone has what is judged per group:
    owner, status, SLA, rebalances, losses.
    """
    group = group_days(groups, weights).withColumn("topic", sf.lit(None).cast("string"))
    topic = topic_days(minutes, segments, weights, intervals)
    days = group.unionByName(topic, allowMissingColumns=True)
    quotients = _quotients()
    columns = (
        quotients.get(field.name, sf.col(field.name)).cast(field.dataType).alias(field.name)
        for field in LAG_SUMMARY.fields
    )
    return days.select("cluster", *columns)


def _quotients() -> dict[str, Column]:
    watched = sf.unix_seconds("last_seen") - sf.unix_seconds("first_seen") + sf.col("last_weight")
    unknown = watched / 60 - sf.col("known_minutes")
    return {
        # greatest() skips nulls and would call the unknown 0
        "unknown_minutes": sf.when(unknown.isNotNull(), sf.greatest(unknown, sf.lit(0.0))),
        "catch_up_capacity": sf.try_divide("best_consume_rate", "produce_rate"),
        "sla_compliance": sf.try_divide("sla_met_minutes", "sla_minutes"),
    }
