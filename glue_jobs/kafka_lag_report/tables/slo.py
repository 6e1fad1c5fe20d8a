# SPDX-License-Identifier: Apache-2.0
"""Objectives: the minutes that a group kept, broke, and that nobody knows, in a day and its window.

A day's minutes come from its runs, those of the days before from their own reports. Unknown minutes
are neither kept nor broken, and use up no budget.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from kafka_lag_report.aggregates import GROUP, is_age_kept, where_read
from kafka_lag_report.run_weights import weighted_minutes
from kafka_lag_report.schemas import SLO, report_schema
from kafka_lag_report.skew import grouped, selected, with_columns

_DAY_MINUTES = 24 * 60
_KEPT = is_age_kept(where_read("time_lag_seconds"), "slo_age_seconds")
_MINUTE = timedelta(minutes=1)


def slo(groups: DataFrame, day: date, *, in_progress: bool) -> DataFrame:
    """A row per group with an objective on the day, its window's columns null.

    Each run is judged by the objective of its own row; the last one is in the report. `since` is
    the first run with one; `until` the run that found the group gone or without one, else the end
    of the day, or of what there is of one in progress. Rows of `groups` have their `weight`.
    """
    objective = ("slo_age_seconds", "slo_target", "slo_days")
    rows = selected(
        groups,
        {
            **{name: name for name in (*GROUP, "taken_at", "weight", *objective)},
            "counts": "slo_age_seconds IS NOT NULL AND NOT status_reason <=> 'gone'",
            "kept": _KEPT,
        },
    )
    last = "max(IF(counts, taken_at, NULL)) OVER (PARTITION BY consumer_group)"
    rows = with_columns(rows, {"last_at": last}).where("last_at IS NOT NULL")
    found = grouped(
        rows,
        GROUP,
        {
            **{
                name.removeprefix("slo_"): f"max_by({name}, IF(counts, taken_at, NULL))"
                for name in objective
            },
            "since": "min(IF(counts, taken_at, NULL))",
            # the first row that says that the objective of the rows before it is over
            "over_at": "min(IF(NOT counts AND taken_at > last_at, taken_at, NULL))",
            "seen_micros": "max(unix_micros(taken_at) + bigint(weight * 1000000))",
            "kept_minutes": weighted_minutes("counts AND kept"),
            "broken_minutes": weighted_minutes("counts AND NOT kept"),
        },
    )
    midnight = int(datetime.combine(day + timedelta(days=1), time(), UTC).timestamp())
    end = "timestamp_micros(seen_micros)" if in_progress else f"timestamp_seconds({midnight})"
    found = with_columns(found, {"until": f"coalesce(over_at, {end})"})
    watched = "(unix_micros(until) - unix_micros(since)) / 60000000"
    computed = {
        "unknown_minutes": f"greatest({watched} - kept_minutes - broken_minutes, 0D)",
        **{name: f"CAST(NULL AS {SLO[name].dataType.simpleString()})" for name in _OF_WINDOW},
    }
    return with_columns(found, computed).select(*SLO.names)


_OF_WINDOW = (
    *("window_kept_minutes", "window_broken_minutes", "window_unknown_minutes"),
    *("budget_minutes", "budget_left_minutes", "burn_rate"),
)


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
