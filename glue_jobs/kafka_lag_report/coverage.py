# SPDX-License-Identifier: Apache-2.0
"""Computes the report `coverage`: which runs of the day exist, are missing, or were skipped.

It needs only the names of objects, so the driver computes it. Only if the objects of the day are
gone does Spark read the times of the rows in the history.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from kafka_lag_report.queries import collect_rows
from kafka_lag_report.read_snapshots import FROM_HISTORY, Day, read
from kafka_lag_report.schemas import SNAPSHOTS, report_schema
from kafka_lag_report.storage import Storage

MOST_NAMES = 10
WHOLE_DAY = timedelta(days=1)


def compute_coverage(spark: SparkSession, storage: Storage, day: Day) -> pa.Table:
    """Returns the table `coverage` with one row per dataset.

    Times and interval are null without runs.
    """
    gone = day.source == FROM_HISTORY
    rows = [
        _make_row(
            day, each, _read_runs(spark, storage, day, each) if gone else _list_runs(day, each)
        )
        for each in SNAPSHOTS
    ]
    return pa.Table.from_pylist(rows, report_schema("coverage"))


def _list_runs(day: Day, dataset: str) -> list[datetime]:
    """Returns the times of the usable objects, ascending; a run in two shards counts once."""
    return sorted({run.taken_at for run in day.usable(dataset) if run.taken_at})


def _read_runs(spark: SparkSession, storage: Storage, day: Day, dataset: str) -> list[datetime]:
    """Returns the distinct run times in the history, ascending: a few thousand at most."""
    found = collect_rows(read(spark, storage, day, dataset).select("taken_at").distinct())
    return sorted(row.taken_at for row in found)


def _make_row(day: Day, dataset: str, runs: Sequence[datetime]) -> dict[str, Any]:
    start = datetime.combine(day.date, datetime.min.time(), UTC)
    gaps = [(after - before).total_seconds() for before, after in pairwise(runs)]
    interval = median(gaps) if gaps else None
    # the newest run counts with its interval, like the last run of a day that is over
    so_far = runs[-1] - start + timedelta(seconds=interval or 0) if runs else WHOLE_DAY
    span = so_far if day.in_progress else WHOLE_DAY
    skipped = day.skipped(dataset)
    compacted = day.source == FROM_HISTORY
    return {
        "dataset": dataset,
        "runs": len(runs),
        "expected_runs": round(span.total_seconds() / interval) if interval else None,
        "objects": None if compacted else len(day.runs[dataset]),
        "objects_skipped": None if compacted else len(skipped),
        "skipped": ", ".join(_cut_folder(run.name) for run in skipped[:MOST_NAMES]) or None,
        "first_run": runs[0] if runs else None,
        "last_run": runs[-1] if runs else None,
        "interval_seconds": interval,
        "longest_gap_seconds": _find_longest_gap(day, start, runs),
        "in_progress": day.in_progress,
        "source": day.source,
    }


def _find_longest_gap(day: Day, start: datetime, runs: Sequence[datetime]) -> float | None:
    """Returns the longest time without a run in seconds; null if a day in progress has no runs yet.

    Counts from midnight on, and to the next midnight if the day is over.
    """
    bounds = [start, *runs] if day.in_progress else [start, *runs, start + WHOLE_DAY]
    gaps = [(after - before).total_seconds() for before, after in pairwise(bounds)]
    return max(gaps, default=None)


def _cut_folder(path: str) -> str:
    return path.rpartition("/")[2]
