# SPDX-License-Identifier: Apache-2.0
"""What a day was like for each group, and for each of its topics: lag, status, SLA, speed."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag.contract import MOSTLY_REBALANCING, REBALANCING_STATES
from kafka_lag_report.aggregates import GROUP, GROUP_TOPIC, net_rise, without_losses
from kafka_lag_report.run_weights import weighted_mean, weighted_minutes, whole_seconds
from kafka_lag_report.schemas import LAG_SUMMARY

# Of a group's row, what says nothing where the group was not read.
_READ = (
    "consume_rate",
    "group_state",
    "lag",
    "owner",
    "owners_changed",
    "produce_rate",
    "rebalances",
    "rebalancing_share",
    "records_lost",
    "sla_seconds",
    "status",
    "time_lag_error_seconds",
)

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

# Of each run; `lag_days` has them as columns.
LEVELS = ("lag", "time_lag")


def lag_summary(groups: DataFrame, runs: DataFrame, segments: DataFrame) -> DataFrame:
    """A row per group and topic, and one with null `topic` for the group itself.

    The group's own row is what the metrics said (`groups`); it alone has what is judged per group:
    owner, status, SLA, rebalances, losses. Rows of `groups` and `runs` have their `weight`.
    """
    logs = _logs(segments)
    group = _with_offsets(group_days(groups), logs)
    days = group.unionByName(topic_days(runs, logs), allowMissingColumns=True)
    watched = sf.unix_seconds("last_row") - sf.unix_seconds("first_row") + sf.col("last_weight")
    unknown = watched / 60 - sf.col("known_minutes")
    return (
        # greatest() skips nulls and would call the unknown 0
        days.withColumn(
            "unknown_minutes", sf.when(unknown.isNotNull(), sf.greatest(unknown, sf.lit(0.0)))
        )
        .withColumn("catch_up_capacity", sf.try_divide("best_consume_rate", "produce_rate"))
        .withColumn("sla_compliance", sf.try_divide("sla_met_minutes", "sla_minutes"))
        .select(*LAG_SUMMARY.names)
    )


def group_days(groups: DataFrame) -> DataFrame:
    """A row for each group with any row, read or not: only an unread one may say that it is gone.

    Minutes and counts of a group that was never read are 0, but for those in which its lag was
    unknown; everything else is null. `first_row` and `last_row`: it was there, read or not.
    """
    read = sf.col("unread_reason").isNull()
    rows = groups.select(
        *GROUP,
        "weight",
        "taken_at",
        sf.when(read, sf.col("taken_at")).alias("seen_at"),
        sf.when(~sf.col("status_reason").eqNullSafe("gone"), sf.col("taken_at")).alias("row_at"),
        sf.when(read, sf.col("time_lag_seconds")).alias("time_lag"),
        *(sf.when(read, sf.col(name)).alias(name) for name in _READ),
        sf.col("status_reason").eqNullSafe("gone").alias("gone"),
    )
    followed = with_percentiles(rows.withColumn("status_before", _status_before()), GROUP)
    days = {**levels(), **_group_rates(), **_seen(), **_status(), **_sla()}
    return followed.groupBy(*GROUP).agg(*(c.alias(name) for name, c in days.items()))


def _status_before() -> Column:
    """The last known one; runs that know none are passed over."""
    runs = Window.partitionBy(*GROUP).orderBy("taken_at")
    earlier = runs.rowsBetween(Window.unboundedPreceding, -1)
    return sf.last("status", ignorenulls=True).over(earlier)


def _group_rates() -> dict[str, Column]:
    return {name: weighted_mean(name) for name in ("produce_rate", "consume_rate")}


def _seen() -> dict[str, Column]:
    return {
        "first_seen": sf.min("seen_at"),
        "last_seen": sf.max("seen_at"),
        "first_row": sf.min("row_at"),
        "last_row": sf.max("row_at"),
        "last_weight": sf.max_by("weight", "row_at"),
        "records_lost": sf.max("records_lost"),
        "gone": sf.bool_or("gone"),
    }


def _status() -> dict[str, Column]:
    status = sf.col("status")
    moving = sf.col("group_state").isin(*REBALANCING_STATES) | (sf.col("owners_changed") > 0)
    return {
        "ok_minutes": weighted_minutes(status == "OK"),
        "warn_minutes": weighted_minutes(status == "WARN"),
        "err_minutes": weighted_minutes(status == "ERR"),
        "status_changes": sf.count_if(status != sf.col("status_before")).cast("int"),
        "rebalancing_runs": sf.count_if(moving).cast("int"),
        "rebalances": sf.sum("rebalances"),
        "rebalancing_minutes": weighted_minutes(sf.col("rebalancing_share") >= MOSTLY_REBALANCING),
    }


def _sla() -> dict[str, Column]:
    sla, time_lag = sf.col("sla_seconds"), sf.col("time_lag")
    # at least so old, and nobody knows how much older: a promise broken for certain, or undecided
    decided = (time_lag > sla) | sf.col("time_lag_error_seconds").isNotNull()
    return {
        "owner": _last_known("owner"),
        "sla_seconds": _last_known("sla_seconds"),
        "sla_minutes": weighted_minutes(sla.isNotNull() & time_lag.isNotNull() & decided),
        "sla_met_minutes": weighted_minutes((time_lag <= sla) & decided),
    }


def _last_known(name: str) -> Column:
    return sf.max_by(name, sf.when(sf.col(name).isNotNull(), sf.col("taken_at")))


def topic_days(runs: DataFrame, logs: DataFrame) -> DataFrame:
    """A row for each group's topic of which any partition was read."""
    # on the rows' own order: percentiles are taken over the same windows next
    rates = runs.withColumn("consume_rate", without_losses(GROUP_TOPIC))
    measures = {
        **levels(),
        "midnight": sf.date_trunc("day", sf.min("taken_at")),
        "first_row": sf.min("taken_at"),
        "last_row": sf.max("taken_at"),
        "last_weight": sf.max_by("weight", "taken_at"),
    }
    found = (
        with_percentiles(rates, GROUP_TOPIC)
        .groupBy(*GROUP_TOPIC)
        .agg(*(measure.alias(name) for name, measure in measures.items()))
    )
    days = logs.groupBy(*GROUP_TOPIC).agg(*_offsets()).join(found, [*GROUP_TOPIC])
    return days.withColumns({f"{end}_seen": _time(f"{end}_at") for end in ("first", "last")})


