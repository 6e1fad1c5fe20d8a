# SPDX-License-Identifier: Apache-2.0
"""A cluster's day of snapshots in few sorted files: the history; and raw objects it outlives.

In Arrow's columns and not in Spark's rows: a day of 14 million rows takes a quarter of the time.
Spark's workers do it, a file each, wherever they are. There are as many files as the day's size
asks for. A file is made of stretches of the day, each sorted by itself and encoded before the next
is read, into a file on the worker's disk: it needs memory for one of them, however large the day.

Nothing is moved or swapped. A run's rows lie in one file, and a file appears whole or not at all,
so a job that is killed leaves runs that are there and runs that are not: the next one adds those.
A run of which only a part is there, or one that two jobs at once have left twice, is taken out of
its files, and then added like one that is not: its raw objects are there, or nobody would know.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from math import ceil
from operator import add
from tempfile import NamedTemporaryFile, gettempdir
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from kafka_lag.contract import RISES
from kafka_lag_report.errors import CorruptObjectsError, DataError, StoreError
from kafka_lag_report.read_snapshots import (
    FROM_SNAPSHOTS,
    Day,
    Run,
    check_objects,
)
from kafka_lag_report.rises import offsets_of, rises
from kafka_lag_report.schemas import SNAPSHOTS, TEXT, arrow_schema, in_columns
from kafka_lag_report.storage import PARQUET, Storage, mapping

T = TypeVar("T")
Order = npt.NDArray[np.int64]

# Half a gigabyte of memory while they are sorted, and a worker of Glue sorts four at once.
STRETCH_ROWS = 600_000
# Of a dataset's day, unless it is so large: whoever looks for one group opens them all.
FILES = 8
# Of the objects that become a file of some 200 MB.
FILE_BYTES = 400 << 20
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
# What is added up of each run, to know a file for its sources': rows that were mixed up, lost or
# cut show in it.
_ADDED_UP = {
    "topic_partitions": ("start_offset", "end_offset"),
    "group_partitions": ("committed_offset", "start_offset", "end_offset", "lag"),
    "groups": ("lag", "members"),
}
# What a rise is made of, beside the keys.
_OFFSETS = {
    "topic_partitions": ("topic_id", "unread_reason", "read_at", "end_offset"),
    "group_partitions": (
        *("topic_id", "unread_reason", "read_at", "committed_offset", "end_offset"),
        *("records_lost", "skipped_from", "skipped_to", "skipped_at"),
    ),
}
_SLOWLY_RISING = (pa.int64(), pa.timestamp("ms", tz="UTC"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Objects of whole runs, one after the other, that are sorted together; how many rows."""

    sources: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Part:
    """Stretches of one dataset that become the file `target`.

    `before` are the objects of the run before the first, from which its offsets rose.
    """

    dataset: str
    stretches: tuple[Stretch, ...]
    target: str
    before: tuple[str, ...] = ()


def compact_day(spark: SparkSession, storage: Storage, day: Day) -> None:
    """Bring the history of the day up to its snapshots, each of which is read once.

    CorruptObjectsError for snapshots whose rows cannot be decoded; DataError if a file of the
    history cannot be read, or what was written is not what was read; StoreError if the store
    refuses. Files that are whole by then stay, and are right.
    """
    work = []
    for dataset in SNAPSHOTS if day.source == FROM_SNAPSHOTS else ():
        folder = day.history_folder(dataset)
        storage.sweep(folder)
        expected = day.run_rows(dataset)
        held = held_runs(spark, storage, folder, dataset)
        wrong = wrong_runs(expected, held)
        # the rises of the run after them are others then
        wrong |= {after for run, after in pairwise(sorted(expected)) if run in wrong}
        _take_out(spark, storage, dataset, held, wrong)
        usable = [
            run
            for run in day.usable(dataset)
            if run.taken_at and int(run.taken_at.timestamp()) in expected
        ]
        runs = [r for r in usable if r.taken_at and int(r.taken_at.timestamp()) in wrong]
        work += parts(dataset, runs, day.rows, folder, usable=usable)
    _in_workers(spark, work, partial(compact, storage=storage))


# Of a run's second its rows, and the sum of each column that is added up.
Sums = dict[int, tuple[int, ...]]


def held_runs(
    spark: SparkSession, storage: Storage, folder: str, dataset: str, *, whole: bool = False
) -> dict[str, Sums]:
    """What each file of the history has of each run; DataError for one that cannot be read.

    `whole` decodes every column and adds up offsets; else only rows are counted.
    """
    paths = [f"{folder}/{file.name}" for file in storage.objects(folder, PARQUET)]
    read = partial(_file_sums, storage=storage, dataset=dataset, whole=whole)
    return dict(zip(paths, _in_workers(spark, paths, read), strict=True))


