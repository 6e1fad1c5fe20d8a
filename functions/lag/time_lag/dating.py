# SPDX-License-Identifier: Apache-2.0
"""The time lag of each group-partition: now - the append time of its next unread record.

Sources, best first: nothing unread; the bracket found before, where the offset did not move;
log ends of earlier runs; the brokers' time index, asked only where these are too wide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from functions.lag.bounds import Bounds, carried_bounds
from functions.lag.columns import Column, Mask, Rows
from functions.lag.frame import Frame
from functions.lag.model import Past
from functions.lag.rules import Rules
from functions.lag.time_index.questions import LookUp
from functions.lag.time_index.search import Sought
from functions.lag.time_lag.asking import improved
from functions.lag.time_lag.dates import Dates, from_bounds, from_carried
from functions.lag.time_lag.ends import bounds_of, ends_of
from functions.lag.time_lag.needs import Line, due, too_wide, worth_asking
from functions.lag.time_lag.positions import Positions, positions_of
from functions.lag.time_lag.rests import Rests, rests_of

_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "end_offset")
_ASKED = ("topic", "partition_id", "leader")


@dataclass(frozen=True, slots=True)
class Unread:
    """Rows to date: those in `mask`, standing at `offset` of the topics' row `part`, with `lag`."""

    mask: Mask
    part: Rows
    offset: Column
    lag: Column


@dataclass(frozen=True, slots=True)
class Dated:
    """The date of each row, unknown where it has none; look-ups used; readings left out."""

    dates: Dates
    look_ups: int
    contradicted: int


def dated(
    rows: Frame,
    topics: Frame,
    unread: Unread,
    was: Frame,
    past: Past,
    rules: Rules,
    taken_at: int,
    look_up: LookUp,
) -> Dated:
    """Dates of unread rows; `was` holds each row as the run before left it. Bounds are proven."""
    now = topics.numbers("read_at").take(unread.part)
    positions = positions_of(unread.mask & now.known, unread.part, unread.offset, now.values)
    used, column = np.unique(positions.part, return_inverse=True)
    partitions = topics.take(used)
    compact, ends = _compact(partitions), ends_of(_only(partitions, _ENDS), past.ends)
    history = bounds_of(ends, column, positions.offset)
    history = _living(history, compact[column], positions.now, ends.end[-1][column])
    again = due(partitions, taken_at, rules.interval_ms)[column]
    rests = rests_of(unread.offset, was, positions, compact[column] & again)
    bounds = history.within(carried_bounds(rests.after, rests.before))
    wide = too_wide(bounds, positions, rules)
    worth = worth_asking(rows, positions, bounds, rests, rules)
    may_ask = wide & (~rests.settled | again)
    sought = Sought(
        _only(partitions, _ASKED),
        partitions.numbers("start_offset").values,
        compact,
        column,
        positions.offset,
        positions.now,
        bounds,
    )
    line = Line(rows, unread.lag, positions, taken_at // rules.interval_ms)
    dates = _without_asking(bounds, rests, positions, wide)
    found = improved(dates, sought, may_ask & worth, may_ask & ~worth, line, rules, look_up)
    return Dated(found.dates.take(positions.of_row), found.look_ups, ends.contradicted)


def _only(frame: Frame, names: tuple[str, ...]) -> Frame:
    return Frame.of({name: frame.columns[name] for name in names})


def _compact(partitions: Frame) -> Mask:
    """Partitions whose records may be deleted one by one."""
    policy = partitions.words("cleanup_policy")
    return policy.is_in(word for word in policy.words if "compact" in word)


def _living(history: Bounds, compact: Mask, now: Rows, end: Rows) -> Bounds:
    """On a compacted topic the next living record may be any later one: it only came by now."""
    before, end_before = history.before, history.end_before
    return replace(
        history,
        before=Column(np.where(compact, now, before.values), before.known),
        end_before=Column(np.where(compact, end, end_before.values), end_before.known),
    )


def _without_asking(bounds: Bounds, rests: Rests, positions: Positions, wide: Mask) -> Dates:
    """Carried where it is exact enough or cannot be made so, else by the log's ends."""
    dates = from_bounds(bounds, positions.offset, positions.now)
    carried = from_carried(rests.best, bounds.after, bounds.before, rests.record)
    kept = rests.best.known & (rests.settled | ~wide)
    method = replace(dates, best=carried.best.or_else(dates.best))
    return method.replaced(np.flatnonzero(kept), carried.take(np.flatnonzero(kept)))
