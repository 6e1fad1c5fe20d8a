# SPDX-License-Identifier: Apache-2.0
"""A run's time: what is left of it, and Spark's jobs cancelled once it is over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

from pyspark import SparkContext

# To publish what is there, delete what is old and send the message.
_RESERVED_SHARE, _RESERVED_SECONDS = 0.1, 120.0
# A step that lost its job may begin another one before it fails.
_AGAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Until when the clusters may take, on the `clock`; null `minutes`: for as long as it takes."""

    minutes: float | None
    began: float
    clock: Callable[[], float]

    @property
    def left(self) -> float | None:
        """Seconds for the clusters, 0 once they are over; null without a limit."""
        if self.minutes is None:
            return None
        seconds = self.minutes * 60
        until = self.began + seconds - max(_RESERVED_SHARE * seconds, _RESERVED_SECONDS)
        return max(0.0, until - self.clock())

    @property
    def reached(self) -> bool:
        """Whether nothing more may begin."""
        return self.left == 0


@contextmanager
def cancelling_late_jobs(context: SparkContext, limit: TimeLimit) -> Iterator[None]:
    """Cancel every job of Spark that runs, or begins, in this block after the limit."""
    done = Event()

    def cancel() -> None:
        wait = limit.left
        while not done.wait(wait):
            if limit.reached:
                context.cancelAllJobs()
            wait = _AGAIN_SECONDS if limit.reached else limit.left

    watch = Thread(target=cancel, daemon=True)
    if limit.minutes is not None:
        watch.start()
    try:
        yield
    finally:
        done.set()
        if limit.minutes is not None:
            watch.join()
