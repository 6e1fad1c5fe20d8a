# SPDX-License-Identifier: Apache-2.0
"""An hour of runs that never were: end offsets as a collector would have kept them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dev.time_lag_bench.logs import Ints, Log, ends_at
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import PreviousRuns, Snapshot
from kafka_lag.snapshots.previous import downsample

_ANSWERED_AFTER_MS = 5
_DATED = (
    "next_record_after",
    "next_record_before",
    "next_record_time",
    "time_lag_seconds",
    "time_lag_error_seconds",
)


def moments(taken_at: int, interval_ms: int = 60_000, runs: int = 60) -> Ints:
    """Those of so many runs on time before this one whose ends are kept, the oldest first, ms."""
    times = (taken_at - run * interval_ms for run in range(1, runs + 1))
    return np.array(downsample(times, taken_at, interval_ms), np.int64)


def an_hour_before(
    snapshot: Snapshot, logs: Sequence[Log], taken_at: int, *, moved: bool
) -> PreviousRuns:
    """What a run at `taken_at` knows that comes after an hour of runs, none of which asked.

    They saw the commits of this snapshot, or, with `moved`, each one record before. Logs are in
    the order of the snapshot's `topic_partitions`.
    """
    at = moments(taken_at)
    topics = snapshot.topic_partitions
    offsets = np.array([ends_at(log, at) for log in logs])
    ends = tuple(_ends(topics, offsets[:, i], moment) for i, moment in enumerate(at.tolist()))
    last = ("asked_at", "read_at", "end_offset")
    newest = Snapshot(
        int(at[-1]),
        topics.with_columns(**{name: ends[-1].columns[name] for name in last}),
        _undated(snapshot.group_partitions, int(moved)),
        snapshot.groups,
    )
    return PreviousRuns(newest, ends)


def _undated(rows: Frame, before: int) -> Frame:
    committed = rows.numbers("committed_offset")
    undated = {n: Column.unknown(len(rows), rows.numbers(n).values.dtype) for n in _DATED}
    return rows.with_columns(
        **undated,
        time_lag_method=Strings.unknown(len(rows)),
        committed_offset=Column(
            committed.values - before, committed.known & (committed.values >= before)
        ),
    )


def _ends(partitions: Frame, offsets: Ints, moment: int) -> Frame:
    asked = np.full(len(partitions), moment, np.int64)
    return Frame.of(
        {
            "topic": partitions.strings("topic"),
            "topic_id": partitions.strings("topic_id"),
            "partition_id": partitions.numbers("partition_id"),
            "asked_at": Column.of(asked),
            "read_at": Column.of(asked + _ANSWERED_AFTER_MS),
            "end_offset": Column.of(offsets),
        }
    )
