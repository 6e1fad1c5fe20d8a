# SPDX-License-Identifier: Apache-2.0
"""Topics of which records were or may be lost, from `retention_risk`: a row a group and topic."""

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from kafka_lag_report.page.frames.worst import moment, seconds, worst
from kafka_lag_report.page.model import Listed, TopicRisk


def topic_risks(retention_risk: DataFrame, limit: int) -> Listed[TopicRisk]:
    """Lost records first, then the least time left; partitions that are safe are left out."""
    risk = sf.col("retention_risk")
    # of a partition that already lost records the time left says nothing more
    left = sf.when(risk == "AT_RISK", sf.col("least_seconds_until_loss"))
    at = seconds("least_seconds_until_loss_at")
    soonest = sf.struct("partition_id", at.alias("at"))
    topics = (
        retention_risk.where(risk.isin("LOST", "AT_RISK"))
        .groupBy("consumer_group", "topic")
        .agg(
            sf.count_if(risk == "LOST").alias("lost"),
            sf.count_if(risk == "AT_RISK").alias("at_risk"),
            sf.sum("records_lost").alias("records_lost"),
            sf.min(left).alias("left"),
            sf.min_by(soonest, left).alias("soonest"),
            sf.min_by("partition_id", sf.when(risk == "AT_RISK", sf.col("least_margin"))).alias(
                "nearest"
            ),
            sf.min("least_margin").alias("margin"),
            sf.min("retention_seconds").alias("retention"),
            sf.max("retention_needed_seconds").alias("needed"),
        )
    )
    order = (
        (sf.col("lost") > 0).desc(),
        sf.col("records_lost").desc_nulls_last(),
        sf.col("left").asc_nulls_last(),
        sf.col("margin").asc_nulls_last(),
        *("consumer_group", "topic"),
    )
    rows, total = worst(topics, order, limit)
    return Listed(tuple(_risk(row) for row in rows), total)


def _risk(row: Row) -> TopicRisk:
    soonest = row["soonest"]
    return TopicRisk(
        group=row["consumer_group"],
        topic=row["topic"],
        partitions_lost=row["lost"],
        partitions_at_risk=row["at_risk"],
        records_lost=row["records_lost"],
        worst_partition=soonest["partition_id"] if soonest else row["nearest"],
        seconds_left=row["left"],
        seconds_left_at=moment(soonest["at"]) if soonest else None,
        least_margin=row["margin"],
        retention=row["retention"],
        retention_needed=row["needed"],
    )
