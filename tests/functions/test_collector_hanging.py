# SPDX-License-Identifier: Apache-2.0
"""A store or brokers that do not respond: one clear error within the run's time, after the rest."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from threading import Event

import pytest

from kafka_lag import contract
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError, SourceError, StoreError
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Problem
from kafka_lag.settings import Settings
from kafka_lag.sinks.metric_sets import ConfiguredSink, MetricSet
from kafka_lag.snapshots.keys import object_key
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import MemoryStore, RecordingLogger, RecordingSink
from tests.functions.brokers.listening import ALL, Cluster, cluster
from tests.functions.brokers.skipped_waits import skipping_waits
from tests.functions.runs import CLUSTER, GROUP, GROUPS, TOPICS, Run

SUCCESS = (CLUSTER, contract.COLLECTOR_SUCCESS)
READ = (CLUSTER, contract.GROUPS_READ)
ERRORS = (CLUSTER, contract.READ_ERRORS)


class HangingStore(MemoryStore):
    """A verb in `hangs` takes longer than any test."""

    def __init__(self, *hangs: str) -> None:
        super().__init__()
        self.hangs = set(hangs)
        self.reached = Event()

    def _called(self, verb: str) -> None:
        super()._called(verb)
        if verb in self.hangs:
            self.reached.set()
            Event().wait(240)


class LateSink(RecordingSink):
    """Publishes at the end of a run, which leaves so many seconds of it."""

    def __init__(self, deadline: float, left: float) -> None:
        super().__init__()
        self.now, self.late = 0.0, deadline - left

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
        super().publish(sets, taken_at, seconds)
        self.now = self.late


def run_with(store: MemoryStore, deadline: float, left: float) -> Run:
    """Whatever the store does in time may take long; what hangs after the metrics, a second."""
    sink = LateSink(deadline, left)
    return Run(store=store, sinks=[sink], clock=lambda: sink.now, deadline=deadline)


@pytest.mark.parametrize(
    ("verb", "deadline", "left", "waited"),
    [
        pytest.param("keys", 4.0, 4.0, "1.2", id="loading gets three tenths"),
        pytest.param("write_once", 300.0, 2.5, "1.5", id="storing leaves a second a sink"),
        pytest.param("write_once", 300.0, 0.0, "1", id="storing gets a second where none is left"),
    ],
)
def test_a_store_that_hangs_ends_in_one_error_in_time_after_all_metrics(
    verb: str, deadline: float, left: float, waited: str
) -> None:
    store = HangingStore(verb)
    run = run_with(store, deadline, left)
    message = f"The snapshot store did not respond within {waited} s. "
    with pytest.raises(StoreError, match=f"^{re.escape(message)}"):
        run()
    # On a busy machine the time may be over before the call has come so far.
    assert store.reached.wait(240)
    assert store.calls.count(verb) == 1
    assert run.sink.values()[GROUP, "OffsetLag"] == 6
    assert run.sink.values()[READ] == 1
    assert SUCCESS not in run.sink.values()


def test_after_a_store_that_hung_a_warm_run_goes_on_from_memory() -> None:
    store = HangingStore("write_once")
    run = run_with(store, deadline=300.0, left=2.0)
    with pytest.raises(StoreError):
        run()
    store.hangs = set()
    store.calls.clear()
    assert isinstance(run.sink, LateSink)
    run.sink.now = run.sink.late = 0.0
    run(NOON + MINUTE)
    assert SUCCESS in run.sink.values()
    assert set(store.calls) == {"write_once"}


def test_a_run_that_read_no_known_group_is_no_success_and_keeps_its_rows() -> None:
    hung = tuple(Problem("broker", str(n), contract.TIMEOUT, "timed out") for n in (1, 2))
    unread = a_reading({"g": contract.TIMEOUT}, TOPICS, at=NOON + MINUTE, problems=hung)
    run = Run(a_reading(GROUPS, TOPICS), unread)
    run(NOON)
    run.sink.published.clear()
    with pytest.raises(SourceError, match=r"no group could be read: broker '1' not read \(timeout"):
        run(NOON + MINUTE)
    assert run.sink.values()[GROUP, "OffsetLag"] == 6
    assert run.sink.values()[READ] == 0
    assert SUCCESS not in run.sink.values()
    assert object_key(contract.GROUPS, "shop", NOON + MINUTE) in run.store.objects


def test_a_first_run_that_finds_no_group_while_a_broker_hangs_is_no_success() -> None:
    hung = Problem("broker", "1", contract.TIMEOUT, "timed out")
    with pytest.raises(SourceError, match="no group could be read"):
        Run(a_reading({}, TOPICS, problems=(hung,)))()


def test_a_cluster_without_groups_is_read_with_success() -> None:
    run = Run(a_reading({}, TOPICS))
    run()
    assert SUCCESS in run.sink.values()


def test_a_broker_that_hung_on_look_ups_is_reported_and_counted() -> None:
    run = Run()
    run.source.hung = (Problem("broker", "2", contract.TIMEOUT, "look-ups by time: timed out"),)
    run()
    assert run.sink.values()[ERRORS] == 1
    assert run.logger.warnings == ["broker '2' not read (timeout): look-ups by time: timed out"]
    assert SUCCESS in run.sink.values()


@pytest.fixture(name="brokers")
def _brokers() -> Iterator[Cluster]:
    with cluster() as brokers, skipping_waits(brokers):
        yield brokers


class Collecting:
    """Whole runs of four seconds on brokers that may each take ten."""

    def __init__(self, brokers: Cluster) -> None:
        access = brokers.access(broker_timeout=10.0)
        self.sink, self.store = RecordingSink(), MemoryStore()
        settings = Settings("shop", access, Rules(), deadline=4.0)
        source = KafkaSource(access, FixedCredentials())
        sinks = [ConfiguredSink(self.sink, settings.levels)]
        self.collector = Collector(
            settings, source, self.store, sinks, RecordingLogger(), time.monotonic
        )

    def __call__(self, taken_at: int) -> float:
        self.sink.published.clear()
        began = time.monotonic()
        try:
            self.collector.run(taken_at)
        finally:
            self.took = time.monotonic() - began
        return self.sink.values()[READ]


def test_a_hung_broker_costs_a_whole_run_its_own_group_though_it_may_take_longer(
    brokers: Cluster,
) -> None:
    run = Collecting(brokers)
    assert run(NOON) == 3
    brokers[2].hangs_on = {ALL}
    assert run(NOON + MINUTE) == 2
    assert SUCCESS in run.sink.values()
    assert run.took < 3.6


def test_brokers_that_stop_after_the_metadata_fail_a_whole_run_that_still_keeps_all_rows(
    brokers: Cluster,
) -> None:
    run = Collecting(brokers)
    run(NOON)
    for broker in brokers.brokers:
        broker.hangs_on = {"ListGroups", "ListOffsets", "DescribeConfigs", "FindCoordinator"}
    with pytest.raises(ReporterError, match="no group could be read: broker '1'") as caught:
        run(NOON + MINUTE)
    assert isinstance(caught.value, SourceError)
    assert run.took < 4.0
    assert run.sink.values()[READ] == 0
    assert SUCCESS not in run.sink.values()
    assert len(run.store.objects) == 6


class WatchedStore(MemoryStore):
    """Says when the first object of a run is written."""

    def __init__(self) -> None:
        super().__init__()
        self.writing = Event()

    def write_once(self, key: str, data: bytes) -> bool:
        self.writing.set()
        return super().write_once(key, data)


class SlowSink(RecordingSink):
    """Publishes nothing before the store is written to."""

    def __init__(self, store: WatchedStore) -> None:
        super().__init__()
        self.store, self.in_vain = store, False

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
        self.in_vain |= not self.store.writing.wait(240)
        super().publish(sets, taken_at, seconds)


def test_a_sink_that_is_slow_holds_up_no_snapshot() -> None:
    store = WatchedStore()
    sink = SlowSink(store)

    written = Run(store=store, sinks=[sink])()

    assert not sink.in_vain
    assert written == len(contract.DATASETS)