def wrong_runs(expected: Mapping[int, int], held: Mapping[str, Sums]) -> set[int]:
    """Seconds of the runs of which the files lack rows that the snapshots have, or hold all twice.

    Two jobs over one day at the same time leave a run in a file of each. More rows in one file than
    the snapshots have are theirs that are gone by now.
    """
    rows = {second: sums[0] for second, sums in _together(held.values()).items()}
    repeated = {
        second
        for runs in held.values()
        for second, (count, *_) in runs.items()
        if expected.get(second) == count < rows[second]
    }
    return {second for second, count in expected.items() if rows.get(second, 0) < count} | repeated


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
    by_time = _paths_by_time(runs)
    paths = list(by_time.values())
    sizes = [sum(rows[path] for path in of_run) for of_run in paths]
    files = max(files, ceil(sum(run.size for run in runs) / file_bytes))
    stretches = [
        Stretch(tuple(path for of_run in paths[share] for path in of_run), sum(sizes[share]))
        for share in _shares(sizes, max(1, round(sum(sizes) / most)))
    ]
    shares = _shares([stretch.rows for stretch in stretches], min(files, len(stretches)))
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
        for share in shares
    ]


def _paths_by_time(runs: Sequence[Run]) -> dict[Any, list[str]]:
    """The objects of each run, in order of time."""
    found: dict[Any, list[str]] = {}
    for run in sorted(runs, key=lambda run: (run.taken_at, run.path)):
        found.setdefault(run.taken_at, []).append(run.path)
    return found


def compact(part: Part, storage: Storage) -> int:
    """Write the part's file and read it back; its rows, and with none of them no file.

    Stretches that differ in their columns, as after an upgrade, become a file each.
    CorruptObjectsError for a source whose rows cannot be decoded; StoreError if the store
    refuses; DataError if what was written is not what was to be read, and then it is removed.
    """
    rows = 0
    alike = groupby(_followed(part, storage), key=lambda table: table.schema)
    for number, (schema, stretches) in enumerate(alike):
        target = part.target if not number else part.target.replace(PARQUET, f"-{number}{PARQUET}")
        with _encoded(part.dataset, schema, stretches) as (data, expected):
            count = sum(sums[0] for sums in expected.values())
            try:
                storage.write(target, data)
                # what the encoder made, as what the store keeps
                right = _encoded_sums(part.dataset, data) == expected
                if not right or not _holds(storage, target, data):
                    raise _different(part.dataset, target, count)
            except DataError:
                _remove(storage, target)
                raise
        rows += count
    return rows


def delete_compacted(spark: SparkSession, storage: Storage, old: Day) -> tuple[int, str | None]:
    """Delete the raw objects of the day if its history holds them; how many, or why not.

    It holds them if its files open at this moment, every column of them, and have at least the
    rows that the raw objects have of each run, in each dataset, and of as many rows the same sums
    of offsets. DataError for a file that does not open. Objects that are no readable snapshots are
    never deleted.
    """
    old = check_objects(storage, replace(old, source=FROM_SNAPSHOTS))
    paths = [run.path for dataset in SNAPSHOTS for run in old.usable(dataset)]
    for dataset in SNAPSHOTS if paths else ():
        folder = old.history_folder(dataset)
        expected = old.run_rows(dataset)
        held = held_runs(spark, storage, folder, dataset, whole=True)
        if wrong := wrong_runs(expected, held):
            runs = f"{len(wrong):,} of its runs"
            return 0, f"the history of {dataset} lacks rows of {runs}, or has them twice"
        sources = [run.path for run in old.usable(dataset)]
        if others := _other_offsets(spark, storage, dataset, sources, held):
            return 0, f"the history of {dataset} has other offsets in {others:,} of its runs"
    storage.delete(paths)
    return len(paths), None


def _other_offsets(
    spark: SparkSession,
    storage: Storage,
    dataset: str,
    sources: Sequence[str],
    held: Mapping[str, Sums],
) -> int:
    """Of how many runs the history has as many rows as the objects, and others."""
    shares = [sources[at : at + _READ_AT_ONCE] for at in range(0, len(sources), _READ_AT_ONCE)]
    add_up = partial(_sources_sums, storage=storage, dataset=dataset)
    raw, kept = _together(_in_workers(spark, shares, add_up)), _together(held.values())
    return sum(kept[second][0] == sums[0] and kept[second] != sums for second, sums in raw.items())


def _sources_sums(sources: Sequence[str], storage: Storage, dataset: str) -> Sums:
    with ThreadPoolExecutor(_READ_AT_ONCE) as pool:
        read = zip(sources, pool.map(storage.read, sources), strict=True)
        return _together(
            _sums(dataset, rows) for path, data in read for rows in _columns(path, data, dataset)
        )


