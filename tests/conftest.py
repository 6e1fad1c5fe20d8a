# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several rings share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from dev.kafka.jars import ENV_VERSION
from kafka_lag_report.session import open_session
from tests.dev.cluster_fixture import mortal_cluster, shared_cluster
from tests.kafka_versions import summary

__all__ = ["mortal_cluster", "shared_cluster"]

TESTS = Path(__file__).parent

# A slow or busy machine is no failure.
settings.register_profile(
    "unhurried", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

# To compile well what runs once costs more than it saves. The cache of compiled code, 48 MB with
# one level alone, is too small for all tests of a process.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"

# To generate and compile code for each query, and to plan it again after each of its stages, costs
# several times what it saves on a few rows. The demo, the job as Glue starts it and the benchmark,
# whose numbers are compared as well, run without these.
FEW_ROWS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


# Files that take longest begin first: else one process ends with them while the other has nothing
# left to do.
LONGEST = (
    "functions/lag/test_pauses.py",
    "functions/test_after_an_outage.py",
    "functions/test_cold_as_warm.py",
    "functions/lag/test_status_over_days.py",
    "functions/lag/test_properties.py",
    "functions/views/page/test_browser.py",
    "glue_jobs/test_daily_report.py",
    "glue_jobs/test_old_snapshots.py",
    "glue_jobs/test_planted_day.py",
    "glue_jobs/test_usual.py",
    "glue_jobs/test_killed_runs.py",
    "glue_jobs/test_against_sql.py",
    "contract/test_demo.py",
    "infra/packaging/test_glue_start.py",
    "infra/rehearsal/test_deployed.py",
    "kafka/test_silence.py",
    "kafka/test_same_as_kafkas_tools.py",
    "dev/test_processes.py",
    "infra/storage/queries/test_reports.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the files that take longest to the front. OSError without one."""
    order = {(TESTS / name).resolve(strict=True): at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(LONGEST)))


def pytest_configure() -> None:
    """For the shared session and for every program that a test starts."""
    os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_JAVA)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line that says which Kafka it was, where a version was named."""
    if ENV_VERSION in os.environ:
        reports = terminalreporter.getreports
        # A fixture that fails is an error, and its tests did not run.
        failed = len(reports("failed")) + len(reports("error"))
        reasons = [str(report.longrepr[2]) for report in reports("skipped")]
        terminalreporter.write_line(summary(len(reports("passed")), failed, reasons))


@pytest.fixture(name="spark", scope="session")
def _spark() -> Iterator[SparkSession]:
    """One Spark session for all, opened the way the job opens its own, but for what is quick."""
    session = open_session({})
    for key, value in FEW_ROWS.items():
        session.conf.set(key, value)
    yield session
    session.stop()
