# SPDX-License-Identifier: Apache-2.0
"""Where reports lie: a cluster's day is replaced object by object, and read back by dates.

    <output>/reports/<report>/cluster=<c>/dt=<date>/report.parquet
    <output>/reports/page/cluster=<c>/dt=<date>/report.html

Each is one object of a name that stays, so that it is replaced by writing it: at no moment is it
missing or there twice, and a run that is killed leaves whole reports, at worst some of them the
earlier ones. Nothing is replaced until all reports and the page are computed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import partial
from io import BytesIO
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from kafka_lag_report.errors import CorruptObjectsError, DataError
from kafka_lag_report.options import utc_now
from kafka_lag_report.read_snapshots import Day, rows_below, snapshot_dates
from kafka_lag_report.schemas import REPORTS, TABLES, in_columns, report_schema
from kafka_lag_report.storage import AT_ONCE, PARQUET, Storage, footer_of

TABLE_FILE, PAGE_FILE = f"report{PARQUET}", "report.html"
_PAGE, _HTML = "page", "text/html; charset=utf-8"
# What a run is called that works in a folder, and for how long one may.
_BEGAN = "%Y%m%dT%H%M%SZ"
_LONGEST_RUN = timedelta(days=1)
# Small frames: most of a write is planning and committing, which overlap.
_WRITES_AT_ONCE = 4
# What queries ask by, of the reports that have it.
_KEYS = ("consumer_group", "topic", "partition_id", "hour", "leader", "dataset")


class Staging:
    """A cluster's computed reports, before they replace those of the day; see `staged`."""

    def __init__(self, storage: Storage, output: str, day: Day, cluster: str, folder: str) -> None:
        self._storage, self._day, self._cluster = storage, day, cluster
        self._root = f"{output}/reports"
        self.folder = folder
        self._names: list[str] = []
        self._tables: dict[str, pa.Table] = {}

    def write(self, reports: Mapping[str, DataFrame]) -> dict[str, pa.Table]:
        """Compute and write the reports; returns what was written."""
        with ThreadPoolExecutor(_WRITES_AT_ONCE) as pool:
            written = pool.map(self._write, reports.keys(), reports.values())
            return dict(zip(reports, written, strict=True))

    def hold(self, name: str, table: pa.Table) -> None:
        """Publish this table too; it needs no file before."""
        self._tables[name] = table

    def publish(self, page: str) -> None:
        """Replace what was there of the cluster and date, and nothing else."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            # asked for its result, each raises what it failed with, once all have ended
            replaced = [pool.submit(self._replace, name) for name in self._names]
            replaced += [pool.submit(self._put, *held) for held in self._tables.items()]
            for done in replaced:
                done.result()
        address = page_address(self._root.removesuffix("/reports"), self._day, self._cluster)
        self._storage.write(address, page.encode(), content_type=_HTML)

    def _write(self, name: str, report: DataFrame) -> pa.Table:
        """One file, sorted by the key columns so that queries can skip in it."""
        columns = REPORTS[name].names
        rows = report.select(*columns).repartition(1)
        rows = rows.sortWithinPartitions(*(key for key in _KEYS if key in columns))
        folder = f"{self.folder}/{name}"
        rows.write.option("compression", "zstd").parquet(folder)
        self._names.append(name)
        return _table(self._storage, folder, name)

    def _folder(self, name: str) -> str:
        return f"{self._root}/{name}/{self._day.clusters[self._cluster]}/dt={self._day.date}"

    def _put(self, name: str, table: pa.Table) -> None:
        if not table.num_rows:
            self._storage.delete_folder(self._folder(name))
            return
        file = BytesIO()
        pq.write_table(table, file, compression="zstd")
        self._storage.write(f"{self._folder(name)}/{TABLE_FILE}", file.getvalue())
        self._storage.keep_only(self._folder(name), TABLE_FILE)

    def _replace(self, name: str) -> None:
        folder = self._folder(name)
        files = self._storage.objects(f"{self.folder}/{name}", PARQUET)
        if not files:
            raise DataError(
                f"{self.folder}/{name} is gone, as something removed it: "
                f"the report of {self._day.date} is as it was; run the job again"
            )
        for file in files:
            data = self._storage.read(f"{self.folder}/{name}/{file.name}")
            if (footer := footer_of(data)) and footer.rows:
                self._storage.write(f"{folder}/{TABLE_FILE}", data)
                self._storage.keep_only(folder, TABLE_FILE)
                return
        self._storage.delete_folder(folder)


@contextmanager
def staged(
    storage: Storage, output: str, day: Day, cluster: str, now: Callable[[], datetime] = utc_now
) -> Iterator[Staging]:
    """A place for the cluster's reports that no other run has; it is gone at the end."""
    with own_folder(storage, output, f"_staging-{day.clusters[cluster]}", now) as folder:
        yield Staging(storage, output, day, cluster, folder)


