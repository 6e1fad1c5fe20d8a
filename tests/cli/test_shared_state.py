# SPDX-License-Identifier: Apache-2.0
"""`show` beside others who collect into one state: what it keeps, and which interval it takes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.collector import Collector
from kafka_lag.lag.group_settings import Rules
from kafka_lag.settings import Settings
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.store import FolderStore, list_runs
from kafka_lag_cli.show import judge_at, take_readings
from kafka_lag_cli.state.shared import HeldStore, find_interval, mark_collected
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import FakeSource, MemoryStore, RecordingLogger

GAP = 6
SETTINGS = Settings("shop", Access(("b:9092",)), Rules())


def kept(store: MemoryStore) -> list[int]:
    return list_runs(store, contract.TOPIC_PARTITIONS, "shop", NOON - MINUTE, NOON + MINUTE)


def read_the_cluster(store: MemoryStore, gap: int = GAP, *, keep: bool = True) -> list[int]:
    """The observations of its only partition, in each reading."""
    held = HeldStore(store)
    source = FakeSource(
        *(
            a_reading({"g": {"t": [5]}}, {"t": [(0, 9)]}, at=NOON + second * 1000)
            for second in (0, GAP)
        )
    )
    clock = [NOON / 1000]
    readings = take_readings(
        Collector(SETTINGS, source, held, (), RecordingLogger()),
        held,
        gap,
        lambda _: nullcontext(),
        RecordingLogger(),
        keep=keep,
        wait=lambda seconds: clock.append(clock[-1] + seconds),
        clock=lambda: clock[-1],
    )
    rows = (reading.snapshot.group_partitions for reading in readings)
    return [row.numbers("observations").to_list()[0] for row in rows]


def test_of_two_readings_the_last_is_kept_and_knows_the_first() -> None:
    store = MemoryStore()
    assert read_the_cluster(store) == [1, 2]
    assert kept(store) == [NOON + GAP * 1000]
    assert len(store.objects) == len(contract.DATASETS)


def test_a_single_reading_is_kept() -> None:
    store = MemoryStore()
    assert read_the_cluster(store, gap=0) == [1]
    assert kept(store) == [NOON]


def test_nothing_is_kept_beside_somebody_who_collects() -> None:
    store = MemoryStore()
    assert read_the_cluster(store, keep=False) == [1, 2]
    assert store.objects == {}


def test_a_state_goes_on_from_what_is_kept() -> None:
    store = MemoryStore()
    read_the_cluster(store, gap=0)
    held = HeldStore(store)
    assert held.keys("snapshots/") == store.keys("snapshots/")
    assert held.read(held.keys("snapshots/")[0])


@pytest.mark.parametrize(("seconds_ago", "interval"), [(0, 30_000), (90, 30_000), (91, None)])
def test_whoever_collects_is_known_until_three_runs_are_missing(
    tmp_path: Path, seconds_ago: int, interval: int | None
) -> None:
    mark_collected(tmp_path, "shop", 30)
    left_at = (tmp_path / "collected" / "shop").stat().st_mtime
    assert find_interval(tmp_path, "shop", left_at + seconds_ago) == interval
    assert find_interval(tmp_path, "another", left_at) is None


def test_readings_by_hand_are_nobody_who_collects(tmp_path: Path) -> None:
    for minute in range(5):
        key = object_key(contract.GROUPS, "shop", NOON + minute * MINUTE)
        FolderStore(tmp_path).write_once(key, b"")
    assert find_interval(tmp_path, "shop", NOON / 1000 + 4 * 60) is None


def test_what_is_no_interval_is_nobody(tmp_path: Path) -> None:
    mark_collected(tmp_path, "shop", 30)
    path = tmp_path / "collected" / "shop"
    path.write_text("half")
    assert find_interval(tmp_path, "shop", path.stat().st_mtime) is None


def test_a_window_stays_as_long_whoever_collects() -> None:
    rules = Rules(interval_ms=MINUTE, window_ms=10 * MINUTE)
    settings = Settings("shop", Access(("b:9092",)), rules, interval_ms=GAP * 1000)
    adapted = judge_at(settings, 30_000)
    assert (adapted.rules.interval_ms, adapted.rules.window_ms) == (30_000, 10 * MINUTE)
    assert adapted.interval_ms == GAP * 1000
