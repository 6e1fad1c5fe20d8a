# SPDX-License-Identifier: Apache-2.0
"""Each type of a column in the words of Spark, which the schemas use, DuckDB, Arrow and Parquet."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class Kind:
    """`stored` are the physical types a Parquet file may have for it; empty: not looked at."""

    duckdb: str
    arrow: pa.DataType
    stored: frozenset[str]


_KINDS = {
    "string": Kind("VARCHAR", pa.string(), frozenset({"BYTE_ARRAY"})),
    "bigint": Kind("BIGINT", pa.int64(), frozenset({"INT32", "INT64"})),
    "int": Kind("INTEGER", pa.int32(), frozenset({"INT32", "INT64"})),
    "double": Kind("DOUBLE", pa.float64(), frozenset({"DOUBLE", "FLOAT"})),
    "boolean": Kind("BOOLEAN", pa.bool_(), frozenset({"BOOLEAN"})),
    "timestamp": Kind("TIMESTAMP", pa.timestamp("ms", tz="UTC"), frozenset({"INT64", "INT96"})),
    "array<int>": Kind("INTEGER[]", pa.list_(pa.int32()), frozenset()),
}


def kinds_of(declared: StructType) -> dict[str, Kind]:
    """The type of each column, in their order."""
    return {field.name: _KINDS[field.dataType.simpleString()] for field in declared.fields}


def casts(kinds: dict[str, Kind], there: set[str]) -> str:
    """A SELECT's columns: those that are there with their types, the others null."""
    return ", ".join(
        f"CAST({name if name in there else 'NULL'} AS {kind.duckdb}) AS {name}"
        for name, kind in kinds.items()
    )
