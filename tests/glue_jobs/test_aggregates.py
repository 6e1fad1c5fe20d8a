# SPDX-License-Identifier: Apache-2.0
"""Reducing a day's rows to segments, runs, and one row a partition."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.aggregates import (
    group_partition_days,
    group_runs,
    group_segments,
    net_rise,
    records_produced,
    topic_runs,
    topic_segments,
)
from kafka_lag_report.partials import DayRows
from kafka_lag_report.skew import grouped
from kafka_lag_report.tables.retention_risk import retention_risk
from tests.glue_jobs.days import NOON, Row, frame, group_row, minute, topic_row

pytestmark = pytest.mark.spark

UNREAD = {"unread_reason": "no_leader"}


def _lag(
    partition: int, lag: int | None, age: float | None, rate: float | None, **more: Any
) -> Row:
    committed = None if lag is None else 1000 - lag
    times = {"time_lag_seconds": age, "consume_rate": rate}
    return group_row(partition, committed, 0, 1000, **times, **more)


CASES_PRODUCED: dict[str, tuple[list[Row], int | None]] = {
    "rises are summed": ([topic_row(0, 10), topic_row(0, 25), topic_row(0, 26)], 16),
    "an idle topic produced nothing": ([topic_row(0, 10), topic_row(0, 10)], 0),
    "one sight tells nothing": ([topic_row(0, 10)], None),
    "an unknown end is skipped": ([topic_row(0, 10), topic_row(0, None), topic_row(0, 12)], 2),
    "a carried end is skipped": (
        [topic_row(0, 10), topic_row(0, 3, **UNREAD), topic_row(0, 12)],
        2,
    ),
    "going back is not negative": ([topic_row(0, 10), topic_row(0, 7), topic_row(0, 9)], 0),
    "what is there in the end counts": ([topic_row(0, 10), topic_row(0, 7), topic_row(0, 14)], 4),
    "a new leader leads the same log": (
        [topic_row(0, 10, leader=1), topic_row(0, 15, leader=2), topic_row(0, 30, leader=1)],
        20,
    ),
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


def _produced(spark: SparkSession, rows: list[Row]) -> dict[str, int | None]:
    levels = frame(spark, "topic_partitions", rows)
    found = records_produced(topic_segments(DayRows(levels))).collect()
    return {row["topic"]: row["produced"] for row in found}


def test_production_is_what_the_end_offset_rose_by(spark: SparkSession) -> None:
    rows = [
        {**row, "topic": case, "taken_at": minute(run)}
        for case, (runs, _) in CASES_PRODUCED.items()
        for run, row in enumerate(runs)
    ]
    made = _produced(spark, rows)

    assert made == {case: value for case, (_, value) in CASES_PRODUCED.items()}


def test_runs_count_in_their_order_however_rows_arrive(spark: SparkSession) -> None:
    rows = [topic_row(0, end, taken_at=minute(end)) for end in (30, 10, 20)]

    assert _produced(spark, rows) == {"orders": 20}


def _skip(since: int, until: int, at: datetime) -> Row:
    return {"skipped_from": since, "skipped_to": until, "skipped_at": at}


SKIPPED = _skip(10, 700, minute(1))
CASES_CONSUMED: dict[str, tuple[list[Row], int | None]] = {
    "rises are summed": ([group_row(0, c, 0, 1000) for c in (10, 20, 21)], 11),
    "what was skipped is not": (
        [
            group_row(0, 10, 0, 1000),
            group_row(0, 700, 0, 1000, **SKIPPED),
            group_row(0, 705, 0, 1000, **SKIPPED),
        ],
        5,
    ),
    "a skip that is taken back was read": (
        [
            group_row(0, 10, 0, 1000),
            group_row(0, 700, 0, 1000, **SKIPPED),
            group_row(0, 900, 0, 1000),
        ],
        890,
    ),
    "a skip of the day before": (
        [group_row(0, c, 0, 1000, **_skip(1, 9, NOON - timedelta(days=1))) for c in (10, 20)],
        10,
    ),
    "a commit beyond the end is no reading": (
        [group_row(0, c, 0, 1000) for c in (10, 2**63 - 1, 20, 2**63 - 1)],
        10,
    ),
}
"""Runs of one group's partition, a minute apart, and the records that were read of it."""


