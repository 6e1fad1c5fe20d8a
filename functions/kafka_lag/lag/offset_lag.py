# SPDX-License-Identifier: Apache-2.0
"""Offset lag of each group-partition, from its commit and the log's start and end."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag.lag.columns import Column, Mask


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
