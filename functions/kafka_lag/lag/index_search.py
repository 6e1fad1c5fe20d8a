# SPDX-License-Identifier: Apache-2.0
"""The search for append times in the brokers' time index: rounds of look-ups under a budget.

Each round looks up one time per position, within what is still possible for it (its span). The time
is interpolated by offsets, half a record early, which hits regular data exactly; it keeps the
tolerance away from either end of the span; and it is the middle after two steps in a row that did
not halve the span. Of some twenty strategies, tried on thirteen shapes of data, this took the
fewest look-ups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.bounds import HELD_BACK_MS, Bounds, compute_allowance
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules, Tolerance
from kafka_lag.lag.lookup_plan import Queue
from kafka_lag.lag.positions import Positions
from kafka_lag.lag.sets import unique
from kafka_lag.lag.time_index import (
    NEWEST,
    OLDEST_PLAUSIBLE,
    Brackets,
    Index,
    LookUp,
    TimestampLookups,
    add_answers,
    find_brackets,
)

# The hardest shapes tried (thousands of records in one millisecond) took 26 steps.
_MOST_ROUNDS = 64
# Columns of a partition that a look-up needs.
_REQUEST = ("topic", "partition_id", "leader")
_ENDLESS = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Search:
    """How far a search has come, a row per position.

    `brackets` are by the index alone, `span` by the bounds known before it too, and `allowed` is
    the error that the span may have, ms. `ended`: no further look-up would help. `head`: no record
    up to the position has a plausible time; `first`: the record named after it is then the first in
    the log that has one. So many `look_ups` were sent.
    """

    brackets: Brackets
    span: Span
    allowed: Rows
    ended: Mask
    head: Mask
    first: Mask
    look_ups: int

    @property
    def answered(self) -> Mask:
        """Positions for which the index gave any bound."""
        return self.brackets.low.known | self.brackets.high.known | self.head

    def alone(self, now: Rows) -> Mask:
        """Positions whose time is before `now`, ms, by the index alone."""
        high = self.brackets.high
        mask: Mask = self.brackets.exact | self.head | (high <= now + 1)
        return mask


def search(
    positions: Positions, bounds: Bounds, queue: Queue, rules: Rules, look_up: LookUp
) -> Search:
    """Sends rounds of look-ups until each time is exact enough, the budget is spent, or no broker
    answers. `bounds` are known without the index.
    """
    partitions = Frame.of({name: positions.partitions.columns[name] for name in _REQUEST})
    index = Index.empty(positions.partitions.numbers("start_offset").fill(0))
    slow = np.zeros(len(positions), np.int64)
    width, inside = np.full(len(slow), _ENDLESS), np.zeros(len(slow), bool)
    found = _summarise(positions, bounds, index, rules, look_ups=0)
    for turn in range(_MOST_ROUNDS):
        span, left = found.span, rules.lookup_budget - found.look_ups
        slow = np.where(span.width > width // 2, slow + 1, 0)
        width = span.width
        open_ = ~found.ended & ~index.unanswered[positions.part]
        inside = queue.admit(open_, inside, span.low, span.high, left)
        part, times = _choose_look_ups(positions, index, found, inside, slow, rules, turn)
        part, times = part[:left], times[:left]
        if not len(part):
            break
        answers = look_up(TimestampLookups(partitions.take(part), times))
        if not (answers.found | answers.none).any():
            # The deadline has passed, or no broker responds.
            break
        index = add_answers(index, part, times, answers)
        found = _summarise(positions, bounds, index, rules, found.look_ups + len(part))
    return found


def _summarise(
    positions: Positions, bounds: Bounds, index: Index, rules: Rules, look_ups: int
) -> Search:
    part = positions.part
    found = find_brackets(index, part, positions.offset)
    span = _join_bounds(positions, bounds, found)
    allowed = compute_allowance(rules.tolerance, positions.now - span.high)
    surveyed, denied = (index.surveyed & ~index.unanswered)[part], index.denied[part]
    head = surveyed & ~found.low.known & found.next_time.known
    undated = surveyed & ~found.low.known & (head | denied)
    ended = found.exact | undated | _is_outside(positions, bounds, found)
    known_next = found.high == found.low + 1
    gap = is_filled_by_gap(span, index.gap_from[part], index.gap_to[part], allowed)
    ended |= np.where(positions.compacted, known_next, span.width <= allowed) | gap
    return Search(found, span, allowed, ended, head, head & ~denied, look_ups)


def _is_outside(positions: Positions, bounds: Bounds, found: Brackets) -> Mask:
    """Positions whose record has a timestamp outside the bounds, by a producer's wrong clock."""
    early = found.high <= bounds.after - HELD_BACK_MS
    late = (found.low > positions.now) | (found.low > bounds.before)
    mask: Mask = early | late
    return mask


