# SPDX-License-Identifier: Apache-2.0
"""A large day written by several processes, each a part of its hours."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING

from dev.days.describe import Day
from dev.days.events import Span
from dev.days.write import MINUTE, Written, write_day

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

_POLL_SECONDS = 0.2


def write_in_parts(
    root: Path,
    day: Day,
    *,
    date: date,
    processes: int,
    hours: float = 24.0,
    every: timedelta = MINUTE,
    progress: Callable[[Written], None] = lambda _: None,
) -> Written:
    """Write the first `hours` of a day as `write_day` does; whatever fails in a part is raised.

    Where a part begins, averages over earlier runs start anew, and ages come from the thinned
    log ends that a cold collector reads.
    """
    bounds = [hours * part / processes for part in range(processes + 1)]
    spans = [Span(begin, end) for begin, end in pairwise(bounds)]
    context = multiprocessing.get_context("spawn")
    told: Queue[Written] = context.Queue()
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=_report_to, initargs=(told,)
    ) as pool:
        parts = [pool.submit(_part, root, day, date, every, span) for span in spans]
        _follow(parts, told, progress)
        return sum((part.result() for part in parts), Written())


def _follow(
    parts: list[Future[Written]], told: Queue[Written], progress: Callable[[Written], None]
) -> None:
    while True:
        done = all(part.done() for part in parts)
        try:
            progress(told.get(timeout=_POLL_SECONDS))
        except Empty:
            if done:
                return


_queue: list[Queue[Written]] = []


def _report_to(told: Queue[Written]) -> None:
    _queue[:] = [told]


def _part(root: Path, day: Day, date: date, every: timedelta, hours: Span) -> Written:
    return write_day(root, day, date=date, every=every, hours=hours, progress=_queue[0].put)
