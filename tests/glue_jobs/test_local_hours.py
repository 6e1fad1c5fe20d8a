# SPDX-License-Identifier: Apache-2.0
"""A holiday after a clock change through the whole job, and two runs of it at once."""

import io
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dev.days.hourly import Hour, write_hours
from dev.report_judge.judge import page_lines, page_of
from kafka_lag_report.daily_report import main
from tests.glue_jobs.days import Row, group_row, report_rows, topic_row, write_run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

DATE = date(2026, 1, 31)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
CLUSTER = "local"
READERS = tuple(f"reader-{number}" for number in range(4))
HOLIDAY = range(8, 18)


def lag_of(hour: int) -> int:
    """It is high in every second hour of the day that people live by."""
    return 5_000 if hour % 2 else 100


def write_day_and_weeks(root: Path) -> None:
    """In the three weeks before, people's hours began one of UTC's later."""
    for half in range(48):
        at, hour = MIDNIGHT + timedelta(minutes=30 * half), half // 2
        seen: Row = {"lag": lag_of(hour), "time_lag_seconds": 30.0, "status": "OK"}
        seen["produce_rate"] = 1.0 if hour in HOLIDAY else 20.0
        rows = [group_row(0, half, 0, half, consumer_group=name) for name in READERS]
        groups = [{"consumer_group": name, **seen} for name in READERS]
        write_run(root, "groups", groups, at=at, folder=CLUSTER)
        write_run(root, "group_partitions", rows, at=at, folder=CLUSTER)
        write_run(root, "topic_partitions", [topic_row(0, half)], at=at, folder=CLUSTER)
    for week in (1, 2, 3):
        hours = [
            Hour(consumer_group=name, hour=hour, lag=float(lag_of(hour + 1)), produce_rate=20.0)
            for name in READERS
            for hour in range(24)
        ]
        write_hours(root, CLUSTER, DATE - timedelta(weeks=week), hours)


def run(root: Path) -> int:
    places = ["--input", str(root), "--output", str(root), "--date", str(DATE), "--no-history"]
    return main(places, now=lambda: MIDNIGHT + timedelta(days=1, hours=1))


@pytest.fixture(name="root", scope="module")
def _root(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert spark
    root = tmp_path_factory.mktemp("local")
    write_day_and_weeks(root)
    with redirect_stdout(io.StringIO()):
        assert run(root) == 0
    return root


def unusual(root: Path) -> set[tuple[Any, ...]]:
    rows = report_rows(root, "anomalies", CLUSTER)
    return {(row["measure"], row["direction"], row["hour"]) for row in rows}


def test_after_a_clock_change_an_hour_is_compared_with_the_one_beside_it(root: Path) -> None:
    assert {measure for measure, _, _ in unusual(root)} == {"produce_rate"}


def test_a_holiday_is_one_sentence_for_the_cluster(root: Path) -> None:
    assert unusual(root) == {("produce_rate", "low", hour) for hour in HOLIDAY}
    (line,) = page_lines(page_of(root, CLUSTER, DATE))
    assert "The produce rate of 4 groups (100% of all) was lower than usual" in line
    assert "from 08:00 to 18:00" in line


def test_of_two_runs_at_once_both_end_well_and_leave_whole_reports(root: Path) -> None:
    def published() -> dict[str, Any]:
        tables = {name: report_rows(root, name, CLUSTER) for name in ("lag_hourly", "anomalies")}
        return {**tables, "page": page_lines(page_of(root, CLUSTER, DATE))}

    before = published()
    with redirect_stdout(io.StringIO()), ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(lambda _: run(root), range(2)))

    assert codes == [0, 0]
    assert published() == before
    assert list((root / "reports").glob("_staging*")) == []
