# SPDX-License-Identifier: Apache-2.0
"""Many small files into one sorted file, read back before anything trusts it.

In Arrow's columns and not in Spark's rows: a day of 14 million rows takes a quarter of the time.
It runs in Spark's workers, a file each, wherever they are.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafka_lag_report.errors import DataError, UndecodedError
from kafka_lag_report.history.checksum import checksum
from kafka_lag_report.history.layout import TIME, encoded, sorted_rows
from kafka_lag_report.schemas.arrow import TEXT, arrow_schema
from kafka_lag_report.storage.objects import AT_ONCE, Objects


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read; `passed_over` are seconds of runs to take no row of."""

    address: str
    passed_over: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Part:
    """Files of one dataset that become the file `target`; their `rows`, null where not counted."""

    dataset: str
    sources: tuple[Source, ...]
    target: str
    rows: int | None = None


def compact(part: Part, objects: Objects) -> int:
    """Write the part's file and read it back; its rows, and with none of them no file.

    UndecodedError for a source whose rows cannot be read; StoreError if the store refuses;
    DataError if what was written is not what was to be read.
    """
    found = _together(part, list(_tables(part, objects)))
    before = checksum(found)
    if part.rows not in (None, before.rows):
        raise _different(part, before.rows)
    if not before.rows:
        return 0
    objects.write(part.target, encoded(sorted_rows(found, part.dataset)))
    del found
    try:
        written = _table(part.dataset, Source(part.target), objects.read(part.target))
    except UndecodedError as error:
        raise _different(part, before.rows) from error
    if checksum(_of_one_piece(written)) != before:
        raise _different(part, before.rows)
    return before.rows


def _different(part: Part, rows: int) -> DataError:
    return DataError(
        f"the compacted {part.dataset} in {part.target} differ from the {rows:,} rows of their "
        "sources; nothing was replaced or marked: run the job again"
    )


def _tables(part: Part, objects: Objects) -> Iterator[pa.Table]:
    """Each source's rows, while the next ones are on their way."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        data = pool.map(objects.read, (source.address for source in part.sources))
        for source, held in zip(part.sources, data, strict=True):
            yield _table(part.dataset, source, held)


def _table(dataset: str, source: Source, data: bytes) -> pa.Table:
    """The rows in the history's columns, null where the file lacks one, then all that it has more.

    More columns are those of a newer MINOR version, by name and of the types that they have.
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
        rows = file.read(use_threads=False)
        # damage may decode to places in a dictionary that has none such
        rows.validate(full=True)
        columns = [
            rows[field.name].cast(field.type, safe=False)
            if field.name in rows.column_names
            else pa.nulls(rows.num_rows, field.type)
            for field in schema
        ]
    except MemoryError:
        raise
    # ValueError: text that is no UTF-8, in Arrow's own words too
    except (pa.ArrowException, ValueError, OSError) as error:
        raise UndecodedError(source.address) from error
    return _left(pa.table(columns, schema), source.passed_over)


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


def _left(rows: pa.Table, passed_over: frozenset[int]) -> pa.Table:
    if not passed_over:
        return rows
    seconds = rows[TIME].cast(pa.timestamp("s", tz="UTC"), safe=False).cast(pa.int64())
    return rows.filter(pc.invert(pc.is_in(seconds, pa.array(sorted(passed_over)))))


def _of_one_piece(rows: pa.Table) -> pa.Table:
    return rows.unify_dictionaries().combine_chunks()
