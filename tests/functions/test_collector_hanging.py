# SPDX-License-Identifier: Apache-2.0
"""A store or brokers that hang: one clear error within the run's time, after the rest."""

from __future__ import annotations

import re
from threading import Event

import pytest

from kafka_lag import contract
from kafka_lag.errors import SourceError, StoreError
from kafka_lag.lag.model import Problem
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.snapshots.keys import object_key
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import MemoryStore, RecordingSink
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
    answering = Run(a_reading({}, TOPICS))
    answering()
    assert SUCCESS in answering.sink.values()


def test_a_broker_that_hung_on_look_ups_is_reported_and_counted() -> None:
    run = Run()
    run.source.hung = (Problem("broker", "2", contract.TIMEOUT, "look-ups by time: timed out"),)
    run()
    assert run.sink.values()[ERRORS] == 1
    assert run.logger.warnings == ["broker '2' not read (timeout): look-ups by time: timed out"]
    assert SUCCESS in run.sink.values()


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
