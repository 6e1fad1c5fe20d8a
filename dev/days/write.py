# SPDX-License-Identifier: Apache-2.0
"""A large day written by several processes, each a part of its hours."""

from __future__ import annotations

import io
import multiprocessing
from collections.abc import Callable, Collection
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pyarrow.parquet as pq

from dev.days.describe import Day, Span
from dev.days.runs import WHOLE_DAY, runs
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag_report.read_snapshots import ADDED

if TYPE_CHECKING:
    from multiprocessing.queues import Queue


MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: runs, objects, and rows of `group_partitions`."""

    runs: int = 0
    objects: int = 0
    rows: int = 0

    def __add__(self, other: Written) -> Written:
        return Written(self.runs + other.runs, self.objects + other.objects, self.rows + other.rows)


def write_day(
    root: Path,
    day: Day,
    *,
    date: date,
    every: timedelta = MINUTE,
    hours: Span = WHOLE_DAY,
    datasets: Collection[str] = contract.DATASETS,
    progress: Callable[[Written], None] = lambda _: None,
) -> Written:
    """Write these datasets of the runs scheduled in these hours of the UTC day `date`.

    `progress` is called for each run. A cluster's name is percent-encoded in its folder's.
    """
    written = Written()
    for snapshot in runs(day, datetime.combine(date, time(), UTC), every, hours):
        for dataset in datasets:
            _put(root, day, dataset, snapshot)
        one = Written(1, len(datasets), len(snapshot.group_partitions))
        progress(one)
        written += one
    return written


def _put(root: Path, day: Day, dataset: str, snapshot: Snapshot) -> None:
    path = root / object_key(dataset, quote(day.cluster, safe=""), snapshot.taken_at)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = to_parquet(snapshot.dataset(dataset), dataset)
    older = day.schema_version != contract.SCHEMA_VERSION
    path.write_bytes(_older(data, dataset, day.schema_version) if older else data)


def _older(data: bytes, dataset: str, version: str) -> bytes:
    """As a collector of that version would have written it."""
    table: Any = pq.read_table(io.BytesIO(data))
    major, _, minor = version.partition(".")
    known = int(major), int(minor or 0)
    later = [name for name, since in ADDED.get(dataset, {}).items() if since > known]
    table = table.drop_columns(later)
    table = table.replace_schema_metadata({contract.SCHEMA_VERSION_KEY: version})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


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
    written: Queue[Written] = context.Queue()
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=_report_to, initargs=(written,)
    ) as pool:
        parts = [pool.submit(_part, root, day, date, every, span) for span in spans]
        _follow(parts, written, progress)
        return sum((part.result() for part in parts), Written())


def _follow(
    parts: list[Future[Written]], written: Queue[Written], progress: Callable[[Written], None]
) -> None:
    while True:
        done = all(part.done() for part in parts)
        try:
            progress(written.get(timeout=_POLL_SECONDS))
        except Empty:
            if done:
                return


_queue: list[Queue[Written]] = []


def _report_to(written: Queue[Written]) -> None:
    _queue[:] = [written]


def _part(root: Path, day: Day, date: date, every: timedelta, hours: Span) -> Written:
    return write_day(root, day, date=date, every=every, hours=hours, progress=_queue[0].put)
