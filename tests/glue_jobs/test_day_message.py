# SPDX-License-Identifier: Apache-2.0
"""The comparison in a run's message: the stored reports of two days."""

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.cluster_day import Job
from kafka_lag_report.day_message import deliver_message, read_two_days
from kafka_lag_report.errors import DataError
from kafka_lag_report.message import Message
from kafka_lag_report.options import parse
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.storage import Storage
from kafka_lag_report.timings import Timings
from tests.glue_jobs.days import ARROW, a_day

pytestmark = pytest.mark.spark

EVE, DAY, LATER = date(2026, 1, 30), date(2026, 1, 31), date(2026, 2, 2)


def write_coverage(root: Path, cluster: str, day: date) -> Path:
    fields = [(f.name, ARROW[f.dataType.simpleString()]) for f in REPORTS["coverage"].fields]
    row: dict[str, Any] = {"dataset": "groups", "runs": 1440, "expected_runs": 1440}
    row |= {"interval_seconds": 60.0, "longest_gap_seconds": 60.0, "in_progress": False}
    place = root / "reports" / "coverage" / f"cluster={cluster}" / f"dt={day}"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row], schema=pa.schema(fields)), place / "part.parquet")
    return place / "part.parquet"


@pytest.fixture(name="reported")
def _reported(spark: SparkSession, tmp_path: Path) -> tuple[Job, list[Day]]:
    """Two clusters the day before, of which one has nothing today."""
    for cluster, written in (("demo", EVE), ("demo", DAY), ("silent", EVE)):
        write_coverage(tmp_path, cluster, written)
    place = str(tmp_path)
    options = parse(
        ["--input", place, "--output", place, "--date", str(DAY)],
        lambda: datetime(2026, 2, 1, 1, tzinfo=UTC),
    )
    job = Job(spark, Storage(), options, Timings(lambda: 0.0, lambda _: None))
    days = [a_day("demo", place), a_day("silent", place, source=None)]
    return job, days


def message_of(job: Job, days: list[Day], on: date = DAY, **failed: str) -> Message | None:
    return read_two_days(job, days).compose(on, failed)


def test_a_cluster_that_fell_silent_is_news(reported: tuple[Job, list[Day]]) -> None:
    message = message_of(*reported)

    assert message is not None
    assert "silent" in message.body


def test_a_broken_report_costs_its_own_cluster_only(
    reported: tuple[Job, list[Day]], tmp_path: Path
) -> None:
    job, days = reported
    broken = next((tmp_path / "reports/coverage/cluster=demo/dt=2026-01-30").iterdir())
    broken.write_bytes(b"no Parquet")

    message = message_of(job, days)

    assert message is not None
    assert f"no report of demo: cannot read {broken}: its rows cannot be decoded" in message.body
    assert "silent" in message.body
    said: list[str] = []
    with pytest.raises(DataError, match=r"cannot read .*dt=2026-01-30/part.parquet"):
        deliver_message(job, DAY, days, {}, said.append)
    assert "no report of demo" in said[0]


def test_a_day_on_which_all_failed_says_so_and_nothing_else(
    reported: tuple[Job, list[Day]],
) -> None:
    job, _ = reported

    message = message_of(job, [], demo="its snapshots cannot be read")

    assert message is not None
    assert message.body.splitlines() == [
        "Kafka lag of demo on 2026-01-31: 1 cluster without a report.",
        "no report of demo: its snapshots cannot be read",
    ]


def test_after_a_day_without_a_report_the_next_is_not_called_the_first(
    reported: tuple[Job, list[Day]],
) -> None:
    job, (demo, _) = reported
    write_coverage(Path(job.options.output), "demo", LATER)

    message = message_of(job, [replace(demo, date=LATER)], LATER, other="no rows")

    assert message is not None
    assert "There is no report of the day before to compare with." in message.body
    assert "First report" not in message.body
