# SPDX-License-Identifier: Apache-2.0
"""Where reports lie, what they are computed to, and how they are read back by dates.

<output>/reports/<report>/cluster=<c>/dt=<date>/report.parquet
<output>/reports/page/cluster=<c>/dt=<date>/report.html
"""

from collections.abc import Iterable, Sequence
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.errors import CorruptObjectsError
from kafka_lag_report.queries import Queries, at_once
from kafka_lag_report.read_snapshots import Day, rows_in, snapshot_dates
from kafka_lag_report.schemas import REPORTS, TABLES, in_columns, report_schema
from kafka_lag_report.storage import PARQUET, Storage

TABLE_FILE, PAGE_FILE = f"report{PARQUET}", "report.html"
PAGE = "page"
# What queries ask by, of the reports that have it, and what else tells rows apart.
_KEYS = (
    *("consumer_group", "topic", "partition_id", "hour", "measure", "leader", "leader_rack"),
    *("client_host", "client_id", "member_id", "dataset"),
)


def compute(queries: Queries, names: Iterable[str]) -> dict[str, pa.Table]:
    """Each table's rows by what queries ask by, so that they can skip in its file."""

    def computed(path: str) -> pa.Table:
        schema = report_schema(path.removeprefix("tables/"))
        keys = [key for key in _KEYS if key in schema.names]
        return collect(queries.run(path), schema, keys)

    tables = at_once(computed, [f"tables/{name}" for name in names])
    return {path.removeprefix("tables/"): table for path, table in tables.items()}


def collect(frame: DataFrame, schema: pa.Schema, keys: Sequence[str]) -> pa.Table:
    """The rows in the schema's columns, sorted by the keys, null first.

    On the driver: a cluster's tables have a row for each partition of a group at most, and the
    page is made of them there anyway. A query that writes files takes twice as long.
    """
    # as a number: Python would show the machine's own zone
    columns = (
        sf.unix_millis(field.name) if pa.types.is_timestamp(field.type) else field.name
        for field in schema
    )
    places = [schema.get_field_index(key) for key in keys]
    rows = sorted(
        frame.select(*columns).collect(),
        key=lambda row: [(row[place] is not None, row[place]) for place in places],
    )
    values = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(list(v), field.type) for v, field in zip(values, schema, strict=True)]
    return pa.table(arrays, schema)


def stored(
    spark: SparkSession, storage: Storage, output: str, name: str, day: Day, dates: Iterable[date]
) -> DataFrame:
    """One published report of the day's cluster on these dates, as far as there are any.

    Columns are the report's and `dt`, as text. A file that cannot be read fails when the
    rows are computed, see `naming_corrupt_files`.
    """
    paths = stored_folders(storage, output, name, day, dates)
    folder = f"{reports_root(output)}/{name}/{day.folder}"
    return rows_in(spark, paths, REPORTS[name], dates_in=folder)


def published(storage: Storage, output: str, day: Day) -> dict[str, pa.Table]:
    """The reports of the day that lie there, without rows where there is none.

    CorruptObjectsError for a file that cannot be read.
    """
    root = reports_root(output)
    names = {f"{root}/{name}/{day.folder}/dt={day.date}": name for name in TABLES}
    tables = storage.each(lambda folder: _table(storage, folder, names[folder]), [*names])
    return dict(zip(TABLES, tables, strict=True))


def _table(storage: Storage, folder: str, name: str) -> pa.Table:
    """The rows in the folder, null in a column that a file lacks."""
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
            raise CorruptObjectsError([path]) from error
    return pa.concat_tables(found)


def stored_folders(
    storage: Storage, output: str, name: str, day: Day, dates: Iterable[date]
) -> list[str]:
    """The folders that there are of a report of the day's cluster on these dates."""
    found = stored_dates(storage, output, name, day, dates)
    return [f"{reports_root(output)}/{name}/{day.folder}/dt={each}" for each in found]


def stored_dates(
    storage: Storage, output: str, name: str, day: Day, dates: Iterable[date]
) -> list[date]:
    """Those of the dates of which there is a report of the day's cluster, in order."""
    there = {*storage.folders(f"{reports_root(output)}/{name}/{day.folder}")}
    return sorted(each for each in dates if f"dt={each}" in there)


def is_first_day(storage: Storage, output: str, day: Day) -> bool:
    """Whether nothing of the cluster is older than the day: no snapshot, history or report."""
    reported = storage.folders(f"{reports_root(output)}/coverage/{day.folder}")
    if any(name.startswith("dt=") and name < f"dt={day.date}" for name in reported):
        return False
    seen = (snapshot_dates(storage, root, day.folder) for root in (day.root, day.history))
    return not any(dates and dates[0] < day.date for dates in seen)


def page_address(output: str, day: Day) -> str:
    """Where the day's page lies once it is published."""
    return f"{reports_root(output)}/{PAGE}/{day.folder}/dt={day.date}/{PAGE_FILE}"


def reports_root(output: str) -> str:
    """The folder of all reports."""
    return f"{output}/reports"
