# SPDX-License-Identifier: Apache-2.0
"""Compacts a cluster's day of snapshots into a few sorted files: the history.

Spark writes all files of a dataset's day again if the history lacks rows of any run, or has rows
twice. They replace the earlier files together, as reports do. Runs whose snapshots were deleted
stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafka_lag.contract import KEYS, RISES
from kafka_lag_report.errors import DataError
from kafka_lag_report.publishing import replace_together
from kafka_lag_report.queries import Queries
from kafka_lag_report.read_snapshots import (
    FROM_SNAPSHOTS,
    Day,
    check_objects,
    escape_patterns,
    list_history_files,
    naming_corrupt_files,
    read,
    read_paths,
)
from kafka_lag_report.reduce_day import add_rises
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage import PARQUET, Storage, read_files

TIME = "taken_at"
# Files of a dataset's day, unless the day is very large. A query for one group opens all of them.
FILES = 8
# A day with fewer rows is one file: sorting them takes half a gigabyte of memory.
FILE_ROWS = 600_000
# Size of the snapshots that become one file of about 200 MB.
FILE_BYTES = 400 << 20
# Small enough to skip most of a file, large enough for a request to S3.
ROW_GROUP_BYTES = 4 << 20
# Columns that are compared before snapshots are deleted: they differ if rows were mixed up, lost or
# cut.
COMPARED = {
    "topic_partitions": ("start_offset", "end_offset"),
    "group_partitions": ("committed_offset", "start_offset", "end_offset", "lag"),
    "groups": ("lag", "members"),
}


@dataclass(frozen=True, slots=True)
class Held:
    """Number of rows of a run in the history, and of their different keys."""

    rows: int
    keys: int


def compact_day(
    spark: SparkSession, storage: Storage, day: Day, tables: Mapping[str, pa.Table] | None = None
) -> None:
    """Adds to the history all snapshots of the day that it lacks.

    `tables` are the rows of a small day by dataset, if they were read. Raises Spark's error for
    snapshots whose rows cannot be decoded, DataError if a file of the history cannot be read or if
    Spark wrote another number of rows than the footers say, and StoreError if the store refuses.
    The history then stays as it is.
    """
    if day.source == FROM_SNAPSHOTS:
        write = partial(_write_missing, Queries(spark), storage, day, tables or {})
        replace_together(storage, day.history, day.place, write)


def _write_missing(
    queries: Queries, storage: Storage, day: Day, tables: Mapping[str, pa.Table], folder: str
) -> list[str]:
    """Writes the datasets whose history has wrong runs below `folder`; returns their names."""
    names = []
    pack = f"{folder}/packed"
    for dataset in SNAPSHOTS:
        expected = day.run_rows(dataset)
        held = count_held(queries.spark, storage, day, dataset)
        if find_wrong_runs(expected, held):
            packed = f"{pack}/{dataset}{PARQUET}" if dataset in tables else None
            if packed:
                storage.write_table(packed, tables[dataset])
            rows = read(queries.spark, storage, day, dataset, whole=True, packed=packed)
            with naming_corrupt_files(storage, lambda: [day.history_folder(dataset)]):  # noqa: B023
                _write(queries, storage, day, dataset, rows, held, folder)
            names.append(dataset)
    storage.delete_folder(pack)
    return names


def _write(
    queries: Queries,
    storage: Storage,
    day: Day,
    dataset: str,
    rows: DataFrame,
    held: Mapping[int, Held],
    folder: str,
) -> None:
    """Writes a dataset's `rows`, and those of `held` runs that have lost snapshots, each once."""
    expected = day.run_rows(dataset)
    stays = {second: run.keys for second, run in held.items() if run.keys > expected.get(second, 0)}
    if stays:
        is_kept = sf.unix_seconds(TIME).isin([*stays])
        kept = _read_history(queries.spark, storage, day, dataset).where(is_kept)
        kept = kept.dropDuplicates([*KEYS[dataset], TIME])
        rows = rows.where(~is_kept).unionByName(kept, allowMissingColumns=True)
    count = sum((expected | stays).values())
    files = min(FILES, max(1, round(count / FILE_ROWS)))
    files = max(files, ceil(sum(run.size for run in day.usable(dataset)) / FILE_BYTES))
    # all rows of a log lie in one partition, and stay in the order in which their rises need them
    keys = [name for name in (*KEYS[dataset], "topic_id", TIME) if name in rows.columns]
    rows = rows.repartition(files, *KEYS[dataset])
    if dataset in RISES:
        rows = add_rises(queries, dataset, rows).select(*rows.columns, RISES[dataset])
    writer = rows.sortWithinPartitions(*keys).write.option("compression", "zstd")
    place = f"{folder}/{dataset}"
    writer.option("parquet.block.size", ROW_GROUP_BYTES).parquet(place)
    paths = [f"{place}/{file.name}" for file in storage.objects(place, PARQUET)]
    written = sum(footer.rows for footer, _ in read_files(storage, paths) if footer)
    if written != count:
        raise DataError(
            f"the history of {dataset} of {day.cluster} on {day.date} would have {written:,} rows, "
            f"and {count:,} were counted; nothing was replaced or deleted: run the job again"
        )


