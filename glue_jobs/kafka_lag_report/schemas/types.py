# SPDX-License-Identifier: Apache-2.0
"""The types that snapshots and reports are made of, in Spark's words."""

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

STRING = StringType()
LONG = LongType()
INT = IntegerType()
DOUBLE = DoubleType()
BOOLEAN = BooleanType()
TIMESTAMP = TimestampType()
INT_LIST = ArrayType(INT)

CLUSTER = StructField("cluster", STRING)


def columns(**types: DataType) -> StructType:
    """A schema of nullable columns, in this order."""
    return StructType([StructField(name, kind) for name, kind in types.items()])
