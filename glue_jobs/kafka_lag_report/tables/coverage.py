# SPDX-License-Identifier: Apache-2.0
"""How much of the day was seen: the runs there are, those that are missing, what was left out.

From names of objects alone, so it is made on the driver; only a day whose objects are gone is asked
for its rows, and then for nothing but their times.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from statistics import median
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from kafka_lag_report.read_snapshots import FROM_HISTORY, Day, read
from kafka_lag_report.schemas import CLUSTER, REPORTS, SNAPSHOTS
from kafka_lag_report.storage import Storage

MOST_NAMES = 10
WHOLE_DAY = timedelta(days=1)

Runs = dict[tuple[str, str], list[datetime]]


def coverage(spark: SparkSession, storage: Storage, day: Day) -> DataFrame:
    """One row per cluster and dataset; a day without runs has null times and interval."""
    runs = {key: _runs(day, *key) for key in product(SNAPSHOTS, day.clusters)}
    gone = [cluster for cluster, source in day.sources.items() if source == FROM_HISTORY]
    if gone:
        runs |= _runs_in_history(spark, storage, day, gone)
    rows = [_row(day, *key, times) for key, times in runs.items()]
    schema = StructType([CLUSTER, *REPORTS["coverage"].fields])
    return spark.createDataFrame(
        [tuple(row[name] for name in schema.names) for row in rows], schema
    )


def _runs(day: Day, dataset: str, cluster: str) -> list[datetime]:
    """Times of the objects that are read; a run in two shards is one run."""
    return sorted({run.taken_at for run in day.usable(dataset, cluster) if run.taken_at})


def _runs_in_history(spark: SparkSession, storage: Storage, day: Day, gone: Sequence[str]) -> Runs:
    """Times that have rows, of the clusters whose objects are gone: some thousand at most."""
    found: Runs = {key: [] for key in product(SNAPSHOTS, gone)}
    for dataset in SNAPSHOTS:
        times = read(spark, storage, day, dataset).where(sf.col("cluster").isin(gone))
        # as a number: Python would show the machine's own zone
        seconds = times.select("cluster", sf.unix_seconds("taken_at")).distinct()
        for cluster, second in sorted(seconds.collect()):
            found[dataset, cluster].append(datetime.fromtimestamp(second, UTC))
    return found


def _row(day: Day, dataset: str, cluster: str, runs: Sequence[datetime]) -> dict[str, Any]:
    start = datetime.combine(day.date, datetime.min.time(), UTC)
    gaps = [(after - before).total_seconds() for before, after in pairwise(runs)]
    interval = median(gaps) if gaps else None
    # so far: the newest run's own interval counts, as that of the day's last does
    so_far = runs[-1] - start + timedelta(seconds=interval or 0) if runs else WHOLE_DAY
    span = so_far if day.in_progress else WHOLE_DAY
    skipped = day.skipped(dataset, cluster)
    compacted = day.sources[cluster] == FROM_HISTORY
    return {
        "cluster": cluster,
        "dataset": dataset,
        "runs": len(runs),
        "expected_runs": round(span.total_seconds() / interval) if interval else None,
        "objects": None if compacted else len(day.runs[dataset, cluster]),
        "objects_skipped": None if compacted else len(skipped),
        "skipped": ", ".join(_name(run.name) for run in skipped[:MOST_NAMES]) or None,
        "first_run": runs[0] if runs else None,
        "last_run": runs[-1] if runs else None,
        "interval_seconds": interval,
        "longest_gap_seconds": _longest_gap(day, start, runs),
        "in_progress": day.in_progress,
        "source": day.sources[cluster],
    }


def _longest_gap(day: Day, start: datetime, runs: Sequence[datetime]) -> float | None:
    """Seconds, from midnight on, and to midnight if the day is over; null before the first run."""
    bounds = [start, *runs] if day.in_progress else [start, *runs, start + WHOLE_DAY]
    gaps = [(after - before).total_seconds() for before, after in pairwise(bounds)]
    return max(gaps, default=None)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
