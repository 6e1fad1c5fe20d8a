# SPDX-License-Identifier: Apache-2.0
"""A state on a full disk: readings are shown, and kept once there is room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.collector import Collector
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.time_index import LookUp, LookupResults, no_look_up
from kafka_lag.settings import Settings
from kafka_lag.snapshots.store import FolderStore, SnapshotStore, list_runs
from kafka_lag_cli.schedule import Run, run_on_schedule
from kafka_lag_cli.state.shared import HeldStore
from kafka_lag_cli.terminal.group_rows import Selection
from kafka_lag_cli.two_readings import take_readings
from kafka_lag_cli.watch import WatchView, show_runs
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import FakeSource, RecordingLogger
from tests.functions.runs import GROUPS, TOPICS
from tests.glue_jobs.small_disks import leave, mounted

UNKEPT = "What was read is shown, and not kept: Cannot write "
FULL = "(No space left on device). Check the folder's rights and space."


@pytest.fixture(name="disk")
def _disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path, 1) as disk:
        yield disk


def a_collector(
    store: SnapshotStore, logger: RecordingLogger, answers: LookUp = no_look_up
) -> Collector:
    settings = Settings("shop", Access(("b:9092",)), Rules())
    source = FakeSource(a_reading(GROUPS, TOPICS), answers=answers)
    return Collector(settings, source, store, (), logger)


def kept(disk: Path) -> list[int]:
    return list_runs(FolderStore(disk), contract.GROUPS, "shop", NOON, NOON + 10 * MINUTE)


def test_watch_shows_its_runs_and_keeps_them_again_once_there_is_room(disk: Path) -> None:
    filled, logger, now = leave(disk, 0), RecordingLogger(), [NOON / 1000]
    view = WatchView(Selection(), Rules())
    runs = run_on_schedule(
        a_collector(FolderStore(disk), logger),
        60,
        lambda seconds: now.append(now[-1] + seconds),
        lambda: now[-1],
    )

    taken: list[bool] = []

    def show(run: Run) -> None:
        taken.append(run.kept)
        if len(view.lags) == 2:
            filled.unlink()

    show_runs(islice(runs, 3), view, logger, show)
    assert list(view.lags) == [6, 6, 6]
    unkept = [line for line in logger.warnings if line.startswith(UNKEPT)]
    assert [line.endswith(FULL) for line in unkept] == [True, True], logger.warnings
    assert taken == [False, False, True]
    assert kept(disk) == [NOON + 2 * MINUTE]


def test_a_run_that_is_kept_is_not_called_unkept(tmp_path: Path) -> None:
    def fail(_partitions: Frame, _times: Rows) -> LookupResults:
        raise RuntimeError("no times")

    collector = a_collector(FolderStore(tmp_path), RecordingLogger(), answers=fail)
    run = next(run_on_schedule(collector, 60, clock=lambda: NOON / 1000))
    assert (run.kept, kept(tmp_path)) == (True, [NOON])
    assert str(run.warning).startswith("Looking up times failed")


def test_show_shows_its_readings(disk: Path) -> None:
    leave(disk, 0)
    held, logger = HeldStore(FolderStore(disk)), RecordingLogger()
    collector = a_collector(held, logger)
    readings = take_readings(
        collector,
        held,
        6,
        lambda _: nullcontext(),
        logger,
        keep=True,
        wait=lambda _: None,
        clock=lambda: NOON / 1000,
    )
    assert [len(reading.snapshot.groups) for reading in readings] == [1, 1]
    [warning] = logger.warnings
    assert warning.startswith(UNKEPT)
    assert kept(disk) == []
