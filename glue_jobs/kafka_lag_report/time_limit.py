# SPDX-License-Identifier: Apache-2.0
"""Limits the time of a run: tells how much is left, and cancels Spark's jobs when it is over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

from pyspark import SparkContext

# Time reserved for publishing, deleting old snapshots and sending the message.
_RESERVED_SHARE, _RESERVED_SECONDS = 0.1, 120.0
# Cancel again after this time, because a step whose job was cancelled may begin another one.
_AGAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The time limit of a run that began at `began` of the `clock`; null `minutes` set no limit."""

    minutes: float | None
    began: float
    clock: Callable[[], float]

    @property
    def left(self) -> float | None:
        """Returns the seconds left for clusters, 0 when they are over; null without a limit."""
        if self.minutes is None:
            return None
        seconds = self.minutes * 60
        until = self.began + seconds - max(_RESERVED_SHARE * seconds, _RESERVED_SECONDS)
        return max(0.0, until - self.clock())

    @property
    def reached(self) -> bool:
        """Returns whether no further cluster may begin."""
        return self.left == 0


@contextmanager
def cancelling_late_jobs(context: SparkContext, limit: TimeLimit) -> Iterator[None]:
    """Cancels all Spark jobs that run, or begin, in this block after the limit."""
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
