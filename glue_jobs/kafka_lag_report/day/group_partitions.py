# SPDX-License-Identifier: Apache-2.0
"""The only pass over the large dataset's rows: a day reduced to segments and runs.

A segment is a partition as one leader led it and one member owned it. Every report is derived from
these small frames. Rows with an `unread_reason` repeat what an earlier run saw, possibly the day
before, and count as unknown here.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.day.levels import (
    both_levels,
    clock,
    fine_level,
    first_and_last,
    ordered,
    run_level,
    second_of,
)
from kafka_lag_report.day.skewed import LAG_EXCESS, skewed

LOST, AT_RISK, SAFE = "LOST", "AT_RISK", "SAFE"

GROUP_TOPIC = ("cluster", "consumer_group", "topic")
SEGMENT = ("topic_id", "partition_id", "leader", "client_id", "client_host", "member_id")

_READ = ("lag", "records_lost", "time_lag_seconds", "consume_rate", "end_offset", "retention_risk")
_OWN = ("committed_offset", "seconds_until_loss")

# Longer than the snapshots' own limit of 30 days, and short enough to count in milliseconds.
_FAR = 10_000_000.0


def reduced(group_partitions: DataFrame) -> DataFrame:
    """Segments and runs in one frame, for `segments` and `minutes`; worth keeping."""
    read = sf.col("unread_reason").isNull()
    rows = group_partitions.select(
        *GROUP_TOPIC,
        *SEGMENT,
        "taken_at",
        clock().alias("second"),
        sf.when(read, clock()).alias("read_at_second"),
        *(sf.when(read, sf.col(name)).alias(name) for name in (*_READ, *_OWN)),
        sf.when(read, _margin()).alias("margin"),
    )
    return both_levels(rows, GROUP_TOPIC, SEGMENT, _measures())


def segments(levels: DataFrame) -> DataFrame:
    """What each partition's day was like, per leader and owner; null: never known.

    Times (`*_at`) are seconds of the UTC day. `margin` and `loss_seconds` are the least of the day,
    each with its first moment, to the millisecond of `loss_seconds`.
    """
    at = {name: second_of(sf.col(name)) for name in ("margin_at", "loss_at")}
    return fine_level(levels).drop("rows", "lag_max").withColumns(at)


def minutes(levels: DataFrame) -> DataFrame:
    """Lag, time lag and consume rate of each group's topic at each run, over its partitions.

    Lag and time lag are null where a partition was not read: what is missing may be the worst.
    """
    whole = sf.col("rows") == sf.col("reads")
    return run_level(levels).select(
        *GROUP_TOPIC,
        "taken_at",
        sf.when(whole, sf.col("lag_sum")).alias("lag"),
        sf.when(whole, sf.col("time_lag_max")).alias("time_lag"),
        "consume_rate",
        skewed(sf.col("lag_max"), sf.col("lag_sum"), sf.col("lags"), LAG_EXCESS).alias("skewed"),
    )


def _measures() -> dict[str, Column]:
    margin_order = ordered(sf.col("margin"))
    loss = sf.least(sf.col("seconds_until_loss"), sf.lit(_FAR))
    loss_order = ordered((loss * 1000).cast("bigint"))
    return {
        "rows": sf.count("second"),
        "reads": sf.count("read_at_second"),
        "lags": sf.count("lag"),
        "lag_sum": sf.sum("lag"),
        "lag_max": sf.max("lag"),
        "time_lag_max": sf.max("time_lag_seconds"),
        "records_lost": sf.max("records_lost"),
        "consume_rate": sf.sum("consume_rate"),
        "margin": sf.min("margin"),
        "margin_at": sf.min(margin_order),
        "lag_at_margin": sf.min_by("lag", margin_order),
        "loss_seconds": sf.min("seconds_until_loss"),
        "loss_at": sf.min(loss_order),
        "lost": sf.bool_or(sf.col("retention_risk") == LOST),
        "at_risk": sf.bool_or(sf.col("retention_risk") == AT_RISK),
        "safe": sf.bool_or(sf.col("retention_risk") == SAFE),
        "first_at": sf.min("read_at_second"),
        "last_at": sf.max("read_at_second"),
        **_named("end", "ends", "end_offset"),
        **_named("committed", "commits", "committed_offset"),
    }


def _named(prefix: str, times: str, value: str) -> dict[str, Column]:
    found = first_and_last(value)
    return {times if name == "times" else f"{prefix}_{name}": c for name, c in found.items()}


def _margin() -> Column:
    """Records between the log start and the commit, 0 at least; null when either is unknown."""
    distance = sf.col("committed_offset") - sf.col("start_offset")
    # greatest() skips nulls and would call an unknown margin 0, the worst there is
    computed = sf.when(distance.isNotNull(), sf.greatest(distance, sf.lit(0)))
    return sf.coalesce(sf.col("retention_margin"), computed)
