# SPDX-License-Identifier: Apache-2.0
"""Why lag is skewed: by where the excess over the mean sits.

- `production`: on partitions that got far more than their share of records (keys).
- `broker`: on the partitions of one leader; `consumer`: on those of one member. Either must hold
  most of the excess (recall), and most of its partitions must be in excess (precision): a broker
  that leads five quiet partitions and a late one is not the cause.
- `unexplained`: anything else, as where each partition has a leader and a member of its own.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from kafka_lag_report.day.group_partitions import GROUP_TOPIC
from kafka_lag_report.day.partitions import MEMBER
from kafka_lag_report.day.skewed import SKEW_FACTOR
from kafka_lag_report.day.topic_partitions import TOPIC
from kafka_lag_report.reports.spread import is_skewed

MOST = 2 / 3

# Sums over the same partitions in another order may differ in their last digit.
_DIGITS = 9
_ROUNDING = 1e-9

CAUSE = (
    "cause",
    "cause_partitions",
    "cause_leader",
    "cause_member",
    "cause_client_id",
    "cause_client_host",
)


def with_causes(days: DataFrame, made: DataFrame) -> DataFrame:
    """`days` with `cause`, who is accused, and whether the partition `explains` the excess.

    `days` are those of `group_partition_days`, `placed` within their topic; `made` is `produced`.
    All is null where a topic's lag is not skewed. Unknown production accuses nobody, nor is a
    partition without a leader or an owner anybody's.
    """
    # windows, where joins of the frame with itself would compute it once for each
    blamed = (
        _with_shares(days, made)
        .select(
            "*",
            sf.sum("over_excess").over(_topic()).alias("over"),
            _candidate(("leader",)).alias("broker"),
            _candidate(MEMBER).alias("consumer"),
        )
        .withColumns({who: sf.min(who).over(_topic()) for who in ("broker", "consumer")})
    )
    return blamed.withColumn("cause", sf.when(is_skewed(), _cause())).withColumn(
        "explains", _explains()
    )


def causes() -> list[Column]:
    """Aggregates over the rows of `with_causes` alike in group and topic: CAUSE."""
    explaining = sf.collect_list(sf.when(sf.col("explains"), sf.col("partition_id")))
    cause = sf.max("cause")
    named = (
        ("broker", "leader", "cause_leader"),
        ("consumer", "member_id", "cause_member"),
        ("consumer", "client_id", "cause_client_id"),
        ("consumer", "client_host", "cause_client_host"),
    )
    return [
        cause.alias("cause"),
        sf.when(cause.isNotNull(), sf.sort_array(explaining)).alias("cause_partitions"),
        *(
            sf.max(sf.when(sf.col("cause") == who, sf.col(who)[name])).alias(as_name)
            for who, name, as_name in named
        ),
    ]


def _with_shares(days: DataFrame, made: DataFrame) -> DataFrame:
    """With `share` of the topic's excess, null where it has none, and whether over-produced."""
    made = made.withColumn("made_mean", sf.avg("produced").over(Window.partitionBy(*TOPIC)))
    mean = sf.try_divide("total", "n")
    known = is_skewed() & sf.col("x").isNotNull()
    over = (sf.col("made_mean") > 0) & (sf.col("produced") >= SKEW_FACTOR * sf.col("made_mean"))
    return (
        days.join(made, [*TOPIC, "partition_id"], "left")
        .withColumn("excess", sf.when(known, sf.greatest(sf.col("x") - mean, sf.lit(0.0))))
        .withColumn("share", sf.try_divide("excess", sf.sum("excess").over(_topic())))
        .withColumn("late", sf.col("excess") > _ROUNDING * mean)
        .withColumn("over_produced", sf.coalesce(over, sf.lit(False)))
        .withColumn("over_excess", sf.when(sf.col("over_produced"), sf.col("share")))
    )


def _topic() -> WindowSpec:
    return Window.partitionBy(*GROUP_TOPIC)


def _candidate(who: Sequence[str]) -> Column:
    """The partition's own, if it explains the excess; the least of a topic's explains it best."""
    same = Window.partitionBy(*GROUP_TOPIC, *who)
    n, recall = sf.count("excess").over(same), sf.sum("share").over(same)
    precision = sf.try_divide(sf.count_if("late").over(same), n)
    enough = (recall >= MOST - _ROUNDING) & (precision >= MOST - _ROUNDING)
    score = sf.round(recall * precision, _DIGITS)
    found = sf.struct((-score).alias("worse"), (-n).alias("fewer"), *who)
    return sf.when(enough & sf.col(who[0]).isNotNull() & sf.col("excess").isNotNull(), found)


def _cause() -> Column:
    # 0 for nobody: every candidate's score is well above
    broker = sf.coalesce(-sf.col("broker.worse"), sf.lit(0.0))
    consumer = sf.coalesce(-sf.col("consumer.worse"), sf.lit(0.0))
    more = sf.coalesce(sf.col("consumer.fewer") - sf.col("broker.fewer"), sf.lit(0))
    return (
        sf.when(sf.col("over") >= MOST - _ROUNDING, "production")
        .when(broker > consumer, "broker")
        .when(consumer > broker, "consumer")
        .when(broker == 0, "unexplained")
        .when(more != 0, sf.when(more > 0, "broker").otherwise("consumer"))
        .when(sf.col("broker.fewer") < -1, "broker")
        .otherwise("unexplained")
    )


def _explains() -> Column:
    same_member = [sf.col(name).eqNullSafe(sf.col(f"consumer.{name}")) for name in MEMBER]
    blamed = (
        sf.when(sf.col("cause") == "production", sf.col("over_produced"))
        .when(sf.col("cause") == "broker", sf.col("leader") == sf.col("broker.leader"))
        .when(sf.col("cause") == "consumer", same_member[0] & same_member[1] & same_member[2])
        .otherwise(sf.lit(True))
    )
    return sf.col("late") & blamed
