# SPDX-License-Identifier: Apache-2.0
"""Runs of a collector in this process: the first at once, then at whole intervals of the clock."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.lag.model import LagReport


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is over: its report, None where nothing was read, and the error it ended with, if
    it did; `next_due` in s, as the clock. `kept`: the store took its snapshot.
    """

    report: LagReport | None
    error: ReporterError | None
    seconds: float
    next_due: int
    kept: bool = True

    @property
    def warning(self) -> str | None:
        """Returns a sentence on what went wrong; null if nothing did."""
        if self.error is None:
            return None
        is_unkept = self.report is not None and not self.kept
        return describe_unkept(self.error) if is_unkept else str(self.error)


def run_on_schedule(
    collector: Collector,
    interval: int,
    wait: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> Iterator[Run]:
    """Yields runs without end, `interval` seconds apart; a longer one replaces those it overlaps.

    `wait` takes seconds, and may end the runs by raising.
    """
    due = int(clock())
    while True:
        began = time.monotonic()
        report, failure, kept = None, None, False
        try:
            outcome = collector.collect(due * 1000)
            report, failure = outcome.report, outcome.failure
            kept = outcome.objects_written > 0
        except ReporterError as error:
            failure = error
        seconds = time.monotonic() - began
        due = (int(clock()) // interval + 1) * interval
        yield Run(report, failure, seconds, due, kept)
        wait(max(0.0, due - clock()))


@contextmanager
def interruptible() -> Iterator[Callable[[float], None]]:
    """Gives a wait, in s, that raises KeyboardInterrupt if Ctrl-C was pressed before.

    kafka-python logs and drops what is raised inside its tasks, KeyboardInterrupt included.
    """
    was_pressed = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal was_pressed
        was_pressed = True
        signal.default_int_handler(number, frame)

    def wait(seconds: float) -> None:
        if was_pressed:
            raise KeyboardInterrupt
        time.sleep(seconds)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield wait
    finally:
        signal.signal(signal.SIGINT, before)


def describe_unkept(error: ReporterError) -> str:
    """Returns the warning beside a reading that is shown though the store failed."""
    return f"What was read is shown, and not kept: {error}"
