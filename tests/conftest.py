# SPDX-License-Identifier: Apache-2.0
"""Fixtures for several folders. Slow modules are imported by the fixtures that need them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.dev.cluster_fixture import mortal_cluster, shared_cluster
from tests.golden import Golden

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

__all__ = ["mortal_cluster", "shared_cluster"]

TESTS = Path(__file__).parent

# A slow or busy machine is no failure. Each run draws other examples.
settings.register_profile(
    "unhurried", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

# To compile well what runs once costs more than it saves, and so does to verify classes, and to
# collect garbage each time that there is some more room. The cache of compiled code, 48 MB with one
# level alone, is too small for all tests of a process.
QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    " -XX:NewSize=256m -XX:MetaspaceSize=256m"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)

# Tests that synthesise, each by a Node that its process starts.
SYNTHESISING = (
    *(f"infra/{folder}" for folder in ("alarms", "collector", "dashboard", "own_app", "notify")),
    *("infra/scaling", "infra/storage/test_", "infra/test_", "infra/storage/queries/test_text"),
    *("infra/cost/test_alarms", "infra/packaging/test_build", "contract/test_schemas"),
)
# Files whose names begin so run in one process, because they share what takes long to start.
SHARED = {
    "tests that synthesise": SYNTHESISING,
    # They share one session, and what its JVM has compiled.
    "tests in Spark": (
        *("glue_jobs/", "contract/test_snapshots_in_spark", "infra/storage/queries/test_reports"),
        "infra/cost/test_sizes",
    ),
    # Their clients read descriptions of services first.
    "tests of an AWS account": (
        *("cli/test_doctor_", "cli/test_init", "cli/test_deployed_document", "cli/test_query"),
        *("cli/test_shared_state", "cli/test_tasks.py", "cli/test_why", "cli/test_login_options"),
    ),
    "tests that stop brokers": (
        *("kafka/test_silence", "kafka/test_rotation", "kafka/test_unclean_election"),
    ),
    "tests of three brokers": (
        *("kafka/logins/", "kafka/time_lag/", "kafka/times/"),
        *("kafka/test_denied", "kafka/test_login", "kafka/test_same_as_kafkas_tools"),
        *("contract/test_artifact", "contract/test_watch"),
        *("dev/test_cluster", "infra/rehearsal/test_deployed"),
    ),
}

# Files that take longest begin first: else one process ends with them while the other has nothing
# left to do.
LONGEST = (
    "glue_jobs/test_daily_report.py",
    "glue_jobs/test_old_snapshots.py",
    "glue_jobs/test_planted_day.py",
    "glue_jobs/test_incidents.py",
    "glue_jobs/test_usual.py",
    "glue_jobs/tables/test_strips.py",
    "contract/test_demo.py",
    "infra/packaging/test_glue_start.py",
    "infra/rehearsal/test_deployed.py",
    "kafka/test_silence.py",
    "kafka/test_same_as_kafkas_tools.py",
    "dev/test_processes.py",
    "infra/storage/queries/test_reports.py",
    *SYNTHESISING,
    "cli/test_doctor_aws.py",
    "contract/test_wheel.py",
    "functions/lag/test_rhythms.py",
    "functions/lag/test_properties.py",
    "functions/views/page/test_browser.py",
)
# Days through the whole report; every other test that needs Spark is left to `make test-rest`.
SPARK_OF_EVERY_CHANGE = tuple(
    TESTS / "glue_jobs" / name for name in ("test_planted_day.py", "test_incidents.py")
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the files that take longest to the front. OSError without one."""
    for name in LONGEST:
        if not any(TESTS.glob(f"{name}*")):
            raise FileNotFoundError(TESTS / name)
    items.sort(key=lambda item: _place(item.path.relative_to(TESTS).as_posix()))


def _place(file: str) -> int:
    return next((at for at, name in enumerate(LONGEST) if file.startswith(name)), len(LONGEST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    """A file's tests go to one process, and so do those of several files that share more."""
    from xdist.scheduler import LoadFileScheduling

    class ByWhatIsShared(LoadFileScheduling):  # type: ignore[misc] # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            inside = file.removeprefix("tests/")
            titles = (title for title, names in SHARED.items() if inside.startswith(names))
            return next(titles, file)

    return ByWhatIsShared(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes golden texts again."""
    parser.addoption("--golden-renew", action="store_true", help="renew tests/golden")


@pytest.fixture(name="golden")
def _golden(request: pytest.FixtureRequest) -> Golden:
    """Holds texts against the files of `tests/golden`."""
    return Golden(request.config.getoption("--golden-renew"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks the tests of golden texts and those that need Spark, which `make test-rest` runs.

    Two files of Spark are left to `make test`.
    """
    if "golden" in getattr(item, "fixturenames", ()):
        item.add_marker("golden")
    if "spark" in getattr(item, "fixturenames", ()):
        item.add_marker("spark")
    if item.get_closest_marker("spark") and item.path not in SPARK_OF_EVERY_CHANGE:
        item.add_marker("thorough")


def pytest_configure() -> None:
    """For the shared session and for every program that a test starts."""
    os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_JAVA)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line that says which Kafka it was, where a version was named."""
    # As `dev.kafka.jars` has it, which takes most of a second to import.
    if "KAFKA_VERSION" in os.environ:
        from tests.kafka_versions import summary

        reports = terminalreporter.getreports
        # A fixture that fails is an error, and its tests did not run.
        failed = len(reports("failed")) + len(reports("error"))
        reasons = [str(report.longrepr[2]) for report in reports("skipped")]
        terminalreporter.write_line(summary(len(reports("passed")), failed, reasons))


@pytest.fixture(name="spark", scope="session")
def _spark() -> Iterator[SparkSession]:
    """One Spark session for all, opened the way the job opens its own, but for what is quick."""
    from kafka_lag_report.session import FEW_ROWS, open_session

    session = open_session({})
    # two, as what wants rows in one place must send them there
    for key, value in {**FEW_ROWS, "spark.sql.shuffle.partitions": "2"}.items():
        session.conf.set(key, value)
    yield session
    session.stop()


@pytest.fixture(name="browser", scope="module")
def _browser() -> Iterator[Browser]:
    """A file's browser, whose driver lets no other event loop run in the process; a test opens
    contexts of its own.
    """
    from tests.chromium import chromium

    with chromium() as browser:
        yield browser
