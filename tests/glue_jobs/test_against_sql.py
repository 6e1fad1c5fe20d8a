# SPDX-License-Identifier: Apache-2.0
"""Every number of every report against SQL that shares no code with the job.

`make test` computes one small day; the large ones, of all that can be generated, are thorough.
"""

import re
from dataclasses import dataclass
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
THOROUGH = pytest.mark.thorough

Expected: TypeAlias = dict[str, dict[str, pa.Table]]

DAY = date(2026, 1, 31)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
TOMORROW = DAY + timedelta(days=1)
ODD = "blå & 1/2"
SIZES = {"small": (ODD,), "large": ("truth", ODD, "once", "empty")}


def write_odd(root: Path, cluster: str, *, seed: int, runs: int, days: int) -> None:
    """A cluster's odd day, and days before it that make some of its hours unusual."""
    write_odd_day(root, quote(cluster, safe=""), MIDNIGHT, seed=seed, runs=runs)
    groups = [f"g{number}" for number in range(GROUPS)]
    write_usual_days(root, cluster, groups, before=DAY, days=days)


def write_days(root: Path, size: str) -> None:
    """All that can be generated, and what spoils a day: no rows, a single run, a broken object."""
    write_odd(root, ODD, seed=1, runs=40 if size == "large" else 12, days=42)
    folder = f"cluster={quote(ODD, safe='')}"
    cut = min((root / "snapshots/group_partitions" / folder).rglob("*.parquet"))
    cut.write_bytes(cut.read_bytes()[:-100])
    if size == "small":
        return
    write_day(root, truth(), date=DAY, every=timedelta(minutes=10))
    write_usual_days(root, "truth", ["keyed", "promised", "away", "stops"], before=DAY, days=21)
    write_odd(root, "once", seed=4, runs=1, days=14)
    for minute in range(3):
        write_run(root, "groups", [], at=MIDNIGHT + timedelta(minutes=minute), folder="empty")


@dataclass(frozen=True, slots=True)
class Reported:
    """A folder with a day of snapshots and what the job makes of them, and the reports by SQL."""

    root: Path
    clusters: tuple[str, ...]
    expected: Expected


@pytest.fixture(
    name="reported", scope="module", params=["small", pytest.param("large", marks=THOROUGH)]
)
def _reported(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Reported:
    assert spark
    root, clusters = tmp_path_factory.mktemp("against-sql"), SIZES[request.param]
    write_days(root, request.param)
    place = ["--input", str(root), "--output", str(root), "--no-history"]
    assert main([*place, "--date", str(DAY)], now=lambda: MIDNIGHT + timedelta(days=1)) == 0
    assert {path.name for path in root.iterdir()} == {"reports", "snapshots"}
    with duckdb.connect() as connection:
        by_sql = {name: run(connection, root, name, DAY, today=TOMORROW) for name in clusters}
    return Reported(root, clusters, by_sql)


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_what_sql_says(report: str, reported: Reported) -> None:
    said = {
        cluster: compare(tables[report], written(reported.root, report, cluster, DAY))
        for cluster, tables in reported.expected.items()
    }

    assert {cluster: answer for cluster, answer in said.items() if answer} == {}


@pytest.mark.parametrize("report", REPORTS)
def test_the_day_has_every_column_with_a_value(report: str, reported: Reported) -> None:
    rows = pa.concat_tables([tables[report] for tables in reported.expected.values()])

    assert rows.num_rows
    empty = {name for name in rows.column_names if rows[name].null_count == len(rows)}
    # the planted day has a broker that is the cause, and so have the large ones
    assert empty <= (set() if "truth" in reported.clusters else {"cause_leader"})


def test_no_page_has_a_word_of_python(reported: Reported) -> None:
    for cluster in reported.clusters:
        folder = reported.root / "reports/page" / f"cluster={quote(cluster, safe='')}"
        html = (folder / f"dt={DAY}" / "report.html").read_text("utf-8")
        shown = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
        assert "means unknown" in shown
        assert not re.search(r"\b(None|nan|NaN|inf)\b", shown)


@pytest.mark.parametrize("reported", [pytest.param("large", marks=THOROUGH)], indirect=True)
def test_the_coverage_of_a_day_in_progress_is_what_sql_says(
    spark: SparkSession, reported: Reported
) -> None:
    # The broken object of the odd day is found only by a run of the whole job.
    root, clusters = str(reported.root), ["truth", "once"]
    found = find_days(Storage(), root, root, DAY, clusters, DAY)
    said = {}
    with duckdb.connect() as connection:
        for day in found:
            sql = run(connection, reported.root, day.cluster, DAY, today=DAY)["coverage"]
            said[day.cluster] = compare(sql, coverage(spark, Storage(), day))

    assert said == {"truth": [], "once": []}
