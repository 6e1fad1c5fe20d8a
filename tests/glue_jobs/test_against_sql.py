# SPDX-License-Identifier: Apache-2.0
"""Every number of every report against SQL that shares no code with the job."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import duckdb
import pyarrow as pa
import pyarrow.compute
import pytest
from pyspark.sql import SparkSession

from dev.days import write_day
from dev.days.hourly import write_usual_days
from dev.days.scenarios import truth
from dev.report_check import compare, run, written
from kafka_lag_report.daily_report import main
from kafka_lag_report.read_snapshots import find_days
from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.storage import Storage
from kafka_lag_report.tables.coverage import coverage
from tests.glue_jobs.days import write_run
from tests.glue_jobs.odd_days import GROUPS, write_odd_day

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

Expected: TypeAlias = dict[str, dict[str, pa.Table]]

DAY = date(2026, 1, 31)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
TOMORROW = DAY + timedelta(days=1)
ODD = "blå & 1/2"
CLUSTERS = ("truth", ODD, "once", "empty")


def _write_days(root: Path) -> None:
    """All that can be generated, and what spoils a day: no rows, a single run, a broken object."""
    tens = timedelta(minutes=10)
    write_day(root, truth(), date=DAY, every=tens)
    folder = "bl%C3%A5%20%26%201%2F2"
    write_odd_day(root, folder, MIDNIGHT, seed=1, runs=40)
    cut = min((root / "snapshots/group_partitions" / f"cluster={folder}").rglob("*.parquet"))
    cut.write_bytes(cut.read_bytes()[:-100])
    write_odd_day(root, "once", MIDNIGHT, seed=4, runs=1)
    for minute in range(3):
        write_run(root, "groups", [], at=MIDNIGHT + timedelta(minutes=minute), folder="empty")
    write_usual_days(root, ODD, [f"g{number}" for number in range(GROUPS)], before=DAY)
    write_usual_days(root, "truth", ["keyed", "promised", "away", "stops"], before=DAY, days=21)
    write_usual_days(root, "once", [f"g{number}" for number in range(GROUPS)], before=DAY, days=14)


@pytest.fixture(name="reported", scope="module")
def _reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a day of snapshots and what the job makes of them."""
    assert spark
    root = tmp_path_factory.mktemp("against-sql")
    _write_days(root)
    place = ["--input", str(root), "--output", str(root), "--no-history"]
    assert main([*place, "--date", str(DAY)], now=lambda: MIDNIGHT + timedelta(days=1)) == 0
    assert {path.name for path in root.iterdir()} == {"reports", "snapshots"}
    return root


@pytest.fixture(name="expected", scope="module")
def _expected(reported: Path) -> Expected:
    """The reports of each cluster by SQL."""
    with duckdb.connect() as connection:
        return {name: run(connection, reported, name, DAY, today=TOMORROW) for name in CLUSTERS}


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_what_sql_says(report: str, reported: Path, expected: Expected) -> None:
    said = {
        cluster: compare(tables[report], written(reported, report, cluster, DAY))
        for cluster, tables in expected.items()
    }

    assert {cluster: answer for cluster, answer in said.items() if answer} == {}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_no_page_has_a_word_of_python(reported: Path, cluster: str) -> None:
    folder = reported / "reports/page" / f"cluster={quote(cluster, safe='')}" / f"dt={DAY}"

    html = (folder / "report.html").read_text("utf-8")

    shown = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
    assert "means unknown" in shown
    assert not re.search(r"\b(None|nan|NaN|inf)\b", shown)


def test_the_coverage_of_a_day_in_progress_is_what_sql_says(
    spark: SparkSession, reported: Path
) -> None:
    found = find_days(Storage(), str(reported), str(reported), DAY, ["truth", "once"], DAY)
    said = {}
    with duckdb.connect() as connection:
        for day in found:
            sql = run(connection, reported, day.cluster, DAY, today=DAY)["coverage"]
            said[day.cluster] = compare(sql, coverage(spark, Storage(), day))

    assert said == {"truth": [], "once": []}


@pytest.mark.parametrize("report", REPORTS)
def test_the_day_has_every_column_with_a_value(report: str, expected: Expected) -> None:
    rows = pa.concat_tables([tables[report] for tables in expected.values()])

    assert rows.num_rows
    assert [name for name in rows.column_names if rows[name].null_count == len(rows)] == []
