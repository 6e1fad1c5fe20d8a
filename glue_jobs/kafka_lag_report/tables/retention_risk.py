# SPDX-License-Identifier: Apache-2.0
"""Which partitions lost unread records, or came near it, when, and what had helped."""

from datetime import UTC, date, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafka_lag.contract import AT_RISK, LOST, SAFE
from kafka_lag_report.aggregates import PARTITION, net_rise

_SIGHTS = ("first_at", "last_at")


def retention_risk(segments: DataFrame, topic_segments: DataFrame, day: date) -> DataFrame:
    """One row per group, topic and partition, each value its worst of the day or null.

    `retention_risk` is LOST if any run saw lost records, else the snapshots' worst word, else null:
    a margin in records alone does not say how long it lasts. `least_margin` is in records and
    harmless where `lag_at_least_margin` is 0, as nothing unread was there to lose.
    """
    retention = topic_segments.groupBy("topic", "partition_id").agg(
        sf.max_by("retention_seconds", "retention_known_at").alias("retention_seconds"),
        sf.max_by("retention_unlimited", "unlimited_known_at").alias("retention_unlimited"),
    )
    return (
        _days(segments)
        .join(retention, ["topic", "partition_id"], "left")
        .select(
            *PARTITION,
            sf.when(sf.col("records_lost") > 0, LOST)
            .otherwise(sf.col("risk"))
            .alias("retention_risk"),
            "records_lost",
            "least_margin",
            _moment("margin_at", day).alias("least_margin_at"),
            sf.col("lag_at_margin").alias("lag_at_least_margin"),
            sf.col("loss_seconds").alias("least_seconds_until_loss"),
            _moment("loss_at", day).alias("least_seconds_until_loss_at"),
            "retention_seconds",
            _needed().alias("retention_needed_seconds"),
            "retention_unlimited",
        )
    )


def _days(segments: DataFrame) -> DataFrame:
    """The worst of a partition's segments; a moment is the first at which the least was seen.

    `rate` is records a second by which its end rose, from its first to its last sight.
    """
    # one shuffle for both steps
    rows = segments.repartition(*PARTITION)
    least = sf.struct("margin", "margin_at", "lag_at_margin")
    soonest = sf.struct("loss_seconds", "loss_at")
    by_id = rows.groupBy(*PARTITION, "topic_id").agg(
        *(measure.alias(name) for name, measure in _worst().items()),
        sf.min(sf.when(sf.col("margin").isNotNull(), least)).alias("least"),
        sf.min(sf.when(sf.col("loss_seconds").isNotNull(), soonest)).alias("soonest"),
        net_rise("end", "ends").alias("rise"),
    )
    seconds = sf.max("last_at") - sf.min("first_at")
    worst = by_id.groupBy(*PARTITION).agg(
        *(measure.alias(name) for name, measure in _worst().items() if name not in _SIGHTS),
        sf.min("least").alias("least"),
        sf.min("soonest").alias("soonest"),
        sf.try_divide(sf.sum("rise"), seconds).alias("rate"),
    )
    return worst.select(
        *PARTITION,
        "records_lost",
        "time_lag_max",
        "rate",
        sf.col("least.margin").alias("least_margin"),
        sf.col("least.margin_at").alias("margin_at"),
        sf.col("least.lag_at_margin").alias("lag_at_margin"),
        sf.col("soonest.loss_seconds").alias("loss_seconds"),
        sf.col("soonest.loss_at").alias("loss_at"),
        _word().alias("risk"),
    )


def _worst() -> dict[str, Column]:
    """Aggregates that are the same in one step or in two."""
    return {
        **{name: sf.max(name) for name in ("records_lost", "time_lag_max", "last_at")},
        **{name: sf.bool_or(name) for name in ("lost", "at_risk", "safe")},
        "first_at": sf.min("first_at"),
    }


def _word() -> Column:
    return sf.when(sf.col("lost"), LOST).when(sf.col("at_risk"), AT_RISK).when(sf.col("safe"), SAFE)


def _needed() -> Column:
    """The age of the oldest record that was unread: the log had to be kept as long.

    What was lost was older than all that is there: by as long as it took to produce.
    """
    lost = sf.coalesce("records_lost", sf.lit(0))
    older = sf.when(lost > 0, sf.try_divide(lost, sf.col("rate"))).otherwise(sf.lit(0.0))
    return sf.col("time_lag_max") + older


def _moment(second: str, day: date) -> Column:
    midnight = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    return sf.timestamp_seconds(sf.col(second) + sf.lit(midnight))
