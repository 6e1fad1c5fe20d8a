# SPDX-License-Identifier: Apache-2.0
"""What is usual for each group, weekday and hour, as one object a cluster that its collector reads.

<output>/usual/cluster=<c>/usual.parquet
"""

from datetime import date, timedelta
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafka_lag import contract
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import stored
from kafka_lag_report.storage import PARQUET, Storage
from kafka_lag_report.tables.anomalies import usual_hours

# The object's name of each measure's columns.
_MEASURES = {"lag": "lag", "time_lag_seconds": "time_lag", "produce_rate": "produce_rate"}
# What single runs write lies so much farther apart than `produce_rate`, a moving average with a
# half-life of five runs: the root of (2 - w) / w, w being the weight of a run, 1 - 2^(-1/5).
_SINGLE_RUN = 3.8
# A collector reads the rows of one hour: few others lie in the same row group.
_ROW_GROUP = 16_384
_SORTED_BY = ("weekday", "hour", "consumer_group")


def usual_figures(hours: DataFrame) -> DataFrame:
    """The columns of the object and `cluster`, from `lag_hourly` of the last weeks (`dt`).

    A collector compares single runs. They lie farther apart than the hours' means, so the spread
    of the runs within an hour is a part of theirs.
    """
    single = sf.when(sf.col("measure") == "produce_rate", _SINGLE_RUN).otherwise(1.0)
    within = single * sf.coalesce("within", sf.lit(0.0))
    spread = sf.sqrt(sf.col("spread") ** 2 + within**2)
    usual = usual_hours(hours, tuple(_MEASURES)).withColumn("spread", spread)
    # Reports of older releases do not know how far apart the rates of runs lie.
    usual = usual.where("measure != 'produce_rate' OR within IS NOT NULL")

    def of(measure: str, column: str) -> Column:
        # More digits would mean nothing, and not compress.
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


def write_usual(spark: SparkSession, storage: Storage, output: str, day: Day, cluster: str) -> None:
    """Replace the cluster's object by what is usual after this day, whose reports are published.

    An object that knows a later day is left alone. DataError if something cannot be read or
    written.
    """
    address = f"{output}/{contract.usual_key(day.clusters[cluster])}"
    if _knows_later(storage, address, day.date):
        return
    dates = [day.date - timedelta(days=back) for back in range(7 * contract.USUAL_WEEKS)]
    hours = stored(spark, storage, output, "lag_hourly", day.only([cluster]), dates)
    staging = f"{output}/{contract.REPORT_PREFIX}/_staging-usual-{day.clusters[cluster]}"
    storage.delete_folder(staging)
    try:
        figures = usual_figures(hours).drop("cluster").repartition(1)
        figures.sortWithinPartitions(*_SORTED_BY).write.parquet(staging)
        files = [f"{staging}/{file.name}" for file in storage.objects(staging, PARQUET)]
        tables = [pq.read_table(pa.BufferReader(storage.read(path))) for path in files]
        rows = pa.concat_tables(tables) if tables else _no_rows()
        storage.write(address, _encoded(rows, day.date))
    finally:
        storage.delete_folder(staging)


def _encoded(rows: pa.Table, day: date) -> bytes:
    metadata = {
        contract.USUAL_VERSION_KEY: contract.USUAL_VERSION,
        contract.USUAL_DATE_KEY: day.isoformat(),
    }
    file = BytesIO()
    rows = rows.select([*contract.USUAL_COLUMNS]).replace_schema_metadata(metadata)
    pq.write_table(rows, file, compression="zstd", row_group_size=_ROW_GROUP)
    return file.getvalue()


def _no_rows() -> pa.Table:
    """Nothing is known yet; the object says of which day."""
    types = {"string": pa.string(), "int": pa.int32(), "double": pa.float64()}
    kinds = [(name, types[kind]) for name, kind in contract.USUAL_COLUMNS.items()]
    return pa.schema(kinds).empty_table()


def _knows_later(storage: Storage, address: str, day: date) -> bool:
    """Whether the object that is there was made of a later day; one that is damaged was not."""
    folder, _, name = address.rpartition("/")
    if name not in [file.name for file in storage.objects(folder, PARQUET)]:
        return False
    try:
        metadata = pq.read_schema(pa.BufferReader(storage.read(address))).metadata or {}
        known = date.fromisoformat(metadata[contract.USUAL_DATE_KEY.encode()].decode())
    except (pa.ArrowException, KeyError, ValueError, OSError):
        return False
    return known > day
