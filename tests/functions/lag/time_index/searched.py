# SPDX-License-Identifier: Apache-2.0
"""Positions of a few logs, searched cold."""

from __future__ import annotations

import numpy as np

from kafka_lag.lag.append_time import AppendTimes, combine_with_search
from kafka_lag.lag.columns import Column
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.index_search import Queue, SearchResult, SearchTargets, search
from kafka_lag.lag.log_ends import Bounds
from tests.builders import HOUR, NOON
from tests.functions.lag.time_index.brokers import Broker, Log

SECOND = 1_000
DAY = 24 * HOUR


def dated(
    broker: Broker,
    positions: list[tuple[int, int]],
    *,
    compact: bool = False,
    budget: int = 10_000,
    now: int = NOON,
) -> tuple[AppendTimes, SearchResult]:
    """Positions as (log number, offset), cold: nothing but this run is known."""
    part = np.array([p for p, _ in positions], np.int64)
    offset = np.array([o for _, o in positions], np.int64)
    ends = np.array([log.end for log in broker.logs.values()], np.int64)[part]
    nothing = Column.unknown(len(part))
    present = Column.of(np.full(len(part), now, np.int64))
    sought = SearchTargets(
        partitions=broker.partitions(),
        log_start=broker.starts(),
        compact=np.full(len(broker.logs), compact),
        part=part,
        offset=offset,
        now=present.values,
        bounds=Bounds(nothing, present, nothing, Column.of(ends)),
    )
    rows = np.arange(len(part))
    queue = Queue.of(part, rows, ends - offset, np.zeros(len(part), bool), 0, budget)
    found = search(sought, queue, Rules(lookup_budget=budget), broker)
    return combine_with_search(sought, found), found


def one(log: Log, offset: int, **more: object) -> tuple[AppendTimes, SearchResult]:
    return dated(Broker({("t", 0): log}), [(0, offset)], **more)  # type: ignore[arg-type]


def brackets(dates: AppendTimes) -> list[tuple[int | None, int | None, int | None]]:
    return list(
        zip(dates.after.to_list(), dates.best.to_list(), dates.before.to_list(), strict=True)
    )
