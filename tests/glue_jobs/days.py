# SPDX-License-Identifier: Apache-2.0
"""Snapshots as the collector writes them: pyarrow, zstd, the real folder layout."""

import io
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from kafka_lag.contract import KEYS
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.schemas import SNAPSHOTS

Row = dict[str, Any]
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ARROW = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("ms", tz="UTC"),
    "array<int>": pa.list_(pa.int32()),
    "array<double>": pa.list_(pa.float64()),
}


def a_day(cluster: str = "demo", root: Path | str = "in", **more: Any) -> Day:
    """The day under test of a cluster whose objects nobody has listed."""
    usual: Row = {
        "cluster": cluster,
        "folder": f"cluster={quote(cluster, safe='')}",
        "root": f"{root}/snapshots",
        "history": f"{root}/history",
        "date": NOON.date(),
        "in_progress": False,
        "source": "snapshots",
        "runs": {},
    }
    return Day(**{**usual, **more})


def minute(number: int) -> datetime:
    """The scheduled time of a run, in minutes after noon UTC of the day under test."""
    return NOON + timedelta(minutes=number)


def write_run(
    root: Path,
    dataset: str,
    rows: Sequence[Row],
    *,
    at: datetime = NOON,
    folder: str = "demo",
    lean: bool = False,
) -> Path:
    """One object of one run; columns that a row does not name are null, or if `lean` absent: half
    of what many objects cost.
    """
    place = root / "snapshots" / dataset / f"cluster={folder}"
    place = place / f"dt={at:%Y-%m-%d}" / f"hour={at:%H}"
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{at:%Y%m%dT%H%M%S}Z-0of1.parquet"
    kinds = {field.name: field.dataType.simpleString() for field in SNAPSHOTS[dataset].fields}
    named = {*KEYS[dataset], "taken_at", "read_at", *(name for row in rows for name in row)}
    columns = [(name, ARROW[kind]) for name, kind in kinds.items() if name in named or not lean]
    schema = pa.schema(columns, metadata={"kafka_lag_schema_version": "2"})
    full = [{"taken_at": at, "read_at": at, **row} for row in rows]
    if not rows:
        path.write_bytes(_without_rows(schema))
        return path
    table = pa.Table.from_pylist(full, schema=schema)
    pq.write_table(table, path, compression="zstd", use_dictionary=True)
    return path


@cache
def _without_rows(schema: pa.Schema) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(schema.empty_table(), buffer, compression="zstd", use_dictionary=True)
    return buffer.getvalue()


def group_row(partition: int, committed: int | None, start: int, end: int, **more: Any) -> Row:
    """A group's partition as read, lagging from the log start where that passed the commit."""
    lag = None if committed is None else max(end - max(committed, start), 0)
    lost = None if committed is None else max(start - committed, 0)
    return {
        "consumer_group": "billing",
        "topic": "orders",
        "topic_id": "id-1",
        "partition_id": partition,
        "committed_offset": committed,
        "start_offset": start,
        "end_offset": end,
        "lag": lag,
        "records_lost": lost,
        **more,
    }


def topic_row(partition: int, end: int | None, **more: Any) -> Row:
    """A topic's partition as read."""
    row = {"topic": "orders", "topic_id": "id-1", "partition_id": partition, "end_offset": end}
    return {**row, **more}


def frame(spark: SparkSession, dataset: str, rows: Sequence[Row]) -> DataFrame:
    """Snapshot rows as the job reads them, of noon unless they say otherwise."""
    full = [{"taken_at": NOON, **row} for row in rows]
    return frame_of(spark, SNAPSHOTS[dataset], full)


def frame_of(spark: SparkSession, schema: StructType, rows: Sequence[Row]) -> DataFrame:
    """These rows; columns that a row does not name are null."""
    if spark.version.startswith("3."):
        return spark.createDataFrame(
            [tuple(row.get(n) for n in schema.names) for row in rows], schema
        )
    # Arrow stays in the driver, which makes a query of it ten times as fast.
    table = pa.Table.from_pylist(list(rows), schema=to_arrow_schema(schema))
    return spark.createDataFrame(table, schema)


def report_rows(
    root: Path, report: str, cluster: str = "demo", day: str = "2026-01-31"
) -> list[Row]:
    """A report's rows as any reader of Parquet sees them; none where no file is."""
    files = sorted(
        (root / "reports" / report / f"cluster={cluster}" / f"dt={day}").glob("*.parquet")
    )
    # one by one: a dataset read would add the folder names as columns
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