@contextmanager
def _encoded(
    dataset: str, schema: pa.Schema, tables: Iterable[pa.Table]
) -> Iterator[tuple[pa.Buffer, Sums]]:
    """A file of these rows on this machine's disk, and what its runs add up to.

    StoreError if the disk refuses.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(NamedTemporaryFile())
            sums = encode(file.name, dataset, schema, tables)
        except OSError as error:
            raise StoreError(f"cannot write to {gettempdir()}: {error}") from error
        yield stack.enter_context(mapping(file.name)), sums


def encode(path: str, dataset: str, schema: pa.Schema, tables: Iterable[pa.Table]) -> Sums:
    """Write Parquet that Athena and every Spark of this job read; what its runs add up to.

    Each table, which is sorted, has row groups of its own.
    """
    # tried for numbers that hardly repeat, a dictionary is tried in vain
    rising = [field.name for field in schema if field.type in _SLOWLY_RISING]
    repeating = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    repeating += [field.name for field in schema if field.type == pa.int32()]
    total = Sums()
    with pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=repeating,
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        write_page_index=True,
        # else readers that know it would take text for dictionaries
        store_schema=False,
    ) as writer:
        for table in tables:
            total = _together((total, _sums(dataset, table)))
            writer.write_table(table, row_group_size=ROW_GROUP_ROWS)
    return total


def sorted_rows(table: pa.Table, dataset: str) -> pa.Table:
    """Rows by the dataset's key, of each key by time; the table's columns must be of one piece.

    A query for one group reads, of each file, only the row groups whose range holds its name.
    """
    return table.take(pa.array(_order(_key_ranks(table, dataset))))


def follow(
    dataset: str, known: pa.Table | None, table: pa.Table
) -> tuple[pa.Table, pa.Table | None]:
    """The sorted rows with their rises, and the last known row of each log so far.

    `known` are those before; null: none. The table's columns must be of one piece.
    """
    if dataset not in RISES:
        return sorted_rows(table, dataset), None
    both = table.select([*KEYS[dataset], TIME, *_OFFSETS[dataset]])
    if known is not None:
        both = _of_one_piece(pa.concat_tables([known, both]))
    earlier = both.num_rows - table.num_rows
    keys = _key_ranks(both, dataset)
    order = _order(keys)
    both = both.take(pa.array(order))
    topic_ids = _ranks(both["topic_id"])
    differs = np.any([np.diff(key[order]) != 0 for key in keys[:-1]], axis=0)
    partitions = np.concatenate(([0], np.cumsum(differs)))[: len(order)]
    logs = partitions * (topic_ids.max(initial=0) + 2) + topic_ids + 1
    risen, last = rises(offsets_of(both, dataset), logs)
    own = order >= earlier
    rows = table.take(pa.array(order[own] - earlier))
    return (
        rows.append_column(RISES[dataset], risen.filter(pa.array(own))),
        _of_one_piece(both.take(pa.array(np.sort(last)))),
    )


def _key_ranks(table: pa.Table, dataset: str) -> list[Order]:
    return [_ranks(table[name]) for name in (*KEYS[dataset], TIME)]


def _order(keys: Sequence[Order]) -> Order:
    # the last of lexsort's keys counts most
    return np.lexsort(keys[::-1])


def _take_out(
    spark: SparkSession,
    storage: Storage,
    dataset: str,
    held: Mapping[str, Sums],
    seconds: set[int],
) -> None:
    """Remove what files hold of these runs; the other runs in them stay."""
    paths = [path for path, runs in held.items() if seconds & runs.keys()]
    without = partial(_rewrite, storage=storage, dataset=dataset, seconds=frozenset(seconds))
    _in_workers(spark, paths, without)


def _rewrite(path: str, storage: Storage, dataset: str, seconds: frozenset[int]) -> None:
    with storage.mapped(path) as before:
        left = pa.array(sorted(seconds))
        rest = (
            _of_one_piece(rows.filter(pc.invert(pc.is_in(_seconds(rows), left))))
            for rows in _stretches(dataset, path, before)
        )
        schema = next(_stretches(dataset, path, before)).schema
        found = (sorted_rows(rows, dataset) for rows in rest if rows.num_rows)
        with _encoded(dataset, schema, found) as (data, expected):
            if not expected:
                storage.delete([path])
                return
            if _encoded_sums(dataset, data) != expected:
                raise DataError(
                    f"{path} cannot be written without a part of its runs; it is as it was"
                )
            storage.write(path, data)
            if not _holds(storage, path, data):
                storage.write(path, before)
                raise DataError(
                    f"the store does not keep what is written to {path}; run the job again"
                )


def _holds(storage: Storage, path: str, data: pa.Buffer) -> bool:
    with storage.mapped(path) as kept:
        return bool(kept.equals(data))


def _file_sums(path: str, storage: Storage, dataset: str, *, whole: bool) -> Sums:
    with storage.mapped(path) as data:
        if whole:
            return _together(_sums(dataset, rows) for rows in _stretches(dataset, path, data))
        return _together(_sums(dataset, rows, ()) for rows in _columns(path, data))


def _encoded_sums(dataset: str, data: pa.Buffer) -> Sums | None:
    """What a file's runs add up to; null if it is none."""
    try:
        return _together(_sums(dataset, rows) for rows in _columns("", data, dataset))
    except CorruptObjectsError:
        return None