def _logs(segments: DataFrame) -> DataFrame:
    """Records `produced` and `consumed` of each partition under a topic id, and `losing`.

    From the first commit to the last, as what is read again is nothing new. Where records were lost
    only what each run saw read counts: the commit passed over the others.
    """
    losing = sf.coalesce(sf.max("records_lost") > 0, sf.lit(False))
    moved = net_rise("committed", "commits")
    # all that follows is within a group's topic: one shuffle for all
    topics = segments.repartition(*GROUP_TOPIC)
    return topics.groupBy(*GROUP_TOPIC, "topic_id", "partition_id").agg(
        net_rise("end", "ends").alias("produced"),
        sf.when(losing, sf.sum("consumed")).otherwise(moved).alias("consumed"),
        losing.alias("losing"),
        sf.min("first_at").alias("first_at"),
        sf.max("last_at").alias("last_at"),
    )


def _offsets() -> list[Column]:
    """Aggregates over `_logs`: records a second, and when any partition was read."""
    seconds = sf.max("last_at") - sf.min("first_at")
    return [
        sf.try_divide(sf.sum("produced"), seconds).alias("produce_rate"),
        sf.try_divide(sf.sum("consumed"), seconds).alias("consume_rate"),
        sf.min("first_at").alias("first_at"),
        sf.max("last_at").alias("last_at"),
    ]


def _with_offsets(days: DataFrame, logs: DataFrame) -> DataFrame:
    """The groups' days; of one that lost records the mean rate of what it read."""
    lost = logs.groupBy(*GROUP).agg(*_offsets()[1:2], sf.bool_or("losing").alias("losing"))
    read = lost.where("losing").select(*GROUP, sf.col("consume_rate").alias("read_rate"))
    rate = sf.coalesce("read_rate", "consume_rate")
    return (
        days.join(read, [*GROUP], "left")
        .withColumn("consume_rate", rate)
        .withColumn("topic", sf.lit(None).cast("string"))
    )


def _time(second: str) -> Column:
    return sf.timestamp_seconds(sf.unix_seconds("midnight") + sf.col(second))


def with_percentiles(runs: DataFrame, keys: Sequence[str]) -> DataFrame:
    """`lag_p50` to `time_lag_p99` of all rows alike in `keys`, on each of these rows.

    A value counts as often as its weight has whole seconds, once at least. As a plain aggregate
    Spark would hold the values of all keys at once and send them through a shuffle; over a window
    it holds those of one.
    """
    over = Window.partitionBy(*keys)
    parts, times = list(PERCENTILES.values()), whole_seconds()
    found = {name: sf.percentile(name, parts, times).over(over) for name in LEVELS}
    arrays = runs.select("*", *(values.alias(f"{name}_all") for name, values in found.items()))
    return arrays.select(
        *runs.columns,
        *(
            sf.col(f"{name}_all")[place].alias(f"{name}_{level}")
            for name in LEVELS
            for place, level in enumerate(PERCENTILES)
        ),
    )


def levels() -> dict[str, Column]:
    """Aggregates over `with_percentiles`: what lag and time lag were like, and the best speed."""
    found = [f"{name}_{level}" for name in LEVELS for level in PERCENTILES]
    return {
        **{name: sf.max(name) for name in found},
        "lag_max": sf.max("lag").cast("double"),
        "time_lag_max": sf.max("time_lag"),
        "known_minutes": weighted_minutes(sf.col("lag").isNotNull()),
        "best_consume_rate": sf.max("consume_rate"),
    }
