# SPDX-License-Identifier: Apache-2.0
"""Who holds more lag than its part of the partitions explains: brokers, and members of groups."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag_report.schemas import BROKER_HOTSPOTS, CONSUMER_HOTSPOTS
from kafka_lag_report.thresholds import HOT_FACTOR, LAG_EXCESS

_ROUNDING = 1e-9

_LEADER = ("leader",)
_GROUP = ("consumer_group",)
_MEMBER = ("client_host", "client_id", "member_id")
_PARTITION = (*_GROUP, "topic", "partition_id")


def broker_hotspots(segments: DataFrame, topic_segments: DataFrame) -> DataFrame:
    """A row per leader and rack; null `leader`: while partitions had none.

    A partition whose leader changed counts for each by its part of the runs, and `produced` by what
    each run saw. Lag is known by leader only: of several racks the newest has it all. A leader that
    only groups' partitions name has no rack and led nothing.
    """
    # few rows and one task: no shuffle for each of the steps that follow
    led = _led(topic_segments.coalesce(1))
    lag = _lag(segments.coalesce(1))
    known = led.unionByName(lag, allowMissingColumns=True).coalesce(1)
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
        _share("partitions_led", ()).alias("partitions_share"),
        _share("produced", ()).alias("produce_share"),
        _share("lag_mean", ()).alias("lag_share"),
    )
    return _judged(shares, ()).select(*BROKER_HOTSPOTS.names)


def consumer_hotspots(segments: DataFrame) -> DataFrame:
    """A row per group and member; null `member_id`: while nobody owned the partitions.

    A partition that changed hands counts for each owner by its part of the runs, and `consumed` by
    what each run saw. `lag_mean` is null where no lag was known while the member owned anything.
    Nobody is hot who was alone whenever it owned anything.
    """
    # all steps are within a group: one shuffle for all
    owned = (
        segments.repartition(*_GROUP)
        .groupBy(*_PARTITION, *_MEMBER)
        .agg(
            sf.sum("reads").alias("reads"),
            sf.sum("lags").alias("lags"),
            sf.sum("lag_sum").alias("lag_sum"),
            sf.sum("consumed").alias("consumed"),
            sf.min("first_at").alias("since"),
            sf.max("last_at").alias("until"),
        )
    )
    partition = Window.partitionBy(*_PARTITION)
    parts = owned.select(
        *_GROUP,
        *_MEMBER,
        sf.try_divide("reads", sf.sum("reads").over(partition)).alias("part"),
        sf.try_divide("lag_sum", sf.sum("lags").over(partition)).alias("lag_part"),
        "consumed",
        "since",
        "until",
    )
    members = parts.groupBy(*_GROUP, *_MEMBER).agg(
        sf.sum("part").alias("partitions_owned"),
        sf.sum("consumed").alias("consumed"),
        sf.sum("lag_part").alias("lag_mean"),
        sf.min("since").alias("since"),
        sf.max("until").alias("until"),
    )
    shares = members.select(
        "*",
        _has_others_beside().alias("beside"),
        _share("partitions_owned", _GROUP).alias("partitions_share"),
        _share("lag_mean", _GROUP).alias("lag_share"),
    )
    # an owner before a restart and the one after it were never there together
    hot = sf.col("hot") & sf.col("beside")
    return _judged(shares, _GROUP).withColumn("hot", hot).select(*CONSUMER_HOTSPOTS.names)


def _has_others_beside() -> Column:
    """Whether anybody else of the group owned partitions between its first and last sight."""
    by_start = Window.partitionBy(*_GROUP).orderBy("since")
    before = sf.max("until").over(by_start.rowsBetween(Window.unboundedPreceding, -1))
    after = sf.min("since").over(by_start.rowsBetween(1, Window.unboundedFollowing))
    return sf.coalesce(before >= sf.col("since"), sf.lit(False)) | sf.coalesce(
        after <= sf.col("until"), sf.lit(False)
    )


def _share(name: str, of: Sequence[str]) -> Column:
    """This row's part of the sum over all rows alike in `of`; null when the sum is 0."""
    return sf.try_divide(name, sf.sum(name).over(Window.partitionBy(*of)))


def _judged(owners: DataFrame, of: Sequence[str]) -> DataFrame:
    """`lag_to_partitions`, `lag_to_others`, and who is `hot` among all rows alike in `of`.

    `lag_to_partitions` is 1 for lag like everybody's, and at most the number of owners. So hot is
    measured against the others: HOT_FACTOR times their lag a partition (`lag_to_others`; null where
    they have no partition or no lag, and then all lag is here), and a mean lag of LAG_EXCESS
    records above the mean of all, as a share of next to nothing says nothing.
    """
    mean = sf.avg("lag_mean").over(Window.partitionBy(*of))
    above = sf.col("lag_mean") - mean >= LAG_EXCESS
    lag, partitions = sf.col("lag_share"), sf.col("partitions_share")
    others = sf.try_divide(1 - lag, 1 - partitions)
    # sums of doubles may miss a whole share by their last digits
    alone = others <= _ROUNDING
    to_others = sf.when(~alone, sf.try_divide(sf.try_divide(lag, partitions), others))
    hot = sf.when(alone, sf.lit(True)).otherwise(sf.col("lag_to_others") >= HOT_FACTOR)
    return (
        owners.withColumn("lag_to_partitions", sf.try_divide("lag_share", "partitions_share"))
        .withColumn("lag_to_others", to_others)
        .withColumn("hot", hot & above)
    )


def _led(topic_segments: DataFrame) -> DataFrame:
    partition = Window.partitionBy("topic", "partition_id")
    parts = topic_segments.select(
        *_LEADER,
        "leader_rack",
        "last_at",
        "produced",
        sf.try_divide("reads", sf.sum("reads").over(partition)).alias("part"),
    )
    return parts.groupBy(*_LEADER, "leader_rack").agg(
        sf.sum("part").alias("partitions_led"),
        sf.sum("produced").alias("produced"),
        sf.max("last_at").alias("last_at"),
    )


def _lag(segments: DataFrame) -> DataFrame:
    partition = Window.partitionBy("consumer_group", "topic", "partition_id")
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
    any_known = _over((), sf.max("lag")).isNotNull()
    return sf.when(any_known, sf.coalesce(here, sf.lit(0.0)))


def _over(keys: Sequence[str], measure: Column) -> Column:
    return measure.over(Window.partitionBy(*keys))
