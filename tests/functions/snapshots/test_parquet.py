# SPDX-License-Identifier: Apache-2.0
"""Snapshots as Parquet: any reader finds the values that were written, and so do we."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, Frame
from kafka_lag.snapshots.parquet import (
    arrow_type,
    as_stored,
    from_parquet,
    servers_of,
    to_parquet,
)
from tests.builders import a_snapshot, table

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DATASETS = pytest.mark.parametrize("dataset", contract.DATASETS)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    contract.STRING: st.text(max_size=8) | st.sampled_from(["a", "b"]),
    contract.LONG: st.integers(-(2**63), 2**63 - 1),
    contract.INT: st.integers(-(2**31), 2**31 - 1),
    contract.DOUBLE: st.floats(allow_nan=False),
    contract.BOOLEAN: st.booleans(),
    contract.TIMESTAMP: st.integers(0, 4_102_444_800_000),
    contract.INT_LIST: st.lists(st.integers(0, 9), max_size=3).map(tuple),
    contract.DOUBLE_LIST: st.lists(st.floats(0, 9), max_size=3).map(tuple),
}


def test_a_column_that_is_null_throughout_is_read_as_one_in_which_nothing_is_known() -> None:
    frame = a_snapshot(groups={"g": {"t": [1, 2]}}, topics={"t": [(0, 3), (0, 3)]}).group_partitions
    read = from_parquet(to_parquet(frame, contract.GROUP_PARTITIONS), contract.GROUP_PARTITIONS)

    assert read.numbers("rewound_at").values.strides == (0,)
    assert read.strings("member_id").codes.known.strides == (0,)
    assert read.numbers("lag").known.strides == (0,)
    assert read.numbers("lag").to_list() == [2, 1]


def column_of(kind: str, values: list[Any]) -> Column | Strings:
    if kind == contract.STRING or kind in contract.LISTS:
        return Strings.of(values)
    return Column.optional(values, DTYPES[kind])


@st.composite
def rows(draw: st.DrawFn, dataset: str) -> dict[str, list[Any]]:
    """Python values by column, None for unknown, all of one length."""
    length = draw(st.integers(0, 5))
    return {
        name: draw(st.lists(st.none() | VALUES[kind], min_size=length, max_size=length))
        for name, kind in contract.COLUMNS[dataset].items()
    }


def as_read(value: Any, kind: str) -> Any:
    """A value as pyarrow gives it to any reader."""
    if value is None:
        return None
    if kind == contract.TIMESTAMP:
        return EPOCH + timedelta(milliseconds=value)
    return list(value) if kind in contract.LISTS else value


@DATASETS
@settings(max_examples=12)
@given(data=st.data())
def test_a_foreign_reader_and_ours_find_every_value_and_every_null(
    dataset: str, data: st.DataObject
) -> None:
    values, kinds = data.draw(rows(dataset)), contract.COLUMNS[dataset]
    frame = Frame.of({name: column_of(kinds[name], column) for name, column in values.items()})
    written = to_parquet(frame, dataset)
    assert pq.read_table(io.BytesIO(written)).to_pydict() == {
        name: [as_read(value, kinds[name]) for value in column] for name, column in values.items()
    }
    again = from_parquet(written, dataset)
    assert {name: column.to_list() for name, column in again.columns.items()} == values


@DATASETS
def test_a_run_that_is_not_read_again_is_as_if_it_were(dataset: str) -> None:
    frame = a_snapshot({"g": {"t": [1, 2]}}, {"t": [(0, 3), (0, 3)]}).dataset(dataset)

    read, held = from_parquet(to_parquet(frame, dataset), dataset), as_stored(frame, dataset)

    assert types_and_values(held) == types_and_values(read)


def types_and_values(frame: Frame) -> dict[str, tuple[Any, list[Any]]]:
    kinds = {
        name: column.values.dtype if isinstance(column, Column) else column.codes.values.dtype
        for name, column in frame.columns.items()
    }
    return {name: (kinds[name], frame.columns[name].to_list()) for name in frame.columns}


@DATASETS
def test_the_file_has_the_contracts_columns_types_and_version(dataset: str) -> None:
    snapshot = a_snapshot({"g": {"orders": [5]}}, {"orders": [(0, 10)]})
    schema = pq.read_schema(io.BytesIO(to_parquet(snapshot.dataset(dataset), dataset)))
    types = [t.value_type if pa.types.is_dictionary(t) else t for t in schema.types]
    assert schema.names == list(contract.COLUMNS[dataset])
    assert types == [arrow_type(kind) for kind in contract.COLUMNS[dataset].values()]
    assert schema.metadata[b"kafka_lag_schema_version"] == contract.SCHEMA_VERSION.encode()


@pytest.mark.parametrize("servers", [[], ["b-1:9096"], ["b-1:9096", "[::1]:9092"]])
def test_the_file_names_the_bootstrap_servers(servers: list[str]) -> None:
    data = to_parquet(Frame.empty(contract.GROUPS), contract.GROUPS, servers)
    assert servers_of(data) == servers


def test_strings_are_dictionaries() -> None:
    frame = Frame.of({"consumer_group": Strings.constant("a" * 50, 10_000)})
    data = to_parquet(frame, contract.GROUPS)
    columns = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0)
    assert "RLE_DICTIONARY" in columns.column(3).encodings
    # 500,000 letters, and the footer of all columns.
    assert len(data) < 30_000


def test_files_have_statistics_of_the_columns_by_which_they_are_left_out() -> None:
    names = {name: Strings.of(["a", "b"]) for name in ("consumer_group", "topic", "client_id")}
    frame = Frame.of({**names, "lag": Column.of([1, 2])})
    footer = pq.ParquetFile(io.BytesIO(to_parquet(frame, contract.GROUP_PARTITIONS))).metadata
    columns = [footer.row_group(0).column(at) for at in range(footer.num_columns)]

    assert [c.path_in_schema for c in columns if c.is_stats_set] == ["consumer_group", "topic"]


def test_columns_of_older_and_newer_files_are_unknown_and_left_out() -> None:
    data = to_parquet(Frame.of({"lag": Column.of([7])}), contract.GROUPS)
    other = io.BytesIO()
    older = pq.read_table(io.BytesIO(data)).drop_columns(["owner", "members"])
    pq.write_table(older.append_column("mood", [["good"]]), other)
    frame = from_parquet(other.getvalue(), contract.GROUPS)
    assert table(frame, "lag", "owner", "members") == [(7, None, None)]
    assert list(frame.columns) == list(contract.COLUMNS[contract.GROUPS])
    some = from_parquet(other.getvalue(), contract.GROUPS, ("owner", "lag"))
    assert list(some.columns) == ["owner", "lag"]
    assert table(some, "owner", "lag") == [(None, 7)]


def test_plain_strings_and_several_row_groups_are_read_too() -> None:
    plain = pa.table({"consumer_group": ["a", None, "b"], "lag": [1, 2, None]})
    plain = plain.replace_schema_metadata({contract.SCHEMA_VERSION_KEY: "1"})
    data = io.BytesIO()
    pq.write_table(plain, data, row_group_size=1)
    frame = from_parquet(data.getvalue(), contract.GROUPS)
    assert table(frame, "consumer_group", "lag") == [("a", 1), (None, 2), ("b", None)]


def foreign_parquet() -> bytes:
    data = io.BytesIO()
    pq.write_table(pa.table({"lag": [1]}), data)
    return data.getvalue()


def misspelt() -> bytes:
    """A good file in which a topic's name is no longer UTF-8."""
    frame = Frame.of({"topic": Strings.of(["ABCDEFGH"])})
    data = to_parquet(frame, contract.TOPIC_PARTITIONS)
    return data.replace(b"ABCDEFGH", b"ABCD\xff\xff\xffH")


