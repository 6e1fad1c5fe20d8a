# SPDX-License-Identifier: Apache-2.0
"""Translates the contract's columns of snapshots and reports into types of Spark and Arrow.

The schemas are explicit, so that a run does not depend on which file is read first. A column that a
file lacks is null. No schema has `cluster` and `dt`, because these are names of folders.
docs/snapshots.md says what each column means.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from kafka_lag import contract
from kafka_lag.contract.reports import INCIDENTS, REPORT_COLUMNS

# A row of a report's table.
Row = Mapping[str, Any]

STRING = StringType()
LONG = LongType()
INT = IntegerType()
DOUBLE = DoubleType()
BOOLEAN = BooleanType()
TIMESTAMP = TimestampType()
INT_LIST = ArrayType(INT)
DOUBLE_LIST = ArrayType(DOUBLE)


SPARK_TYPES = {
    contract.STRING: STRING,
    contract.LONG: LONG,
    contract.INT: INT,
    contract.DOUBLE: DOUBLE,
    contract.BOOLEAN: BOOLEAN,
    contract.TIMESTAMP: TIMESTAMP,
    contract.INT_LIST: INT_LIST,
    contract.DOUBLE_LIST: DOUBLE_LIST,
    # only a newer version may have it
    "array<string>": ArrayType(STRING),
}


def _make_schema(kinds: Mapping[str, str]) -> StructType:
    """Returns the columns in this order, all nullable."""
    return StructType([StructField(name, SPARK_TYPES[kind]) for name, kind in kinds.items()])


SNAPSHOTS = {dataset: _make_schema(kinds) for dataset, kinds in contract.COLUMNS.items()}

# Every table that is published for a day: the reports, and the incidents.
TABLES = {report: _make_schema(kinds) for report, kinds in REPORT_COLUMNS.items()}
REPORTS = {report: kinds for report, kinds in TABLES.items() if report != INCIDENTS}

_TYPES = {
    STRING: pa.string(),
    LONG: pa.int64(),
    INT: pa.int32(),
    DOUBLE: pa.float64(),
    BOOLEAN: pa.bool_(),
    TIMESTAMP: pa.timestamp("ms", tz="UTC"),
    INT_LIST: pa.list_(pa.int32()),
    DOUBLE_LIST: pa.list_(pa.float64()),
}


def report_schema(report: str) -> pa.Schema:
    """Returns the report's columns in their order, all nullable."""
    return pa.schema([(field.name, _TYPES[field.dataType]) for field in TABLES[report]])


def in_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Returns the rows in exactly these columns, null if the rows lack a column.

    Raises ArrowException if a column cannot be converted to its type.
    """
    there = set(rows.column_names)
    columns = [
        rows[field.name].cast(field.type, safe=False)
        if field.name in there
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema)
