# SPDX-License-Identifier: Apache-2.0
"""A cluster's day of snapshots in few sorted files: the history; and raw objects it outlives.

In Arrow's columns and not in Spark's rows: a day of 14 million rows takes a quarter of the time.
Spark's workers do it, a file each, wherever they are. A file is made of stretches of the day, each
sorted by itself, so that a worker needs memory for one of them however large the day.

Nothing is moved or swapped. A run's rows lie in one file, and a file appears whole or not at all,
so a job that is killed leaves runs that are there and runs that are not: the next one adds those.
A run of which only a part is there, or one that two jobs at once have left twice, is taken out of
its files, and then added like one that is not: its raw objects are there, or nobody would know.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import groupby, pairwise
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from kafka_lag_report.checksum import NO_ROWS, Checksum, checksum
from kafka_lag_report.errors import CorruptObjectsError, DataError, StoreError
from kafka_lag_report.read_snapshots import (
    FROM_SNAPSHOTS,
    Day,
    Run,
    check_objects,
)
from kafka_lag_report.schemas import SNAPSHOTS, TEXT, arrow_schema, in_columns
from kafka_lag_report.storage import PARQUET, Storage

T = TypeVar("T")
Order = npt.NDArray[np.int64]

# Half a gigabyte of memory while they are sorted, and a worker of Glue sorts four at once.
STRETCH_ROWS = 600_000
# Of a dataset's day: whoever looks for one group opens them all, and two workers make them at once.
FILES = 8
# Objects that a worker reads at once.
_READ_AT_ONCE = 32
# Of some 2 MB: small enough to skip most of a file, large enough to be worth a request to S3.
ROW_GROUP_ROWS = 1 << 16
# What identifies a row but for its time, and by what rows are sorted.
KEYS = {
    "topic_partitions": ("topic", "partition_id"),
    "group_partitions": ("consumer_group", "topic", "partition_id"),
    "groups": ("consumer_group",),
}
TIME = "taken_at"
_SLOWLY_RISING = (pa.int64(), pa.timestamp("ms", tz="UTC"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Objects of whole runs, one after the other, that are sorted together; how many rows."""

    sources: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Part:
    """Stretches of one dataset that become the file `target`."""

    dataset: str
    stretches: tuple[Stretch, ...]
    target: str


def compact_day(spark: SparkSession, storage: Storage, day: Day) -> None:
    """Bring the history of the day up to its snapshots, each of which is read once.

    CorruptObjectsError for snapshots whose rows cannot be decoded; DataError if a file of the
    history cannot be read, or what was written is not what was read; StoreError if the store
    refuses. Files that are whole by then stay, and are right.
    """
    found = [cluster for cluster, source in day.sources.items() if source == FROM_SNAPSHOTS]
    work = []
    for cluster in found:
        for dataset in SNAPSHOTS:
            folder = day.history_folder(dataset, cluster)
            storage.sweep(folder)
            expected = day.run_rows(dataset, cluster)
            held = held_runs(spark, storage, folder, dataset)
            wrong = wrong_runs(expected, held)
            _take_out(spark, storage, dataset, held, wrong)
            runs = [
                run
                for run in day.usable(dataset, cluster)
                if run.taken_at and int(run.taken_at.timestamp()) in wrong
            ]
            work += parts(dataset, runs, day.rows, folder)
    _in_workers(spark, work, partial(compact, storage=storage))


def held_runs(
    spark: SparkSession, storage: Storage, folder: str, dataset: str, *, whole: bool = False
) -> dict[str, Counter[int]]:
    """Rows by the run's second, by file of the history; DataError for one that cannot be read.

    `whole` decodes every column, and not the times alone.
    """
    paths = [f"{folder}/{file.name}" for file in storage.objects(folder, PARQUET)]
    count = partial(_rows_by_run, storage=storage, dataset=dataset, whole=whole)
    return dict(zip(paths, _in_workers(spark, paths, count), strict=True))