def test_consumption_is_what_was_read(spark: SparkSession) -> None:
    rows = [
        {**row, "topic": case, "taken_at": minute(run)}
        for case, (runs, _) in CASES_CONSUMED.items()
        for run, row in enumerate(runs)
    ]
    segments = group_segments(DayRows(frame(spark, "group_partitions", rows)))
    found = grouped(segments, ["topic"], {"consumed": net_rise("committed", "commits")})

    assert {row["topic"]: row["consumed"] for row in found.collect()} == {
        case: value for case, (_, value) in CASES_CONSUMED.items()
    }


CASES_GROUP: dict[str, tuple[list[Row], Row | None]] = {
    "lag is averaged over the runs that knew it": (
        [group_row(0, 90, 0, 100), group_row(0, None, 0, 100, **UNREAD), group_row(0, 80, 0, 100)],
        {"mean_lag": 15.0, "records_lost": 0},
    ),
    "an uncommitted partition is unknown, not zero": (
        [group_row(0, None, 0, 100)],
        {"mean_lag": None, "records_lost": None, "least_margin": None, "retention_risk": None},
    ),
    "the most records lost count": (
        [group_row(0, 40, 50, 100), group_row(0, 40, 70, 100), group_row(0, 75, 70, 100)],
        {"records_lost": 30},
    ),
    "a carried loss may be of the day before": (
        [group_row(0, 40, 50, 100, lag=None, records_lost=10, retention_risk="LOST", **UNREAD)],
        None,
    ),
    "the margin is never negative": (
        [group_row(0, 40, 50, 100)],
        {"least_margin": 0, "least_margin_at": "12:00", "lag_at_least_margin": 50},
    ),
    "the first least margin counts": (
        [group_row(0, 9, 0, 10), group_row(0, 8, 5, 10), group_row(0, 9, 6, 10)],
        {"least_margin": 3, "least_margin_at": "12:01", "lag_at_least_margin": 2},
    ),
    "the snapshot's own margin wins": (
        [group_row(0, 9, 0, 10, retention_margin=4)],
        {"least_margin": 4, "least_margin_at": "12:00", "lag_at_least_margin": 1},
    ),
    "an unknown margin is not the least": (
        [group_row(0, 9, 0, 10), group_row(0, 5, 0, 10, start_offset=None)],
        {"least_margin": 9, "least_margin_at": "12:00", "lag_at_least_margin": 1},
    ),
    "least time to loss": (
        [
            group_row(0, 9, 0, 10, seconds_until_loss=None),
            group_row(0, 9, 0, 10, seconds_until_loss=60.0),
        ],
        {"least_seconds_until_loss": 60.0, "least_seconds_until_loss_at": "12:01"},
    ),
    "the worst word of the day": (
        [group_row(0, 9, 0, 10, retention_risk=word) for word in ("SAFE", "AT_RISK", None, "SAFE")],
        {"retention_risk": "AT_RISK"},
    ),
    "lost outranks at risk": (
        [group_row(0, 9, 0, 10, retention_risk=word) for word in ("LOST", "AT_RISK")],
        {"retention_risk": "LOST"},
    ),
}
"""Runs of one group's partition, a minute apart, and what must be among the result."""


def _day(spark: SparkSession, rows: list[Row]) -> dict[str, Row]:
    """The day of each topic's partition 0, in the words of the cases."""
    levels = frame(spark, "group_partitions", rows)
    segments = group_segments(DayRows(levels))
    made = frame(spark, "topic_partitions", [])
    risks = retention_risk(segments, topic_segments(DayRows(made)), NOON.date())
    days = group_partition_days(segments).join(risks, ["consumer_group", "topic", "partition_id"])
    for name in ("least_margin_at", "least_seconds_until_loss_at"):
        days = days.withColumn(name, sf.date_format(name, "HH:mm"))
    return {row["topic"]: row.asDict() for row in days.collect()}


