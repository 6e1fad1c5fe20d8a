# SPDX-License-Identifier: Apache-2.0
"""Raw snapshots are deleted once they are old, and only if the history holds their rows."""

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from kafka_lag_report.history import compact_day
from kafka_lag_report.read_snapshots import find_days, skip_corrupt_objects
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import group_row, topic_row, write_run
from tests.glue_jobs.snapshots.places import damage_pages

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

DATASETS = ("groups", "group_partitions", "topic_partitions")
RUNS = 3
# Days of January; the job runs on the 12th, and keeps eight days.
GOOD, MISSED, DAMAGED, UNREADABLE, RECENT = 1, 2, 3, 1, 4
FAILING_DAYS = 20


def write_day(root: Path, day: datetime, folder: str = "demo") -> list[Path]:
    """Three runs; the objects of all datasets."""
    paths = []
    for run in range(RUNS):
        at = day + timedelta(hours=12, minutes=run)
        for dataset, row in (
            ("groups", {"consumer_group": "billing"}),
            ("group_partitions", group_row(0, 5 + run, 0, 10 + run)),
            ("topic_partitions", topic_row(0, 10 + run)),
        ):
            path = write_run(root, dataset, [row], at=at, folder=folder)
            paths.append(path)
    return paths


def january(number: int) -> datetime:
    return datetime(2026, 1, number, tzinfo=UTC)


def run(root: Path, *more: str, today: int = 12) -> tuple[int, str]:
    """Its code, and what it said."""
    arguments = ["--input", str(root), "--output", str(root), *more]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as err:
        code = main(arguments, now=lambda: january(today) + timedelta(hours=3))
    return code, err.getvalue()


def compact(spark: SparkSession, root: Path, on: date) -> None:
    """The history of a day of `demo`, without what cannot be read."""
    place, work = str(root), partial(compact_day, spark, Storage())
    (day,) = find_days(Storage(), place, place, on, ["demo"], on + timedelta(days=1))
    skip_corrupt_objects(Storage(), day, work)


def there(paths: Sequence[Path]) -> int:
    return sum(path.exists() for path in paths)


@dataclass(frozen=True, slots=True)
class Deleted:
    """Old snapshots after a run that may delete, and once more after the next one."""

    root: Path
    days: dict[int, list[Path]]
    failing: list[Path]
    unreadable: Path
    damaged: Path
    code: int
    said: str
    left_first: dict[int, int]
    later_code: int


@pytest.fixture(name="deleted", scope="module")
def _deleted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Deleted:
    assert spark
    root = tmp_path_factory.mktemp("old")
    days = {day: write_day(root, january(day)) for day in (GOOD, DAMAGED, MISSED, RECENT)}
    unreadable = write_run(root, "groups", [], at=january(UNREADABLE) + timedelta(hours=13))
    unreadable.write_text("no Parquet")
    # of a day the job never made a history, nor any of a cluster
    for number in (GOOD, DAMAGED, RECENT):
        compact(spark, root, january(number).date())
    failing = [
        path
        for back in range(FAILING_DAYS)
        for path in write_day(root, january(11) - timedelta(days=back), folder="failing")
    ]
    for path in failing:
        if path.parent.parent.name == "dt=2026-01-11":
            path.write_text("no Parquet")
    (damaged,) = (root / "history/group_partitions/cluster=demo/dt=2026-01-03").iterdir()
    whole = damaged.read_bytes()
    damage_pages(damaged)
    # of yesterday there are only rows that cannot be read: no time is lost on a report
    code, said = run(root, "--snapshot-days", "8")
    left = {day: there(paths) for day, paths in days.items()}
    damaged.write_bytes(whole)
    write_day(root, january(12))
    later_code, _ = run(root, "--cluster", "demo", "--snapshot-days", "8", today=13)
    return Deleted(root, days, failing, unreadable, damaged, code, said, left, later_code)


def test_an_old_day_that_is_in_the_history_is_deleted(deleted: Deleted) -> None:
    assert deleted.left_first[GOOD] == 0
    for dataset in DATASETS:
        folder = deleted.root / f"history/{dataset}/cluster=demo/dt=2026-01-01"
        assert sum(pq.read_metadata(file).num_rows for file in folder.iterdir()) == RUNS


def test_a_day_that_is_not_in_the_history_stays_and_is_named(deleted: Deleted) -> None:
    assert deleted.left_first[MISSED] == there(deleted.days[MISSED]) == 3 * RUNS
    assert "snapshots of demo on 2026-01-02 stay" in deleted.said


def test_of_a_day_with_a_damaged_history_nothing_is_deleted_and_the_run_fails(
    deleted: Deleted,
) -> None:
    assert deleted.left_first[DAMAGED] == 3 * RUNS
    assert deleted.code == 1
    assert f"cannot read {deleted.damaged}: its rows cannot be decoded" in deleted.said


def test_what_stayed_once_is_deleted_later(deleted: Deleted) -> None:
    assert deleted.later_code == 0
    assert there(deleted.days[DAMAGED]) == 0


def test_an_object_that_was_left_out_is_never_deleted(deleted: Deleted) -> None:
    assert deleted.unreadable.exists()


def test_a_recent_day_stays(deleted: Deleted) -> None:
    assert deleted.left_first[RECENT] == 3 * RUNS


def test_nothing_is_gone_after_weeks_of_failures(deleted: Deleted) -> None:
    assert there(deleted.failing) == len(deleted.failing) == FAILING_DAYS * 3 * RUNS
