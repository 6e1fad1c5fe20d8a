# SPDX-License-Identifier: Apache-2.0
"""Where reports lie: a cluster's day is replaced object by object, and read back by dates.

    <output>/reports/<report>/cluster=<c>/dt=<date>/report.parquet
    <output>/reports/page/cluster=<c>/dt=<date>/report.html

Each is one object of a name that stays, so that it is replaced by writing it: at no moment is it
missing or there twice, and a run that is killed leaves whole reports, at worst some of them the
earlier ones. Nothing is replaced until all reports and the page are computed.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from kafka_lag_report.errors import CorruptObjectsError, DataError
from kafka_lag_report.read_snapshots import Day, rows_below, snapshot_dates
from kafka_lag_report.schemas import REPORTS, in_columns, report_schema
from kafka_lag_report.storage import AT_ONCE, PARQUET, Storage, footer_of

TABLE_FILE, PAGE_FILE = f"report{PARQUET}", "report.html"
_PAGE, _HTML = "page", "text/html; charset=utf-8"
# Small frames: most of a write is planning and committing, which overlap.
_WRITES_AT_ONCE = 4
# What queries ask by, of the reports that have it.
_KEYS = ("consumer_group", "topic", "partition_id", "hour", "leader", "dataset")


class Staging:
    """A cluster's computed reports, before they replace those of the day; see `staged`."""

    def __init__(self, storage: Storage, output: str, day: Day, cluster: str) -> None:
        self._storage, self._day, self._cluster = storage, day, cluster
        self._root = f"{output}/reports"
        # beside the reports' folders, so that no query of a report ever reads it; by its name the
        # cluster's next run finds what a killed one left
        self.folder = f"{self._root}/_staging-{day.clusters[cluster]}"
        self._names: list[str] = []

    def write(self, reports: Mapping[str, DataFrame]) -> dict[str, pa.Table]:
        """Compute and write the reports; returns what was written."""
        with ThreadPoolExecutor(_WRITES_AT_ONCE) as pool:
            written = pool.map(self._write, reports.keys(), reports.values())
            return dict(zip(reports, written, strict=True))

    def publish(self, page: str) -> None:
        """Replace what was there of the cluster and date, and nothing else."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            # asked for its result, each raises what it failed with, once all have ended
            for done in [pool.submit(self._replace, name) for name in self._names]:
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

    def _replace(self, name: str) -> None:
        folder = f"{self._root}/{name}/{self._day.clusters[self._cluster]}/dt={self._day.date}"
        files = self._storage.objects(f"{self.folder}/{name}", PARQUET)
        if not files:
            raise DataError(
                f"{self.folder}/{name} is gone, as another run for {self._cluster} has begun: "
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
def staged(storage: Storage, output: str, day: Day, cluster: str) -> Iterator[Staging]:
    """A place for the cluster's reports; it is empty at first, and gone at the end."""
    staging = Staging(storage, output, day, cluster)
    storage.delete_folder(staging.folder)
    try:
        yield staging
    finally:
        storage.delete_folder(staging.folder)


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
    folders = [f"{output}/reports/{name}/{day.clusters[cluster]}/dt={on}" for name in REPORTS]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        tables = pool.map(partial(_table, storage), folders, REPORTS)
        return dict(zip(REPORTS, tables, strict=True))


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
