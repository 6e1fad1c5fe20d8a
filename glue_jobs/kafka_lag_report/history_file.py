# SPDX-License-Identifier: Apache-2.0
"""Makes one Parquet file of the history from snapshot objects, sorted and with the rise of offsets.

It uses Arrow's columns instead of Spark's rows, because a day of 14 million rows then takes a
quarter of the time. A file consists of stretches of the day. Each stretch is sorted by itself and
encoded before the next one is read, so the memory needed is that of one stretch and of the encoded
file, about 200 MB at most.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafka_lag.contract import KEYS, RISES
from kafka_lag_report.errors import CorruptObjectsError, DataError
from kafka_lag_report.rises import compute_rises, find_offsets
from kafka_lag_report.schemas import TEXT, arrow_schema, in_columns
from kafka_lag_report.storage import PARQUET, Storage

Order = npt.NDArray[np.int64]

# Sorting this many rows takes half a gigabyte of memory, and a Glue worker sorts four at once.
STRETCH_ROWS = 600_000
# Objects that a worker reads from S3 at once.
READ_AT_ONCE = 32
# A row group has about 2 MB: small enough to skip most of a file, large enough for a request to S3.
ROW_GROUP_ROWS = 1 << 16
TIME = "taken_at"
# Columns that a rise is computed from, beside the keys.
_OFFSETS = {
    "topic_partitions": ("topic_id", "unread_reason", "read_at", "end_offset"),
    "group_partitions": (
        *("topic_id", "unread_reason", "read_at", "committed_offset", "end_offset"),
        *("records_lost", "skipped_from", "skipped_to", "skipped_at", "skip_reason"),
    ),
}
# Readers skip row groups by the statistics of these columns. Statistics of all other columns would
# take a fifth of the time that a file takes.
_WITH_STATISTICS = ("consumer_group", "topic", "partition_id", TIME, "unread_reason")
_PACKED = 1 << 62
_SLOWLY_RISING = (pa.int64(), pa.timestamp("ms", tz="UTC"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Objects of whole runs in a row that are sorted together, and their number of rows."""

    sources: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Part:
    """Stretches of one dataset that become the file `target`.

    `before` are the objects of the run before the first one; offsets are compared with that run.
    """

    dataset: str
    stretches: tuple[Stretch, ...]
    target: str
    before: tuple[str, ...] = ()


def compact(part: Part, storage: Storage) -> int:
    """Writes the file of the part and returns its number of rows; writes no file if it has none.

    Stretches with different columns, as after an upgrade, become a file each. Raises
    CorruptObjectsError for a source whose rows cannot be decoded, StoreError if the store refuses,
    and DataError if the sources have another number of rows than before.
    """
    alike = groupby(_follow_stretches(part, storage), key=lambda table: table.schema)
    for number, (schema, stretches) in enumerate(alike):
        target = part.target if not number else part.target.replace(PARQUET, f"-{number}{PARQUET}")
        storage.write(target, encode(schema, stretches))
    return sum(stretch.rows for stretch in part.stretches)


def take_out(path: str, storage: Storage, dataset: str, seconds: frozenset[int]) -> None:
    """Writes the file again without the runs of these seconds.

    Deletes it if no other run is left.
    """
    gone = pa.array(sorted(seconds))
    rest = (
        unify_chunks(rows.filter(pc.invert(pc.is_in(_convert_to_seconds(rows), gone))))
        for rows in read_rows(dataset, path, storage.read(path))
    )
    left = (sort_rows(rows, dataset) for rows in rest if rows.num_rows)
    if (first := next(left, None)) is None:
        storage.delete([path])
    else:
        storage.write(path, encode(first.schema, chain([first], left)))


def encode(schema: pa.Schema, tables: Iterable[pa.Table]) -> pa.Buffer:
    """Returns the tables as a Parquet file that Athena and every Spark of this job can read.

    Each table must be sorted; it gets row groups of its own.
    """
    file = pa.BufferOutputStream()
    # a dictionary would not help for numbers that hardly repeat, and trying it takes time
    rising = [field.name for field in schema if field.type in _SLOWLY_RISING]
    repeating = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    repeating += [field.name for field in schema if field.type == pa.int32()]
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=repeating,
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        write_page_index=True,
        write_statistics=[name for name in _WITH_STATISTICS if name in schema.names],
        # otherwise readers that know this schema would read text as dictionaries
        store_schema=False,
    ) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=ROW_GROUP_ROWS)
    return file.getvalue()


