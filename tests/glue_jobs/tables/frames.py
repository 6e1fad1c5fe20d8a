# SPDX-License-Identifier: Apache-2.0
"""The small frames between a day's scan and its reports, from what a case says of its rows."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tests.glue_jobs.days import Row

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)

MINUTES = (
    "consumer_group string, topic string, taken_at timestamp, lag bigint, time_lag double,"
    " time_lag_is_least boolean, consume_rate double, records_lost bigint, skewed boolean"
)
SEGMENTS = (
    "consumer_group string, topic string, topic_id string, partition_id int,"
    " leader int, client_id string, client_host string, member_id string, reads bigint,"
    " lags bigint, lag_sum bigint, end_first bigint, end_last bigint, committed_first bigint,"
    " committed_last bigint, ends bigint, commits bigint, end_first_at bigint,"
    " end_last_at bigint, committed_first_at bigint, committed_last_at bigint, first_at bigint,"
    " last_at bigint, records_lost bigint, consumed bigint"
)
TOPIC_SEGMENTS = (
    "topic string, topic_id string, partition_id int, leader int,"
    " leader_rack string, reads bigint, end_first bigint, end_last bigint, ends bigint,"
    " first_at bigint, last_at bigint"
)
DEFAULTS: Row = {"consumer_group": "billing", "topic": "orders", "reads": 1}


def minute(number: float) -> datetime:
    """Minutes after the day's midnight."""
    return MIDNIGHT + timedelta(minutes=number)


def rows_of(spark: SparkSession, schema: str, rows: Iterable[Row]) -> DataFrame:
    """Rows with DEFAULTS and null for what they do not name."""
    names = [column.split()[0] for column in schema.split(",")]
    full: list[tuple[Any, ...]] = [
        tuple({**DEFAULTS, **row}.get(name) for name in names) for row in rows
    ]
    for unknown in {name for row in rows for name in row} - set(names):
        raise KeyError(unknown)
    return spark.createDataFrame(full, schema)


def watched(offset: str, first: int, last: int, *, times: int, since: int, until: int) -> Row:
    """What a segment says of an offset, `end` or `committed`, known `times` times."""
    return {
        f"{offset}_first": first,
        f"{offset}_last": last,
        {"end": "ends", "committed": "commits"}[offset]: times,
        f"{offset}_first_at": since,
        f"{offset}_last_at": until,
    }


def weighed(frame: DataFrame, weights: Mapping[float, float], interval: float = 60.0) -> DataFrame:
    """The rows with their `weight`: of runs that stand for so many seconds, by their minute."""
    rows = [(minute(number), weight) for number, weight in weights.items()]
    stands = frame.sparkSession.createDataFrame(rows, "taken_at timestamp, weight double")
    known = sf.coalesce("weight", sf.lit(interval)).alias("weight")
    return frame.join(stands, ["taken_at"], "left").select(*frame.columns, known)


def found_in(report: DataFrame) -> list[Row]:
    """The rows of a report, its times as minutes after the day's midnight."""
    return [
        {name: _minutes(value) for name, value in row.asDict().items()} for row in report.collect()
    ]


def _minutes(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    # Spark hands out times without a zone, in that of this process
    return (value.astimezone(UTC) - MIDNIGHT) / timedelta(minutes=1)
