# SPDX-License-Identifier: Apache-2.0
"""A cluster's day of snapshots in few sorted files: the history; and raw objects it outlives.

Spark's workers make the files, wherever they are, one each at a time. There are as many files as
the day's size asks for.

Nothing is moved or swapped. A run's rows lie in one file, and a file appears whole or not at all,
so a job that is killed leaves runs that are there and runs that are not: the next one adds those.
A run of which only a part is there, or one that two jobs at once have left twice, is taken out of
its files, and then added like one that is not: its raw objects are there, or nobody would know.
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
    shares,
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

# Of a dataset's day, unless it is so large: whoever looks for one group opens them all.
FILES = 8
# An object takes as long as so many rows, before any of its own.
OBJECT_ROWS = 1_500
# Of the objects that become a file of some 200 MB.
FILE_BYTES = 400 << 20
# What is compared of each run, to know a file for its sources': rows that were mixed up, lost or
# cut show in it.
COMPARED = {
    "topic_partitions": ("start_offset", "end_offset"),
    "group_partitions": ("committed_offset", "start_offset", "end_offset", "lag"),
    "groups": ("lag", "members"),
}


def compact_day(spark: SparkSession, storage: Storage, day: Day) -> None:
    """Bring the history of the day up to its snapshots, each of which is read once.

    CorruptObjectsError for snapshots whose rows cannot be decoded; DataError if a file of the
    history cannot be read, or objects have other rows than were counted; StoreError if the store
    refuses. Files that are whole by then stay, and are right.
    """
    work = []
    for dataset in SNAPSHOTS if day.source == FROM_SNAPSHOTS else ():
        folder = day.history_folder(dataset)
        storage.sweep(folder)
        expected = day.run_rows(dataset)
        held = held_runs(spark, storage, day, dataset)
        wrong = wrong_runs(expected, held)
        # the rises of the run after them are others then
        wrong |= {after for run, after in pairwise(sorted(expected)) if run in wrong}
        files = [path for path, runs in held.items() if wrong & runs.keys()]
        without = partial(take_out, storage=storage, dataset=dataset, seconds=frozenset(wrong))
        _in_workers(spark, files, without)
        usable = [run for run in day.usable(dataset) if run.second in expected]
        runs = [run for run in usable if run.second in wrong]
        work += parts(dataset, runs, day.rows, folder, usable=usable)
    # the longest first, else it is alone in the end
    work.sort(key=_effort, reverse=True)
    _in_workers(spark, work, partial(compact, storage=storage))


def _effort(part: Part) -> int:
    """Rows, and of each object what it takes to open it and its columns."""
    return sum(each.rows + OBJECT_ROWS * len(each.sources) for each in part.stretches)


def held_runs(
    spark: SparkSession, storage: Storage, day: Day, dataset: str
) -> dict[str, dict[int, int]]:
    """The rows of each run, by file of the history; DataError for a file that cannot be read."""
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


def wrong_runs(expected: Mapping[int, int], held: Mapping[str, Mapping[int, int]]) -> set[int]:
    """Seconds of the runs of which the files lack rows that the snapshots have, or hold all twice.

    Two jobs over one day at the same time leave a run in a file of each. More rows in one file than
    the snapshots have are theirs that are gone by now.
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