def _follow_stretches(part: Part, storage: Storage) -> Iterator[pa.Table]:
    """Yields the sorted rows of each stretch that has any, with their rises.

    The tables have all columns of their sources. Raises DataError if a stretch has another number
    of rows than before.
    """
    known = _read_known_before(part, storage)
    for stretch in part.stretches:
        rows = _read_sources(part, stretch.sources, storage)
        if rows.num_rows != stretch.rows:
            raise DataError(
                f"the {part.dataset} for {part.target} have {rows.num_rows:,} rows, and "
                f"{stretch.rows:,} were counted; nothing was replaced or deleted: run the job again"
            )
        if rows.num_rows:
            rows, known = follow(part.dataset, known, rows)
            yield rows


def _read_known_before(part: Part, storage: Storage) -> pa.Table | None:
    """Returns the last known row of each log at the run before the part; null without such a run.

    A row that was not read in that run, but earlier on the same day, still has its known offset.
    """
    if part.dataset not in RISES or not part.before:
        return None
    rows = _read_sources(part, part.before, storage)
    midnight = pc.floor_temporal(rows[TIME], unit="day")
    today = pc.fill_null(pc.greater_equal(rows["read_at"], midnight), fill_value=False)
    reasons = rows["unread_reason"].cast(pa.string())
    unread = pc.if_else(today, pa.scalar(None, pa.string()), reasons).dictionary_encode()
    place = rows.schema.get_field_index("unread_reason")
    rows = rows.set_column(place, "unread_reason", unread)
    return follow(part.dataset, None, unify_chunks(rows))[1]


def sort_rows(table: pa.Table, dataset: str) -> pa.Table:
    """Returns the rows sorted by the dataset's key, then by time; each column must be one chunk.

    A query for one group then reads only the row groups whose range of names includes the group.
    """
    return _take(table, order_by(_rank_keys(table, dataset)))


def follow(
    dataset: str, known: pa.Table | None, table: pa.Table
) -> tuple[pa.Table, pa.Table | None]:
    """Returns the sorted rows with their rises, and the last known row of each log so far.

    `known` are the last known rows before this table; null if there are none. Each column must be
    one chunk.
    """
    if dataset not in RISES:
        return sort_rows(table, dataset), None
    both = table.select([*KEYS[dataset], TIME, *_OFFSETS[dataset]])
    if known is not None:
        both = unify_chunks(pa.concat_tables([known, both]))
    earlier = both.num_rows - table.num_rows
    keys = _rank_keys(both, dataset)
    order = order_by(keys)
    both = _take(both, order)
    topic_ids = rank(both["topic_id"])
    differs = np.any([np.diff(key[order]) != 0 for key in keys[:-1]], axis=0)
    partitions = np.concatenate(([0], np.cumsum(differs)))[: len(order)]
    logs = partitions * (topic_ids.max(initial=0) + 2) + topic_ids + 1
    risen, last = compute_rises(find_offsets(both, dataset), logs)
    own = order >= earlier
    rows = _take(table, order[own] - earlier)
    return (
        rows.append_column(RISES[dataset], risen.filter(pa.array(own))),
        unify_chunks(_take(both, np.sort(last))),
    )


def _rank_keys(table: pa.Table, dataset: str) -> list[Order]:
    return [rank(table[name]) for name in (*KEYS[dataset], TIME)]


def order_by(keys: Sequence[Order]) -> Order:
    """Returns the places of rows sorted by the first key, then by the next.

    Equal rows keep their order.
    """
    packed, span = list[Order](), 1
    # pack several keys into one number while they fit, because each number needs a pass of the sort
    for key in keys if len(keys[0]) else ():
        least = int(key.min())
        width = int(key.max()) - least + 1
        if packed and span * width < _PACKED:
            packed[-1], span = packed[-1] * width + (key - least), span * width
        else:
            packed.append(key - least)
            span = width
    # lexsort sorts by its last key first
    return np.lexsort(packed[::-1]) if packed else np.zeros(0, dtype=np.int64)


