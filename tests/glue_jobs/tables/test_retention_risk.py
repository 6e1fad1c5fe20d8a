# SPDX-License-Identifier: Apache-2.0
"""Retention risk: the worst word and the worst moment of a day."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.aggregates import (
    group_segments,
    topic_segments,
)
from kafka_lag_report.partials import DayRows
from kafka_lag_report.tables.retention_risk import retention_risk
from tests.glue_jobs.days import NOON, Row, frame, group_row, minute, topic_row

pytestmark = pytest.mark.spark


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
# lag in seconds, its error at two runs a minute apart, records lost, ends -> what had been enough
Errors = tuple[float | None, float | None]
SURE: Errors = (1.0, 1.0)
NEEDED: dict[str, tuple[float | None, Errors, int, tuple[int, int], float | None]] = {
    "the oldest that was unread": (7200.0, SURE, 0, (0, 600), 7200.0),
    "what was lost was older by the time it took to produce": (7200.0, SURE, 300, (0, 600), 7230.0),
    "lost from a topic that stands still": (7200.0, SURE, 300, (600, 600), None),
    "a least age": (7200.0, (None, None), 0, (0, 600), None),
    "as old as it once was for sure": (7200.0, (None, 1.0), 0, (0, 600), 7200.0),
    "never known": (None, (None, None), 0, (0, 600), None),
}
# retention in milliseconds of two runs -> in seconds
KEPT: dict[str, tuple[list[int | None], float | None]] = {
    "changed at noon": ([3_600_000, 7_200_000], 7200.0),
    "known before only": ([3_600_000, None], 3600.0),
    "made unlimited": ([3_600_000, -1], None),
    "no retention known": ([None, None], None),
}
DAY_MS = 86_400_000
# retention in milliseconds, cleanup policy -> whether it is unlimited
SETTINGS: dict[str, tuple[int | None, str | None, bool | None]] = {
    "no age": (-1, "delete", True),
    "compacted": (DAY_MS, "compact", True),
    "both": (DAY_MS, "compact,delete", False),
    "policy unknown": (DAY_MS, None, None),
    "no age, policy unknown": (-1, None, True),
    "age unknown": (None, "delete", None),
    "no setting known": (None, None, None),
}
MOMENTS = "least moments"


def _group_rows() -> Iterator[Row]:
    """A topic for each case."""
    for case, (runs, _) in WORDS.items():
        for run, (word, lost) in enumerate(runs):
            more: Row = {"records_lost": lost, "retention_risk": word}
            yield group_row(0, 9, 0, 10, topic=case, taken_at=minute(run), **more)
    yield group_row(0, 90, 0, 100, topic=MOMENTS, taken_at=minute(0), seconds_until_loss=60.0)
    yield group_row(0, 95, 80, 100, topic=MOMENTS, taken_at=minute(1), seconds_until_loss=900.0)
    yield group_row(0, None, 90, 100, topic=MOMENTS, taken_at=minute(2))
    for case, (age, errors, lost, ends, _) in NEEDED.items():
        for run, (end, error) in enumerate(zip(ends, errors, strict=True)):
            age_of = {"time_lag_seconds": age, "time_lag_error_seconds": error}
            more = {**age_of, "records_lost": lost}
            yield group_row(0, 0, 0, end, topic=case, taken_at=minute(run), **more)
    for case in (*KEPT, *SETTINGS):
        yield group_row(0, 9, 0, 10, topic=case)


def _topic_rows() -> Iterator[Row]:
    for case, (values, _) in KEPT.items():
        for run, ms in enumerate(values):
            yield topic_row(0, 10, topic=case, taken_at=minute(run), retention_ms=ms, leader=run)
    for case, (ms, policy, _) in SETTINGS.items():
        yield topic_row(0, 10, topic=case, retention_ms=ms, cleanup_policy=policy)


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[str, Row]:
    """The report's rows by topic, with the minutes of its moments."""
    levels = frame(spark, "group_partitions", list(_group_rows()))
    made = frame(spark, "topic_partitions", list(_topic_rows()))
    report = retention_risk(
        group_segments(DayRows(levels)), topic_segments(DayRows(made)), NOON.date()
    )
    for name in ("least_margin_at", "least_seconds_until_loss_at"):
        report = report.withColumn(name, sf.minute(name))
    return {row["topic"]: row.asDict() for row in report.collect()}


def test_each_topic_has_a_row(found: dict[str, Row]) -> None:
    assert found.keys() == {*WORDS, MOMENTS, *NEEDED, *KEPT, *SETTINGS}


@pytest.mark.parametrize("case", WORDS)
def test_the_worst_word_of_the_day(found: dict[str, Row], case: str) -> None:
    assert found[case]["retention_risk"] == WORDS[case][-1]


def test_the_worst_moments_are_told_apart(found: dict[str, Row]) -> None:
    row = found[MOMENTS]

    assert (row["least_margin"], row["least_margin_at"], row["lag_at_least_margin"]) == (15, 1, 5)
    assert (row["least_seconds_until_loss"], row["least_seconds_until_loss_at"]) == (60.0, 0)


@pytest.mark.parametrize("case", NEEDED)
def test_the_retention_that_would_have_been_enough(found: dict[str, Row], case: str) -> None:
    assert found[case]["retention_needed_seconds"] == NEEDED[case][-1]


@pytest.mark.parametrize("case", KEPT)
def test_retention_is_the_newest_that_was_known(found: dict[str, Row], case: str) -> None:
    assert found[case]["retention_seconds"] == KEPT[case][-1]


@pytest.mark.parametrize("case", SETTINGS)
def test_retention_is_unlimited_where_one_setting_says_so_and_limited_where_both_do(
    found: dict[str, Row], case: str
) -> None:
    assert found[case]["retention_unlimited"] is SETTINGS[case][-1]
