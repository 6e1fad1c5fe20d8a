# SPDX-License-Identifier: Apache-2.0
"""Compacts a cluster's day of snapshots into a few sorted files: the history.

Spark's workers write the files, each worker one file at a time. The number of files depends on the
size of the day.

Files are added or rewritten, never moved. All rows of a run are in one file, and a file appears as
a whole or not at all. After a job was killed, some runs are in the history and others are missing;
the next job adds the missing runs. A run that is incomplete, or that two jobs wrote at the same
time, is removed from its files and then added again from its snapshots.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from math import ceil
from typing import Any, TypeVar
from urllib.parse import unquote
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.errors import CorruptObjectsError, DataError, StoreError
from kafka_lag_report.history_file import (
    STRETCH_ROWS,
    TIME,
    Part,
    Stretch,
    compact,
    split_evenly,
    take_out,
)
from kafka_lag_report.read_snapshots import (
    FROM_SNAPSHOTS,
    Day,
    Run,
    check_objects,
    naming_corrupt_files,
    read,
)
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage import PARQUET, Storage

T = TypeVar("T")

# Files of a dataset's day, unless the day is very large. A query for one group opens all of them.
FILES = 8
# Opening an object takes as long as reading this many rows.
OBJECT_ROWS = 1_500
# Size of the snapshots that become one file of about 200 MB.
FILE_BYTES = 400 << 20
# Columns that are compared before snapshots are deleted: they differ if rows were mixed up, lost or
# cut.
COMPARED = {
    "topic_partitions": ("start_offset", "end_offset"),
    "group_partitions": ("committed_offset", "start_offset", "end_offset", "lag"),
    "groups": ("lag", "members"),
}


def compact_day(spark: SparkSession, storage: Storage, day: Day) -> None:
    """Adds to the history all snapshots of the day that it lacks; each snapshot is read once.

    Raises CorruptObjectsError for snapshots whose rows cannot be decoded, DataError if a file of
    the history cannot be read or if objects have other row counts than before, and StoreError if
    the store refuses. Files that are complete by then stay, and are correct.
    """
    work = []
    for dataset in SNAPSHOTS if day.source == FROM_SNAPSHOTS else ():
        folder = day.history_folder(dataset)
        storage.sweep(folder)
        expected = day.run_rows(dataset)
        held = count_held_rows(spark, storage, day, dataset)
        wrong = find_wrong_runs(expected, held)
        # the rises of the next run depend on these runs
        wrong |= {after for run, after in pairwise(sorted(expected)) if run in wrong}
        files = [path for path, runs in held.items() if wrong & runs.keys()]
        without = partial(take_out, storage=storage, dataset=dataset, seconds=frozenset(wrong))
        _run_in_workers(spark, files, without)
        usable = [run for run in day.usable(dataset) if run.second in expected]
        runs = [run for run in usable if run.second in wrong]
        work += plan_parts(dataset, runs, day.rows, folder, usable=usable)
    # the longest first; otherwise it would run alone at the end
    work.sort(key=_estimate_effort, reverse=True)
    _run_in_workers(spark, work, partial(compact, storage=storage))


def _estimate_effort(part: Part) -> int:
    """Returns the cost of a part in rows; opening an object costs as much as OBJECT_ROWS rows."""
    return sum(each.rows + OBJECT_ROWS * len(each.sources) for each in part.stretches)


def count_held_rows(
    spark: SparkSession, storage: Storage, day: Day, dataset: str
) -> dict[str, dict[int, int]]:
    """Returns the number of rows of each run (seconds since 1970) by file of the day's history.

    Raises DataError for a file that cannot be read.
    """
    folder = day.history_folder(dataset)
    held: dict[str, dict[int, int]] = {
        f"{folder}/{file.name}": {} for file in storage.objects(folder, PARQUET)
    }
    if held:
        rows = read(spark, storage, day.from_history(), dataset)
        second, name = sf.unix_seconds(TIME).alias("second"), sf.input_file_name().alias("file")
        with naming_corrupt_files(storage, lambda: [folder]):
            found = rows.groupBy(name, second).agg(sf.count("*").alias("rows")).collect()
        for row in found:
            file = unquote(row["file"].rpartition("/")[2])
            held[f"{folder}/{file}"][row["second"]] = row["rows"]
    return held


def find_wrong_runs(expected: Mapping[int, int], held: Mapping[str, Mapping[int, int]]) -> set[int]:
    """Returns the runs (seconds since 1970) that the history lacks rows of or holds twice.

    Two jobs that compact the same day at the same time leave a run in a file of each. A run with
    more rows in one file than its snapshots have is not wrong: some of its snapshots have been
    deleted.
    """
    rows = Counter[int]()
    for runs in held.values():
        rows.update(runs)
    repeated = {
        second
        for runs in held.values()
        for second, count in runs.items()
        if expected.get(second) == count < rows[second]
    }
    return {second for second, count in expected.items() if rows[second] < count} | repeated


def plan_parts(
    dataset: str,
    runs: Sequence[Run],
    rows: Mapping[str, int],
    folder: str,
    *,
    usable: Sequence[Run] = (),
    most: int = STRETCH_ROWS,
    files: int = FILES,
    file_bytes: int = FILE_BYTES,
) -> list[Part]:
    """Returns the files to be written into `folder`; each holds whole runs, in order of time.

    A stretch has about `most` rows, and a file has one stretch, or several if there are more
    stretches than files. There are `files` files at most, or more if one file would be made from
    more than `file_bytes` of snapshots. `usable` are all runs of the day that have rows.
    """
    by_time = list(_group_by_time(runs).values())
    sizes = [sum(rows[path] for path in paths) for paths in by_time]
    stretches = [
        Stretch(tuple(chain.from_iterable(by_time[share])), sum(sizes[share]))
        for share in split_evenly(sizes, max(1, round(sum(sizes) / most)))
    ]
    files = max(files, ceil(sum(run.size for run in runs) / file_bytes))
    of_files = split_evenly([stretch.rows for stretch in stretches], min(files, len(stretches)))
    of_day = list(_group_by_time(usable).values())
    following = {after[0]: tuple(run) for run, after in pairwise(of_day)}
    # the names are random, so that no existing file is overwritten
    return [
        Part(
            dataset,
            tuple(stretches[share]),
            f"{folder}/part-{uuid4().hex}{PARQUET}",
            following.get(stretches[share][0].sources[0], ()),
        )
        for share in of_files
    ]


def _group_by_time(runs: Sequence[Run]) -> dict[Any, list[str]]:
    """Returns the objects of each run, in order of time."""
    found: dict[Any, list[str]] = {}
    for run in sorted(runs, key=lambda run: (run.taken_at, run.path)):
        found.setdefault(run.taken_at, []).append(run.path)
    return found


def delete_compacted(spark: SparkSession, storage: Storage, old: Day) -> tuple[int, str | None]:
    """Deletes the raw objects of the day if its history holds all of them.

    Returns the number of deleted objects and null, or 0 and the reason why nothing was deleted. The
    history must open now, with all columns. For each run and dataset it must have at least as many
    rows as the raw objects and, if the counts are equal, the same offsets. Raises DataError for a
    file that does not open. Objects that are not readable snapshots are never deleted.
    """
    old = check_objects(storage, replace(old, source=FROM_SNAPSHOTS))
    paths = [run.path for dataset in SNAPSHOTS for run in old.usable(dataset)]
    for dataset in SNAPSHOTS if paths else ():
        expected = old.run_rows(dataset)
        if wrong := find_wrong_runs(expected, count_held_rows(spark, storage, old, dataset)):
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


def _run_in_workers(spark: SparkSession, items: Sequence[Any], work: Callable[[Any], T]) -> list[T]:
    """Returns the results of `work` for all items, done by Spark's workers.

    Raises after all items have ended. Errors of the store come first, because they blame no object;
    then one CorruptObjectsError names all objects that cannot be decoded.
    """
    if not items:
        return []
    done = spark.sparkContext.parallelize(items, len(items)).map(partial(_try, work)).collect()
    failures = [result for result in done if isinstance(result, DataError)]
    corrupt = [error for error in failures if isinstance(error, CorruptObjectsError)]
    for error in sorted(failures, key=lambda error: not isinstance(error, StoreError)):
        if error not in corrupt:
            raise error
    if corrupt:
        raise CorruptObjectsError([path for error in corrupt for path in error.paths])
    return [result for result in done if not isinstance(result, DataError)]


def _try(work: Callable[[Any], T], item: Any) -> T | DataError:
    """Returns the result of `work`, or its DataError as a value, so that Spark never retries it."""
    try:
        return work(item)
    except DataError as error:
        return error
    finally:
        # the worker process lives as long as the job, which needs the memory itself
        pa.default_memory_pool().release_unused()