def rank(column: pa.ChunkedArray) -> Order:
    """Returns numbers that sort like the values.

    Text is compared byte by byte, as in Spark and Parquet.
    """
    (values,) = column.chunks or [pa.array([], column.type)]
    if not pa.types.is_dictionary(values.type):
        whole: Order = values.cast(pa.int64()).fill_null(-1).to_numpy()
        return whole
    order = pc.sort_indices(values.dictionary.cast(pa.binary())).to_numpy()
    ranks = np.full(len(order) + 1, -1, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    chosen: Order = ranks[values.indices.fill_null(-1).to_numpy()]
    return chosen


def _read_sources(part: Part, sources: Sequence[str], storage: Storage) -> pa.Table:
    """Returns the rows of all sources, with the columns of all of them, each in one chunk.

    Raises DataError if two files have a column of the same name whose types do not fit together.
    """
    found = list[pa.Table]()
    read = storage.each(storage.read, sources, READ_AT_ONCE)
    for source, data in zip(sources, read, strict=True):
        found += read_rows(part.dataset, source, data)
    try:
        rows = pa.concat_tables(found, promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise DataError(
            f"the {part.dataset} for {part.target} differ in a column: {error}"
        ) from error
    names = arrow_schema(part.dataset).names
    return unify_chunks(rows.select([*names, *sorted(set(rows.column_names) - set(names))]))


def unify_chunks(rows: pa.Table) -> pa.Table:
    """Returns the rows with one chunk per column, and one dictionary per text column."""
    columns = [
        pa.nulls(rows.num_rows, each.type) if _is_blank(each) else each for each in rows.columns
    ]
    return pa.table(columns, rows.schema).unify_dictionaries().combine_chunks()


def _is_blank(column: pa.ChunkedArray) -> bool:
    """Returns whether every value is null, as in half of the columns on a quiet day."""
    return bool(column.null_count == len(column))


def _take(table: pa.Table, places: Order) -> pa.Table:
    """Returns the rows at these places."""
    at = pa.array(places)
    columns = [
        each.slice(0, len(at)) if _is_blank(each) and len(at) <= len(each) else each.take(at)
        for each in table.columns
    ]
    return pa.table(columns, table.schema)


def read_rows(dataset: str, path: str, data: bytes | pa.Buffer) -> Iterator[pa.Table]:
    """Yields the file's rows in tables of about STRETCH_ROWS rows; one empty table if it has none.

    The columns are the history's, null if the file lacks one, then all others of the file by name:
    a newer MINOR version may have more. Raises CorruptObjectsError if the rows cannot be decoded.
    """
    declared = arrow_schema(dataset)
    try:
        file = _open(data, declared)
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        for share in split_evenly(sizes, max(1, round(sum(sizes) / STRETCH_ROWS))) or [slice(0, 0)]:
            rows = file.read_row_groups([*range(share.start, share.stop)], use_threads=False)
            # damaged data may decode to indices outside of the dictionary
            rows.validate(full=True)
            yield in_columns(rows, _add_columns(declared, rows.schema))
    except MemoryError:
        raise
    # ValueError: text that is not UTF-8, also if Arrow reports it
    except (pa.ArrowException, ValueError, OSError) as error:
        raise CorruptObjectsError([path]) from error


def _open(data: bytes | pa.Buffer, declared: pa.Schema) -> pq.ParquetFile:
    """Returns the file, opened so that text columns are read as dictionaries."""
    text = [field.name for field in declared if field.type == TEXT]
    try:
        return pq.ParquetFile(pa.BufferReader(data), read_dictionary=text)
    except KeyError:
        there = set(pq.read_schema(pa.BufferReader(data)).names)
        text = [name for name in text if name in there]
        return pq.ParquetFile(pa.BufferReader(data), read_dictionary=text)


def _add_columns(declared: pa.Schema, found: pa.Schema) -> pa.Schema:
    """Returns the declared columns, then the other columns of a file by name.

    Text as dictionary.
    """
    more = sorted(set(found.names) - set(declared.names))
    return (
        pa.schema([*declared, *map(_declare_column, map(found.field, more))]) if more else declared
    )


def _declare_column(field: pa.Field) -> pa.Field:
    text = field.type in (pa.string(), pa.large_string()) or pa.types.is_dictionary(field.type)
    return pa.field(field.name, TEXT if text else field.type)


def _convert_to_seconds(rows: pa.Table) -> pa.ChunkedArray:
    return rows[TIME].cast(pa.timestamp("s", tz="UTC"), safe=False).cast(pa.int64())


def split_evenly(sizes: Sequence[int], count: int) -> list[slice]:
    """Returns slices of the items in at most `count` shares of about the same total size."""
    if len(sizes) == 1:
        return [slice(0, 1)]
    ends = np.cumsum(sizes)
    share = np.minimum((ends - 1) * count // max(1, sum(sizes)), count - 1)
    starts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(starts) if a < b]