def _choose_look_ups(
    positions: Positions,
    index: Index,
    found: Search,
    inside: Mask,
    slow: Rows,
    rules: Rules,
    turn: int,
) -> tuple[Rows, Rows]:
    """Partition and time of the next look-ups: first two per partition, then one per position."""
    part, span = positions.part, found.span
    chosen = np.flatnonzero(inside)
    new = ~index.surveyed[part[chosen]]
    first = unique(part[chosen[new]])
    rest = chosen[~new]
    times = choose_times(span, positions.offset, positions.now, slow, rules.tolerance)
    times = avoid_gap(times, span, index.gap_from[part], index.gap_to[part], turn)
    # On a compacted topic the next record is the first after the low end of the bracket.
    beyond = positions.compacted & (span.width <= found.allowed) & (turn % 2 == 0)
    times = np.where(beyond, span.low + 1, times)[rest]
    wanted = unique(np.stack([part[rest], times]), axis=1)
    return (
        np.concatenate([first, first, wanted[0]]),
        np.concatenate([_all(first, NEWEST), _all(first, OLDEST_PLAUSIBLE), wanted[1]]),
    )


def _all(rows: Rows, value: int) -> Rows:
    return np.full(len(rows), value, np.int64)


def _join_bounds(positions: Positions, bounds: Bounds, found: Brackets) -> Span:
    """The spans by bounds and index together, and the points of the log at their ends.

    A record may be older than the lower bound, by HELD_BACK_MS at most: see `bounds`.
    """
    after, low = bounds.after.fill(-1), found.low.fill(-1)
    lowest = np.maximum(low, (bounds.after - HELD_BACK_MS).fill(-1))
    before, high = bounds.before.fill(positions.now), found.high.fill(_ENDLESS)
    by_index = (low >= after) | (high <= after)
    record = found.next_time <= before
    return Span(
        low=lowest,
        high=np.minimum(high, before + 1),
        left_time=np.where(by_index, lowest, after),
        left_offset=found.low_offset.where(by_index, bounds.end_after),
        right_time=found.next_time.only(record).fill(before),
        right_offset=found.next_offset.where(record, bounds.end_before),
    )


# Steps in a row that may fail to halve a span.
_SLOW_STEPS = 2
# A time without records is long if it is so many times the tolerance.
_LONG = 30


@dataclass(frozen=True, slots=True)
class Span:
    """Where the append time of each position still may be: at or after `low`, before `high`, ms.

    (`left_time`, `left_offset`) and (`right_time`, `right_offset`) are points of the log at or
    near these ends, to interpolate between; an offset is unknown where there is none.
    """

    low: Rows
    high: Rows
    left_time: Rows
    left_offset: Column
    right_time: Rows
    right_offset: Column

    @property
    def width(self) -> Rows:
        """Milliseconds between the ends."""
        width: Rows = self.high - self.low
        return width


def choose_times(span: Span, offset: Rows, now: Rows, slow: Rows, tolerance: Tolerance) -> Rows:
    """The time to look up for each position, ms, inside its span.

    `slow` counts steps in a row that did not halve the span.
    """
    middle = span.low + np.maximum(span.width // 2, 1)
    # No record is between the high end and the one named after it: the end is the better point.
    right_time = np.minimum(span.high, span.right_time)
    run = (right_time - span.left_time).astype(np.float64)
    rise = (span.right_offset - span.left_offset).clip(1)
    share = (offset - 0.5 - span.left_offset) / rise
    aimed = span.left_time + share.clip(0.0, 1.0).fill(0.0) * run
    near = compute_allowance(tolerance, now - span.low)
    nearest = span.low + near
    farthest = span.high - compute_allowance(tolerance, now - span.high)
    inside = nearest < farthest
    clipped = np.clip(aimed, nearest, np.maximum(nearest, farthest)).astype(np.int64)
    times = np.where(share.known & inside & (slow < _SLOW_STEPS), clipped, middle)
    quiet = span.right_time - span.high > _LONG * near
    # Before a long time without records, the last one is often near the low end.
    times = np.where(quiet & (slow % 2 == 1) & (span.width > 2 * near), nearest, times)
    chosen: Rows = np.clip(times, span.low + 1, np.maximum(span.high - 1, span.low + 1))
    return chosen


def avoid_gap(times: Rows, span: Span, gap_from: Rows, gap_to: Rows, turn: int) -> Rows:
    """The times, moved out of gaps (see `Index`): by turns below and above."""
    inside = (gap_from > span.low) & (gap_to < span.high) & (gap_from <= gap_to)
    hit = inside & (times >= gap_from) & (times <= gap_to)
    below = span.low + (gap_from - span.low) // 2
    above = gap_to + (span.high - gap_to) // 2
    room_below, room_above = gap_from - span.low > 1, span.high - gap_to > 1
    take_below = room_below & (~room_above | (turn % 2 == 0))
    beside: Rows = np.where(hit, np.where(take_below, below, above), times)
    return beside


def is_filled_by_gap(span: Span, gap_from: Rows, gap_to: Rows, allowed: Rows) -> Mask:
    """Spans that a gap fills but for an error that is allowed, on either side of it."""
    inside = (gap_from <= gap_to) & (gap_from <= span.high) & (gap_to >= span.low)
    mask: Mask = inside & (gap_from - span.low <= allowed) & (span.high - gap_to <= allowed)
    return mask
