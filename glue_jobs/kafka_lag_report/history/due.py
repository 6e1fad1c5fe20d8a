# SPDX-License-Identifier: Apache-2.0
"""What the history of a day lacks.

A history outlives the snapshots that it was made of, so it is only ever added to: what it holds of
runs whose objects are gone stays.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.history.compaction import Part, Source
from kafka_lag_report.history.layout import shares
from kafka_lag_report.storage.files import Files
from kafka_lag_report.storage.parquet import ENDING
from kafka_lag_report.storage.snapshots import Day, read
from kafka_lag_report.storage.snapshots.day import FROM_SNAPSHOTS

# Half a gigabyte of memory while a file is made, and a worker of Glue makes four at once.
PART_ROWS = 600_000

# Rows by the run's second.
Runs = dict[int, int]


def lacking(spark: SparkSession, files: Files, day: Day, dataset: str) -> Day | None:
    """The day with only those clusters of whose runs the history of `dataset` lacks rows.

    Null: nothing is lacking. A run is lacking as well whose rows are there in part, as after a run
    of the job that was killed. What was found in the history alone is whole by definition.
    """
    found = [c for c, source in day.sources.items() if source == FROM_SNAPSHOTS]
    held = _held(spark, _with_history(files, of_clusters(day, found), dataset), dataset)
    due = [c for c in found if _runs(day, dataset, c).items() - held.get(c, {}).items()]
    return of_clusters(day, due) if due else None


def parts(files: Files, due: Day, dataset: str, folder: str, most: int = PART_ROWS) -> list[Part]:
    """What is to become the clusters' files below `folder`: the snapshots' rows, by time.

    About `most` rows to a file. Beside them those of the history whose snapshots are gone.
    """
    found = []
    for cluster, name in due.clusters.items():
        runs = due.usable(dataset, cluster)
        rows = [due.rows[run.path] for run in runs]
        of_runs = [
            ([Source(run.path) for run in runs[share]], sum(rows[share]))
            for share in shares(rows, most)
        ]
        # each file by itself: they may hold ten times the rows a byte
        of_history = [([source], None) for source in _history(files, due, dataset, cluster)]
        found += [
            Part(dataset, tuple(sources), f"{folder}/{name}/part-{number:05}{ENDING}", count)
            for number, (sources, count) in enumerate([*of_runs, *of_history])
        ]
    return found


def _history(files: Files, due: Day, dataset: str, cluster: str) -> list[Source]:
    there = frozenset(_runs(due, dataset, cluster))
    held = due.history_folder(dataset, cluster)
    return [Source(f"{held}/{file.name}", there) for file in files.objects(held, ENDING)]


def of_clusters(day: Day, clusters: Iterable[str]) -> Day:
    """The same day of these clusters only."""
    return replace(day, clusters={name: day.clusters[name] for name in clusters})


def _with_history(files: Files, day: Day, dataset: str) -> Day:
    there = (c for c in day.clusters if files.objects(day.history_folder(dataset, c), ENDING))
    return of_clusters(day, there)


def _held(spark: SparkSession, day: Day, dataset: str) -> Mapping[str, Runs]:
    """The runs in the history; some thousand a cluster at most."""
    held: dict[str, Runs] = {}
    if day.clusters:
        rows = read(spark, day.from_history(), dataset).groupBy("cluster", _second()).count()
        for cluster, second, count in rows.collect():
            held.setdefault(cluster, {})[second] = count
    return held


def _runs(day: Day, dataset: str, cluster: str) -> Runs:
    """The runs with rows in the snapshots."""
    rows = Counter[int]()
    for run in day.usable(dataset, cluster):
        if run.taken_at:
            rows[int(run.taken_at.timestamp())] += day.rows[run.path]
    return {second: count for second, count in rows.items() if count}


def _second() -> Column:
    return sf.unix_seconds("taken_at").alias("second")
