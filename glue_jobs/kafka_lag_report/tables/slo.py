# SPDX-License-Identifier: Apache-2.0
"""Objectives: the minutes that a group kept, broke, and that nobody knows, in a day and its window.

A day's minutes come from its runs, those of the days before from their own reports. Unknown minutes
are neither kept nor broken, and use up no budget.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pyarrow as pa

from kafka_lag_report.schemas import report_schema

_DAY_MINUTES = 24 * 60
_MINUTE = timedelta(minutes=1)


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
