# SPDX-License-Identifier: Apache-2.0
"""The time lag of each group-partition: now - the append time of its next unread record.

Sources, best first: nothing unread; the bracket found before, where the offset did not move;
log ends of earlier runs; the brokers' time index, asked only where these are too wide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import Past
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.time_index.questions import LookUp
from kafka_lag.lag.time_index.search import Sought
from kafka_lag.lag.time_lag.asking import Wishes, improved
from kafka_lag.lag.time_lag.dates import Dates, from_bounds, from_carried
from kafka_lag.lag.time_lag.ends import Ends, bounds_of, ends_of, on_schedule
from kafka_lag.lag.time_lag.needs import Line, due, too_wide, worth_asking
from kafka_lag.lag.time_lag.positions import Positions, positions_of
from kafka_lag.lag.time_lag.rests import Rests, believed, rests_of

_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")
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
    compact, known = _compact(partitions), _only(partitions, _ENDS)
    ends = ends_of(known, past.ends, on_schedule(known, past, taken_at, rules.interval_ms))
    history = _history(ends, column, positions, compact[column])
    again = due(partitions, taken_at, rules.interval_ms)[column]
    rests = believed(rests_of(unread.offset, was, positions), ends.doubted.take(column))
    anew = rests.ahead | (compact[column] & again)
    bounds = history.within(rests.bounds(~anew))
    worth = worth_asking(rows, positions, bounds, rests, rules)
    may_ask = too_wide(bounds, positions, rules) & (~rests.settled | again | anew)
    sought = _sought(partitions, compact, column, positions, bounds)
    line = Line(rows, unread.lag, rests.moved, positions, taken_at // rules.interval_ms)
    dates = _without_asking(history.within(rests.bounds(~rests.ahead)), rests, positions, rules)
    wishes = Wishes(may_ask & worth, may_ask & ~worth, rests.best.known)
    found = improved(dates, sought, wishes, line, rules, look_up)
    return Dated(found.dates.take(positions.of_row), found.look_ups, ends.contradicted)


def _sought(
    partitions: Frame, compact: Mask, column: Rows, positions: Positions, bounds: Bounds
) -> Sought:
    start, asked = partitions.numbers("start_offset").values, _only(partitions, _ASKED)
    return Sought(asked, start, compact, column, positions.offset, positions.now, bounds)


def _only(frame: Frame, names: tuple[str, ...]) -> Frame:
    return Frame.of({name: frame.columns[name] for name in names})


def _compact(partitions: Frame) -> Mask:
    """Partitions whose records may be deleted one by one."""
    policy = partitions.words("cleanup_policy")
    return policy.is_in(word for word in policy.words if "compact" in word)


def _history(ends: Ends, column: Rows, positions: Positions, compact: Mask) -> Bounds:
    """What log ends prove. On a compacted topic the next living record only came by now."""
    proven = bounds_of(ends, column, positions.offset)
    before, end_before = proven.before, proven.end_before
    end = ends.end[-1][column]
    return replace(
        proven,
        before=Column(np.where(compact, positions.now, before.values), before.known),
        end_before=Column(np.where(compact, end, end_before.values), end_before.known),
    )


def _without_asking(bounds: Bounds, rests: Rests, positions: Positions, rules: Rules) -> Dates:
    """Carried where it is exact enough or cannot be made so, else by the log's ends.

    While this run's clock is behind a carried date there is no age to tell; the date is kept.
    """
    dates = from_bounds(bounds, positions.offset, positions.now)
    carried = from_carried(rests.best, bounds.after, bounds.before, rests.record)
    settled = rests.settled | ~too_wide(bounds, positions, rules)
    kept = np.flatnonzero(rests.best.known & settled)
    dates = replace(dates, best=carried.best.or_else(dates.best)).replaced(kept, carried.take(kept))
    return dates.hidden(rests.ahead, rests.after, rests.before, rests.record)
