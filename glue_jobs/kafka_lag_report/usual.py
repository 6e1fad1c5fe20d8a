# SPDX-License-Identifier: Apache-2.0
"""Writes what is usual for each group, weekday and hour, for the collector of the cluster.

<output>/usual/cluster=<c>/usual.parquet
"""

from collections import Counter
from datetime import date, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from kafka_lag import contract
from kafka_lag.contract import LEAST_WEEKS_OF_RUNS
from kafka_lag_report.queries import Queries
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import collect, list_stored_dates, read_stored
from kafka_lag_report.session import new_session
from kafka_lag_report.storage import PARQUET, Storage

# A collector reads the rows of one hour, so row groups are small.
_ROW_GROUP = 16_384
_SORTED_BY = ("weekday", "hour", "consumer_group")
_TYPES = {"string": pa.string(), "int": pa.int32(), "double": pa.float64()}
_COLUMNS = pa.schema([(name, _TYPES[kind]) for name, kind in contract.USUAL_COLUMNS.items()])


def write_usual(spark: SparkSession, storage: Storage, output: str, day: Day) -> None:
    """Writes the cluster's object with what is usual, including this day's published reports.

    Leaves an object alone that includes a later day. Raises DataError if something cannot be read
    or written.
    """
    address = f"{output}/{contract.usual_key(day.folder)}"
    if _knows_later(storage, address, day.date):
        return
    dates = [day.date - timedelta(days=back) for back in range(7 * contract.USUAL_WEEKS)]
    weekdays = Counter(
        each.weekday() for each in list_stored_dates(storage, output, "lag_hourly", day, dates)
    )
    rows = _COLUMNS.empty_table()
    # fewer weeks do not show what is usual
    if max(weekdays.values(), default=0) >= LEAST_WEEKS_OF_RUNS:
        queries = Queries(new_session(spark))
        queries.view(
            "past_hours", read_stored(queries.spark, storage, output, "lag_hourly", day, dates)
        )
        queries.derive("reductions/usual_hours")
        rows = collect(queries.run("tables/usual"), _COLUMNS, _SORTED_BY)
    metadata = {
        contract.USUAL_VERSION_KEY: contract.USUAL_VERSION,
        contract.USUAL_DATE_KEY: day.date.isoformat(),
    }
    rows = rows.replace_schema_metadata(metadata)
    storage.write_table(address, rows, row_group_size=_ROW_GROUP)


def _knows_later(storage: Storage, address: str, day: date) -> bool:
    """Returns whether the existing object includes a later day; a damaged object does not count."""
    folder, _, name = address.rpartition("/")
    if name not in [file.name for file in storage.objects(folder, PARQUET)]:
        return False
    try:
        metadata = pq.read_schema(pa.BufferReader(storage.read(address))).metadata or {}
        known = date.fromisoformat(metadata[contract.USUAL_DATE_KEY.encode()].decode())
    except (pa.ArrowException, KeyError, ValueError, OSError):
        return False
    return known > day
