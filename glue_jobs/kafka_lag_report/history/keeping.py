# SPDX-License-Identifier: Apache-2.0
"""A day's rows into its history: all datasets staged and verified before any is swapped in."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import SparkSession

from kafka_lag_report.errors import DataError, StoreError
from kafka_lag_report.history.compaction import Part, compact
from kafka_lag_report.history.due import lacking, parts
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage.files import Files
from kafka_lag_report.storage.objects import Objects
from kafka_lag_report.storage.snapshots import Day, history_rows


def keep(spark: SparkSession, files: Files, objects: Objects, day: Day) -> None:
    """Bring the history of the day up to its snapshots, each of which is read once.

    Leaves nothing behind when it fails; DataError if what was written is not what was read, or the
    output refuses. A history that lacks nothing is left as it is.
    """
    due = {name: found for name in SNAPSHOTS if (found := lacking(spark, files, day, name))}
    if not due:
        return
    with _staging(files, day.history) as staging:
        work = [
            each
            for dataset, lack in due.items()
            for each in parts(files, lack, dataset, f"{staging}/{dataset}")
        ]
        rows = _compacted(spark, work, objects)
        for dataset, lack in due.items():
            _swap(files, lack, dataset, staging)
    _insist_on_all(history_rows(spark, day), due, rows)


def _compacted(spark: SparkSession, work: Sequence[Part], objects: Objects) -> Counter[str]:
    """Rows by dataset, once every part is written."""
    done = spark.sparkContext.parallelize(work, len(work)).map(partial(_tried, objects)).collect()
    rows, failures = Counter[str](), []
    for part, result in zip(work, done, strict=True):
        if isinstance(result, DataError):
            failures.append(result)
        else:
            rows[part.dataset] += result
    _insist_on_none(failures)
    return rows


def _tried(objects: Objects, part: Part) -> int | DataError:
    """Its rows, or the failure as a value: to try it again is for whoever knows the day."""
    try:
        return compact(part, objects)
    except DataError as error:
        return error
    finally:
        # the worker stays for as long as the job, which needs the memory for its own
        pa.default_memory_pool().release_unused()


def _insist_on_none(failures: Sequence[DataError]) -> None:
    """Raise what failed: what the store refused first, as that blames no file."""
    for error in failures:
        if isinstance(error, StoreError):
            raise error
    if failures:
        raise DataError(". Also: ".join(map(str, failures)))


def _swap(files: Files, day: Day, dataset: str, staging: str) -> None:
    # a cluster without rows leaves no folder: nothing is kept of it, and nothing is lost
    staged = set(files.folders(f"{staging}/{dataset}"))
    for cluster, folder in day.clusters.items():
        if folder in staged:
            aside = f"{staging}/_aside/{dataset}/{folder}/dt={day.date}"
            target = day.history_folder(dataset, cluster)
            files.swap(f"{staging}/{dataset}/{folder}", target, aside)


def _insist_on_all(
    found: Mapping[tuple[str, str], int], due: Mapping[str, Day], rows: Mapping[str, int]
) -> None:
    """Raise unless all that was verified arrived: a store may move a part of a folder and stop."""
    for dataset, part in due.items():
        there = sum(found[dataset, cluster] for cluster in part.clusters)
        if there != rows[dataset]:
            raise DataError(
                f"the history of {dataset} on {part.date} has {there:,} of {rows[dataset]:,} rows; "
                "nothing was marked: run the job again"
            )


@contextmanager
def _staging(files: Files, history: str) -> Iterator[str]:
    """A folder beside the datasets, which no query reads; deleted in the end."""
    folder = f"{history}/_staging-{uuid4().hex}"
    files.make(folder)
    try:
        yield folder
    finally:
        files.delete(folder)