def other_types() -> bytes:
    data = io.BytesIO()
    strange = pa.table({"lag": ["seven"]})
    pq.write_table(strange.replace_schema_metadata({contract.SCHEMA_VERSION_KEY: "1"}), data)
    return data.getvalue()


GOOD = to_parquet(Frame.of({"lag": Column.of(np.arange(100))}), contract.GROUP_PARTITIONS)


@pytest.mark.parametrize(
    ("data", "dataset"),
    [
        pytest.param(b"", contract.GROUPS, id="empty"),
        pytest.param(b"not Parquet at all", contract.GROUPS, id="text"),
        pytest.param(GOOD[: len(GOOD) // 2], contract.GROUP_PARTITIONS, id="half"),
        pytest.param(foreign_parquet(), contract.GROUPS, id="somebody-elses"),
        pytest.param(other_types(), contract.GROUPS, id="other-types"),
        pytest.param(misspelt(), contract.TOPIC_PARTITIONS, id="not-utf-8"),
    ],
)
def test_bytes_that_are_no_snapshot_are_a_store_error(data: bytes, dataset: str) -> None:
    with pytest.raises(UnusableError, match=f"not a (readable )?{dataset} file"):
        from_parquet(data, dataset)


def test_what_is_no_parquet_names_no_servers() -> None:
    with pytest.raises(UnusableError, match="not a readable file"):
        servers_of(b"nothing")


@pytest.mark.parametrize(("rows", "codec"), [(255, "UNCOMPRESSED"), (256, "ZSTD")])
def test_columns_with_values_are_compressed_where_there_are_many_rows(
    rows: int, codec: str
) -> None:
    frame = Frame.of({"lag": Column.of(np.arange(rows))})
    columns = pq.ParquetFile(io.BytesIO(to_parquet(frame, contract.GROUPS))).metadata.row_group(0)
    codecs = {
        columns.column(at).path_in_schema: columns.column(at).compression
        for at in range(columns.num_columns)
    }
    assert codecs.pop("lag") == codec
    assert set(codecs.values()) == {"UNCOMPRESSED"}
