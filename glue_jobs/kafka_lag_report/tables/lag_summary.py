# SPDX-License-Identifier: Apache-2.0
"""What a day was like for each group, and for each of its topics: lag, status, SLA, speed."""

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from kafka_lag.contract import MOSTLY_REBALANCING, REBALANCING_STATES
from kafka_lag_report.aggregates import GROUP, is_age_kept, net_rise, where_read, without_losses
from kafka_lag_report.run_weights import WHOLE_SECONDS, weighted_mean, weighted_minutes
from kafka_lag_report.schemas import LAG_SUMMARY
from kafka_lag_report.segments import GROUP_TOPIC, IS_AGE_LEAST
from kafka_lag_report.skew import grouped, with_columns

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

# Of each run.
LEVELS = ("lag", "time_lag")

_DATED = "IF(time_lag_is_least, NULL, time_lag)"

# What lag and time lag were like, beside their percentiles, and the best speed.
_LEVELS_OF_RUNS = {
    "lag_max": "double(max(lag))",
    "time_lag_max": "max(time_lag)",
    "time_lag_max_is_least": f"max(time_lag) > coalesce(max({_DATED}), -1D)",
    "time_lag_least_minutes": weighted_minutes("time_lag_is_least"),
    "known_minutes": weighted_minutes("lag IS NOT NULL"),
    "best_consume_rate": "max(consume_rate)",
}
_SEEN = {
    "first_seen": "min(seen_at)",
    "last_seen": "max(seen_at)",
    "first_row": "min(row_at)",
    "last_row": "max(row_at)",
    "last_weight": "max_by(weight, row_at)",
    "records_lost": "max(records_lost)",
    "gone": "bool_or(gone)",
}
_MOVING = " OR ".join(
    (*(f"group_state = '{state}'" for state in REBALANCING_STATES), "owners_changed > 0")
)
_STATUS = {
    **{
        f"{status.lower()}_minutes": weighted_minutes(f"status = '{status}'")
        for status in ("OK", "WARN", "ERR")
    },
    "status_changes": "int(count_if(status <> status_before))",
    "rebalancing_runs": f"int(count_if({_MOVING}))",
    "rebalances": "sum(rebalances)",
    "rebalancing_minutes": weighted_minutes(f"rebalancing_share >= {MOSTLY_REBALANCING}D"),
}
_KEPT = is_age_kept("time_lag", "sla_seconds")
_SLA = {
    **{
        name: f"max_by({name}, taken_at) FILTER (WHERE {name} IS NOT NULL)"
        for name in ("owner", "sla_seconds")
    },
    "sla_minutes": weighted_minutes(f"({_KEPT}) IS NOT NULL"),
    "sla_met_minutes": weighted_minutes(_KEPT),
}
_RATES = {name: weighted_mean(name) for name in ("produce_rate", "consume_rate")}
# Of `_logs`: records a second, and when any partition was read.
_SECONDS = "max(last_at) - min(first_at)"
_CONSUME_RATE = f"try_divide(sum(consumed), {_SECONDS})"
_OFFSETS = {
    "produce_rate": f"try_divide(sum(produced), {_SECONDS})",
    "consume_rate": _CONSUME_RATE,
    "first_at": "min(first_at)",
    "last_at": "max(last_at)",
}


def lag_summary(groups: DataFrame, runs: DataFrame, segments: DataFrame) -> DataFrame:
    """A row per group and topic, and one with null `topic` for the group itself.

    The group's own row is what the metrics said (`groups`); it alone has what is judged per group:
    owner, status, SLA, rebalances, losses. Rows of `groups` and `runs` have their `weight`.
    `time_lag_least_minutes`: for so long time lags were known without an upper bound.
    """
    logs = _logs(segments)
    group = _with_offsets(group_days(groups), logs)
    days = group.unionByName(topic_days(runs, logs), allowMissingColumns=True)
    watched = "unix_seconds(last_row) - unix_seconds(first_row) + last_weight"
    unknown = f"({watched}) / 60 - known_minutes"
    computed = {
        # greatest() skips nulls and would call the unknown 0
        "unknown_minutes": f"IF({unknown} IS NULL, NULL, greatest({unknown}, 0D))",
        "catch_up_capacity": "try_divide(best_consume_rate, produce_rate)",
        "sla_compliance": "try_divide(sla_met_minutes, sla_minutes)",
    }
    return with_columns(days, computed).select(*LAG_SUMMARY.names)