@contextmanager
def own_folder(
    storage: Storage, output: str, name: str, now: Callable[[], datetime] = utc_now
) -> Iterator[str]:
    """A folder of this run alone, removed at the end, as are those that killed runs left.

    It lies beside the reports' folders, so that no query of a report ever reads it. By the time in
    its name a later run knows that no run can be at work in it any more.
    """
    root, began = f"{output}/reports", now()
    for other in storage.folders(root):
        if _is_abandoned(other, name, began):
            storage.delete_folder(f"{root}/{other}")
    folder = f"{root}/{name}-{began:{_BEGAN}}-{uuid4().hex[:8]}"
    try:
        yield folder
    finally:
        storage.delete_folder(folder)


def _is_abandoned(folder: str, name: str, now: datetime) -> bool:
    # earlier releases had one folder for all runs
    if folder == name:
        return True
    match = re.fullmatch(rf"{re.escape(name)}-(\d{{8}}T\d{{6}})Z-[0-9a-f]{{8}}", folder)
    if not match:
        return False
    began = datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    return now - began > _LONGEST_RUN


def stored(
    spark: SparkSession, storage: Storage, output: str, name: str, day: Day, dates: Iterable[date]
) -> DataFrame:
    """One published report of the day's clusters on these dates, as far as there are any.

    Columns are `cluster`, `dt` as text, and the report's. A file that cannot be read fails when the
    rows are computed, see `naming_corrupt_files`.
    """
    paths = stored_folders(storage, output, name, day, dates)
    root = f"{output}/reports/{name}"
    rows = rows_below(spark, root, paths, REPORTS[name], ("cluster", "dt"), day.clusters)
    return rows.select("cluster", "dt", *REPORTS[name].names)


def published(
    storage: Storage, output: str, day: Day, cluster: str, on: date
) -> dict[str, pa.Table]:
    """The reports of the cluster that lie there of a date, without rows where there is none.

    CorruptObjectsError for a file that cannot be read.
    """
    folders = [f"{output}/reports/{name}/{day.clusters[cluster]}/dt={on}" for name in TABLES]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        tables = pool.map(partial(_table, storage), folders, TABLES)
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
    """The folders that there are of a report of the day's clusters on these dates."""
    wanted = {f"dt={date}" for date in dates}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        places = [f"{output}/reports/{name}/{folder}" for folder in day.clusters.values()]
        found = zip(places, pool.map(storage.folders, places), strict=True)
        return [f"{place}/{date}" for place, there in found for date in sorted(wanted & {*there})]


def is_first_day(storage: Storage, output: str, day: Day, cluster: str) -> bool:
    """Whether nothing of the cluster is older than the day: no snapshot, history or report."""
    folder = day.clusters[cluster]
    reported = storage.folders(f"{output}/reports/coverage/{folder}")
    if any(name.startswith("dt=") and name < f"dt={day.date}" for name in reported):
        return False
    seen = (snapshot_dates(storage, root, folder) for root in (day.root, day.history))
    return not any(dates and dates[0] < day.date for dates in seen)


def page_address(output: str, day: Day, cluster: str) -> str:
    """Where a cluster's page lies once it is published."""
    return f"{output}/reports/{_PAGE}/{day.clusters[cluster]}/dt={day.date}/{PAGE_FILE}"
