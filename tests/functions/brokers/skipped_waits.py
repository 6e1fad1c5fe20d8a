# SPDX-License-Identifier: Apache-2.0
"""A clock that stops while brokers work, and skips waits without effect.

No test is late on a busy machine, and a hung broker's time-out costs no seconds.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kafka.net.selector import NetworkSelector

from tests.functions.brokers.listening import Cluster

# Seconds, as a real clock and a real selector are never early.
_LATE = 0.001


class Clock:
    """Seconds of `time.monotonic`, as they are when nothing is waited for but what never comes."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def __call__(self) -> float:
        return self.now


@contextmanager
def skipping_waits(brokers: Cluster) -> Iterator[Clock]:
    """Within it `time.monotonic` is such a clock, for the Kafka client too, which knows no other.

    Once these brokers are idle, and what they answered was taken, the client's next wait is over.
    """
    clock = Clock()

    class Selector(selectors.DefaultSelector):
        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            if timeout is None or timeout <= 0:
                return super().select(timeout)
            while not (ready := super().select(_LATE)):
                if all(broker.is_idle() for broker in brokers.brokers):
                    # What came before they were idle.
                    ready = super().select(0)
                    if not ready:
                        clock.now += timeout + _LATE
                    break
            return ready

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(NetworkSelector.DEFAULT_CONFIG, "selector", Selector)
        patch.setattr(time, "monotonic", clock)
        yield clock
