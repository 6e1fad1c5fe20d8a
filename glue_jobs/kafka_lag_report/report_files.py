# SPDX-License-Identifier: Apache-2.0
"""Computes the report tables, and reads published ones by their dates.

<output>/reports/<report>/cluster=<c>/dt=<date>/report.parquet
<output>/reports/page/cluster=<c>/dt=<date>/report.html
"""

from collections.abc import Iterable, Sequence
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from kafka_lag_report.errors import DamagedFileError
from kafka_lag_report.queries import Queries, collect_rows, run_at_once
from kafka_lag_report.read_snapshots import Day, list_snapshot_dates, read_paths
from kafka_lag_report.schemas import REPORTS, TABLES, in_columns, report_schema
from kafka_lag_report.storage import PARQUET, Storage

TABLE_FILE, PAGE_FILE = f"report{PARQUET}", "report.html"
PAGE = "page"
# Columns to sort by, if a report has them: what queries filter by first, then the rest of the key.
_KEYS = (
    *("consumer_group", "topic", "partition_id", "hour", "measure", "leader", "leader_rack"),
    *("client_host", "client_id", "member_id", "dataset"),
)


def compute(queries: Queries, names: Iterable[str]) -> dict[str, pa.Table]:
    """Returns the rows of each table, by its name, sorted so that queries can skip row groups."""

    def computed(path: str) -> pa.Table:
        schema = report_schema(path.removeprefix("tables/"))
        keys = [key for key in _KEYS if key in schema.names]
        return collect(queries.run(path), schema, keys)

    tables = run_at_once(computed, [f"tables/{name}" for name in names])
    return {path.removeprefix("tables/"): table for path, table in tables.items()}


def collect(frame: DataFrame, schema: pa.Schema, keys: Sequence[str]) -> pa.Table:
    """Returns the rows in the schema's columns, sorted by the keys with nulls first.

    The driver does this: a cluster's tables have at most a row for each partition of a group, and
    the page needs them on the driver anyway. Writing files from Spark takes twice as long.
    """
    rows = sorted(
        (row.asDict() for row in collect_rows(frame.select(*schema.names))),
        key=lambda row: [(row[key] is not None, row[key]) for key in keys],
    )
    return pa.Table.from_pylist(rows, schema)


def read_stored(
    spark: SparkSession, storage: Storage, output: str, name: str, day: Day, dates: Iterable[date]
) -> DataFrame:
    """Returns the rows of one published report of the day's cluster on these dates, read lazily.

    The columns are the report's and `dt`, the date as text; dates without a report have no rows. If
    a file cannot be read, computing the rows fails; see `naming_corrupt_files`.
    """
    paths = list_stored_folders(storage, output, name, day, dates)
    folder = f"{reports_root(output)}/{name}/{day.folder}"
    return read_paths(spark, paths, REPORTS[name], dates_in=folder)


def read_published(storage: Storage, output: str, day: Day) -> dict[str, pa.Table]:
    """Returns all published reports of the day by name; a report that does not exist has no rows.

    Raises DamagedFileError for a file that cannot be read.
    """
    root = reports_root(output)
    names = {f"{root}/{name}/{day.folder}/dt={day.date}": name for name in TABLES}
    tables = storage.each(lambda folder: _read_table(storage, folder, names[folder]), [*names])
    return dict(zip(TABLES, tables, strict=True))


def _read_table(storage: Storage, folder: str, name: str) -> pa.Table:
    """Returns the rows of the folder's files; a column that a file lacks is null."""
    schema = report_schema(name)
    found = [schema.empty_table()]
    for file in storage.objects(folder, PARQUET):
        path = f"{folder}/{file.name}"
        data = storage.read(path)
        try:
            rows = pq.ParquetFile(pa.BufferReader(data)).read()
            rows.validate(full=True)
            found.append(in_columns(rows, schema))
        except (pa.ArrowException, ValueError, OSError) as error:
            raise DamagedFileError(path) from error
    return pa.concat_tables(found)


def list_stored_folders(
    storage: Storage, output: str, name: str, day: Day, dates: Iterable[date]
) -> list[str]:
    """Returns the existing folders of a report of the day's cluster on these dates."""
    found = list_stored_dates(storage, output, name, day, dates)
    return [f"{reports_root(output)}/{name}/{day.folder}/dt={each}" for each in found]


def list_stored_dates(
    storage: Storage, output: str, name: str, day: Day, dates: Iterable[date]
) -> list[date]:
    """Returns the dates for which the report of the day's cluster exists, ascending."""
    there = {*storage.folders(f"{reports_root(output)}/{name}/{day.folder}")}
    return sorted(each for each in dates if f"dt={each}" in there)


def is_first_day(storage: Storage, output: str, day: Day) -> bool:
    """Returns whether the day is the cluster's first: no older snapshots, history or reports."""
    reported = storage.folders(f"{reports_root(output)}/coverage/{day.folder}")
    if any(name.startswith("dt=") and name < f"dt={day.date}" for name in reported):
        return False
    seen = (list_snapshot_dates(storage, root, day.folder) for root in (day.root, day.history))
    return not any(dates and dates[0] < day.date for dates in seen)


def page_address(output: str, day: Day) -> str:
    """Returns the address of the day's published page."""
    return f"{reports_root(output)}/{PAGE}/{day.folder}/dt={day.date}/{PAGE_FILE}"


def reports_root(output: str) -> str:
    """Returns the folder of all reports."""
    return f"{output}/reports"
