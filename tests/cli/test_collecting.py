# SPDX-License-Identifier: Apache-2.0
"""A collector beside a server: its health, its retries, and its end."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Queue
from threading import Event, current_thread
from threading import enumerate as threads

import pytest

from kafka_lag.brokers.access import Access
from kafka_lag.brokers.login import CredentialSource, FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.collector import Collector, WarningLogger
from kafka_lag.errors import ConfigError, ReporterError, SourceError
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, Snapshot
from kafka_lag.settings import Settings
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.views import prometheus
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.collecting import Collecting
from kafka_lag_cli.connecting.collect_options import CollectOptions
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import FakeSource, MemoryStore, RecordingLogger
from tests.functions.runs import GROUPS, TOPICS

BEGIN = NOON / 1000
READING = a_reading(GROUPS, TOPICS)
# Longer than anything takes here; a test that waits for so long has failed.
LONG = 240.0


class Clock:
    """Stands where it is put; so a next run is due in a minute of real time."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> float:
        return self.now


class _WatchedSource(FakeSource):
    """Says when it is read, and waits to go on where it is `held`."""

    def __init__(self, *readings: ClusterReading | ReporterError) -> None:
        super().__init__(*readings)
        self.began: Queue[None] = Queue()
        self.held: Event | None = None

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        self.began.put(None)
        if self.held is not None:
            self.held.wait(LONG)
        return super().read(request, deadline)


KAFKAS_ID = "MkU3OEVBNTcwNTJENDM2Qk"
NONE_YET = "no run has succeeded yet"


class _WatchedLogger(RecordingLogger):
    """Says when something is warned of."""

    def __init__(self) -> None:
        super().__init__()
        self.said: Queue[str] = Queue()

    def warning(self, message: str, /) -> None:
        super().warning(message)
        self.said.put(message)


