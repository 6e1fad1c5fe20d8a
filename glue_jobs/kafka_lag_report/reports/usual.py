# SPDX-License-Identifier: Apache-2.0
"""What is usual for each group, weekday and hour, as one object a cluster that its collector reads.

<output>/usual/cluster=<c>/usual.parquet
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafka_lag import contract
from kafka_lag_report.job import Job
from kafka_lag_report.reports.anomalies import usual_hours
from kafka_lag_report.storage.files import naming
from kafka_lag_report.storage.parquet import ENDING, naming_broken_files, written_folders
from kafka_lag_report.storage.reports import stored
from kafka_lag_report.storage.snapshots import Day

# The object's name of each measure's columns.
_MEASURES = {"lag": "lag", "time_lag_seconds": "time_lag"}
# A collector reads the rows of one hour: few others lie in the same row group.
_ROW_GROUP = 16_384
_SORTED_BY = ("weekday", "hour", "consumer_group")


def usual_figures(hours: DataFrame) -> DataFrame:
    """The columns of the object and `cluster`, from `lag_hourly` of the last weeks (`dt`).

    A collector compares single runs. They lie farther apart than the hours' means, so the spread
    of the runs within an hour is a part of theirs.
    """
    spread = sf.sqrt(sf.col("spread") ** 2 + sf.coalesce("within", sf.lit(0.0)) ** 2)
    usual = usual_hours(hours, tuple(_MEASURES)).withColumn("spread", spread)

    def of(measure: str, column: str) -> Column:
        # More digits would tell nothing, and not compress.
        return sf.round(sf.max(sf.when(sf.col("measure") == measure, sf.col(column))), 1)

    columns = [
        figure
        for measure, name in _MEASURES.items()
        for figure in (
            of(measure, "usual").alias(f"usual_{name}"),
            of(measure, "spread").alias(f"{name}_spread"),
        )
    ]
    figures = usual.groupBy("cluster", *_SORTED_BY).agg(*columns)
    return figures.select("cluster", *contract.USUAL_COLUMNS)


def write_usual(job: Job, day: Day) -> None:
    """Replace each cluster's object by what is usual after this day, whose reports are published.

    An object that knows a later day is left alone, and so are all by a day in progress and by a run
    that keeps no history. DataError if something cannot be read or written.
    """
    if day.in_progress or not job.options.history:
        return
    due = [cluster for cluster in day.clusters if not _knows_later(job, day, cluster)]
    if not due:
        return
    with _computed(job, day) as folders:
        for cluster in due:
            _write(job, day, cluster, folders.get(cluster))


@contextmanager
def _computed(job: Job, day: Day) -> Iterator[dict[str, str]]:
    """Folders by cluster with the sorted figures; they are deleted afterwards."""
    output = job.options.output
    dates = [day.date - timedelta(days=back) for back in range(7 * contract.USUAL_WEEKS)]
    hours = stored(job.spark, job.files, output, "lag_hourly", day, dates)
    figures = usual_figures(hours).repartition("cluster")
    staging = f"{output}/{contract.REPORT_PREFIX}/_staging-{uuid4().hex}"
    try:
        with naming(f"cannot write to {staging}"), naming_broken_files():
            rows = figures.sortWithinPartitions("cluster", *_SORTED_BY)
            rows.write.partitionBy("cluster").parquet(staging)
        yield written_folders(job.files, staging)
    finally:
        job.files.delete(staging)


def _write(job: Job, day: Day, cluster: str, folder: str | None) -> None:
    names = [file.name for file in job.files.objects(folder, ENDING)] if folder else []
    tables = [pq.read_table(pa.BufferReader(job.objects.read(f"{folder}/{n}"))) for n in names]
    rows = pa.concat_tables(tables).select([*contract.USUAL_COLUMNS]) if tables else _no_rows()
    metadata = {
        contract.USUAL_VERSION_KEY: contract.USUAL_VERSION,
        contract.USUAL_DATE_KEY: day.date.isoformat(),
    }
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows.replace_schema_metadata(metadata), sink, compression="zstd", row_group_size=_ROW_GROUP
    )
    job.objects.write(_address(job, day, cluster), sink.getvalue().to_pybytes())


def _no_rows() -> pa.Table:
    """Nothing is known yet; the object says of which day."""
    types = {"string": pa.string(), "int": pa.int32(), "double": pa.float64()}
    kinds = [(name, types[kind]) for name, kind in contract.USUAL_COLUMNS.items()]
    return pa.schema(kinds).empty_table()


def _address(job: Job, day: Day, cluster: str) -> str:
    return f"{job.options.output}/{contract.usual_key(day.clusters[cluster])}"


def _knows_later(job: Job, day: Day, cluster: str) -> bool:
    """Whether the object that is there was made of a later day; one that is damaged was not."""
    address = _address(job, day, cluster)
    folder, _, name = address.rpartition("/")
    if name not in [file.name for file in job.files.objects(folder, ENDING)]:
        return False
    try:
        metadata = pq.read_schema(pa.BufferReader(job.objects.read(address))).metadata or {}
        known = date.fromisoformat(metadata[contract.USUAL_DATE_KEY.encode()].decode())
    except (pa.ArrowException, KeyError, ValueError, OSError):
        return False
    return known > day.date