def group_days(groups: DataFrame) -> DataFrame:
    """A row for each group with any row, read or not: only an unread one may say that it is gone.

    Minutes and counts of a group that was never read are 0, but for those in which its lag was
    unknown; everything else is null. `first_row` and `last_row`: it was there, read or not.
    """
    rows = groups.selectExpr(
        *GROUP,
        "weight",
        "taken_at",
        f"{where_read('taken_at')} AS seen_at",
        "IF(status_reason <=> 'gone', NULL, taken_at) AS row_at",
        f"{where_read('time_lag_seconds')} AS time_lag",
        f"{where_read(IS_AGE_LEAST)} AS time_lag_is_least",
        *(f"{where_read(name)} AS {name}" for name in _READ),
        "status_reason <=> 'gone' AS gone",
    )
    # the last known one; runs that know none are passed over
    before = (
        "last(status, true) OVER (PARTITION BY consumer_group ORDER BY taken_at"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    followed = with_columns(rows, {"status_before": before})
    measures = {**_LEVELS_OF_RUNS, **_RATES, **_SEEN, **_STATUS, **_SLA}
    return with_percentiles(followed, GROUP, measures)


def topic_days(runs: DataFrame, logs: DataFrame) -> DataFrame:
    """A row for each group's topic of which any partition was read."""
    names = [name for name in runs.columns if name != "consume_rate"]
    rates = runs.selectExpr(*names, f"{without_losses(GROUP_TOPIC)} AS consume_rate")
    measures = {
        **_LEVELS_OF_RUNS,
        "midnight": "unix_seconds(date_trunc('day', min(taken_at)))",
        "first_row": "min(taken_at)",
        "last_row": "max(taken_at)",
        "last_weight": "max_by(weight, taken_at)",
    }
    found = with_percentiles(rates, GROUP_TOPIC, measures)
    days = grouped(logs, GROUP_TOPIC, _OFFSETS).join(found, [*GROUP_TOPIC])
    seen = {f"{end}_seen": f"timestamp_seconds(midnight + {end}_at)" for end in ("first", "last")}
    return with_columns(days, seen)


def _logs(segments: DataFrame) -> DataFrame:
    """Records `produced` and `consumed` of each partition under a topic id, and `losing`.

    From the first commit to the last, as what is read again is nothing new. Where records were lost
    only what each run saw read counts: the commit passed over the others.
    """
    losing = "coalesce(max(records_lost) > 0, false)"
    return grouped(
        segments,
        (*GROUP_TOPIC, "topic_id", "partition_id"),
        {
            "produced": net_rise("end", "ends"),
            "consumed": f"IF({losing}, sum(consumed), {net_rise('committed', 'commits')})",
            "losing": losing,
            "first_at": "min(first_at)",
            "last_at": "max(last_at)",
        },
    )


def _with_offsets(days: DataFrame, logs: DataFrame) -> DataFrame:
    """The groups' days; of one that lost records the mean rate of what it read."""
    lost = grouped(logs, GROUP, {"read_rate": _CONSUME_RATE, "losing": "bool_or(losing)"})
    read = lost.where("losing").drop("losing")
    return (
        days.withColumnRenamed("consume_rate", "mean_rate")
        .join(read, [*GROUP], "left")
        .selectExpr(
            "*", "coalesce(read_rate, mean_rate) AS consume_rate", "CAST(NULL AS string) AS topic"
        )
        .drop("read_rate", "mean_rate")
    )


def with_percentiles(
    runs: DataFrame, keys: Sequence[str], measures: Mapping[str, str]
) -> DataFrame:
    """A row for each of the keys: these aggregates, and `lag_p50` to `time_lag_p99`.

    A value counts as often as its weight has whole seconds, once at least. Where runs alike in the
    keys lie together and in order, as `Keeper` has them, Spark neither exchanges nor sorts them,
    and holds the values of one.
    """
    parts = ", ".join(f"{part}D" for part in PERCENTILES.values())
    arrays = {
        f"{name}_all": f"percentile({name}, array({parts}), {WHOLE_SECONDS})" for name in LEVELS
    }
    values = {
        f"{name}_{level}": f"{name}_all[{place}]"
        for name in LEVELS
        for place, level in enumerate(PERCENTILES)
    }
    return with_columns(grouped(runs, keys, {**arrays, **measures}), values).drop(*arrays)
