# SPDX-License-Identifier: Apache-2.0
"""Retention risk: the worst word and the worst moment of a day."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_lag_report.aggregates import (
    group_segments,
    topic_segments,
)
from kafka_lag_report.tables.retention_risk import retention_risk
from tests.glue_jobs.days import NOON, Row, frame, group_row, minute, topic_row

pytestmark = pytest.mark.spark


def report(spark: SparkSession, groups: list[Row], topics: list[Row]) -> DataFrame:
    levels = frame(spark, "group_partitions", groups)
    made = frame(spark, "topic_partitions", topics)
    return retention_risk(group_segments(levels), topic_segments(made), NOON.date())


# words and losses of the runs -> the day's word
WORDS: dict[str, tuple[list[tuple[str | None, int | None]], str | None]] = {
    "lost in one run of three": ([(None, 0), (None, 5), (None, 0)], "LOST"),
    "lost, whatever the words say": ([("SAFE", 5), ("SAFE", 0)], "LOST"),
    "lost by the word alone": ([("LOST", 0)], "LOST"),
    "once at risk": ([("SAFE", 0), ("AT_RISK", 0)], "AT_RISK"),
    "safe whenever known": ([("SAFE", 0), (None, None)], "SAFE"),
    "no loss does not prove safety": ([(None, 0)], None),
    "nothing known": ([(None, None)], None),
}


def test_the_worst_word_of_the_day(spark: SparkSession) -> None:
    rows = [
        group_row(
            0, 9, 0, 10, topic=case, taken_at=minute(run), records_lost=lost, retention_risk=word
        )
        for case, (runs, _) in WORDS.items()
        for run, (word, lost) in enumerate(runs)
    ]
    words = {row["topic"]: row["retention_risk"] for row in report(spark, rows, []).collect()}

    assert words == {case: word for case, (_, word) in WORDS.items()}


def test_the_worst_moments_are_told_apart(spark: SparkSession) -> None:
    rows = [
        group_row(0, 90, 0, 100, taken_at=minute(0), seconds_until_loss=60.0),
        group_row(0, 95, 80, 100, taken_at=minute(1), seconds_until_loss=900.0),
        group_row(0, None, 90, 100, taken_at=minute(2)),
    ]
    row = (
        report(spark, rows, [])
        .selectExpr(
            "least_margin",
            "minute(least_margin_at)",
            "lag_at_least_margin",
            "least_seconds_until_loss",
            "minute(least_seconds_until_loss_at)",
        )
        .collect()[0]
    )

    assert tuple(row) == (15, 1, 5, 60.0, 0)


# lag in seconds, records lost, ends of two runs a minute apart -> what had been enough
NEEDED: dict[str, tuple[float | None, int, tuple[int, int], float | None]] = {
    "the oldest that was unread": (7200.0, 0, (0, 600), 7200.0),
    "what was lost was older by the time it took to produce": (7200.0, 300, (0, 600), 7230.0),
    "lost from a topic that stands still": (7200.0, 300, (600, 600), None),
    "never known": (None, 0, (0, 600), None),
}


def test_the_retention_that_would_have_been_enough(spark: SparkSession) -> None:
    rows = [
        group_row(
            0,
            0,
            0,
            end,
            topic=case,
            taken_at=minute(run),
            time_lag_seconds=age,
            records_lost=lost,
        )
        for case, (age, lost, ends, _) in NEEDED.items()
        for run, end in enumerate(ends)
    ]

    found = report(spark, rows, []).collect()

    needed = {row["topic"]: row["retention_needed_seconds"] for row in found}
    assert needed == {case: value for case, (*_, value) in NEEDED.items()}


def test_retention_is_the_newest_that_was_known(spark: SparkSession) -> None:
    kept: dict[str, tuple[list[int | None], float | None]] = {
        "changed at noon": ([3_600_000, 7_200_000], 7200.0),
        "known before only": ([3_600_000, None], 3600.0),
        "made unlimited": ([3_600_000, -1], None),
        "never known": ([None, None], None),
    }
    groups = [group_row(0, 9, 0, 10, topic=case) for case in kept]
    topics = [
        topic_row(0, 10, topic=case, taken_at=minute(run), retention_ms=ms, leader=run)
        for case, (values, _) in kept.items()
        for run, ms in enumerate(values)
    ]

    found = report(spark, groups, topics).collect()

    seconds = {row["topic"]: row["retention_seconds"] for row in found}
    assert seconds == {case: value for case, (_, value) in kept.items()}


def test_retention_is_unlimited_where_one_setting_says_so_and_limited_where_both_do(
    spark: SparkSession,
) -> None:
    day = 86_400_000
    settings: dict[str, tuple[int | None, str | None, bool | None]] = {
        "no age": (-1, "delete", True),
        "compacted": (day, "compact", True),
        "both": (day, "compact,delete", False),
        "policy unknown": (day, None, None),
        "no age, policy unknown": (-1, None, True),
        "age unknown": (None, "delete", None),
        "nothing known": (None, None, None),
    }
    groups = [group_row(0, 9, 0, 10, topic=case) for case in settings]
    topics = [
        topic_row(0, 10, topic=case, taken_at=minute(0), retention_ms=ms, cleanup_policy=policy)
        for case, (ms, policy, _) in settings.items()
    ]

    found = report(spark, groups, topics).collect()

    unlimited = {row["topic"]: row["retention_unlimited"] for row in found}
    assert unlimited == {case: value for case, (*_, value) in settings.items()}