def _read_history(spark: SparkSession, storage: Storage, day: Day, dataset: str) -> DataFrame:
    """Returns the rows of the history with all columns that its files have, without rises."""
    files = list_history_files(storage, day, dataset)
    rows = spark.read.option("mergeSchema", "true").parquet(*escape_patterns(files))
    return rows.drop(RISES.get(dataset, ""))


def count_held(spark: SparkSession, storage: Storage, day: Day, dataset: str) -> dict[int, Held]:
    """Returns what the day's history has of each run (seconds since 1970).

    Raises DataError for a file that cannot be read.
    """
    files = list_history_files(storage, day, dataset)
    if not files:
        return {}
    with naming_corrupt_files(storage, lambda: files):
        rows = read_paths(spark, files, SNAPSHOTS[dataset])
        # hashes of keys take a fraction of the memory of names
        keys = sf.count_distinct(sf.xxhash64(*KEYS[dataset]))
        found = rows.groupBy(sf.unix_seconds(TIME)).agg(sf.count("*"), keys).collect()
    return {second: Held(count, different) for second, count, different in found}


def find_wrong_runs(expected: Mapping[int, int], held: Mapping[int, Held]) -> set[int]:
    """Returns the runs (seconds since 1970) that the history lacks rows of or has rows of twice.

    A run with more rows than its snapshots have is whole: some of its snapshots have been deleted.
    """
    nothing = Held(0, 0)
    lacking = {second for second, n in expected.items() if held.get(second, nothing).rows < n}
    return lacking | {second for second, run in held.items() if run.rows > run.keys}


def delete_compacted(spark: SparkSession, storage: Storage, old: Day) -> tuple[int, str | None]:
    """Deletes the raw objects of the day if its history holds all of them.

    Returns the number of deleted objects and null, or 0 and the reason why nothing was deleted. The
    history must open now, with all columns. For each run and dataset it must have no row twice, at
    least as many rows as the raw objects and, if the counts are equal, the same offsets. Raises
    DataError for a file that does not open. Objects that are not readable snapshots are never
    deleted.
    """
    old = check_objects(storage, replace(old, source=FROM_SNAPSHOTS))
    paths = [run.path for dataset in SNAPSHOTS for run in old.usable(dataset)]
    for dataset in SNAPSHOTS if paths else ():
        expected = old.run_rows(dataset)
        if wrong := find_wrong_runs(expected, count_held(spark, storage, old, dataset)):
            runs = f"{len(wrong):,} of its runs"
            return 0, f"the history of {dataset} lacks rows of {runs}, or has them twice"
        if others := _count_other_offsets(spark, storage, old, dataset) if expected else 0:
            return 0, f"the history of {dataset} has other offsets in {others:,} of its runs"
    storage.delete(paths)
    return len(paths), None


def _count_other_offsets(spark: SparkSession, storage: Storage, old: Day, dataset: str) -> int:
    """Returns the number of runs with equal row counts but different offsets in the history."""
    folder, raw = old.history_folder(dataset), [run.path for run in old.usable(dataset)]
    with naming_corrupt_files(storage, lambda: [folder, *raw]):
        kept = _hash_runs(read(spark, storage, old.from_history(), dataset), dataset, whole=True)
        found = _hash_runs(read(spark, storage, old, dataset), dataset)
    return sum(
        kept[second][0] == rows and kept[second][1] != hashed
        for second, (rows, hashed) in found.items()
    )


def _hash_runs(rows: DataFrame, dataset: str, *, whole: bool = False) -> dict[int, tuple[int, int]]:
    """Returns, by run (seconds since 1970), its row count and a hash of the COMPARED columns.

    `whole` also decodes all other columns, so that damage in any of them raises an error.
    """
    hashes = [sf.bit_xor(sf.xxhash64(*COMPARED[dataset]))]
    if whole:
        hashes.append(sf.bit_xor(sf.xxhash64(*SNAPSHOTS[dataset].names)))
    found = rows.groupBy(sf.unix_seconds(TIME)).agg(sf.count("*"), *hashes).collect()
    return {second: (count, hashed) for second, count, hashed, *_ in found}
