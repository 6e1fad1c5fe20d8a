# SPDX-License-Identifier: Apache-2.0
"""Every column means the same to its writer and its readers: Arrow, Spark and Glue."""

from __future__ import annotations

import io
import zlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_lag import contract
from kafka_lag.contract.reports import REPORT_COLUMNS
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag_report import schemas
from tests.infra.storage.stack import tables

# The same type in the words of Arrow, Spark and Glue. A timestamp is milliseconds in UTC.
_SAME = {
    contract.STRING: ("string", "string", "string"),
    contract.LONG: ("int64", "bigint", "bigint"),
    contract.INT: ("int32", "int", "int"),
    contract.DOUBLE: ("double", "double", "double"),
    contract.BOOLEAN: ("bool", "boolean", "boolean"),
    contract.TIMESTAMP: ("timestamp[ms, tz=UTC]", "timestamp", "timestamp"),
    contract.INT_LIST: ("list<int32>", "array<int>", "array<int>"),
    contract.DOUBLE_LIST: ("list<double>", "array<double>", "array<double>"),
}
_ALL = {**contract.COLUMNS, **REPORT_COLUMNS}


# A version of the schema and the checksum of its columns. The daily report refuses a snapshot that
# lacks a column of its version, so that new columns need a new version.
_COLUMNS_OF_VERSION = ("2.11", 1057664192)


def test_other_columns_raise_the_version_of_the_schema() -> None:
    names = [
        f"{table}.{name} {kind}"
        for table, each in contract.COLUMNS.items()
        for name, kind in each.items()
    ]
    found = zlib.crc32("\n".join(sorted(names)).encode())
    assert (contract.SCHEMA_VERSION, found) == _COLUMNS_OF_VERSION


def _expected(columns: dict[str, str], place: int) -> list[tuple[str, str]]:
    return [(name, _SAME[kind][place]) for name, kind in columns.items()]


@pytest.mark.parametrize("dataset", contract.DATASETS)
def test_the_collector_writes_the_contracts_columns(dataset: str) -> None:
    written = to_parquet(Snapshot.empty().dataset(dataset), dataset)
    schema = pq.ParquetFile(io.BytesIO(written)).schema_arrow

    found = [(field.name, _arrow_word(field.type)) for field in schema]

    assert found == _expected(contract.COLUMNS[dataset], 0)


@pytest.mark.parametrize("name", _ALL)
def test_the_job_reads_and_writes_the_contracts_columns(name: str) -> None:
    schema = {**schemas.SNAPSHOTS, **schemas.TABLES}[name]

    found = [(field.name, field.dataType.simpleString()) for field in schema.fields]

    assert found == _expected(_ALL[name], 1)


_WITH_RISES = {f"history_{dataset}" for dataset in contract.RISES}


@pytest.mark.parametrize("table", [*_ALL, *(f"history_{name}" for name in contract.DATASETS)])
def test_the_catalog_has_the_contracts_columns(table: str) -> None:
    columns = tables()[table]["StorageDescriptor"]["Columns"]

    found = [(column["Name"], column["Type"]) for column in columns]

    dataset = table.removeprefix("history_")
    added = [(contract.RISES[dataset], "bigint")] if table in _WITH_RISES else []
    assert found == [*_expected(_ALL[dataset], 2), *added]


def test_no_table_and_no_report_is_missing() -> None:
    history = {f"history_{name}" for name in contract.DATASETS}

    assert set(tables()) == {*_ALL, *history}
    assert set(schemas.TABLES) == set(REPORT_COLUMNS)


@pytest.mark.parametrize("name", _ALL)
def test_no_column_hides_a_partition_of_its_table(name: str) -> None:
    partitions = {key["Name"] for key in tables()[name]["PartitionKeys"]}

    assert {"cluster", "dt"} <= partitions
    assert partitions & set(_ALL[name]) == set()
    assert [column for column in _ALL[name] if column != column.lower()] == []


def _arrow_word(kind: Any) -> str:
    """A type's word, whether as a dictionary or not, and whatever a list's elements are called."""
    if pa.types.is_list(kind):
        return f"list<{kind.value_type}>"
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)
