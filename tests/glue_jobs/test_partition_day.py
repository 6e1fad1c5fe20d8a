# SPDX-License-Identifier: Apache-2.0
"""Reducing a day's rows to one per partition."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from glue_jobs.partition_day import group_partition_days, topic_partition_days
from tests.glue_jobs.days import Row, frame, group_row, minute, topic_row

pytestmark = pytest.mark.spark

UNREAD = {"unread_reason": "no_leader"}
CASES_PRODUCED: dict[str, tuple[list[Row], int | None]] = {
    "rises are summed": ([topic_row(0, 10), topic_row(0, 25), topic_row(0, 26)], 16),
    "an idle topic produced nothing": ([topic_row(0, 10), topic_row(0, 10)], 0),
    "one sight tells nothing": ([topic_row(0, 10)], None),
    "an unknown end is skipped": ([topic_row(0, 10), topic_row(0, None), topic_row(0, 12)], 2),
    "a carried end is skipped": (
        [topic_row(0, 10), topic_row(0, 3, **UNREAD), topic_row(0, 12)],
        2,
    ),
    "going back is not negative": ([topic_row(0, 10), topic_row(0, 7), topic_row(0, 9)], 2),
    "a recreated topic starts anew": (
        [
            topic_row(0, 900),
            topic_row(0, 950),
            topic_row(0, 1000, topic_id="id-2"),
            topic_row(0, 1040, topic_id="id-2"),
        ],
        90,
    ),
    "a topic without id is one topic": (
        [topic_row(0, 1, topic_id=None), topic_row(0, 4, topic_id=None)],
        3,
    ),
    "never known": ([topic_row(0, None)], None),
}
"""Runs of one partition, a minute apart, and the records produced; null: unknown."""


def test_production_is_what_the_end_offset_rose_by(spark: SparkSession) -> None:
    rows = [
        {**row, "topic": case, "taken_at": minute(run)}
        for case, (runs, _) in CASES_PRODUCED.items()
        for run, row in enumerate(runs)
    ]
    produced = topic_partition_days(frame(spark, "topic_partitions", rows)).collect()

    expected = {c: value for c, (_, value) in CASES_PRODUCED.items() if c != "never known"}
    assert {row["topic"]: row["produced"] for row in produced} == expected


def test_runs_count_in_their_order_however_rows_arrive(spark: SparkSession) -> None:
    rows = [topic_row(0, end, taken_at=minute(end)) for end in (30, 10, 20)]

    produced = topic_partition_days(frame(spark, "topic_partitions", rows)).collect()

    assert [row["produced"] for row in produced] == [20]


CASES_GROUP: dict[str, tuple[list[Row], Row]] = {
    "lag is averaged over the runs that knew it": (
        [group_row(0, 90, 0, 100), group_row(0, None, 0, 100, **UNREAD), group_row(0, 80, 0, 100)],
        {"mean_lag": 15.0, "records_lost": 0},
    ),
    "an uncommitted partition is unknown, not zero": (
        [group_row(0, None, 0, 100)],
        {"mean_lag": None, "records_lost": None, "least_margin": None, "risk": None},
    ),
    "the most records lost count": (
        [group_row(0, 40, 50, 100), group_row(0, 40, 70, 100), group_row(0, 75, 70, 100)],
        {"records_lost": 30},
    ),
    "a carried loss may be of the day before": (
        [group_row(0, 40, 50, 100, lag=None, records_lost=10, retention_risk="LOST", **UNREAD)],
        {"records_lost": None, "least_margin": None, "risk": None},
    ),
    "the margin is never negative": (
        [group_row(0, 40, 50, 100)],
        {"least_margin": (0, "12:00", 50)},
    ),
    "the first least margin counts": (
        [group_row(0, 9, 0, 10), group_row(0, 8, 5, 10), group_row(0, 9, 6, 10)],
        {"least_margin": (3, "12:01", 2)},
    ),
    "the snapshot's own margin wins": (
        [group_row(0, 9, 0, 10, retention_margin=4)],
        {"least_margin": (4, "12:00", 1)},
    ),
    "an unknown margin is not the least": (
        [group_row(0, 9, 0, 10), group_row(0, 5, 0, 10, start_offset=None)],
        {"least_margin": (9, "12:00", 1)},
    ),
    "least time to loss": (
        [
            group_row(0, 9, 0, 10, seconds_until_loss=None),
            group_row(0, 9, 0, 10, seconds_until_loss=60.0),
        ],
        {"least_time": (60.0, "12:01", 1)},
    ),
    "the worst word of the day": (
        [group_row(0, 9, 0, 10, retention_risk=word) for word in ("SAFE", "AT_RISK", None, "SAFE")],
        {"risk": "AT_RISK"},
    ),
    "lost outranks at risk": (
        [group_row(0, 9, 0, 10, retention_risk=word) for word in ("LOST", "AT_RISK")],
        {"risk": "LOST"},
    ),
}
"""Runs of one group's partition, a minute apart, and what must be among the result."""


def _readable(days: DataFrame) -> dict[str, Row]:
    for name in ("least_margin", "least_time"):
        at = sf.date_format(f"{name}.taken_at", "HH:mm")
        triple = sf.struct(f"{name}.value", at.alias("at"), f"{name}.lag")
        days = days.withColumn(name, sf.when(sf.col(name).isNotNull(), triple))
    return {row["topic"]: row.asDict() for row in days.collect()}


def test_a_group_partition_is_reduced_to_its_day(spark: SparkSession) -> None:
    rows = [
        {**row, "topic": case, "taken_at": minute(run)}
        for case, (runs, _) in CASES_GROUP.items()
        for run, row in enumerate(runs)
    ]
    days = _readable(group_partition_days(frame(spark, "group_partitions", rows)))

    for case, (_, expected) in CASES_GROUP.items():
        assert {name: days[case][name] for name in expected} == expected, case


def test_a_day_without_rows_has_no_partitions(spark: SparkSession) -> None:
    assert group_partition_days(frame(spark, "group_partitions", [])).count() == 0
    assert topic_partition_days(frame(spark, "topic_partitions", [])).count() == 0
