# SPDX-License-Identifier: Apache-2.0
"""Reports on disk: staged first, then each cluster's day swapped in as a whole.

    <output>/reports/<report>/cluster=<c>/dt=<date>/*.parquet

Spark's own dynamic overwrite replaces one report at a time and keeps a day whose rows are gone.
Here nothing is replaced until all reports are written, and a day without rows loses its files.
"""

from collections.abc import Mapping
from urllib.parse import unquote
from uuid import uuid4

from pyspark.sql import DataFrame

from glue_jobs.schemas import REPORTS
from glue_jobs.storage.files import Files, naming
from glue_jobs.storage.snapshots import Day


def publish(files: Files, reports: Mapping[str, DataFrame], output: str, day: Day) -> None:
    """Replace the reports of the day's clusters and date, and nothing else; DataError if refused.

    A run that stops halfway leaves whole reports, at worst some of them the earlier ones.
    """
    root = f"{output}/reports"
    # beside the reports' folders, so that no query of a report ever reads it
    staging = f"{root}/_staging-{uuid4().hex}"
    files.make(staging)
    try:
        for name, report in reports.items():
            _stage(report, name, f"{staging}/{name}")
        for name in reports:
            _swap(files, f"{staging}/{name}", f"{root}/{name}", day)
    finally:
        files.delete(staging)


def _stage(report: DataFrame, name: str, folder: str) -> None:
    """Write one file per cluster, sorted by the key columns so that queries can skip in it."""
    columns = REPORTS[name].names
    keys = [key for key in ("consumer_group", "topic", "partition_id") if key in columns]
    rows = report.select("cluster", *columns).repartition("cluster")
    # the cluster first, or the writer sorts by it again and the order is gone
    rows = rows.sortWithinPartitions("cluster", *keys)
    with naming(f"cannot write to {folder}"):
        rows.write.partitionBy("cluster").option("compression", "zstd").parquet(folder)


def _swap(files: Files, staged: str, root: str, day: Day) -> None:
    # the snapshots' own folder names go on, as Spark escapes fewer letters than the collector
    written = {unquote(folder).removeprefix("cluster="): folder for folder in files.folders(staged)}
    for cluster, folder in day.clusters.items():
        new = f"{staged}/{written[cluster]}" if cluster in written else None
        files.replace(new, f"{root}/{folder}/dt={day.date}")
