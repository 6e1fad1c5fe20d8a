# SPDX-License-Identifier: Apache-2.0
"""What is usual for each group, weekday and hour, as one object a cluster that its collector reads.

<output>/usual/cluster=<c>/usual.parquet
"""

from collections import Counter
from datetime import date, timedelta
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafka_lag import contract
from kafka_lag.contract import FAR, FLOORS, LEAST_WEEKS_OF_RUNS, USUAL_PART
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import collect, stored, stored_dates
from kafka_lag_report.storage import PARQUET, Storage
from kafka_lag_report.tables.anomalies import usual_hours
from kafka_lag_report.thresholds import IRREGULAR_PART, NEARLY_FAR

# The object's name of each measure's columns.
_MEASURES = {"lag": "lag", "time_lag_seconds": "time_lag", "produce_rate": "produce_rate"}
# What single runs write lies so much farther apart than `produce_rate`, a moving average with a
# half-life of five runs: the root of (2 - w) / w, w being the weight of a run, 1 - 2^(-1/5).
_SINGLE_RUN = 3.8
# A collector reads the rows of one hour: few others lie in the same row group.
_ROW_GROUP = 16_384
_SORTED_BY = ("weekday", "hour", "consumer_group")
_TYPES = {"string": pa.string(), "int": pa.int32(), "double": pa.float64()}
_COLUMNS = pa.schema([(name, _TYPES[kind]) for name, kind in contract.USUAL_COLUMNS.items()])


def usual_figures(hours: DataFrame) -> DataFrame:
    """The columns of the object, from `lag_hourly` of the last weeks (`dt`).

    A collector compares single runs. They lie farther apart than the hours' means, so the spread
    of the runs within an hour is a part of theirs, and more weeks must be known. Of a group whose
    hours are not alike from week to week, the spread says how far off is twice the most that it
    had.
    """
    single = sf.when(sf.col("measure") == "produce_rate", _SINGLE_RUN).otherwise(1.0)
    within = single * sf.coalesce("within", sf.lit(0.0))
    spread = sf.sqrt(sf.col("spread") ** 2 + within**2)
    usual = usual_hours(hours, tuple(_MEASURES)).withColumn("spread", spread)
    # Reports of older releases do not know how far apart the rates of runs lie.
    usual = usual.where("measure != 'produce_rate' OR within IS NOT NULL")
    usual = _widened(usual.where(sf.col("days") >= LEAST_WEEKS_OF_RUNS))

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
    figures = usual.groupBy(*_SORTED_BY).agg(*columns)
    return figures.select(*contract.USUAL_COLUMNS)


def _widened(usual: DataFrame) -> DataFrame:
    """The usual hours, with another `spread` where the hour of the week says little of a group.

    Where values scatter by more than IRREGULAR_PART, or runs of two weeks have lain NEARLY_FAR from
    usual, the spread is such that twice the most of any hour is unusual, and less is not.
    """
    floor = sf.create_map(*(sf.lit(word) for pair in FLOORS.items() for word in pair))
    scale = sf.greatest("spread", sf.col("usual") * USUAL_PART, floor[sf.col("measure")])
    group = ("consumer_group", "measure")
    weeks = (
        usual.select(*group, "usual", scale.alias("scale"), sf.inline("highs"))
        .groupBy(*group, "week")
        .agg(
            sf.max("high").alias("most"),
            sf.max((sf.col("high") - sf.col("usual")) / sf.col("scale")).alias("off"),
        )
    )
    highest = weeks.groupBy(*group).agg(
        sf.max("most").alias("most"),
        sf.get(sf.sort_array(sf.collect_list("off"), asc=False), sf.lit(1)).alias("off_twice"),
    )
    scatter = usual.groupBy(*group).agg(sf.median("part").alias("scatter"))
    irregular = (sf.col("scatter") >= IRREGULAR_PART) | (sf.col("off_twice") >= NEARLY_FAR)
    twice = sf.greatest((2.0 * sf.col("most") - sf.col("usual")) / FAR, sf.lit(0.0))
    spread = sf.when(irregular & sf.col("most").isNotNull(), twice).otherwise(sf.col("spread"))
    judged = usual.join(highest, [*group]).join(scatter, [*group])
    return judged.withColumn("spread", spread)


def write_usual(spark: SparkSession, storage: Storage, output: str, day: Day) -> None:
    """Replace the cluster's object by what is usual after this day, whose reports are published.

    An object that knows a later day is left alone. DataError if something cannot be read or
    written.
    """
    address = f"{output}/{contract.usual_key(day.folder)}"
    if _knows_later(storage, address, day.date):
        return
    dates = [day.date - timedelta(days=back) for back in range(7 * contract.USUAL_WEEKS)]
    weekdays = Counter(
        each.weekday() for each in stored_dates(storage, output, "lag_hourly", day, dates)
    )
    rows = _COLUMNS.empty_table()
    # of fewer weeks nothing is usual
    if max(weekdays.values(), default=0) >= LEAST_WEEKS_OF_RUNS:
        hours = stored(spark, storage, output, "lag_hourly", day, dates)
        rows = collect(usual_figures(hours), _COLUMNS, _SORTED_BY)
    storage.write(address, _encoded(rows, day.date))


def _encoded(rows: pa.Table, day: date) -> bytes:
    metadata = {
        contract.USUAL_VERSION_KEY: contract.USUAL_VERSION,
        contract.USUAL_DATE_KEY: day.isoformat(),
    }
    file = BytesIO()
    rows = rows.replace_schema_metadata(metadata)
    pq.write_table(rows, file, compression="zstd", row_group_size=_ROW_GROUP)
    return file.getvalue()


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
