# SPDX-License-Identifier: Apache-2.0
"""Time that passes only while somebody waits for it."""

from __future__ import annotations

from kafka_lag.sinks.deadline import Timing


class Waited:
    """A clock at 0 that each pause moves on; pauses are as long as they can be."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def timing(self) -> Timing:
        return Timing(lambda: self.now, self._sleep, lambda: 1.0)

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
