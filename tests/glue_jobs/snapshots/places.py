# SPDX-License-Identifier: Apache-2.0
"""Days to find, and ways to damage them."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag_report.read_snapshots import Day, find_days
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import NOON, group_row, minute, write_run

DATE = NOON.date()
AFTER = DATE + timedelta(days=1)
VERSION = "kafka_lag_schema_version"


def clusters(root: Path, *wanted: str, today: date = AFTER) -> dict[str, Day]:
    """The day of each cluster."""
    days = find_days(Storage(), str(root), str(root), DATE, wanted, today)
    return {day.cluster: day for day in days}


def found(root: Path, *wanted: str, today: date = AFTER) -> Day:
    """The day of the only cluster."""
    (day,) = clusters(root, *wanted, today=today).values()
    return day


def write_runs(root: Path, count: int, dataset: str = "group_partitions") -> list[Path]:
    """One run a minute, each with one row whose lag is its minute."""
    return [
        write_run(root, dataset, [group_row(0, 0, 0, number)], at=minute(number))
        for number in range(count)
    ]


def write_history(root: Path, dataset: str, source: Path, folder: str = "demo") -> Path:
    """The rows of one object as a day's compacted file."""
    place = root / "history" / dataset / f"cluster={folder}" / f"dt={DATE}"
    place.mkdir(parents=True, exist_ok=True)
    path = place / "part-0.parquet"
    pq.write_table(pq.ParquetFile(source).read(), path)
    return path


def rewrite(path: Path, table: pa.Table | None = None, version: str | None = "2") -> None:
    """Write the object anew with other columns, or as of another schema version (null: none)."""
    table = pq.ParquetFile(path).read() if table is None else table
    named = {} if version is None else {VERSION: version}
    pq.write_table(table.replace_schema_metadata(named), path, compression="zstd")


def without(path: Path, *columns: str) -> pa.Table:
    return pq.ParquetFile(path).read().drop_columns(list(columns))


def with_text(path: Path, column: str) -> pa.Table:
    table = pq.ParquetFile(path).read()
    number = table.schema.get_field_index(column)
    return table.set_column(number, column, table[column].cast(pa.string()))


def damage_pages(path: Path) -> None:
    """Spoil the rows and leave the footer whole."""
    data = bytearray(path.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little") + 8
    for place in range(4, len(data) - footer):
        data[place] ^= 0x5A
    path.write_bytes(data)


def utc(hour: int, minutes: int = 0) -> datetime:
    return datetime(DATE.year, DATE.month, DATE.day, hour, minutes, tzinfo=UTC)
