# SPDX-License-Identifier: Apache-2.0
"""From a reading and the snapshot before it to everything a run says."""

from __future__ import annotations

import numpy as np

from functions.lag import carry, owners
from functions.lag.columns import Column, Mask, Words
from functions.lag.frame import Frame, locate
from functions.lag.groups import Counted, farewells, group_topics, rolled_up
from functions.lag.model import ClusterReading, LagReport, Rules, Snapshot
from functions.lag.offset_lag import OffsetLag, offset_lag


def evaluate(reading: ClusterReading, before: Snapshot, rules: Rules, taken_at: int) -> LagReport:
    """The lag report of one run; `taken_at` is the scheduled time, ms UTC.

    Pure: the same reading, snapshot and rules always say the same.
    """
    topics = carry.topic_partitions(reading, before, rules, taken_at)
    groups = carry.groups(reading, before, rules, taken_at)
    rows = carry.group_partitions(reading, before, rules, taken_at, topics)
    rows = rows.where(locate(rows, groups, ("consumer_group",)) >= 0)
    at = locate(rows, topics, ("topic", "partition_id"))
    rows = owners.with_owners(_joined(rows, topics.take(at)), before, taken_at)
    lags = _lags(rows, rules)
    counted = _counted(rows, lags, taken_at - rules.window_ms)
    rows = _with_lag(rows, lags)
    groups = farewells(rolled_up(groups, rows, counted, before), reading, before)
    snapshot = Snapshot(taken_at, *(_finished(frame, taken_at) for frame in (topics, rows, groups)))
    read = ~rows.words("unread_reason").known
    clamped = int((lags.beyond_end & read).sum())
    return LagReport(snapshot, group_topics(rows, counted), clamped, reading.problems)


def _joined(rows: Frame, topics: Frame) -> Frame:
    """Each row with its partition's leader, topic id and offsets.

    A silent group keeps the offsets of when it was last read: its old commit against a new end
    would be a lag that nobody saw.
    """
    silent, listed = rows.words("unread_reason").known, topics.words("topic").known
    start, end = (_offset(rows, topics, name, silent) for name in ("start_offset", "end_offset"))
    return rows.with_columns(
        topic_id=topics.words("topic_id").or_else(rows.words("topic_id")),
        leader=topics.numbers("leader").or_else(rows.numbers("leader").only(~listed)),
        start_offset=start,
        end_offset=end,
    )


def _offset(rows: Frame, topics: Frame, name: str, silent: Mask) -> Column:
    return rows.numbers(name).only(silent).or_else(topics.numbers(name))


def _lags(rows: Frame, rules: Rules) -> OffsetLag:
    names = rows.words("consumer_group")
    earliest = rules.uncommitted_earliest
    chosen = [name for name in names.words if earliest is not None and earliest.search(name)]
    return offset_lag(
        rows.numbers("committed_offset"),
        rows.numbers("start_offset"),
        rows.numbers("end_offset"),
        from_start=names.is_in(chosen),
    )


def _counted(rows: Frame, lags: OffsetLag, since: int) -> Counted:
    """What metrics count: read now, or last read, commit and end together, within the window."""
    silent, read_at = rows.words("unread_reason").known, rows.numbers("read_at")
    heard = ~silent | (read_at.known & (read_at.values >= since))
    lag, uncommitted = lags.lag.only(heard), lags.uncommitted & heard
    return Counted(
        lag=lag,
        missing=~lag.known & ~uncommitted,
        uncommitted=uncommitted,
        lost=lags.lost,
        unknown=silent | ~(lags.lag.known | lags.uncommitted),
    )


def _with_lag(rows: Frame, lags: OffsetLag) -> Frame:
    read = ~rows.words("unread_reason").known
    return rows.with_columns(
        lag=lags.lag.only(read),
        records_lost=lags.lost,
        retention_margin=lags.margin,
    )


def _finished(frame: Frame, taken_at: int) -> Frame:
    """Stamped, without the words no row uses: carried from run to run, they would pile up."""
    words = {n: c.pruned() for n, c in frame.columns.items() if isinstance(c, Words)}
    frame = frame.with_columns(**words)
    return frame.with_columns(taken_at=Column.of(np.full(len(frame), taken_at, np.int64)))