def test_a_group_partition_is_reduced_to_its_day(spark: SparkSession) -> None:
    rows = [
        {**row, "topic": case, "taken_at": minute(run)}
        for case, (runs, _) in CASES_GROUP.items()
        for run, row in enumerate(runs)
    ]
    days = _day(spark, rows)

    for case, (_, expected) in CASES_GROUP.items():
        found = days.get(case)
        seen = found and expected and {name: found[name] for name in expected}
        assert seen == expected, case


RUNS: dict[str, tuple[list[Row], tuple[int | None, float | None, float | None, bool | None]]] = {
    "partitions add up, times take the worst": (
        [_lag(0, 10, 5.0, 1.0), _lag(1, 30, 60.0, 2.0)],
        (40, 60.0, 3.0, False),
    ),
    "an unread partition makes the run unknown": (
        [_lag(0, 10, 5.0, 1.0), _lag(1, None, None, None, **UNREAD)],
        (None, None, 1.0, False),
    ),
    "what a group never committed is no part of its lag": (
        [_lag(0, 10, 5.0, 1.0), _lag(1, None, None, None)],
        (10, 5.0, 1.0, False),
    ),
    "skewed is half as much again, and a hundred": (
        [_lag(0, 300, 5.0, 1.0), _lag(1, 100, 5.0, 1.0)],
        (400, 5.0, 2.0, True),
    ),
    "nothing known": ([_lag(0, None, None, None)], (None, None, None, None)),
}
"""The rows of one run of one topic: lag, time lag, consume rate, and whether it is skewed."""


def test_each_run_of_a_topic_is_the_sum_of_its_partitions(spark: SparkSession) -> None:
    rows = [{**row, "topic": case} for case, (runs, _) in RUNS.items() for row in runs]
    levels = frame(spark, "group_partitions", rows)
    found = group_runs(DayRows(levels)).collect()

    names = ("lag", "time_lag", "consume_rate", "skewed")
    named = {row["topic"]: tuple(row[name] for name in names) for row in found}
    assert named == {case: expected for case, (_, expected) in RUNS.items()}


def test_production_of_a_run_is_skewed_by_its_rates(spark: SparkSession) -> None:
    cases: dict[str, tuple[list[float | None], bool | None]] = {
        "uneven": ([10.0, 1.0, 1.0], True),
        "even": ([4.0, 4.0, 4.0], False),
        "too slow to matter": ([0.3, 0.0, 0.0], False),
        "unknown": ([None, None], None),
    }
    rows = [
        topic_row(p, 10, topic=case, produce_rate=rate)
        for case, (rates, _) in cases.items()
        for p, rate in enumerate(rates)
    ]
    levels = frame(spark, "topic_partitions", rows)

    found = topic_runs(DayRows(levels)).collect()

    assert {row["topic"]: row["skewed"] for row in found} == {c: s for c, (_, s) in cases.items()}


def test_the_one_under_whom_most_lag_stood_is_the_partitions_own(spark: SparkSession) -> None:
    rows = [
        group_row(0, 90, 0, 100, taken_at=minute(run), leader=leader, member_id=member)
        for run, (leader, member) in enumerate([(1, "a"), (1, "a"), (1, None)])
    ]
    rows.append(group_row(0, 10, 0, 100, taken_at=minute(9), leader=2, member_id="b"))
    levels = frame(spark, "group_partitions", rows)

    (day,) = group_partition_days(group_segments(DayRows(levels))).collect()

    assert (day["leader"], day["member_id"], day["mean_lag"]) == (2, "b", 30.0)


def test_a_day_without_rows_has_no_partitions(spark: SparkSession) -> None:
    assert _day(spark, []) == {}
    assert _produced(spark, []) == {}
