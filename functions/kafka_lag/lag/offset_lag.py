# SPDX-License-Identifier: Apache-2.0
"""Offset lag of each group-partition, from a commit and then log start and end."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag.lag.columns import Column, Mask


@dataclass(frozen=True, slots=True)
class OffsetLag:
    """Lag, and what it does not count, a row per group-partition; all in records or offsets.

    `position`: the offset of the next unread record, max(committed, log start), or the start of
    the log where an uncommitted partition counts from there.
    `lag`: records between max(committed, log start) and the end, never negative; unknown where
    nothing was committed (see `uncommitted`) or an offset was never seen.
    `lost`: offsets deleted before they were committed, start - committed where positive.
    `margin`: records the group is ahead of deletion, committed - start, 0 at least.
    `uncommitted`: no commit, records to read, and no rule that counts them.
    `beyond_end`: committed after the end of the log, as after a topic was recreated; lag is 0.
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
    """Lag of each row; `from_start` marks rows that count from the log start if uncommitted.

    A commit below the log start counts from the start: what is deleted cannot be read any more.
    An empty partition without a commit has lag 0, as librdkafka commits nothing there.
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
