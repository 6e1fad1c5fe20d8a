# SPDX-License-Identifier: Apache-2.0
"""The day of each group as its metrics told it, from `groups`."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag_report.reports.lag_days.weighted import levels, mean, minutes, with_percentiles

GROUP = ("cluster", "consumer_group")

# Members stop while partitions are handed over; the last two are the new protocol's words.
REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")

_READ = (
    "consume_rate",
    "group_state",
    "lag",
    "owner",
    "owners_changed",
    "produce_rate",
    "records_lost",
    "sla_seconds",
    "status",
    "time_lag_error_seconds",
)


def group_days(groups: DataFrame, weights: DataFrame) -> DataFrame:
    """A row for each group with any row, read or not: only an unread one may say that it is gone.

    Minutes and counts of a group that was never read are 0, everything else is null.
    """
    read = sf.col("unread_reason").isNull()
    rows = groups.join(sf.broadcast(weights), ["cluster", "taken_at"]).select(
        *GROUP,
        "weight",
        "taken_at",
        sf.when(read, sf.col("taken_at")).alias("seen_at"),
        sf.when(read, sf.col("time_lag_seconds")).alias("time_lag"),
        *(sf.when(read, sf.col(name)).alias(name) for name in _READ),
        sf.col("status_reason").eqNullSafe("gone").alias("gone"),
    )
    followed = with_percentiles(rows.withColumn("status_before", _status_before()), GROUP)
    days = {**levels(), **_rates(), **_seen(), **_status(), **_sla()}
    return followed.groupBy(*GROUP).agg(*(c.alias(name) for name, c in days.items()))


def _status_before() -> Column:
    """The last known one; runs that know none are passed over."""
    runs = Window.partitionBy(*GROUP).orderBy("taken_at")
    earlier = runs.rowsBetween(Window.unboundedPreceding, -1)
    return sf.last("status", ignorenulls=True).over(earlier)


def _rates() -> dict[str, Column]:
    return {name: mean(name) for name in ("produce_rate", "consume_rate")}


def _seen() -> dict[str, Column]:
    return {
        "first_seen": sf.min("seen_at"),
        "last_seen": sf.max("seen_at"),
        "last_weight": sf.max_by("weight", "seen_at"),
        "records_lost": sf.max("records_lost"),
        "gone": sf.bool_or("gone"),
    }


def _status() -> dict[str, Column]:
    status = sf.col("status")
    moving = sf.col("group_state").isin(*REBALANCING) | (sf.col("owners_changed") > 0)
    return {
        **{f"{word.lower()}_minutes": minutes(status == word) for word in ("OK", "WARN", "ERR")},
        "status_changes": sf.count_if(status != sf.col("status_before")),
        "rebalancing_runs": sf.count_if(moving),
    }


def _sla() -> dict[str, Column]:
    sla, time_lag = sf.col("sla_seconds"), sf.col("time_lag")
    # at least so old, and nobody knows how much older: a promise broken for certain, or undecided
    decided = (time_lag > sla) | sf.col("time_lag_error_seconds").isNotNull()
    return {
        "owner": _last_known("owner"),
        "sla_seconds": _last_known("sla_seconds"),
        "sla_minutes": minutes(sla.isNotNull() & time_lag.isNotNull() & decided),
        "sla_met_minutes": minutes((time_lag <= sla) & decided),
    }


def _last_known(name: str) -> Column:
    return sf.max_by(name, sf.when(sf.col(name).isNotNull(), sf.col("taken_at")))
