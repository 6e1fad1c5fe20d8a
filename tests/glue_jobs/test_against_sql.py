# SPDX-License-Identifier: Apache-2.0
"""Every number of every report against SQL that shares no code with the job.

The strips of `tables/test_strips.py` are compared in the same way, in each `make test`.
"""

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

from dev.report_check import compare, run, written
from dev.sim.cases.days import SLOW_BROKER, make_everything
from dev.sim.days import write_case
from kafka_lag_report.daily_report import main
from kafka_lag_report.read_snapshots import find_days
from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.storage import Storage
from kafka_lag_report.tables.coverage import coverage
from tests.glue_jobs.days import write_run
from tests.glue_jobs.hourly import write_usual_days
from tests.glue_jobs.odd_days import GROUPS, write_odd_day

pytestmark = [pytest.mark.spark, pytest.mark.thorough, pytest.mark.timeout(900)]

Expected: TypeAlias = dict[str, dict[str, pa.Table]]

DAY = date(2026, 1, 31)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
TOMORROW = DAY + timedelta(days=1)
ODD = "blå & 1/2"
CLUSTERS = ("everything", "slow-broker-two", ODD, "once", "empty")


def write_odd(root: Path, cluster: str, *, seed: int, runs: int, days: int) -> None:
    """A cluster's odd day, and days before it that make some of its hours unusual."""
    write_odd_day(root, quote(cluster, safe=""), MIDNIGHT, seed=seed, runs=runs)
    groups = [f"g{number}" for number in range(GROUPS)]
    write_usual_days(root, cluster, groups, before=DAY, days=days)


def write_days(root: Path) -> None:
    """All that can be generated, and what spoils a day: no rows, a single run, a broken object."""
    write_odd(root, ODD, seed=1, runs=40, days=42)
    folder = f"cluster={quote(ODD, safe='')}"
    cut = min((root / "snapshots/group_partitions" / folder).rglob("*.parquet"))
    cut.write_bytes(cut.read_bytes()[:-100])
    write_case(root, make_everything(), every=10)
    # It slows all groups of its cluster.
    write_case(root, SLOW_BROKER[0], every=10)
    groups = ["keys-lopsided", "sla-stalled", "stop-morning", "stop-evening"]
    write_usual_days(root, "everything", groups, before=DAY, days=21)
    write_odd(root, "once", seed=4, runs=1, days=14)
    for minute in range(3):
        write_run(root, "groups", [], at=MIDNIGHT + timedelta(minutes=minute), folder="empty")


@dataclass(frozen=True, slots=True)
class Reported:
    """A folder with a day of snapshots and what the job makes of them, and the reports by SQL."""

    root: Path
    expected: Expected


@pytest.fixture(name="reported", scope="module")
def _reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    assert spark
    root = tmp_path_factory.mktemp("against-sql")
    write_days(root)
    place = ["--input", str(root), "--output", str(root), "--no-history"]
    assert main([*place, "--date", str(DAY)], now=lambda: MIDNIGHT + timedelta(days=1)) == 0
    assert {path.name for path in root.iterdir()} == {"reports", "snapshots"}
    with duckdb.connect() as connection:
        by_sql = {name: run(connection, root, name, DAY, today=TOMORROW) for name in CLUSTERS}
    return Reported(root, by_sql)


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
    assert {name for name in rows.column_names if rows[name].null_count == len(rows)} == set()


def test_the_coverage_of_a_day_in_progress_is_what_sql_says(
    spark: SparkSession, reported: Reported
) -> None:
    # The broken object of the odd day is found only by a run of the whole job.
    root, clusters = str(reported.root), ["everything", "once"]
    found = find_days(Storage(), root, root, DAY, clusters, DAY)
    said = {}
    with duckdb.connect() as connection:
        for day in found:
            sql = run(connection, reported.root, day.cluster, DAY, today=DAY)["coverage"]
            said[day.cluster] = compare(sql, coverage(spark, Storage(), day))

    assert said == {"everything": [], "once": []}
