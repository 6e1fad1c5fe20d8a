# SPDX-License-Identifier: Apache-2.0
"""Reports on disk: staged first, then each cluster's day swapped in as a whole.

    <output>/reports/<report>/cluster=<c>/dt=<date>/*.parquet
    <output>/reports/page/cluster=<c>/dt=<date>/report.html

Spark's own dynamic overwrite replaces one report at a time and keeps a day whose rows are gone.
Here nothing is replaced until all reports are written, and a day without rows loses its files.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from itertools import product
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.storage.files import AT_ONCE, Files, naming
from kafka_lag_report.storage.parquet import naming_broken_files, rows_below, written_folders
from kafka_lag_report.storage.snapshots import Day

PAGE = "page"
PAGE_FILE = "report.html"
# Small frames: most of a write is planning and committing, which overlap.
WRITES_AT_ONCE = 4
# What queries ask by, of the reports that have it.
KEYS = ("consumer_group", "topic", "partition_id", "hour", "leader", "dataset")


class Staging:
    """The day's reports and pages beside those that they are to replace; see `staged`."""

    def __init__(self, files: Files, output: str, day: Day) -> None:
        self._files = files
        self._day = day
        self._root = f"{output}/reports"
        # beside the reports' folders, so that no query of a report ever reads it
        self.folder = f"{self._root}/_staging-{uuid4().hex}"
        self._names: list[str] = []

    def write(self, reports: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
        """Compute and write the reports; returns them as they were written, quick to read again."""
        with ThreadPoolExecutor(WRITES_AT_ONCE) as pool:
            written = pool.map(self._write, reports.keys(), reports.values())
            return dict(zip(reports, written, strict=True))

    def write_pages(self, pages: Mapping[str, str]) -> None:
        """Write each cluster's page, by cluster name."""
        self._names.append(PAGE)
        for cluster, page in pages.items():
            folder = f"{self.folder}/{PAGE}/{self._day.clusters[cluster]}"
            self._files.write_text(f"{folder}/{PAGE_FILE}", page)

    def publish(self) -> None:
        """Replace what was there of the day's clusters and date, and nothing else.

        DataError if the output refuses. A run that stops halfway leaves whole reports, at worst
        some of them the earlier ones.
        """
        places = product(self._names, self._day.clusters)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            # asked for its result, each raises what it failed with, once all have ended
            for swap in [pool.submit(self._swap, *place) for place in places]:
                swap.result()

    def _write(self, name: str, report: DataFrame) -> DataFrame:
        """One file per cluster, sorted by the key columns so that queries can skip in it."""
        columns = REPORTS[name].names
        keys = [key for key in KEYS if key in columns]
        rows = report.select("cluster", *columns).repartition("cluster")
        # the cluster first, or the writer sorts by it again and the order is gone
        rows = rows.sortWithinPartitions("cluster", *keys)
        folder = f"{self.folder}/{name}"
        with naming(f"cannot write to {folder}"), naming_broken_files():
            rows.write.partitionBy("cluster").option("compression", "zstd").parquet(folder)
        self._names.append(name)
        written = rows_below(report.sparkSession, folder, [folder], REPORTS[name], ("cluster",))
        return written.select("cluster", *columns)

    def _swap(self, name: str, cluster: str) -> None:
        folder = self._day.clusters[cluster]
        self._files.swap(
            written_folders(self._files, f"{self.folder}/{name}").get(cluster),
            f"{self._root}/{name}/{folder}/dt={self._day.date}",
            f"{self.folder}/_aside/{name}/{folder}",
        )


@contextmanager
def staged(files: Files, output: str, day: Day) -> Iterator[Staging]:
    """A place for the day's reports; all that was not published by the end is deleted."""
    staging = Staging(files, output, day)
    files.make(staging.folder)
    try:
        yield staging
    finally:
        files.delete(staging.folder)


def stored(
    spark: SparkSession, files: Files, output: str, name: str, day: Day, dates: Iterable[date]
) -> DataFrame:
    """One published report of the day's clusters on these dates, as far as there are any.

    Columns are `cluster`, `dt` as text, and the report's. A file that cannot be read fails when the
    rows are computed, see `naming_broken_files`.
    """
    root = f"{output}/reports/{name}"
    wanted = {f"dt={date}" for date in dates}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        places = [f"{root}/{folder}" for folder in day.clusters.values()]
        found = zip(places, pool.map(files.folders, places), strict=True)
        paths = [f"{place}/{date}" for place, there in found for date in sorted(wanted & {*there})]
    rows = rows_below(spark, root, paths, REPORTS[name], ("cluster", "dt"), day.clusters)
    return rows.select("cluster", "dt", *REPORTS[name].names)


def first_reported(files: Files, output: str, day: Day) -> frozenset[str]:
    """Clusters of the day that have no report of an earlier one."""

    def is_first(folder: str) -> bool:
        dates = files.folders(f"{output}/reports/coverage/{folder}")
        return not any(name.startswith("dt=") and name < f"dt={day.date}" for name in dates)

    return frozenset(name for name, folder in day.clusters.items() if is_first(folder))


def page_address(output: str, day: Day, cluster: str) -> str:
    """Where a cluster's page lies once it is published."""
    return f"{output}/reports/{PAGE}/{day.clusters[cluster]}/dt={day.date}/{PAGE_FILE}"
