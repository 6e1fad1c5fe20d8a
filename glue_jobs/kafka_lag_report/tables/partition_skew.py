# SPDX-License-Identifier: Apache-2.0
"""How unevenly a topic's partitions share lag, and production, how long, and why lag is skewed.

Lag and production are judged apart by the rule of `skew`. The cause is where the excess over the
mean sits; the first that explains it:

- `stalled`, `stopped`: on partitions whose commit stood while most of their lag was there, with an
  owner or without one.
- `production`: on partitions that got far more than their share of records (keys).
- `broker`: on the partitions of one leader; `consumer`: on those of one member. Either must hold
  most of the excess (recall), and most of its partitions must be in excess (precision): a broker
  that leads five quiet partitions and a late one is not the cause. Nor is a broker under which no
  other group lags: what it does to one it does to all. A consumer that fits comes in its place.
- `unexplained`: anything else, as where each partition has a leader and a member of its own. Where
  a broker of several partitions fits and is the cause of nobody else's lag, it is named all the
  same: that these have one leader is what is known of them.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from kafka_lag_report.aggregates import (
    GROUP_TOPIC,
    MEMBER,
    TOPIC,
    group_partition_days,
    records_produced,
)
from kafka_lag_report.findings import STALLED, STOPPED
from kafka_lag_report.run_weights import weighed
from kafka_lag_report.skew import (
    is_skewed,
    measures,
    placed,
    spread,
    sums_of_placed,
)
from kafka_lag_report.thresholds import LAG_EXCESS, MOST, SKEW_FACTOR

# Sums over the same partitions in another order may differ in their last digit.
_DIGITS = 9
_ROUNDING = 1e-9

# Of which partitions the shares of the excess are added up.
_PARTS = ("over", STALLED, STOPPED)

CAUSE = (
    "cause",
    "cause_partitions",
    "cause_leader",
    "cause_member",
    "cause_client_id",
    "cause_client_host",
)


def partition_skew(
    segments: DataFrame,
    runs: DataFrame,
    topic_segments: DataFrame,
    topic_runs: DataFrame,
    weights: DataFrame,
    intervals: DataFrame,
) -> DataFrame:
    """One row per cluster, group and topic; see `spread` for lag_* and production_*.

    Lag counts at its mean over the day, production in records of the day. production_* is the
    topic's own and repeats for each of its groups; null when the topic itself was never read.
    """
    made = records_produced(topic_segments)
    production = spread(made, TOPIC, "produced", "production")
    explained = with_causes(placed(group_partition_days(segments), GROUP_TOPIC, "mean_lag"), made)
    lag = explained.groupBy(*GROUP_TOPIC).agg(*sums_of_placed(), *causes())
    return (
        lag.select(*GROUP_TOPIC, *measures("lag"), *CAUSE)
        .join(_skewed_minutes(runs, GROUP_TOPIC, "lag", weights, intervals), [*GROUP_TOPIC])
        .join(production, [*TOPIC], "left")
        .join(
            _skewed_minutes(topic_runs, TOPIC, "production", weights, intervals),
            [*TOPIC],
            "left",
        )
    )


def _skewed_minutes(
    runs: DataFrame, keys: Sequence[str], prefix: str, weights: DataFrame, intervals: DataFrame
) -> DataFrame:
    """Minutes for which the runs stand that were skewed; null where no run knew."""
    minutes = sf.col("weight") / 60
    of_skewed = sf.when(sf.col("skewed"), minutes).when(~sf.col("skewed"), sf.lit(0.0))
    return (
        weighed(runs, weights, intervals)
        .groupBy(*keys)
        .agg(sf.sum(of_skewed).alias(f"{prefix}_skewed_minutes"))
    )


def with_causes(days: DataFrame, made: DataFrame) -> DataFrame:
    """`days` with `cause`, whom it names, and whether the partition `explains` the excess.

    `days` are those of `group_partition_days`, `placed` within their topic; `made` is `produced`.
    All is null where a topic's lag is not skewed. Unknown production names nobody, nor is a
    partition without a leader or an owner anybody's.
    """
    # windows, where joins of the frame with itself would compute it once for each
    blamed = (
        _with_shares(days, made)
        .select(
            "*",
            *(sf.sum(f"{part}_excess").over(_topic()).alias(part) for part in _PARTS),
            _candidate(("leader",), "lags_for_others").alias("broker"),
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
    # Of all that stand still their owner, if it is one.
    stuck_member = sf.when(sf.col("explains") & (sf.col("cause") == STALLED), sf.struct(*MEMBER))
    one_owner = sf.count_distinct(stuck_member) == 1
    named = zip(MEMBER, ("cause_member", "cause_client_id", "cause_client_host"), strict=True)
    return [
        cause.alias("cause"),
        sf.when(cause.isNotNull(), sf.sort_array(explaining)).alias("cause_partitions"),
        sf.max(sf.when(_led(), sf.col("broker.leader"))).alias("cause_leader"),
        *(
            sf.coalesce(
                _blamed("consumer", name), sf.when(one_owner, sf.max(stuck_member)[name])
            ).alias(as_name)
            for name, as_name in named
        ),
    ]


def _led() -> Column:
    """Whether the excess is on one broker's partitions, be it the cause or not."""
    unexplained = (sf.col("cause") == "unexplained") & (sf.col("broker.fewer") < -1)
    return (sf.col("cause") == "broker") | unexplained


