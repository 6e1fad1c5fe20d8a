# SPDX-License-Identifier: Apache-2.0
"""Why lag is skewed: by where the excess over the mean sits.

- `production`: on partitions that got far more than their share of records (keys).
- `broker`: on the partitions of one leader; `consumer`: on those of one member. Either must hold
  most of the excess (recall), and most of its partitions must be in excess (precision): a broker
  that leads five quiet partitions and a late one is not the cause.
- `unexplained`: anything else, as where each partition has a leader and a member of its own.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from glue_jobs.day.group_partitions import GROUP_TOPIC
from glue_jobs.day.partitions import MEMBER
from glue_jobs.day.skewed import SKEW_FACTOR
from glue_jobs.day.topic_partitions import TOPIC

MOST = 2 / 3

# Sums over the same partitions in another order may differ in their last digit.
_DIGITS = 9
_ROUNDING = 1e-9


def skew_causes(skew: DataFrame, days: DataFrame, produced: DataFrame) -> DataFrame:
    """`cause` and cause_* of each group's topic whose lag is skewed, no row for others.

    `days` as by `group_partition_days`, `produced` by `produced`; unknown production accuses
    nobody, nor is a partition without a leader or an owner anybody's.
    """
    parts = _parts(skew, days, produced)
    broker = _best(parts, ["leader"], "broker")
    consumer = _best(parts, [*MEMBER], "consumer")
    judged = parts.join(broker, [*GROUP_TOPIC], "left").join(consumer, [*GROUP_TOPIC], "left")
    by_topic = (
        judged.withColumn("over", sf.sum("over_excess").over(Window.partitionBy(*GROUP_TOPIC)))
        .withColumn("cause", _cause())
        .withColumn("explains", _explains())
    )
    return by_topic.groupBy(*GROUP_TOPIC).agg(
        sf.first("cause").alias("cause"),
        sf.sort_array(sf.collect_list(sf.when(sf.col("explains"), sf.col("partition_id")))).alias(
            "cause_partitions"
        ),
        *(
            sf.first(sf.when(sf.col("cause") == who, sf.col(f"{who}_{name}"))).alias(as_name)
            for who, name, as_name in (
                ("broker", "leader", "cause_leader"),
                ("consumer", "member_id", "cause_member"),
                ("consumer", "client_id", "cause_client_id"),
                ("consumer", "client_host", "cause_client_host"),
            )
        ),
    )


def _parts(skew: DataFrame, days: DataFrame, produced: DataFrame) -> DataFrame:
    """The partitions of skewed topics: `share` of the excess, and whether over-produced."""
    topics = skew.where("lag_skewed").select(*GROUP_TOPIC, "lag_mean", "production_mean")
    excess = sf.greatest(sf.col("mean_lag") - sf.col("lag_mean"), sf.lit(0.0))
    over = (sf.col("production_mean") > 0) & (
        sf.col("produced") >= SKEW_FACTOR * sf.col("production_mean")
    )
    return (
        days.where("mean_lag IS NOT NULL")
        .join(topics, [*GROUP_TOPIC])
        .join(produced, [*TOPIC, "partition_id"], "left")
        .withColumn("excess", excess)
        .withColumn(
            "share",
            sf.try_divide("excess", sf.sum("excess").over(Window.partitionBy(*GROUP_TOPIC))),
        )
        .withColumn("late", sf.col("excess") > _ROUNDING * sf.col("lag_mean"))
        .withColumn("over_produced", sf.coalesce(over, sf.lit(False)))
        .withColumn("over_excess", sf.when(sf.col("over_produced"), sf.col("share")))
    )


def _best(parts: DataFrame, who: Sequence[str], prefix: str) -> DataFrame:
    """Who of these explains a topic's excess best, in columns `<prefix>_...`; no row: nobody."""
    found = (
        parts.where(sf.col(who[0]).isNotNull())
        .groupBy(*GROUP_TOPIC, *who)
        .agg(
            sf.count("*").alias("n"),
            sf.sum("share").alias("recall"),
            sf.try_divide(sf.count_if("late"), sf.count("*")).alias("precision"),
        )
        .withColumn("score", sf.round(sf.col("recall") * sf.col("precision"), _DIGITS))
        .where((sf.col("recall") >= MOST - _ROUNDING) & (sf.col("precision") >= MOST - _ROUNDING))
    )
    order = Window.partitionBy(*GROUP_TOPIC).orderBy(sf.desc("score"), sf.desc("n"), *who)
    best = found.withColumn("place", sf.row_number().over(order)).where("place = 1")
    named = [sf.col(name).alias(f"{prefix}_{name}") for name in (*who, "n", "score")]
    return best.select(*GROUP_TOPIC, *named)


def _cause() -> Column:
    # 0 for nobody: every candidate's score is well above
    broker = sf.coalesce("broker_score", sf.lit(0.0))
    consumer = sf.coalesce("consumer_score", sf.lit(0.0))
    more = sf.coalesce(sf.col("broker_n") - sf.col("consumer_n"), sf.lit(0))
    return (
        sf.when(sf.col("over") >= MOST - _ROUNDING, "production")
        .when(broker > consumer, "broker")
        .when(consumer > broker, "consumer")
        .when(broker == 0, "unexplained")
        .when(more != 0, sf.when(more > 0, "broker").otherwise("consumer"))
        .when(sf.col("broker_n") > 1, "broker")
        .otherwise("unexplained")
    )


def _explains() -> Column:
    same_member = [sf.col(name).eqNullSafe(sf.col(f"consumer_{name}")) for name in MEMBER]
    blamed = (
        sf.when(sf.col("cause") == "production", sf.col("over_produced"))
        .when(sf.col("cause") == "broker", sf.col("leader") == sf.col("broker_leader"))
        .when(sf.col("cause") == "consumer", same_member[0] & same_member[1] & same_member[2])
        .otherwise(sf.lit(True))
    )
    return sf.col("late") & blamed
