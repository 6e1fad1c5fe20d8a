# SPDX-License-Identifier: Apache-2.0
"""A day's rows into its history: all datasets staged and verified before any is swapped in."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from pyspark.sql import SparkSession

from glue_jobs.errors import DataError
from glue_jobs.history.compaction import stage, verify
from glue_jobs.history.due import lacking, whole
from glue_jobs.schemas import SNAPSHOTS
from glue_jobs.storage.files import Files, naming
from glue_jobs.storage.parquet import written_folders
from glue_jobs.storage.snapshots import Day, history_rows, read_sample


def keep(spark: SparkSession, files: Files, day: Day) -> None:
    """Bring the history of the day up to its snapshots, by one scan of those.

    Leaves nothing behind when it fails; DataError if what was written is not what was read, or the
    output refuses. A history that lacks nothing is left as it is.
    """
    due = {name: found for name in SNAPSHOTS if (found := lacking(spark, files, day, name))}
    if not due:
        return
    with _staging(files, day.history) as staging:
        rows = {
            dataset: _stage(spark, files, part, dataset, f"{staging}/{dataset}")
            for dataset, part in due.items()
        }
        for dataset, part in due.items():
            _swap(files, part, dataset, staging)
    _insist_on_all(history_rows(spark, day), due, rows)


def _stage(spark: SparkSession, files: Files, day: Day, dataset: str, folder: str) -> int:
    """Write and read back; the rows that there are."""
    rows, sample = whole(spark, files, day, dataset), read_sample(spark, day, dataset)
    with naming(f"cannot write to {folder}"):
        sums = stage(rows, dataset, folder, sizes=day.sizes(dataset), sample=sample)
    verify(spark, dataset, folder, sums)
    return sums.rows


def _swap(files: Files, day: Day, dataset: str, staging: str) -> None:
    # a dataset without rows leaves no folder: nothing is kept of it, and nothing is lost
    for cluster, folder in written_folders(files, f"{staging}/{dataset}").items():
        target = day.history_folder(dataset, cluster)
        files.swap(
            folder, target, f"{staging}/_aside/{dataset}/{day.clusters[cluster]}/dt={day.date}"
        )


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
