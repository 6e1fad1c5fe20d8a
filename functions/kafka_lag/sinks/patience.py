# SPDX-License-Identifier: Apache-2.0
"""How often and how long a sink tries again: a few times, and never past its share of the run."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_ATTEMPTS = 5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0


@dataclass(frozen=True, slots=True)
class Time:
    """A clock in seconds, a way to let time pass, and chance between 0 and 1."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


class Patience:
    """The seconds that one publish may take, whatever the number of its requests."""

    def __init__(self, seconds: float, source: Time) -> None:
        self._time = source
        self._until = source.clock() + seconds

    def left(self) -> float:
        """Seconds left, 0 at least."""
        return max(self._until - self._time.clock(), 0.0)

    def attempts(self) -> Iterator[int]:
        """Numbers of attempts at one request, the first at once, while there is time for them.

        Pauses double, and are cut at random so that many senders do not come back together.
        """
        for number in range(_ATTEMPTS):
            longest = min(_FIRST_PAUSE * 2 ** (number - 1), _LONGEST_PAUSE)
            if number and not self.wait(longest * (0.5 + self._time.chance() / 2)):
                return
            if not self.left():
                return
            yield number

    def wait(self, seconds: float) -> bool:
        """Lets the time pass, unless there is not so much of it left; whether it did."""
        if seconds >= self.left():
            return False
        self._time.sleep(seconds)
        return True
