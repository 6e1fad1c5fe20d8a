# SPDX-License-Identifier: Apache-2.0
"""A day's reports replaced by runs that are killed at any step, or find the disk full."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from kafka_lag_report.errors import DataError, StoreError
from kafka_lag_report.options import utc_now
from kafka_lag_report.publishing import find_unfinished, publish
from kafka_lag_report.report_files import reports_root
from kafka_lag_report.storage import Storage
from tests.glue_jobs.published_days import (
    A_DAY,
    CLUSTERS,
    DATE,
    DAYS,
    TABLES,
    is_replaced,
    published,
    tables,
)

OLD, NEW = "old", "new"
OLD_DAY, NEW_DAY = "old without anomalies", "new without lag_hourly"
# A page, and the tables but one.
FILES = len(TABLES)
CHANGES = ("make_folder", "write", "move", "keep_only", "delete", "delete_folder")


class Killed(BaseException):
    """What no handler of errors sees."""


class Breaking(Storage):
    """From its `at`-th change on it fails, as a process that is killed, or once as a full disk."""

    def __init__(self, at: int, failure: BaseException, *, once: bool = False) -> None:
        super().__init__()
        self.at, self.failure, self.once, self.changes, self.lock = at, failure, once, 0, Lock()

    def change(self) -> None:
        with self.lock:
            self.changes += 1
            fails = self.changes == self.at or (self.changes > self.at and not self.once)
        if fails:
            raise self.failure


def _breaking(name: str) -> Any:
    def change(self: Breaking, *args: Any, **kwargs: Any) -> Any:
        self.change()
        return getattr(Storage, name)(self, *args, **kwargs)

    return change


for _name in CHANGES:
    setattr(Breaking, _name, _breaking(_name))


# On S3 a step is a request, of which there are thousands.
EACH_STEP = pytest.mark.parametrize(
    "root", ["disk", pytest.param("s3", marks=pytest.mark.thorough)], indirect=True
)


@pytest.fixture(name="root", params=["disk", "s3"])
def _root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path)
    request.getfixturevalue("s3")
    return "s3://lag/state"


def put(storage: Storage, root: str, name: str, *, without: str = "") -> None:
    publish(storage, root, A_DAY, tables(name, 1, without=[without]), name)


def attempts(root: str, failure: BaseException, *, once: bool = False) -> Iterator[None]:
    """The new day published over the old one, with the failure a step later each time."""
    for at in count(1):
        put(Storage(), root, OLD, without="anomalies")
        try:
            put(Breaking(at, failure, once=once), root, NEW, without="lag_hourly")
        except type(failure):
            yield
        else:
            return


def run_again(root: str) -> None:
    for finish in find_unfinished(Storage(), reports_root(root)).values():
        finish()


@EACH_STEP
def test_whoever_is_killed_at_any_step_leaves_the_old_reports_or_the_new_ones(root: str) -> None:
    left = Counter[str]()
    for _ in attempts(root, Killed()):
        if is_replaced(root, "a"):
            run_again(root)
            assert published(root, "a") == NEW_DAY
            left["half"] += 1
        else:
            # of one day for whoever reads before the next run, and after it
            left[before := published(root, "a")] += 1
            run_again(root)
            assert published(root, "a") == before
        assert not is_replaced(root, "a")
    assert {OLD_DAY, "half"} <= {*left} <= {OLD_DAY, "half", NEW_DAY}
    # each file has its folder made, is written, is moved, and others beside it go
    assert min(left[OLD_DAY], left["half"]) > 2 * FILES


@EACH_STEP
def test_where_a_step_fails_the_old_reports_stand_or_the_next_run_goes_on(root: str) -> None:
    left = Counter[str]()
    for _ in attempts(root, StoreError("no space left"), once=True):
        if is_replaced(root, "a"):
            run_again(root)
            assert published(root, "a") == NEW_DAY
            left["half"] += 1
        else:
            left[published(root, "a")] += 1
            assert Storage().objects(f"{root}/reports/_replacing", "") == []
    assert min(left[OLD_DAY], left["half"]) > 2 * FILES


@EACH_STEP
def test_what_was_half_replaced_is_finished_before_the_next_publication(root: str) -> None:
    for at in range(2 * FILES + 3, 4 * FILES, 4):
        put(Storage(), root, OLD)
        with pytest.raises(Killed):
            put(Breaking(at, Killed()), root, "killed")
        put(Storage(), root, NEW)
        assert published(root, "a") == NEW
    assert not is_replaced(root, "a")


@pytest.mark.usefixtures("s3")
def test_what_killed_runs_staged_on_s3_is_deleted_a_day_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root, now = "s3://lag/state", utc_now()
    staged = []
    for days in (2, 0, 0):
        began = now - timedelta(days)
        monkeypatch.setattr("kafka_lag_report.publishing.utc_now", lambda began=began: began)
        with pytest.raises(Killed):
            put(Breaking(4, Killed()), root, "killed")
        staged.append({*Storage().folders(f"{root}/reports/_replacing/cluster=a/dt={DATE}")})

    earlier, one, both = staged
    assert (len(earlier), len(one), len(both)) == (1, 1, 2)
    assert not earlier & one
    assert one < both


def test_a_mark_that_is_no_mark_is_named(tmp_path: Path) -> None:
    complete = tmp_path / "reports/_replacing/cluster=a/dt=2026-01-31/complete"
    complete.parent.mkdir(parents=True)
    complete.write_text("{}")

    (finish,) = find_unfinished(Storage(), str(tmp_path / "reports")).values()
    with pytest.raises(DataError, match="dt=2026-01-31/complete names no run: delete it"):
        finish()


def test_other_clusters_and_days_are_left_alone(root: str) -> None:
    for day in DAYS:
        publish(Storage(), root, day, tables(OLD, 3), OLD)

    put(Storage(), root, NEW)

    assert [published(root, cluster) for cluster in CLUSTERS] == [NEW, OLD]