def _blamed(who: str, name: str) -> Column:
    return sf.max(sf.when(sf.col("cause") == who, sf.col(who)[name]))


def _with_shares(days: DataFrame, made: DataFrame) -> DataFrame:
    """With `share` of the topic's excess, null where it has none, and whether over-produced."""
    made = made.withColumn("made_mean", sf.avg("produced").over(Window.partitionBy(*TOPIC)))
    mean = sf.try_divide("total", "n")
    known = is_skewed() & sf.col("x").isNotNull()
    over = (sf.col("made_mean") > 0) & (sf.col("produced") >= SKEW_FACTOR * sf.col("made_mean"))
    return (
        _with_other_groups(days)
        .join(made, [*TOPIC, "partition_id"], "left")
        .withColumn("excess", sf.when(known, sf.greatest(sf.col("x") - mean, sf.lit(0.0))))
        .withColumn("share", sf.try_divide("excess", sf.sum("excess").over(_topic())))
        .withColumn("late", sf.col("excess") > _ROUNDING * mean)
        .withColumn("over_produced", sf.coalesce(over, sf.lit(False)))
        .withColumn("over_excess", sf.when(sf.col("over_produced"), sf.col("share")))
        .withColumns(
            {
                f"{word}_excess": sf.when(sf.col("stands") == word, sf.col("share"))
                for word in (STALLED, STOPPED)
            }
        )
    )


def _with_other_groups(days: DataFrame) -> DataFrame:
    """With `lags_for_others`: whether another group lags under the partition's leader.

    That is by LAG_EXCESS records a partition more than under all leaders.
    """
    group, leader = ("cluster", "consumer_group"), ("cluster", "leader")
    here = sf.avg("x").over(Window.partitionBy(*group, "leader"))
    more = here - sf.avg("x").over(Window.partitionBy(*group)) >= LAG_EXCESS
    lagging = days.withColumn("lags_here", sf.when(more, sf.col("consumer_group")))
    first, last = (
        found("lags_here").over(Window.partitionBy(*leader)) for found in (sf.min, sf.max)
    )
    others = (first != sf.col("consumer_group")) | (last != sf.col("consumer_group"))
    return lagging.withColumn("lags_for_others", sf.coalesce(others, sf.lit(False)))


def _topic() -> WindowSpec:
    return Window.partitionBy(*GROUP_TOPIC)


def _candidate(who: Sequence[str], *beside: str) -> Column:
    """The partition's own, if it explains the excess; the least of a topic's explains it best."""
    same = Window.partitionBy(*GROUP_TOPIC, *who)
    n, recall = sf.count("excess").over(same), sf.sum("share").over(same)
    precision = sf.try_divide(sf.count_if("late").over(same), n)
    enough = (recall >= MOST - _ROUNDING) & (precision >= MOST - _ROUNDING)
    score = sf.round(recall * precision, _DIGITS)
    found = sf.struct((-score).alias("worse"), (-n).alias("fewer"), *who, *beside)
    return sf.when(enough & sf.col(who[0]).isNotNull() & sf.col("excess").isNotNull(), found)


def _cause() -> Column:
    found = _best_fit()
    alone = (found == "broker") & ~sf.col("broker.lags_for_others")
    # of a single partition broker and consumer cannot be distinguished, so neither is named
    several = sf.least("broker.fewer", "consumer.fewer") < -1
    fits = sf.col("consumer").isNotNull() & several
    return sf.when(alone, sf.when(fits, "consumer").otherwise("unexplained")).otherwise(found)


def _best_fit() -> Column:
    # 0 for nobody: every candidate's score is well above
    broker = sf.coalesce(-sf.col("broker.worse"), sf.lit(0.0))
    consumer = sf.coalesce(-sf.col("consumer.worse"), sf.lit(0.0))
    stalled, stopped = (sf.coalesce(name, sf.lit(0.0)) for name in (STALLED, STOPPED))
    more = sf.coalesce(sf.col("consumer.fewer") - sf.col("broker.fewer"), sf.lit(0))
    return (
        sf.when(
            stalled + stopped >= MOST - _ROUNDING,
            sf.when(stopped > stalled, STOPPED).otherwise(STALLED),
        )
        .when(sf.col("over") >= MOST - _ROUNDING, "production")
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
        sf.when(sf.col("cause").isin(STALLED, STOPPED), sf.col("stands").isNotNull())
        .when(sf.col("cause") == "production", sf.col("over_produced"))
        .when(_led(), sf.col("leader") == sf.col("broker.leader"))
        .when(sf.col("cause") == "consumer", same_member[0] & same_member[1] & same_member[2])
        .otherwise(sf.lit(True))
    )
    return sf.col("late") & blamed
