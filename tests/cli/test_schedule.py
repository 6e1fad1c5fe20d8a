# SPDX-License-Identifier: Apache-2.0
"""Runs at whole intervals of the clock, even if runs fail or take long."""

from __future__ import annotations

import signal
from contextlib import suppress
from itertools import islice

import pytest

from kafka_lag.brokers.access import Access
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.collector import Collector
from kafka_lag.errors import SourceError
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.settings import Settings
from kafka_lag_cli.schedule import interruptible, run_on_schedule
from tests.builders import NOON, a_reading
from tests.fakes import FakeSource, MemoryStore, RecordingLogger
from tests.functions.runs import GROUPS, TOPICS

BEGIN = NOON // 1000


class Clock:
    """Stands still but for who waits and for what a reading takes."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


class _SlowSource(FakeSource):
    """Each reading takes so many seconds of the clock."""

    def __init__(self, clock: Clock, *seconds: float) -> None:
        super().__init__(a_reading(GROUPS, TOPICS))
        self._clock = clock
        self._seconds = list(seconds)

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        self._clock.now += self._seconds.pop(0)
        return super().read(request, deadline)


def a_collector(source: FakeSource) -> Collector:
    settings = Settings("shop", Access(("b:9092",)), Rules())
    return Collector(settings, source, MemoryStore(), (), RecordingLogger())


def times(collector: Collector, clock: Clock, count: int, interval: int = 60) -> list[int]:
    """When runs were scheduled, in seconds after the beginning."""
    runs = islice(run_on_schedule(collector, interval, clock.wait, clock), count)
    found = [run.report.snapshot.taken_at for run in runs if run.report]
    return [at // 1000 - BEGIN for at in found]


@pytest.mark.parametrize(
    ("seconds", "expected", "waits"),
    [
        ((0, 0, 0), [0, 60, 120], [60, 60]),
        ((1, 59, 2), [0, 60, 120], [59, 1]),
        ((61, 0, 0), [0, 120, 180], [59, 60]),
        ((200, 60, 0), [0, 240, 360], [40, 60]),
    ],
)
def test_a_run_that_takes_long_leaves_out_those_it_overlaps(
    seconds: tuple[int, ...], expected: list[int], waits: list[int]
) -> None:
    clock = Clock(BEGIN)
    assert times(a_collector(_SlowSource(clock, *seconds)), clock, 3) == expected
    assert clock.waits == waits


def test_the_first_run_is_at_once_and_the_others_at_whole_intervals() -> None:
    clock = Clock(BEGIN + 47.9)
    collector = a_collector(_SlowSource(clock, 0, 0, 0))
    assert times(collector, clock, 3) == [47, 60, 120]


def test_a_run_says_when_the_next_one_is_due() -> None:
    clock = Clock(BEGIN + 1)
    collector = a_collector(_SlowSource(clock, 70))
    (run,) = islice(run_on_schedule(collector, 60, clock.wait, clock), 1)
    assert (run.next_due, run.error) == (BEGIN + 120, None)
    assert run.report is not None


def test_a_run_that_fails_is_reported_and_the_next_one_comes() -> None:
    clock = Clock(BEGIN)
    gone = SourceError("no broker could be reached")
    collector = a_collector(FakeSource(gone, a_reading(GROUPS, TOPICS)))
    first, second = islice(run_on_schedule(collector, 60, clock.wait, clock), 2)
    assert (first.report, first.error) == (None, gone)
    assert (second.report is None, second.error) == (False, None)


def test_what_is_no_error_of_the_reporter_ends_the_runs() -> None:
    class _BrokenSource(FakeSource):
        def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
            raise RuntimeError("a defect")

    runs = run_on_schedule(a_collector(_BrokenSource(a_reading())), 60, clock=Clock(BEGIN))
    with pytest.raises(RuntimeError, match="a defect"):
        next(runs)


def test_an_interrupt_that_a_library_drops_ends_the_next_wait() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible() as wait:
        wait(0)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            wait(60)
    assert signal.getsignal(signal.SIGINT) is before