def wrong_runs(expected: Mapping[int, int], held: Mapping[str, Counter[int]]) -> set[int]:
    """Seconds of the runs of which the files lack rows that the snapshots have, or hold all twice.

    Two jobs over one day at the same time leave a run in a file of each. More rows in one file than
    the snapshots have are theirs that are gone by now.
    """
    rows = sum(held.values(), Counter[int]())
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
    most: int = STRETCH_ROWS,
    files: int = FILES,
) -> list[Part]:
    """What is to become at most so many `files` in `folder`: whole runs, in order of time.

    A stretch has about `most` rows, a file one stretch, or more where there are more than `files`.
    """
    by_time: dict[Any, list[str]] = {}
    for run in sorted(runs, key=lambda run: run.path):
        by_time.setdefault(run.taken_at, []).append(run.path)
    paths = [by_time[at] for at in sorted(by_time)]
    sizes = [sum(rows[path] for path in of_run) for of_run in paths]
    stretches = [
        Stretch(tuple(path for of_run in paths[share] for path in of_run), sum(sizes[share]))
        for share in _shares(sizes, max(1, round(sum(sizes) / most)))
    ]
    shares = _shares([stretch.rows for stretch in stretches], min(files, len(stretches)))
    # never the name of a file that is there
    return [
        Part(dataset, tuple(stretches[share]), f"{folder}/part-{uuid4().hex}{PARQUET}")
        for share in shares
    ]


def compact(part: Part, storage: Storage) -> int:
    """Write the part's file and read it back; its rows, and with none of them no file.

    Stretches that differ in their columns, as after an upgrade, become a file each.
    CorruptObjectsError for a source whose rows cannot be decoded; StoreError if the store
    refuses; DataError if what was written is not what was to be read, and then it is removed.
    """
    rows = 0
    alike = groupby(_sources_rows(part, storage), key=lambda table: table.schema)
    for number, (schema, stretches) in enumerate(alike):
        target = part.target if not number else part.target.replace(PARQUET, f"-{number}{PARQUET}")
        data, before = encoded(part.dataset, schema, stretches)
        try:
            storage.write(target, data)
            # what the encoder made, as what the store keeps
            if storage.read(target) != data:
                raise _different(part.dataset, target, before.rows)
            if _checksum(part.dataset, target, data) != before:
                raise _different(part.dataset, target, before.rows)
        except DataError as error:
            _remove(storage, target)
            if isinstance(error, CorruptObjectsError):
                raise _different(part.dataset, target, before.rows) from error
            raise
        rows += before.rows
    return rows


def delete_compacted(
    spark: SparkSession, storage: Storage, old: Day, cluster: str
) -> tuple[int, str | None]:
    """Delete the cluster's raw objects of the day if its history holds them; how many, or why not.

    It holds them if its files open at this moment, every column of them, and have at least the
    rows that the raw objects have of each run, in each dataset. DataError for a file that does not
    open. Objects that are no readable snapshots are never deleted.
    """
    old = check_objects(storage, replace(old, sources={cluster: FROM_SNAPSHOTS}))
    paths = [run.path for dataset in SNAPSHOTS for run in old.usable(dataset, cluster)]
    for dataset in SNAPSHOTS if paths else ():
        folder = old.history_folder(dataset, cluster)
        expected = old.run_rows(dataset, cluster)
        held = held_runs(spark, storage, folder, dataset, whole=True)
        if wrong := wrong_runs(expected, held):
            runs = f"{len(wrong):,} of its runs"
            return 0, f"the history of {dataset} lacks rows of {runs}, or has them twice"
    storage.delete(paths)
    return len(paths), None


def encoded(dataset: str, schema: pa.Schema, tables: Iterable[pa.Table]) -> tuple[bytes, Checksum]:
    """A Parquet file that Athena and every Spark of this job read, and what its rows add up to.

    Each table is sorted by itself, into row groups of its own.
    """
    # tried for numbers that hardly repeat, a dictionary is tried in vain
    rising = [field.name for field in schema if field.type in _SLOWLY_RISING]
    repeating = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    repeating += [field.name for field in schema if field.type == pa.int32()]
    file, total = BytesIO(), NO_ROWS
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=repeating,
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        write_page_index=True,
        # else readers that know it would take text for dictionaries
        store_schema=False,
    ) as writer:
        for table in tables:
            total += checksum(table)
            writer.write_table(sorted_rows(table, dataset), row_group_size=ROW_GROUP_ROWS)
    return file.getvalue(), total


