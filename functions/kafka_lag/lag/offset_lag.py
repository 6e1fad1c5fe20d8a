# SPDX-License-Identifier: Apache-2.0
"""Offset lag of each group-partition, from its commit and the log's start and end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.delays import find_delays
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import EARLIEST
from kafka_lag.lag.previous_rows import is_read, last_known_lag, set_where_read
from kafka_lag.lag.rests import find_off_by_one, forget_rests, skip_markers
from kafka_lag.lag.run import Run
from kafka_lag.lag.share_groups import is_held, is_shared, set_finished


@dataclass(frozen=True, slots=True)
class OffsetLag:
    """Lag and the numbers beside it, a row per group-partition; all in records or offsets.

    `position`: the offset of the next unread record, max(committed, log start), or the log start if
    an uncommitted partition counts from there.
    `lag`: records between `position` and the end, never negative; unknown if nothing was committed
    (see `uncommitted`) or an offset was never read.
    `lost`: offsets deleted before they were committed, start - committed, at least 0.
    `margin`: records by which the group is ahead of deletion, committed - start, at least 0.
    `uncommitted`: no commit, records to read, and no rule that counts them.
    `beyond_end`: the commit is beyond the end, for example on a recreated topic; lag is 0.
    """

    position: Column
    lag: Column
    lost: Column
    margin: Column
    uncommitted: Mask
    beyond_end: Mask


def compute_offset_lag(
    committed: Column, start: Column, end: Column, *, from_start: Mask
) -> OffsetLag:
    """Returns each row's lag; `from_start` marks rows that lag from the log start if uncommitted.

    A commit below the log start counts from the start, because deleted records cannot be read. An
    empty partition without a commit has lag 0, because librdkafka commits nothing there.
    """
    nothing_left = start >= end
    absent = ~committed.known & start.known & end.known
    counted = absent & (from_start | nothing_left)
    position = start.where(start > committed, committed).or_else(start.only(counted))
    margin = committed - start
    return OffsetLag(
        position=position,
        lag=(end - position).clip(0),
        lost=(-margin).clip(0),
        margin=margin.clip(0),
        uncommitted=absent & ~counted,
        beyond_end=committed > end,
    )


def add_lag(e: Evaluation) -> Frame:
    """Returns the rows with their lag; unread rows with `last_lag` and `last_time_lag_seconds`."""
    rows, e.lags = e.rows, _find_lags(e.rows, e.of_group, e.run)
    read = is_read(rows)
    last_read = ~read & rows.numbers("read_at").known
    age, last_age = rows.numbers("time_lag_seconds"), rows.numbers("last_time_lag_seconds")
    return rows.with_columns(
        lag=e.lags.lag.only(read),
        last_lag=e.lags.lag.only(last_read),
        last_time_lag_seconds=age.or_else(last_age).only(last_read),
        delay_seconds=find_delays(rows, e.run.rules),
        retention_margin=e.lags.margin,
    )


def _find_lags(rows: Frame, groups: Frame, run: Run) -> OffsetLag:
    """Returns each row's lag; `groups` holds each row's group.

    The lag of a share group is the one that the broker says, without records deleted since. That of
    another group leaves out records that are finished after its commit.
    """
    rule_of = run.rules.uncommitted.get
    from_start = rows.strings("consumer_group").are(lambda name: rule_of(name) == EARLIEST)
    committed = rows.numbers("committed_offset")
    found = compute_offset_lag(
        set_finished(rows, is_shared(groups)).numbers("committed_offset"),
        rows.numbers("start_offset"),
        rows.numbers("end_offset"),
        from_start=from_start & ~committed.known,
    )
    lag = last_known_lag(rows)
    return replace(
        found,
        lag=lag.where(lag < found.lag, found.lag),
        uncommitted=found.uncommitted & ~committed.known,
    )


def add_reads_remote(e: Evaluation) -> Frame:
    """Returns the rows with `reads_remote`.

    It is True if the next record is no longer on the leader's own disks, and known only if a group
    lags on a tiered topic.
    """
    local = e.of_topic.numbers("local_start_offset")
    known = local.known & (e.rows.numbers("lag") > 0)
    return set_where_read(e.rows, reads_remote=Column(e.lags.position < local, known))


def add_losses(e: Evaluation) -> Frame:
    """Returns the rows with `records_lost`: records deleted before they were committed."""
    off_by_one = find_off_by_one(e.rows, e.transactional).astype(np.int64)
    no_lag, resting = _allowed_lag(e.rows, e.run), forget_rests(e.rows, e.transactional)
    e.allowed, e.position = no_lag.clip(off_by_one), skip_markers(resting, _find_position(e))
    committed = e.rows.numbers("committed_offset")
    passed = (skip_markers(resting, committed) - committed).clip(off_by_one)
    # Deleting no more records than the allowed lag is not a loss.
    lost = (e.lags.lost - passed).clip(0) * (e.lags.lost > no_lag).astype(np.int64)
    return e.rows.with_columns(records_lost=lost)


def _find_position(e: Evaluation) -> Column:
    """Returns the offset of each row's next record."""
    shared = is_shared(e.of_group)
    if not shared.any():
        return e.lags.position
    held = shared & is_held(e.rows, e.previous.rows, e.of_topic)
    return find_lowest_position(e).where(held, e.lags.position)


def find_lowest_position(e: Evaluation) -> Column:
    """Returns the lowest offset at which each row's next record may lie."""
    shared = is_shared(e.of_group)
    if not shared.any():
        return e.lags.position
    start, committed = e.rows.numbers("start_offset"), e.rows.numbers("committed_offset")
    lowest = start.where(start > committed, committed)
    return lowest.where(shared & committed.known, e.lags.position)


def _allowed_lag(rows: Frame, run: Run) -> Column:
    """Returns how many records count as no lag, by each row's topic; 0 if not configured."""
    allowed = run.rules.allowed_lag.get
    return rows.strings("topic").numbers_of(lambda name: allowed(name) or 0, np.int64)
