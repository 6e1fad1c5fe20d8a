# SPDX-License-Identifier: Apache-2.0
"""Which broker sits on the lag: more of it than its part of the partitions explains."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag_report.reports.hotspots import judged, share
from kafka_lag_report.schemas.reports import BROKER_HOTSPOTS

_CLUSTER = ("cluster",)
_LEADER = ("cluster", "leader")


def broker_hotspots(segments: DataFrame, topic_segments: DataFrame) -> DataFrame:
    """A row per cluster, leader and rack; null `leader`: while partitions had none.

    A partition whose leader changed counts for each by its part of the runs. Lag is known by
    leader only: of several racks the newest has it all. A leader that only groups' partitions
    name has no rack and led nothing.
    """
    # all that follows is within a cluster: a few small shuffles instead of many
    led, lag = (_led(topic_segments.repartition(*_CLUSTER)), _lag(segments.repartition(*_CLUSTER)))
    known = led.unionByName(lag, allowMissingColumns=True).repartition(*_CLUSTER)
    placed = known.select(
        "*", _newest_first().alias("place"), _over(_LEADER, sf.sum("lag_part")).alias("lag")
    )
    brokers = placed.where("place = 1 OR last_at IS NOT NULL").select(
        *_LEADER,
        "leader_rack",
        "produced",
        sf.coalesce("partitions_led", sf.lit(0.0)).alias("partitions_led"),
        _lag_mean().alias("lag_mean"),
    )
    shares = brokers.select(
        "*",
        share("partitions_led", _CLUSTER).alias("partitions_share"),
        share("produced", _CLUSTER).alias("produce_share"),
        share("lag_mean", _CLUSTER).alias("lag_share"),
    )
    return judged(shares, _CLUSTER).select("cluster", *BROKER_HOTSPOTS.names)


def _led(topic_segments: DataFrame) -> DataFrame:
    partition = Window.partitionBy("cluster", "topic", "partition_id")
    rise = sf.greatest(sf.col("end_last") - sf.col("end_first"), sf.lit(0))
    parts = topic_segments.select(
        *_LEADER,
        "leader_rack",
        "last_at",
        sf.try_divide("reads", sf.sum("reads").over(partition)).alias("part"),
        sf.when(sf.col("ends") > 1, rise).alias("produced"),
    )
    return parts.groupBy(*_LEADER, "leader_rack").agg(
        sf.sum("part").alias("partitions_led"),
        sf.sum("produced").alias("produced"),
        sf.max("last_at").alias("last_at"),
    )


def _lag(segments: DataFrame) -> DataFrame:
    partition = Window.partitionBy("cluster", "consumer_group", "topic", "partition_id")
    parts = segments.select(
        *_LEADER, sf.try_divide("lag_sum", sf.sum("lags").over(partition)).alias("part")
    )
    return parts.groupBy(*_LEADER).agg(sf.sum("part").alias("lag_part"))


def _newest_first() -> Column:
    """1 for a leader's newest rack; the row of its lag comes last, as it has no time."""
    order = (sf.desc_nulls_last("last_at"), sf.asc_nulls_last("leader_rack"))
    return sf.row_number().over(Window.partitionBy(*_LEADER).orderBy(*order))


def _lag_mean() -> Column:
    """0 for a leader that nobody lags behind; null when no lag is known in the whole cluster."""
    here = sf.when(sf.col("place") == 1, sf.col("lag"))
    any_known = _over(_CLUSTER, sf.max("lag")).isNotNull()
    return sf.when(any_known, sf.coalesce(here, sf.lit(0.0)))


def _over(keys: Sequence[str], measure: Column) -> Column:
    return measure.over(Window.partitionBy(*keys))
