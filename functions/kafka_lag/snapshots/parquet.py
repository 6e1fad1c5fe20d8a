# SPDX-License-Identifier: Apache-2.0
"""Frames as Parquet bytes and back: dictionaries for strings, null for unknown."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame, unknown

_ARROW: dict[str, Any] = {
    contract.STRING: pa.string(),
    contract.LONG: pa.int64(),
    contract.INT: pa.int32(),
    contract.DOUBLE: pa.float64(),
    contract.BOOLEAN: pa.bool_(),
    contract.TIMESTAMP: pa.timestamp("ms", tz="UTC"),
    contract.INT_LIST: pa.list_(pa.int32()),
    contract.DOUBLE_LIST: pa.list_(pa.float64()),
}

# Setting up a compressor takes longer than writing a column without values, and with few rows the
# result is not smaller.
_FEWEST_COMPRESSED_ROWS = 256

# A query engine skips files by these. Finding the minimum and maximum of the other columns takes a
# fifth of the time to write a file, and no query filters by them alone.
_WITH_STATISTICS = ("consumer_group", "topic")


def arrow_type(kind: str) -> Any:
    """Returns the Arrow type of a contract type that a reader gets."""
    return _ARROW[kind]


def to_parquet(frame: Frame, dataset: str, servers: Sequence[str] = ()) -> bytes:
    """Returns the bytes of the dataset's columns, in the contract's order and types.

    The metadata hold the schema version and the bootstrap servers that were read.
    """
    columns = contract.COLUMNS[dataset]
    whole = frame.completed(dataset)
    # Arrow stores a value for each row even if all are null, so one array of a kind is enough.
    blank = cache(lambda kind: _to_arrow(unknown(kind, len(whole)), kind))
    arrays = {
        name: _to_arrow(whole.columns[name], kind)
        if whole.columns[name].known.any()
        else blank(kind)
        for name, kind in columns.items()
    }
    metadata = {contract.SCHEMA_VERSION_KEY: contract.SCHEMA_VERSION}
    if servers:
        metadata[contract.SERVERS_KEY] = ",".join(servers)
    table = pa.table(arrays).replace_schema_metadata(metadata)
    # Arrow writes to a Python file piece by piece, which takes ten times as long for few rows.
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression=_compression(whole, columns),
        write_statistics=[name for name in _WITH_STATISTICS if name in columns],
    )
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _compression(frame: Frame, kinds: Mapping[str, str]) -> dict[str, str]:
    """Returns the codec, by path, of each column that is worth compressing."""
    if len(frame) < _FEWEST_COMPRESSED_ROWS:
        return {}
    known = [name for name in kinds if frame.columns[name].known.any()]
    paths = (f"{n}.list.element" if kinds[n] in contract.LISTS else n for n in known)
    return dict.fromkeys(paths, "zstd")


def from_parquet(data: bytes, dataset: str, columns: Iterable[str] | None = None) -> Frame:
    """Returns the dataset's columns, or those named.

    A column that the bytes lack is unknown, for example a column that an older version did not
    have. Raises UnusableError for bytes that are not such a Parquet file.
    """
    types = contract.COLUMNS[dataset]
    if columns is not None:
        types = {name: types[name] for name in columns}
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        schema = file.schema_arrow
        if contract.SCHEMA_VERSION_KEY.encode() not in (schema.metadata or {}):
            raise UnusableError(f"not a {dataset} file: it names no schema version")
        table = file.read(columns=[name for name in types if name in schema.names])
        found = {n: from_arrow(table[n], types[n]) for n in table.column_names}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnusableError(f"not a readable {dataset} file: {error}") from error
    rows = file.metadata.num_rows
    return Frame({n: found.get(n, unknown(kind, rows)) for n, kind in types.items()}, rows)


def as_stored(frame: Frame, dataset: str) -> Frame:
    """Returns the frame as `from_parquet` would return it for its bytes."""
    kinds, whole = contract.COLUMNS[dataset], frame.completed(dataset)
    columns = {name: _of_kind(column, kinds[name]) for name, column in whole.columns.items()}
    return Frame(columns, len(whole))


def _of_kind(column: AnyColumn, kind: str) -> AnyColumn:
    if isinstance(column, Strings) or column.values.dtype == DTYPES[kind]:
        return column
    return Column(column.values.astype(DTYPES[kind]), column.known)


def servers_of(data: bytes) -> list[str]:
    """Returns the bootstrap servers that a file's run was configured with; empty if not stored.

    Raises UnusableError for bytes that are not a Parquet file.
    """
    try:
        metadata = pq.read_schema(io.BytesIO(data)).metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnusableError(f"not a readable file: {error}") from error
    joined: str = metadata.get(contract.SERVERS_KEY.encode(), b"").decode()
    return joined.split(",") if joined else []


def _to_arrow(column: AnyColumn, kind: str) -> Any:
    if isinstance(column, Column):
        return pa.array(column.values, _ARROW[kind], mask=~column.known)
    codes = pa.array(column.codes.values, pa.int32(), mask=~column.known)
    categories = pa.array(column.categories, _ARROW[kind])
    if kind in contract.LISTS:
        return categories.take(codes)
    return pa.DictionaryArray.from_arrays(codes, categories)


def from_arrow(chunks: Any, kind: str) -> AnyColumn:
    """Returns a table's column as one of this contract type; null becomes unknown.

    Most columns of a small cluster hold nothing, and each step in Arrow takes longer than their
    rows.
    """
    if chunks.null_count == len(chunks):
        return unknown(kind, len(chunks))
    array = chunks.combine_chunks()
    if kind in contract.LISTS:
        return Strings.of(None if row is None else tuple(row) for row in array.to_pylist())
    if kind == contract.STRING:
        return _strings(array)
    wanted = pa.int64() if kind == contract.TIMESTAMP else _ARROW[kind]
    filled = array if array.type == wanted else array.cast(wanted)
    if not array.null_count:
        return Column.of(filled.to_numpy(zero_copy_only=False).astype(DTYPES[kind]))
    empty = False if kind == contract.BOOLEAN else 0
    values = filled.fill_null(empty).to_numpy(zero_copy_only=False)
    return Column(values.astype(DTYPES[kind]), np.asarray(array.is_valid()))


def _strings(array: Any) -> Strings:
    if not pa.types.is_dictionary(array.type):
        array = array.cast(pa.string()).dictionary_encode()
    elif isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    known = np.asarray(array.is_valid())
    codes = array.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
    return Strings(Column(codes, known), tuple(array.dictionary.to_pylist()))
