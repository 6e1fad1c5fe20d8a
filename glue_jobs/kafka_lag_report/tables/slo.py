# SPDX-License-Identifier: Apache-2.0
"""Objectives: the minutes that a group kept, broke, and that nobody knows, in a day and its window.

A day's minutes come from its runs, those of the days before from their own reports. Unknown minutes
are neither kept nor broken, and use up no budget.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag_report.aggregates import GROUP, is_age_kept
from kafka_lag_report.run_weights import weighted_minutes
from kafka_lag_report.schemas import SLO, report_schema

_DAY_MINUTES = 24 * 60
_KEPT = is_age_kept("IF(unread_reason IS NULL, time_lag_seconds, NULL)", "slo_age_seconds")
_MINUTE = timedelta(minutes=1)


def slo(groups: DataFrame, day: date, *, in_progress: bool) -> DataFrame:
    """A row per group with an objective on the day, its window's columns null.

    Each run is judged by the objective of its own row; the last one is in the report. `since` is
    the first run with one; `until` the run that found the group gone or without one, else the end
    of the day, or of what there is of one in progress. Rows of `groups` have their `weight`.
    """
    gone = sf.col("status_reason").eqNullSafe("gone")
    rows = groups.select(
        *GROUP,
        "taken_at",
        "weight",
        *("slo_age_seconds", "slo_target", "slo_days"),
        (sf.col("slo_age_seconds").isNotNull() & ~gone).alias("counts"),
        sf.expr(_KEPT).alias("kept"),
    )
    last = sf.max(sf.when(sf.col("counts"), sf.col("taken_at"))).over(Window.partitionBy(*GROUP))
    rows = rows.withColumn("last_at", last).where("last_at IS NOT NULL")
    midnight = sf.lit(datetime.combine(day + timedelta(days=1), time(), UTC))
    end = sf.timestamp_micros(sf.max(_end_micros())) if in_progress else midnight
    found = rows.groupBy(*GROUP).agg(
        *(_last(name) for name in ("slo_age_seconds", "slo_target", "slo_days")),
        sf.min(sf.when(sf.col("counts"), sf.col("taken_at"))).alias("since"),
        sf.coalesce(sf.min(sf.when(_is_after(), sf.col("taken_at"))), end).alias("until"),
        sf.expr(weighted_minutes("counts AND kept")).alias("kept_minutes"),
        sf.expr(weighted_minutes("counts AND NOT kept")).alias("broken_minutes"),
    )
    missing = {name: sf.lit(None).cast(SLO[name].dataType) for name in _OF_WINDOW}
    watched = (sf.unix_micros("until") - sf.unix_micros("since")) / (60 * 1_000_000)
    unknown = watched - sf.col("kept_minutes") - sf.col("broken_minutes")
    return (
        found.withColumnsRenamed({name: name.removeprefix("slo_") for name in found.columns})
        .withColumn("unknown_minutes", sf.greatest(unknown, sf.lit(0.0)))
        .withColumns(missing)
        .select(*SLO.names)
    )


_OF_WINDOW = (
    *("window_kept_minutes", "window_broken_minutes", "window_unknown_minutes"),
    *("budget_minutes", "budget_left_minutes", "burn_rate"),
)


def _is_after() -> Column:
    """Whether a row says that the objective of the rows before it is over."""
    return ~sf.col("counts") & (sf.col("taken_at") > sf.col("last_at"))


def _end_micros() -> Column:
    return sf.unix_micros("taken_at") + (sf.col("weight") * 1_000_000).cast("bigint")


def _last(name: str) -> Column:
    return sf.max_by(name, sf.when(sf.col("counts"), sf.col("taken_at"))).alias(name)


def add_windows(of_day: pa.Table, day: date, earlier: Mapping[date, pa.Table]) -> pa.Table:
    """The day's table with the minutes of each window, from the tables of the days before.

    A group that had an objective before is expected from midnight on. A day of the window without
    a report of it, or by another age, is unknown from the first day that has one.
    """
    before: dict[str, dict[date, dict[str, Any]]] = {}
    for when, table in earlier.items():
        for row in table.to_pylist():
            before.setdefault(row["consumer_group"], {})[when] = row
    rows = [_with_window(row, day, before.get(row["consumer_group"], {})) for row in _rows(of_day)]
    return pa.Table.from_pylist(rows, report_schema("slo"))


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _with_window(
    row: dict[str, Any], day: date, before: Mapping[date, dict[str, Any]]
) -> dict[str, Any]:
    days = {when: each for when, each in before.items() if 0 < (day - when).days < row["days"]}
    alike = [each for each in days.values() if each["age_seconds"] == row["age_seconds"]]
    since = row["since"]
    if days:
        since = min(since, datetime.combine(day, time(), UTC))
    known = row["kept_minutes"] + row["broken_minutes"]
    unknown = max((row["until"] - since) / _MINUTE - known, 0.0)
    kept, broken = (
        row[name] + sum(each[name] for each in alike) for name in ("kept_minutes", "broken_minutes")
    )
    window = 0.0
    if days:
        first = min(days)
        first_row = days[first]
        of_first = (first_row["until"] - first_row["since"]) / _MINUTE
        window = of_first + ((day - first).days - 1) * _DAY_MINUTES
    spare = 1 - row["target"] / 100
    budget = row["days"] * _DAY_MINUTES * spare
    return {
        **row,
        "since": since,
        "unknown_minutes": unknown,
        "window_kept_minutes": kept,
        "window_broken_minutes": broken,
        "window_unknown_minutes": max(window - (kept + broken - known), 0.0) + unknown,
        "budget_minutes": budget,
        "budget_left_minutes": budget - broken,
        "burn_rate": row["broken_minutes"] / known / spare if known else None,
    }
