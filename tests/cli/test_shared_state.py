# SPDX-License-Identifier: Apache-2.0
"""`show` beside other collectors with the same state: the objects it keeps, and its interval."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.collector import Collector
from kafka_lag.lag.group_settings import Rules
from kafka_lag.settings import Settings
from kafka_lag.snapshots.store import FolderStore, SnapshotStore, list_runs
from kafka_lag_cli.connecting.collect_options import collect_options_of
from kafka_lag_cli.state.shared import HeldStore, find_interval, mark_collected
from kafka_lag_cli.two_readings import judge_at, take_readings
from kafka_lag_cli.watch import watch
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import FakeSource, MemoryStore, RecordingLogger

GAP = 6
TOPICS_READ = ("orders", "returns")
SETTINGS = Settings("shop", Access(("b:9092",)), Rules())


def kept(store: SnapshotStore) -> list[int]:
    return list_runs(store, contract.TOPIC_PARTITIONS, "shop", NOON - MINUTE, NOON + 10 * MINUTE)


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


@pytest.mark.parametrize(
    ("gap", "keep", "observations", "kept_after"),
    [
        pytest.param(GAP, True, [1, 2], [GAP], id="the last of two, which knows the first"),
        pytest.param(0, True, [1], [0], id="a single one"),
        pytest.param(GAP, False, [1, 2], [], id="none beside somebody who collects"),
    ],
)
def test_a_reading_is_kept_unless_somebody_collects(
    gap: int, keep: bool, observations: list[int], kept_after: list[int]
) -> None:
    store = MemoryStore()
    assert read_the_cluster(store, gap, keep=keep) == observations
    assert kept(store) == [NOON + seconds * 1000 for seconds in kept_after]
    assert len(store.objects) == len(contract.DATASETS) * len(kept_after)


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


def test_what_is_no_interval_is_nobody(tmp_path: Path) -> None:
    mark_collected(tmp_path, "shop", 30)
    path = tmp_path / "collected" / "shop"
    path.write_text("half")
    assert find_interval(tmp_path, "shop", path.stat().st_mtime) is None


def collect(folder: Path, *filters: str, minutes: range) -> list[str]:
    """Runs of one process, at minutes after noon, into a folder; what they warn of."""
    call = ["--bootstrap-servers", "b:9092", "--state", str(folder), *filters]
    with watch.make_context("watch", call) as ctx:
        options = collect_options_of(ctx.params)
    rules, logger = options.settings.rules, RecordingLogger()
    groups = {
        group: {topic: [5] for topic in TOPICS_READ if rules.topics.accepts(topic)}
        for group in ("billing", "stock")
        if rules.groups.accepts(group)
    }
    topics = {topic: [(0, 9)] for topic in TOPICS_READ if rules.topics.accepts(topic)}
    readings = (a_reading(groups, topics, at=NOON + minute * MINUTE) for minute in minutes)
    settings = replace(options.settings, cluster="shop")
    store = options.open_store(logger.warning)
    collector = Collector(settings, FakeSource(*readings), store, (), logger)
    for minute in minutes:
        outcome = collector.run(NOON + minute * MINUTE)
        assert (outcome.objects_written > 0) is (NOON + minute * MINUTE in kept(store))
    return logger.warnings


@pytest.mark.parametrize(
    "filters",
    [
        ("--set", "groups.allow=^billing$"),
        ("--set", "topics.deny=returns"),
    ],
)
def test_runs_that_filters_narrow_are_kept_in_a_folder_of_their_own_alone(
    tmp_path: Path, filters: tuple[str, str]
) -> None:
    whole, own = tmp_path / "whole", tmp_path / "own"
    collect(whole, minutes=range(2))
    warnings = collect(whole, *filters, minutes=range(2, 5))
    assert warnings == [
        f"{whole} holds groups or topics that the filters hide, so nothing is kept there: name "
        "another folder by --state."
    ]
    assert kept(FolderStore(whole)) == [NOON, NOON + MINUTE]
    assert collect(own, *filters, minutes=range(2)) == []
    assert collect(own, *filters, minutes=range(2, 5)) == []
    assert kept(FolderStore(own)) == [NOON + minute * MINUTE for minute in range(5)]
    # Runs without filters are the whole, also where a part was kept.
    collect(own, minutes=range(5, 6))
    collect(own, *filters, minutes=range(6, 7))
    assert kept(FolderStore(own))[-1] == NOON + 5 * MINUTE


def test_a_window_stays_as_long_whoever_collects() -> None:
    rules = Rules(interval_ms=MINUTE, window_ms=10 * MINUTE)
    settings = Settings("shop", Access(("b:9092",)), rules, interval_ms=GAP * 1000)
    adapted = judge_at(settings, 30_000)
    assert (adapted.rules.interval_ms, adapted.rules.window_ms) == (30_000, 10 * MINUTE)
    assert adapted.interval_ms == GAP * 1000
