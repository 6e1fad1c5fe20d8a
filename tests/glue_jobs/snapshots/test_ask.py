# SPDX-License-Identifier: Apache-2.0
"""The days that a run requests, and the days that exist."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from kafka_lag_report.errors import NoSnapshotsError, NothingYetError
from kafka_lag_report.options import parse
from kafka_lag_report.read_snapshots import find_requested_days
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import minute, write_run

A_DAY = 24 * 60
# the day of minute(0) was yesterday
NOW = datetime(2026, 2, 1, 3, tzinfo=UTC)


def ask(
    root: Path, *arguments: str, now: datetime = NOW
) -> tuple[list[tuple[date, list[str]]], list[str]]:
    """The days found, with their clusters, and what was said."""
    options = parse(["--input", str(root), "--output", str(root), *arguments], lambda: now)
    said: list[str] = []
    days = [
        (found[0].date, [day.cluster for day in found if day.source])
        for found in find_requested_days(Storage(), options, said.append)
    ]
    return days, said


def test_a_date_of_a_range_without_snapshots_is_passed_over(tmp_path: Path) -> None:
    write_run(tmp_path, "groups", [], at=minute(-2 * A_DAY))
    write_run(tmp_path, "groups", [])

    days, said = ask(tmp_path, "--date", "2026-01-28", "--until", "2026-01-31")

    assert [day for day, _ in days] == [date(2026, 1, 29), date(2026, 1, 31)]
    assert [sentence.split(" under")[0] for sentence in said] == [
        "no snapshots of demo for 2026-01-28",
        "no snapshots of demo for 2026-01-30",
    ]


def test_a_range_without_any_fails(tmp_path: Path) -> None:
    write_run(tmp_path, "groups", [])

    with pytest.raises(NoSnapshotsError, match="no day from 2026-01-01 to 2026-01-02 has"):
        ask(tmp_path, "--date", "2026-01-01", "--until", "2026-01-02")


@pytest.fixture(name="two")
def _two(tmp_path: Path) -> Path:
    """`demo` has yesterday and the day before, `late` only the day before."""
    write_run(tmp_path, "groups", [])
    for folder in ("demo", "late"):
        write_run(tmp_path, "groups", [], at=minute(-A_DAY), folder=folder)
    return tmp_path


def test_a_named_cluster_may_not_but_the_others_come_first(two: Path) -> None:
    options = parse(
        ["--input", str(two), "--output", str(two), "--cluster", "demo", "late"], lambda: NOW
    )
    days = find_requested_days(Storage(), options, print)

    assert [day.cluster for day in next(days) if day.source] == ["demo"]
    with pytest.raises(NoSnapshotsError, match="no snapshots of late for 2026-01-31"):
        next(days)


def test_in_a_range_a_named_cluster_that_lacks_a_date_is_told(two: Path) -> None:
    arguments = ["--cluster", "demo", "late", "--date", "2026-01-30", "--until", "2026-01-31"]

    days, said = ask(two, *arguments)

    assert days == [(date(2026, 1, 30), ["demo", "late"]), (date(2026, 1, 31), ["demo"])]
    assert len(said) == 1
    assert said[0].startswith("no snapshots of late for 2026-01-31")


def test_the_first_scheduled_run_is_no_failure(tmp_path: Path) -> None:
    write_run(tmp_path, "groups", [], at=minute(A_DAY))

    with pytest.raises(NothingYetError, match="yet: the first day is 2026-02-01") as raised:
        ask(tmp_path)

    assert raised.value.exit_code == 0


def test_the_same_date_asked_for_by_name_is_one(tmp_path: Path) -> None:
    write_run(tmp_path, "groups", [], at=minute(A_DAY))

    with pytest.raises(NoSnapshotsError):
        ask(tmp_path, "--date", "2026-01-31")


def test_a_named_cluster_younger_than_the_schedules_day_is_told(tmp_path: Path) -> None:
    write_run(tmp_path, "groups", [])
    write_run(tmp_path, "groups", [], at=minute(A_DAY), folder="new")

    days, said = ask(tmp_path, "--cluster", "demo", "new")

    assert days == [(date(2026, 1, 31), ["demo"])]
    assert "no snapshots of new for 2026-01-31" in said[0]
