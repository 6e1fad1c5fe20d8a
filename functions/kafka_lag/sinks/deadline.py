# SPDX-License-Identifier: Apache-2.0
"""Retries of a sink: a few attempts at each request, none after its share of the run."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from botocore.config import Config

# For a sink's AWS client: the sink itself tries again, because it knows how much time is left.
ONE_ATTEMPT = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1})

_ATTEMPTS = 5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0


@dataclass(frozen=True, slots=True)
class Timing:
    """A clock in seconds, a way to sleep, and random numbers between 0 and 1."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random


class PublishDeadline:
    """The time by which one publish must end, however many requests it sends."""

    def __init__(self, seconds: float, timing: Timing) -> None:
        self._timing = timing
        self._until = timing.clock() + seconds

    def left(self) -> float:
        """Returns the seconds left, at least 0."""
        return max(self._until - self._timing.clock(), 0.0)

    def attempts(self) -> Iterator[int]:
        """Yields the numbers of attempts at one request, the first at once, while there is time.

        Pauses between them double, with jitter so that many senders do not retry together.
        """
        for number in range(_ATTEMPTS):
            longest = min(_FIRST_PAUSE * 2 ** (number - 1), _LONGEST_PAUSE)
            if number and not self.wait(longest * (0.5 + self._timing.jitter() / 2)):
                return
            if not self.left():
                return
            yield number

    def wait(self, seconds: float) -> bool:
        """Sleeps if there is enough time left; returns True if it slept."""
        if seconds >= self.left():
            return False
        self._timing.sleep(seconds)
        return True
