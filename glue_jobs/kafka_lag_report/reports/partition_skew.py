# SPDX-License-Identifier: Apache-2.0
"""How unevenly a topic's partitions share lag, and production, how long, and who is to blame.

Lag and production are judged apart by the rule of `kafka_lag_report.day.skewed`.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.day.group_partitions import GROUP_TOPIC
from kafka_lag_report.day.partitions import group_partition_days
from kafka_lag_report.day.runs import weighed
from kafka_lag_report.day.topic_partitions import TOPIC, produced
from kafka_lag_report.reports.skew_cause import CAUSE, causes, with_causes
from kafka_lag_report.reports.spread import measures, placed, spread, sums_of_placed


def partition_skew(
    segments: DataFrame,
    minutes: DataFrame,
    topic_segments: DataFrame,
    topic_minutes: DataFrame,
    weights: DataFrame,
    intervals: DataFrame,
) -> DataFrame:
    """One row per cluster, group and topic; see `spread` for lag_* and production_*.

    Lag counts at its mean over the day, production in records of the day. production_* is the
    topic's own and repeats for each of its groups; null when the topic itself was never read.
    """
    made = produced(topic_segments)
    production = spread(made, TOPIC, "produced", "production")
    accused = with_causes(placed(group_partition_days(segments), GROUP_TOPIC, "mean_lag"), made)
    lag = accused.groupBy(*GROUP_TOPIC).agg(*sums_of_placed(), *causes())
    return (
        lag.select(*GROUP_TOPIC, *measures("lag"), *CAUSE)
        .join(_skewed_minutes(minutes, GROUP_TOPIC, "lag", weights, intervals), [*GROUP_TOPIC])
        .join(production, [*TOPIC], "left")
        .join(
            _skewed_minutes(topic_minutes, TOPIC, "production", weights, intervals),
            [*TOPIC],
            "left",
        )
    )


def _skewed_minutes(
    runs: DataFrame, keys: Sequence[str], prefix: str, weights: DataFrame, intervals: DataFrame
) -> DataFrame:
    """Minutes for which the runs stand that were skewed; null where no run could tell."""
    minutes = sf.col("weight") / 60
    of_skewed = sf.when(sf.col("skewed"), minutes).when(~sf.col("skewed"), sf.lit(0.0))
    return (
        weighed(runs, weights, intervals)
        .groupBy(*keys)
        .agg(sf.sum(of_skewed).alias(f"{prefix}_skewed_minutes"))
    )
