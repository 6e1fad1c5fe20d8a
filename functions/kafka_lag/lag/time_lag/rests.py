# SPDX-License-Identifier: Apache-2.0
"""Positions that did not move since the run before: what was found of their record still holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.bounds import Bounds, carried_bounds
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_lag.positions import Positions

# Found in an index, or in one once: asking again would tell the same.
_SETTLED = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED)


@dataclass(frozen=True, slots=True)
class Rests:
    """What the run before said, by position, unknown where no group rested there.

    `settled` where no further look-up would tell more; `ahead` of this run's clock, which went
    back then. By row, `moved`: it stood elsewhere.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    settled: Mask
    ahead: Mask
    moved: Mask

    def bounds(self, where: Mask) -> Bounds:
        """What the run before proved of these positions."""
        return carried_bounds(self.after.only(where), self.before.only(where))


def rests_of(offset: Column, was: Frame, positions: Positions) -> Rests:
    """From each row's `offset` now and its row before.

    A log start that has passed the commit moves the next unread record, and voids its date.
    """
    stood = _stood_at(was)
    same = stood.known & offset.known & (stood.values == offset.values)
    best = best_of(was)
    settled = was.words("time_lag_method").is_in(_SETTLED)
    rows = np.flatnonzero(same & best.known & (positions.of_row >= 0))
    # Of several groups at one position, one whose date is settled speaks for all.
    rows = rows[np.argsort(settled[rows], kind="stable")]
    speaker = np.full(len(positions), -1, np.int64)
    speaker[positions.of_row[rows]] = rows
    said = best.take(speaker)
    return Rests(
        best=said,
        after=was.numbers("next_record_after").take(speaker),
        before=was.numbers("next_record_before").take(speaker),
        record=was.numbers("next_record_time").take(speaker),
        settled=Column.of(settled).take(speaker).values & (speaker >= 0),
        ahead=said.known & (said.values > positions.now),
        moved=stood.known & ~same,
    )


def believed(rests: Rests, doubted: Column) -> Rests:
    """Without brackets that reach to `doubted`, ms, a time told by a clock that was wrong then."""
    reaches = rests.before.known & (rests.before.values >= doubted.values)
    reaches |= rests.after.known & (rests.after.values >= doubted.values)
    sure = ~(doubted.known & reaches)
    return replace(
        rests,
        best=rests.best.only(sure),
        after=rests.after.only(sure),
        before=rests.before.only(sure),
        record=rests.record.only(sure),
        settled=rests.settled & sure,
        ahead=rests.ahead & sure,
    )


def _stood_at(was: Frame) -> Column:
    committed, start = was.numbers("committed_offset"), was.numbers("start_offset")
    later = start.known & (~committed.known | (start.values > committed.values))
    return Column(np.where(later, start.values, committed.values), committed.known | start.known)


def best_of(was: Frame) -> Column:
    """The append time, ms, that rows of a snapshot say: value, record, or middle of the bracket."""
    read_at, lag = was.numbers("read_at"), was.numbers("time_lag_seconds")
    after, before = was.numbers("next_record_after"), was.numbers("next_record_before")
    said = read_at.values - np.rint(lag.values * 1000).astype(np.int64)
    middle = np.where(after.known, (after.values + before.values) // 2, before.values)
    best = Column(said, read_at.known & lag.known & before.known)
    record = was.numbers("next_record_time").only(before.known)
    return best.or_else(record).or_else(Column(middle, before.known))