def parts(
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
    """What is to become files in `folder`: whole runs, in order of time.

    A stretch has about `most` rows, a file one stretch, or more where there are more than `files`;
    but there are as many that each is made of about `file_bytes` at most. `usable` are all runs of
    the day that have rows.
    """
    by_time = list(_paths_by_time(runs).values())
    sizes = [sum(rows[path] for path in paths) for paths in by_time]
    stretches = [
        Stretch(tuple(chain.from_iterable(by_time[share])), sum(sizes[share]))
        for share in shares(sizes, max(1, round(sum(sizes) / most)))
    ]
    files = max(files, ceil(sum(run.size for run in runs) / file_bytes))
    of_files = shares([stretch.rows for stretch in stretches], min(files, len(stretches)))
    of_day = list(_paths_by_time(usable).values())
    following = {after[0]: tuple(run) for run, after in pairwise(of_day)}
    # never the name of a file that is there
    return [
        Part(
            dataset,
            tuple(stretches[share]),
            f"{folder}/part-{uuid4().hex}{PARQUET}",
            following.get(stretches[share][0].sources[0], ()),
        )
        for share in of_files
    ]


def _paths_by_time(runs: Sequence[Run]) -> dict[Any, list[str]]:
    """The objects of each run, in order of time."""
    found: dict[Any, list[str]] = {}
    for run in sorted(runs, key=lambda run: (run.taken_at, run.path)):
        found.setdefault(run.taken_at, []).append(run.path)
    return found


def delete_compacted(spark: SparkSession, storage: Storage, old: Day) -> tuple[int, str | None]:
    """Delete the raw objects of the day if its history holds them; how many, or why not.

    It holds them if its files open at this moment, every column of them, and have at least the
    rows that the raw objects have of each run, in each dataset, and of as many rows the same
    offsets. DataError for a file that does not open. Objects that are no readable snapshots are
    never deleted.
    """
    old = check_objects(storage, replace(old, source=FROM_SNAPSHOTS))
    paths = [run.path for dataset in SNAPSHOTS for run in old.usable(dataset)]
    for dataset in SNAPSHOTS if paths else ():
        expected = old.run_rows(dataset)
        if wrong := wrong_runs(expected, held_runs(spark, storage, old, dataset)):
            runs = f"{len(wrong):,} of its runs"
            return 0, f"the history of {dataset} lacks rows of {runs}, or has them twice"
        if others := _other_offsets(spark, storage, old, dataset) if expected else 0:
            return 0, f"the history of {dataset} has other offsets in {others:,} of its runs"
    storage.delete(paths)
    return len(paths), None


def _other_offsets(spark: SparkSession, storage: Storage, old: Day, dataset: str) -> int:
    """Of how many runs the history has as many rows as the objects, and others."""
    folder, raw = old.history_folder(dataset), [run.path for run in old.usable(dataset)]
    with naming_corrupt_files(storage, lambda: [folder, *raw]):
        kept = _hashes(read(spark, storage, old.from_history(), dataset), dataset, whole=True)
        found = _hashes(read(spark, storage, old, dataset), dataset)
    return sum(
        kept[second][0] == rows and kept[second][1] != hashed
        for second, (rows, hashed) in found.items()
    )


def _hashes(rows: DataFrame, dataset: str, *, whole: bool = False) -> dict[int, tuple[int, int]]:
    """By the run's second its rows, and a hash of what is compared; `whole` decodes all columns."""
    hashes = [sf.bit_xor(sf.xxhash64(*COMPARED[dataset]))]
    if whole:
        hashes.append(sf.bit_xor(sf.xxhash64(*SNAPSHOTS[dataset].names)))
    found = rows.groupBy(sf.unix_seconds(TIME)).agg(sf.count("*"), *hashes).collect()
    return {second: (count, hashed) for second, count, hashed, *_ in found}


def _in_workers(spark: SparkSession, items: Sequence[Any], work: Callable[[Any], T]) -> list[T]:
    """The work's results on each item; what failed once all have ended, the store's errors first.

    Those blame no object, and all objects that cannot be decoded are named at once.
    """
    if not items:
        return []
    done = spark.sparkContext.parallelize(items, len(items)).map(partial(_tried, work)).collect()
    failures = [result for result in done if isinstance(result, DataError)]
    corrupt = [error for error in failures if isinstance(error, CorruptObjectsError)]
    for error in sorted(failures, key=lambda error: not isinstance(error, StoreError)):
        if error not in corrupt:
            raise error
    if corrupt:
        raise CorruptObjectsError([path for error in corrupt for path in error.paths])
    return [result for result in done if not isinstance(result, DataError)]


def _tried(work: Callable[[Any], T], item: Any) -> T | DataError:
    """Its result, or the failure as a value: to try it again is for whoever knows the day."""
    try:
        return work(item)
    except DataError as error:
        return error
    finally:
        # the worker stays for as long as the job, which needs the memory for its own
        pa.default_memory_pool().release_unused()
