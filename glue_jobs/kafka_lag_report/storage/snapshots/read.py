# SPDX-License-Identifier: Apache-2.0
"""The rows of a day, wherever they lie, without the objects that are left out."""

from collections.abc import Sequence
from itertools import groupby

from pyspark.sql import DataFrame, SparkSession

from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage.files import Files
from kafka_lag_report.storage.parquet import ENDING, rows_below
from kafka_lag_report.storage.snapshots.day import Day, Run


def read(spark: SparkSession, day: Day, dataset: str) -> DataFrame:
    """Rows of the day with their `cluster`; lazily, and no folder but the day's is listed."""
    compacted = [cluster for cluster in day.clusters if day.reads_history(cluster)]
    snapshots = [
        path
        for cluster in day.clusters
        if cluster not in compacted
        for path in _paths(day, dataset, cluster)
    ]
    files = Files(spark)
    folders = [day.history_folder(dataset, cluster) for cluster in compacted]
    history = [folder for folder in folders if files.objects(folder, ENDING)]

    if not history:
        return _below(spark, day, dataset, day.root, snapshots, "hour")
    compact = _below(spark, day, dataset, day.history, history)
    if not snapshots:
        return compact
    return compact.union(_below(spark, day, dataset, day.root, snapshots, "hour"))


def _paths(day: Day, dataset: str, cluster: str) -> list[str]:
    """The folders of whole hours; object by object the hours that others must be kept out of.

    These are hours with an object that is left out, and the newest of a day in progress, where more
    may come: every dataset is to be read as it was when the day was found.
    """
    folder = day.folder(dataset, cluster)
    left_out = {_hour(run) for run in day.left_out(dataset, cluster)}
    usable = day.usable(dataset, cluster)
    open_hours = left_out | ({_hour(usable[-1])} if usable and day.in_progress else set())
    paths = []
    for hour, runs in groupby(usable, _hour):
        paths += [run.path for run in runs] if hour in open_hours else [f"{folder}/{hour}"]
    return paths


def _below(
    spark: SparkSession, day: Day, dataset: str, root: str, paths: Sequence[str], *hour: str
) -> DataFrame:
    keys, schema = ("cluster", "dt", *hour), SNAPSHOTS[dataset]
    rows = rows_below(spark, f"{root}/{dataset}", paths, schema, keys, day.clusters)
    return rows.select("cluster", *schema.names)


def _hour(run: Run) -> str:
    return run.name.partition("/")[0]
