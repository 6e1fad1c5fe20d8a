# SPDX-License-Identifier: Apache-2.0
"""A run that would not end in time: finished work stays, and the rest is named."""

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from kafka_lag_report.time_limit import TimeLimit, cancelling_late_jobs
from tests.glue_jobs.days import NOON, write_run


@pytest.mark.parametrize(
    ("minutes", "now", "left"),
    [
        (None, 1e9, None),
        (10, 100.0, 480.0),
        (10, 579.0, 1.0),
        (10, 581.0, 0.0),
        (60, 100.0, 3240.0),
    ],
)
def test_a_tenth_is_left_for_the_message_and_two_minutes_at_least(
    minutes: int | None, now: float, left: float | None
) -> None:
    limit = TimeLimit(minutes, 100.0, lambda: now)

    assert limit.left == left
    assert limit.reached == (left == 0)


def test_clusters_that_were_not_begun_in_time_are_named(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spark
    write_run(tmp_path, "groups", [])
    ticks = iter([0.0])
    place = str(tmp_path)
    words = ["--input", place, "--output", place, "--date", str(NOON.date()), "--time-limit", "10"]

    code = main(words, clock=lambda: next(ticks, 481.0))

    assert code == 1
    why = "the run's time limit of 10 minutes was over before this cluster began"
    assert f"no report of demo on 2026-01-31: {why}" in capsys.readouterr().err
    assert not (tmp_path / "reports").exists()


def test_a_job_of_spark_that_takes_too_long_is_cancelled(spark: SparkSession) -> None:
    def slow(number: int) -> int:
        time.sleep(60)
        return number

    late = TimeLimit(10, 0.0, lambda: 481.0)

    with (
        cancelling_late_jobs(spark.sparkContext, late),
        pytest.raises(Exception, match="cancelled"),
    ):
        spark.sparkContext.parallelize([1], 1).map(slow).collect()