@dataclass(frozen=True, slots=True)
class _FakeCluster(CollectOptions):
    """Options whose cluster is a fake; errors in `closed` are raised first, one an attempt."""

    source: _WatchedSource = field(default_factory=lambda: _WatchedSource(READING))
    closed: list[Exception] = field(default_factory=list)
    removed: Queue[None] = field(default_factory=Queue)
    store: MemoryStore = field(default_factory=MemoryStore)

    def open_collector(
        self, logger: WarningLogger, sinks: tuple[ConfiguredSink, ...] = ()
    ) -> Collector:
        if self.closed:
            raise self.closed.pop(0)
        settings = replace(self.settings, cluster=self.settings.cluster or KAFKAS_ID)
        return Collector(settings, self.source, self.store, sinks, logger)

    def remove_old_days(self) -> None:
        self.removed.put(None)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the folder of a cluster is made."""
    monkeypatch.chdir(tmp_path)


def a_cluster(
    source: _WatchedSource | None = None,
    closed: tuple[Exception, ...] = (),
    interval: int = 60,
    make_source: Callable[[], CredentialSource] = FixedCredentials,
    name: str = "shop",
) -> _FakeCluster:
    settings = Settings(name, Access(("b:9092",)), Rules(), interval_ms=interval * 1000)
    chosen = source or _WatchedSource(READING)
    return _FakeCluster(settings, make_source, Path("state"), None, chosen, list(closed))


@pytest.mark.parametrize(("interval", "longest"), [(1, 60), (15, 60), (30, 90), (300, 900)])
def test_three_intervals_may_pass_and_a_minute_always(interval: int, longest: int) -> None:
    clock, cluster = Clock(), a_cluster(interval=interval)
    with Collecting(cluster, RecordingLogger(), clock) as collecting:
        cluster.removed.get(timeout=LONG)
    clock.now += longest
    assert collecting.health() is None
    clock.now += 1
    assert collecting.health() == f"no run has succeeded for {longest + 1} seconds"


def test_a_run_that_succeeds_late_makes_it_healthy_again() -> None:
    clock, cluster = Clock(), a_cluster()
    cluster.source.held = Event()
    with Collecting(cluster, RecordingLogger(), clock) as collecting:
        cluster.source.began.get(timeout=LONG)
        clock.now += 500
        assert collecting.health() is not None
        cluster.source.held.set()
        # Old days are removed when the run is over.
        cluster.removed.get(timeout=LONG)
        assert collecting.health() is None


def test_a_run_that_fails_is_said_and_makes_nothing_healthy() -> None:
    clock, logger = Clock(), _WatchedLogger()
    cluster = a_cluster(_WatchedSource(SourceError("no broker could be reached")))
    cluster.source.held = Event()
    with Collecting(cluster, logger, clock) as collecting:
        cluster.source.began.get(timeout=LONG)
        clock.now += 500
        cluster.source.held.set()
        assert logger.said.get(timeout=LONG) == "no broker could be reached"
        assert collecting.health() == NONE_YET
    assert cluster.removed.empty()


def test_a_run_that_is_not_kept_is_exported_and_makes_nothing_healthy() -> None:
    clock, logger, cluster = Clock(), RecordingLogger(), a_cluster()
    cluster.store.down = {"write_once"}
    collecting = Collecting(cluster, logger, clock)
    snapshots = Snapshots(collecting.own(cluster.store), clock)
    collecting.show_by(snapshots.hold)
    with collecting:
        # Old days make room, and are removed when the run is over.
        cluster.removed.get(timeout=LONG)
    answer = prometheus.answer(Request("/metrics", {}, "localhost"), snapshots, NOON)
    assert b'kafka_lag_group_lag{cluster="shop",consumergroup="g"} 6' in answer.body
    assert logger.warnings == ["What was read is shown, and not kept: the store cannot write_once"]
    assert collecting.health() == "no run has been read and kept yet"


def test_what_nobody_foresaw_ends_no_collecting() -> None:
    logger = _WatchedLogger()
    cluster = a_cluster(closed=(RuntimeError("odd"),), interval=1)
    with Collecting(cluster, logger, Clock()):
        cluster.removed.get(timeout=LONG)
    assert logger.warnings[0] == "a run ended in RuntimeError: odd"


def test_a_cluster_that_cannot_be_reached_is_tried_again() -> None:
    logger = _WatchedLogger()
    gone = SourceError("no broker could be reached")
    cluster = a_cluster(closed=(gone, gone), interval=1)
    with Collecting(cluster, logger, Clock()):
        cluster.removed.get(timeout=LONG)
    assert logger.warnings[:2] == [str(gone), str(gone)]
    assert len(cluster.source.requests) >= 1


def test_each_run_is_shown_without_reading_it_again() -> None:
    shown: Queue[tuple[str, Snapshot]] = Queue()
    cluster = a_cluster()
    collecting = Collecting(cluster, RecordingLogger(), Clock())
    collecting.show_by(lambda name, snapshot: shown.put((name, snapshot)))
    with collecting:
        name, snapshot = shown.get(timeout=LONG)
    assert (name, snapshot.taken_at) == ("shop", NOON)
    assert snapshot.groups.strings("consumer_group").to_list() == ["g"]


@pytest.mark.parametrize("closed", [(), (SourceError("no broker could be reached"),)])
def test_it_ends_at_once_while_it_waits_for_a_run_or_a_cluster(
    closed: tuple[Exception, ...],
) -> None:
    cluster, logger = a_cluster(closed=closed, interval=3_600), _WatchedLogger()
    with Collecting(cluster, logger, Clock()):
        if closed:
            logger.said.get(timeout=LONG)
        else:
            cluster.removed.get(timeout=LONG)
    assert [thread for thread in threads() if thread.name == "collector"] == []


def test_a_login_that_cannot_be_made_ends_it_before_it_begins() -> None:
    def fail() -> CredentialSource:
        raise ConfigError("There are no AWS credentials.")

    with pytest.raises(ConfigError, match="no AWS credentials"):
        Collecting(a_cluster(make_source=fail), RecordingLogger(), Clock())
    assert current_thread() in threads()


def test_runs_follow_each_other_with_the_same_memory() -> None:
    now = [BEGIN]

    def tick() -> float:
        now[0] += 0.4
        return now[0]

    cluster = a_cluster(interval=1)
    with Collecting(cluster, RecordingLogger(), tick):
        for _ in range(3):
            cluster.removed.get(timeout=LONG)
    assert len(cluster.source.requests) >= 3
    assert cluster.source.requests[-1].known_groups == frozenset({"g"})


def published(store: BrowsableStore, **query: str) -> set[str]:
    """The clusters in /metrics."""
    snapshots = Snapshots(store, lambda: BEGIN, ttl_seconds=0)
    answer = prometheus.answer(Request("/metrics", query, "localhost"), snapshots, NOON)
    return set(re.findall(r'cluster="([^"]*)"', answer.body.decode()))


def keep_a_reading(store: MemoryStore, cluster: str) -> None:
    """What `show` leaves in the same folder, a minute ago."""
    settings = Settings(cluster, Access(("b:9092",)), Rules())
    reading = a_reading(GROUPS, TOPICS, at=NOON - MINUTE)
    source = FakeSource(reading)
    Collector(settings, source, store, (), RecordingLogger()).run(NOON - MINUTE)


@pytest.mark.parametrize("query", [{}, {"cluster": KAFKAS_ID}], ids=["all", "by its name"])
def test_what_others_keep_of_a_cluster_is_not_published(query: dict[str, str]) -> None:
    cluster = a_cluster()
    keep_a_reading(cluster.store, KAFKAS_ID)
    assert published(cluster.store, **query) == {KAFKAS_ID}
    with Collecting(cluster, RecordingLogger(), Clock()) as collecting:
        cluster.removed.get(timeout=LONG)
        assert published(collecting.own(cluster.store), **query) == (set() if query else {"shop"})


def test_a_cluster_with_a_name_has_its_earlier_runs_before_it_answers() -> None:
    cluster = a_cluster()
    keep_a_reading(cluster.store, "shop")
    collecting = Collecting(cluster, RecordingLogger(), Clock())
    assert published(collecting.own(cluster.store)) == {"shop"}


def test_a_cluster_without_a_name_is_published_once_brokers_say_its_id() -> None:
    cluster = a_cluster(name="")
    keep_a_reading(cluster.store, "shop")
    collecting = Collecting(cluster, RecordingLogger(), Clock())
    assert published(collecting.own(cluster.store)) == set()
    with collecting:
        cluster.removed.get(timeout=LONG)
        assert published(collecting.own(cluster.store)) == {KAFKAS_ID}
