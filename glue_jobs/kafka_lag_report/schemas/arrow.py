# SPDX-License-Identifier: Apache-2.0
"""The snapshots' columns in Arrow's words; text by dictionary, as its values repeat all day."""

import pyarrow as pa

from kafka_lag_report.schemas.snapshots import SNAPSHOTS
from kafka_lag_report.schemas.types import BOOLEAN, DOUBLE, INT, INT_LIST, LONG, STRING, TIMESTAMP

TEXT = pa.dictionary(pa.int32(), pa.string())
_TYPES = {
    STRING: TEXT,
    LONG: pa.int64(),
    INT: pa.int32(),
    DOUBLE: pa.float64(),
    BOOLEAN: pa.bool_(),
    TIMESTAMP: pa.timestamp("ms", tz="UTC"),
    INT_LIST: pa.list_(pa.int32()),
}


def arrow_schema(dataset: str) -> pa.Schema:
    """The dataset's columns in their order, all nullable."""
    return pa.schema([(field.name, _TYPES[field.dataType]) for field in SNAPSHOTS[dataset]])