def sorted_rows(table: pa.Table, dataset: str) -> pa.Table:
    """Rows by the dataset's key, of each key by time; the table's columns must be of one piece.

    A query for one group reads, of each file, only the row groups whose range holds its name.
    """
    keys = [_ranks(table[name]) for name in (*KEYS[dataset], TIME)]
    # the last of lexsort's keys counts most
    return table.take(pa.array(np.lexsort(keys[::-1])))


def _take_out(
    spark: SparkSession,
    storage: Storage,
    dataset: str,
    held: Mapping[str, Counter[int]],
    seconds: set[int],
) -> None:
    """Remove what files hold of these runs; the other runs in them stay."""
    paths = [path for path, runs in held.items() if seconds & runs.keys()]
    without = partial(_rewrite, storage=storage, dataset=dataset, seconds=frozenset(seconds))
    _in_workers(spark, paths, without)


def _rewrite(path: str, storage: Storage, dataset: str, seconds: frozenset[int]) -> None:
    before = storage.read(path)
    left = pa.array(sorted(seconds))
    rest = (
        _of_one_piece(rows.filter(pc.invert(pc.is_in(_seconds(rows), left))))
        for rows in _stretches(dataset, path, before)
    )
    first = next(_stretches(dataset, path, before))
    data, expected = encoded(dataset, first.schema, (rows for rows in rest if rows.num_rows))
    if not expected.rows:
        storage.delete([path])
        return
    if _checksum(dataset, path, data) != expected:
        raise DataError(f"{path} cannot be written without a part of its runs; it is as it was")
    storage.write(path, data)
    if storage.read(path) != data:
        storage.write(path, before)
        raise DataError(f"the store does not keep what is written to {path}; run the job again")


def _rows_by_run(path: str, storage: Storage, dataset: str, *, whole: bool) -> Counter[int]:
    data = storage.read(path)
    if whole:
        tables = _stretches(dataset, path, data)
    else:
        try:
            times = pq.read_table(pa.BufferReader(data), columns=[TIME], use_threads=False)
        except (pa.ArrowException, ValueError, OSError) as error:
            raise CorruptObjectsError([path]) from error
        tables = iter([times])
    counted = Counter[int]()
    for rows in tables:
        for each in pc.value_counts(_seconds(rows)).to_pylist():
            counted[each["values"]] += each["counts"]
    return counted


def _seconds(rows: pa.Table) -> pa.ChunkedArray:
    return rows[TIME].cast(pa.timestamp("s", tz="UTC"), safe=False).cast(pa.int64())


def _in_workers(spark: SparkSession, items: Sequence[Any], work: Callable[[Any], T]) -> list[T]:
    """The work's results on each item; what failed once all have ended, the store's errors first.

    Those blame no object, and all objects that cannot be decoded are named at once.
    """
    if not items:
        return []
    done = spark.sparkContext.parallelize(items, len(items)).map(partial(_tried, work)).collect()
    failures = [result for result in done if isinstance(result, DataError)]
    for error in failures:
        if isinstance(error, StoreError):
            raise error
    corrupt = [e for e in failures if isinstance(e, CorruptObjectsError)]
    if len(corrupt) < len(failures):
        raise next(e for e in failures if not isinstance(e, CorruptObjectsError))
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


def _different(dataset: str, target: str, rows: int) -> DataError:
    return DataError(
        f"the compacted {dataset} in {target} differ from the {rows:,} rows of their "
        "sources; nothing was replaced or deleted: run the job again"
    )


def _remove(storage: Storage, path: str) -> None:
    """What is not right must not stay, nor hide why it is not right."""
    try:
        storage.delete([path])
    except StoreError:
        return