def _columns(path: str, data: bytes | pa.Buffer, dataset: str | None = None) -> Iterator[pa.Table]:
    """The times in each row group of a file, and of a dataset's what is added up."""
    names = [TIME, *(_ADDED_UP[dataset] if dataset else ())]
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns=names, use_threads=False)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise CorruptObjectsError([path]) from error


def _sums(dataset: str, rows: pa.Table, names: Sequence[str] | None = None) -> Sums:
    names = _ADDED_UP[dataset] if names is None else names
    columns = {name: rows[name].cast(pa.int64()) for name in names}
    by_run = pa.table({"second": _seconds(rows), **columns}).group_by("second")
    sums = by_run.aggregate([([], "count_all"), *((name, "sum") for name in names)])
    numbers = [sums["count_all"], *(sums[f"{name}_sum"].fill_null(0) for name in names)]
    seconds = sums["second"].to_pylist()
    return dict(zip(seconds, zip(*(n.to_pylist() for n in numbers), strict=True), strict=True))


def _together(several: Iterable[Sums]) -> Sums:
    total = Sums()
    for sums in several:
        for second, numbers in sums.items():
            before = total.get(second, (0,) * len(numbers))
            total[second] = tuple(map(add, before, numbers))
    return total


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


def _followed(part: Part, storage: Storage) -> Iterator[pa.Table]:
    """The rows of each stretch that has any, sorted, all columns of its sources and their rises."""
    known = _known_before(part, storage)
    for stretch in part.stretches:
        rows = _concat(part, list(_tables(part.dataset, stretch.sources, storage)))
        if rows.num_rows != stretch.rows:
            raise _different(part.dataset, part.target, rows.num_rows)
        if rows.num_rows:
            rows, known = follow(part.dataset, known, rows)
            yield rows


def _known_before(part: Part, storage: Storage) -> pa.Table | None:
    """The last known row of each log at the run before; one unread then says what was known."""
    if part.dataset not in RISES or not part.before:
        return None
    rows = _concat(part, list(_tables(part.dataset, part.before, storage)))
    midnight = pc.floor_temporal(rows[TIME], unit="day")
    today = pc.fill_null(pc.greater_equal(rows["read_at"], midnight), fill_value=False)
    reasons = rows["unread_reason"].cast(pa.string())
    unread = pc.if_else(today, pa.scalar(None, pa.string()), reasons).dictionary_encode()
    place = rows.schema.get_field_index("unread_reason")
    rows = rows.set_column(place, "unread_reason", unread)
    return follow(part.dataset, None, _of_one_piece(rows))[1]


def _tables(dataset: str, sources: Sequence[str], storage: Storage) -> Iterator[pa.Table]:
    """The sources' rows, while the next ones are on their way."""
    with ThreadPoolExecutor(_READ_AT_ONCE) as pool:
        for source, data in zip(sources, pool.map(storage.read, sources), strict=True):
            yield from _stretches(dataset, source, data)


def _stretches(dataset: str, path: str, data: bytes | pa.Buffer) -> Iterator[pa.Table]:
    """The file's rows, at least one table, each of about as many rows as a stretch has.

    Columns are the history's, null where the file lacks one, then all that it has more: those of a
    newer MINOR version, by name and of the types that they have.
    """
    declared = arrow_schema(dataset)
    try:
        footer = pq.read_metadata(pa.BufferReader(data))
        there = footer.schema.to_arrow_schema()
        names = set(there.names)
        more = sorted(names - set(declared.names))
        schema = pa.schema([*declared, *(_more(there.field(name)) for name in more)])
        file = pq.ParquetFile(
            pa.BufferReader(data),
            metadata=footer,
            read_dictionary=[f.name for f in schema if f.name in names and f.type == TEXT],
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


def _concat(part: Part, tables: Sequence[pa.Table]) -> pa.Table:
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
    if len(sizes) == 1:
        return [slice(0, 1)]
    ends = np.cumsum(sizes)
    share = np.minimum((ends - 1) * count // max(1, sum(sizes)), count - 1)
    starts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(starts) if a < b]
