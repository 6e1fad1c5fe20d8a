# SPDX-License-Identifier: Apache-2.0
"""The search for append times in the brokers' time index: rounds of look-ups under a budget.

Each round looks up one time per position, within what is still possible for it (its span). The time
is interpolated by offsets, half a record early, which hits regular data exactly; it keeps the
tolerance away from either end of the span; and it is the middle after two steps in a row that did
not halve the span. Of some twenty strategies, tried on thirteen shapes of data, this took the
fewest look-ups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.bounds import HELD_BACK_MS, Bounds, compute_allowance
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules, Tolerance
from kafka_lag.lag.lookup_plan import Queue
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
_ENDLESS = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class SearchTargets:
    """Positions whose append time is searched.

    A row per partition: `partitions` (topic, partition_id, leader), `log_start`, and `compact`,
    whether single records may be deleted. A row per position: `part` (its partition), `offset`,
    `now` (ms, when its end was read) and `bounds`, known without the index.
    """

    partitions: Frame
    log_start: Rows
    compact: Mask
    part: Rows
    offset: Rows
    now: Rows
    bounds: Bounds

    def take(self, at: Rows) -> SearchTargets:
        """These positions only."""
        return replace(
            self,
            part=self.part[at],
            offset=self.offset[at],
            now=self.now[at],
            bounds=self.bounds.take(at),
        )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The brackets at the end of a search, a row per position, and the look-ups it sent.

    `ended`: no further look-up would help. `head`: no record up to the position has a plausible
    time. `first`: the record named after it is then the first in the log that has one.
    """

    brackets: Brackets
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


def search(targets: SearchTargets, queue: Queue, rules: Rules, look_up: LookUp) -> SearchResult:
    """Sends rounds of look-ups until each time is exact enough, the budget is spent, or no broker
    answers.
    """
    index, left = Index.empty(len(targets.partitions)), rules.lookup_budget
    slow = np.zeros(len(targets.part), np.int64)
    width, inside = np.full(len(slow), _ENDLESS), np.zeros(len(slow), bool)
    view = _summarise(targets, index, rules)
    for turn in range(_MOST_ROUNDS):
        slow = np.where(view.span.width > width // 2, slow + 1, 0)
        width = view.span.width
        open_ = ~view.ended & ~index.unanswered[targets.part]
        inside = queue.admit(open_, inside, view.span.low, view.span.high, left)
        part, times = _choose_look_ups(targets, index, view, inside, slow, rules, turn)
        part, times = part[:left], times[:left]
        if not len(part):
            break
        answers = look_up(TimestampLookups(targets.partitions.take(part), times))
        if not (answers.found | answers.none).any():
            # The deadline has passed, or no broker responds.
            break
        left -= len(part)
        index = add_answers(index, part, times, answers, targets.log_start)
        view = _summarise(targets, index, rules)
    first = view.head & ~index.denied[targets.part]
    return SearchResult(view.found, view.ended, view.head, first, rules.lookup_budget - left)


@dataclass(frozen=True, slots=True)
class _View:
    """What follows from the index so far, a row per position; `allowed` is the error in ms."""

    found: Brackets
    span: Span
    ended: Mask
    head: Mask
    allowed: Rows


def _summarise(targets: SearchTargets, index: Index, rules: Rules) -> _View:
    found = find_brackets(index, targets.part, targets.offset)
    span = _join_bounds(targets, found)
    allowed = compute_allowance(rules.tolerance, targets.now - span.high)
    surveyed = (index.surveyed & ~index.unanswered)[targets.part]
    head = surveyed & ~found.low.known & found.next_time.known
    undated = surveyed & ~found.low.known & (head | index.denied[targets.part])
    ended = found.exact | undated | _is_outside(targets, found)
    known_next = found.high == found.low + 1
    compact = targets.compact[targets.part]
    gap = is_filled_by_gap(span, index.gap_from[targets.part], index.gap_to[targets.part], allowed)
    ended |= np.where(compact, known_next, span.width <= allowed) | gap
    return _View(found, span, ended, head, allowed)


def _is_outside(targets: SearchTargets, found: Brackets) -> Mask:
    """Positions whose record has a timestamp outside the bounds, by a producer's wrong clock."""
    bounds, low, high = targets.bounds, found.low, found.high
    early = high <= bounds.after - HELD_BACK_MS
    late = (low > targets.now) | (low > bounds.before)
    mask: Mask = early | late
    return mask


def _choose_look_ups(
    targets: SearchTargets,
    index: Index,
    view: _View,
    inside: Mask,
    slow: Rows,
    rules: Rules,
    turn: int,
) -> tuple[Rows, Rows]:
    """Partition and time of the next look-ups: first two per partition, then one per position."""
    asking = np.flatnonzero(inside)
    new = ~index.surveyed[targets.part[asking]]
    first = np.unique(targets.part[asking[new]])
    rest = asking[~new]
    times = choose_times(view.span, targets.offset, targets.now, slow, rules.tolerance)
    part = targets.part
    times = avoid_gap(times, view.span, index.gap_from[part], index.gap_to[part], turn)
    # On a compacted topic the next record is the first after the low end of the bracket.
    beyond = targets.compact[part] & (view.span.width <= view.allowed) & (turn % 2 == 0)
    times = np.where(beyond, view.span.low + 1, times)[rest]
    wanted = np.unique(np.stack([part[rest], times]), axis=1)
    return (
        np.concatenate([first, first, wanted[0]]),
        np.concatenate([_all(first, NEWEST), _all(first, OLDEST_PLAUSIBLE), wanted[1]]),
    )


def _all(rows: Rows, value: int) -> Rows:
    return np.full(len(rows), value, np.int64)


def _join_bounds(targets: SearchTargets, found: Brackets) -> Span:
    """The spans by bounds and index together, and the points of the log at their ends.

    A record may be older than the lower bound, by HELD_BACK_MS at most: see `log_ends`.
    """
    bounds = targets.bounds
    after, low = bounds.after.fill(-1), found.low.fill(-1)
    lowest = np.maximum(low, (bounds.after - HELD_BACK_MS).fill(-1))
    before, high = bounds.before.fill(targets.now), found.high.fill(_ENDLESS)
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