def _sources_rows(part: Part, storage: Storage) -> Iterator[pa.Table]:
    """The rows of each stretch that has any, all columns of its sources."""
    for stretch in part.stretches:
        rows = _together(part, list(_tables(part.dataset, stretch.sources, storage)))
        if rows.num_rows != stretch.rows:
            raise _different(part.dataset, part.target, rows.num_rows)
        if rows.num_rows:
            yield rows


def _tables(dataset: str, sources: Sequence[str], storage: Storage) -> Iterator[pa.Table]:
    """The sources' rows, while the next ones are on their way."""
    with ThreadPoolExecutor(_READ_AT_ONCE) as pool:
        for source, data in zip(sources, pool.map(storage.read, sources), strict=True):
            yield from _stretches(dataset, source, data)


def _checksum(dataset: str, path: str, data: bytes) -> Checksum:
    return sum(map(checksum, map(_of_one_piece, _stretches(dataset, path, data))), NO_ROWS)


def _stretches(dataset: str, path: str, data: bytes) -> Iterator[pa.Table]:
    """The file's rows, at least one table, each of about as many rows as a stretch has.

    Columns are the history's, null where the file lacks one, then all that it has more: those of a
    newer MINOR version, by name and of the types that they have.
    """
    declared = arrow_schema(dataset)
    try:
        footer = pq.read_metadata(pa.BufferReader(data))
        there = footer.schema.to_arrow_schema()
        more = sorted(set(there.names) - set(declared.names))
        schema = pa.schema([*declared, *(_more(there.field(name)) for name in more)])
        file = pq.ParquetFile(
            pa.BufferReader(data),
            metadata=footer,
            read_dictionary=[f.name for f in schema if f.name in there.names and f.type == TEXT],
        )
        sizes = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
        for share in _shares(sizes, max(1, round(sum(sizes) / STRETCH_ROWS))) or [slice(0, 0)]:
            rows = file.read_row_groups([*range(share.start, share.stop)], use_threads=False)
            # damage may decode to places in a dictionary that has none such
            rows.validate(full=True)
            yield in_columns(rows, schema)
    except MemoryError:
        raise
    # ValueError: text that is no UTF-8, in Arrow's own words too
    except (pa.ArrowException, ValueError, OSError) as error:
        raise CorruptObjectsError([path]) from error


def _more(field: pa.Field) -> pa.Field:
    text = field.type in (pa.string(), pa.large_string()) or pa.types.is_dictionary(field.type)
    return pa.field(field.name, TEXT if text else field.type)


def _together(part: Part, tables: Sequence[pa.Table]) -> pa.Table:
    """All rows with the columns of all; DataError if files have one with types that cannot meet."""
    try:
        rows = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise DataError(
            f"the {part.dataset} for {part.target} differ in a column: {error}"
        ) from error
    names = arrow_schema(part.dataset).names
    return _of_one_piece(rows.select([*names, *sorted(set(rows.column_names) - set(names))]))


def _of_one_piece(rows: pa.Table) -> pa.Table:
    return rows.unify_dictionaries().combine_chunks()


def _ranks(column: pa.ChunkedArray) -> Order:
    """Numbers that sort as the values do: text byte by byte, as Spark and Parquet compare it."""
    (values,) = column.chunks or [pa.array([], column.type)]
    if not pa.types.is_dictionary(values.type):
        whole: Order = values.cast(pa.int64()).fill_null(-1).to_numpy()
        return whole
    order = pc.sort_indices(values.dictionary.cast(pa.binary())).to_numpy()
    ranks = np.full(len(order) + 1, -1, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    chosen: Order = ranks[values.indices.fill_null(-1).to_numpy()]
    return chosen


def _shares(sizes: Sequence[int], count: int) -> list[slice]:
    """Consecutive items in `count` shares of about the same size, or fewer; none of no items."""
    ends = np.cumsum(sizes)
    share = np.minimum((ends - 1) * count // max(1, sum(sizes)), count - 1)
    starts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(starts) if a < b]
