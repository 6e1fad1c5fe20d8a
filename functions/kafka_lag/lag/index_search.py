# SPDX-License-Identifier: Apache-2.0
"""The search for append times in the brokers' time index: rounds of look-ups under a budget.

Each round looks up one time per position, within its span of possible times from `low` to `high`.
The time is interpolated by offsets, half a record early, which hits regular data exactly. It keeps
the tolerance away from either end of the span, and it is the middle after two steps in a row that
did not halve the span. This strategy took the fewest look-ups of some twenty tried on thirteen
shapes of data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag.lag.bounds import HELD_BACK_MS, Bounds, compute_allowance
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules, Tolerance
from kafka_lag.lag.lookup_plan import admit
from kafka_lag.lag.positions import Positions
from kafka_lag.lag.sets import unique
from kafka_lag.lag.time_index import (
    NEWEST,
    OLDEST_PLAUSIBLE,
    Brackets,
    Index,
    LookUp,
    add_answers,
    find_brackets,
)

# The hardest shapes tried (thousands of records in one millisecond) took 26 steps.
_MOST_ROUNDS = 64
# Columns of a partition that a look-up needs.
_REQUEST = ("topic", "partition_id", "leader")
_ENDLESS = np.iinfo(np.int64).max
# Steps in a row that may fail to halve a span.
_SLOW_STEPS = 2
# A time without records is long if it is this many times the tolerance.
_LONG = 30


@dataclass(frozen=True, slots=True)
class Search:
    """The state of a search, a row per position.

    `brackets` come from the index alone. With the bounds known before the search, a time is at or
    after `low` and before `high`, ms, and may be wrong by `allowed`, ms. `ended`: no further
    look-up would help. `look_ups`: how many were sent.
    """

    brackets: Brackets
    low: Rows
    high: Rows
    allowed: Rows
    ended: Mask
    look_ups: int

    @property
    def width(self) -> Rows:
        """Returns the milliseconds between the ends of the span."""
        width: Rows = self.high - self.low
        return width


def search(
    positions: Positions, bounds: Bounds, moves: Mask, rules: Rules, look_up: LookUp
) -> Search:
    """Sends rounds of look-ups until each time is exact enough.

    It ends earlier if the budget is spent or no broker answers. `bounds` are known without the
    index; `moves` marks positions of consumers that move.
    """
    partitions = Frame.of({name: positions.partitions.columns[name] for name in _REQUEST})
    index = Index.empty(positions.partitions.numbers("start_offset").fill(0))
    slow = np.zeros(len(positions), np.int64)
    width, inside = np.full(len(slow), _ENDLESS), np.zeros(len(slow), bool)
    found = _summarise(positions, bounds, index, rules, look_ups=0)
    for turn in range(_MOST_ROUNDS):
        left = rules.lookup_budget - found.look_ups
        slow = np.where(found.width > width // 2, slow + 1, 0)
        width = found.width
        open_ = ~found.ended & ~index.unanswered[positions.part]
        inside = admit(open_, inside, moves, found.low, left)
        times = _choose_times(positions, bounds, found, slow, rules.tolerance)
        part, times = _choose_look_ups(positions, index, found, inside, times, turn)
        part, times = part[:left], times[:left]
        if not len(part):
            break
        answers = look_up(partitions.take(part), times)
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
    # A record may be older than the lower bound, by HELD_BACK_MS at most: see `bounds`.
    low = np.maximum(found.low.fill(-1), (bounds.after - HELD_BACK_MS).fill(-1))
    high = np.minimum(found.high.fill(_ENDLESS), bounds.before.fill(positions.now) + 1)
    allowed = compute_allowance(rules.tolerance, positions.now - high)
    undated = (index.surveyed & index.denied & ~index.unanswered)[part] & ~found.low.known
    ended = found.exact | found.head | undated | _is_outside(positions, bounds, found)
    known_next = found.high == found.low + 1
    gap = _is_filled_by_gap(low, high, allowed, index.gap_from[part], index.gap_to[part])
    ended |= np.where(positions.compacted, known_next, high - low <= allowed) | gap
    return Search(found, low, high, allowed, ended, look_ups)


def _is_outside(positions: Positions, bounds: Bounds, found: Brackets) -> Mask:
    """Marks positions whose record has a timestamp outside the bounds, from a wrong clock."""
    early = found.high <= bounds.after - HELD_BACK_MS
    late = (found.low > positions.now) | (found.low > bounds.before)
    mask: Mask = early | late
    return mask


def _choose_look_ups(
    positions: Positions, index: Index, found: Search, inside: Mask, times: Rows, turn: int
) -> tuple[Rows, Rows]:
    """Returns partition and time of the next look-ups.

    First each partition gets two, then each position one, at or near its time in `times`.
    """
    part = positions.part
    chosen = np.flatnonzero(inside)
    new = ~index.surveyed[part[chosen]]
    first = unique(part[chosen[new]])
    rest = chosen[~new]
    times = _avoid_gap(times, found, index.gap_from[part], index.gap_to[part], turn)
    # On a compacted topic the next record is the first after the low end of the bracket.
    beyond = positions.compacted & (found.width <= found.allowed) & (turn % 2 == 0)
    times = np.where(beyond, found.low + 1, times)[rest]
    wanted = unique(np.stack([part[rest], times]), axis=1)
    return (
        np.concatenate([first, first, wanted[0]]),
        np.concatenate([_all(first, NEWEST), _all(first, OLDEST_PLAUSIBLE), wanted[1]]),
    )


def _all(rows: Rows, value: int) -> Rows:
    return np.full(len(rows), value, np.int64)


def _choose_times(
    positions: Positions, bounds: Bounds, found: Search, slow: Rows, tolerance: Tolerance
) -> Rows:
    """Returns the time to look up for each position, ms, inside its span.

    `slow` counts steps in a row that did not halve the span.
    """
    low, high, width, now = found.low, found.high, found.width, positions.now
    middle = low + np.maximum(width // 2, 1)
    before, next_time = bounds.before.fill(now), found.brackets.next_time
    right_time = next_time.only(next_time <= before).fill(before)
    # No record is between the high end and the one named after it: the end is the better point.
    aimed = _interpolate(positions, bounds, found, np.minimum(high, right_time))
    near = compute_allowance(tolerance, now - low)
    nearest, farthest = low + near, high - compute_allowance(tolerance, now - high)
    inside = nearest < farthest
    clipped = np.clip(aimed.fill(0), nearest, np.maximum(nearest, farthest)).astype(np.int64)
    times = np.where(aimed.known & inside & (slow < _SLOW_STEPS), clipped, middle)
    quiet = right_time - high > _LONG * near
    # Before a long time without records, the last one is often near the low end.
    times = np.where(quiet & (slow % 2 == 1) & (width > 2 * near), nearest, times)
    chosen: Rows = np.clip(times, low + 1, np.maximum(high - 1, low + 1))
    return chosen


def _interpolate(positions: Positions, bounds: Bounds, found: Search, right_time: Rows) -> Column:
    """Returns times by offset, ms, between the known points at or near the ends of the spans.

    `right_time` is that of the later point. A time is unknown if a point has no offset.
    """
    index, after = found.brackets, bounds.after.fill(-1)
    by_index = (index.low.fill(-1) >= after) | (index.high.fill(_ENDLESS) <= after)
    left_time = np.where(by_index, found.low, after)
    left_offset = index.low_offset.where(by_index, bounds.end_after)
    by_record = index.next_time <= bounds.before.fill(positions.now)
    right_offset = index.next_offset.where(by_record, bounds.end_before)
    rise = (right_offset - left_offset).clip(1)
    share = (positions.offset - 0.5 - left_offset) / rise
    return share.clip(0.0, 1.0) * (right_time - left_time).astype(np.float64) + left_time


def _avoid_gap(times: Rows, found: Search, gap_from: Rows, gap_to: Rows, turn: int) -> Rows:
    """Returns the times, moved out of gaps (see `Index`), below or above in alternate turns."""
    low, high = found.low, found.high
    inside = (gap_from > low) & (gap_to < high) & (gap_from <= gap_to)
    hit = inside & (times >= gap_from) & (times <= gap_to)
    below = low + (gap_from - low) // 2
    above = gap_to + (high - gap_to) // 2
    room_below, room_above = gap_from - low > 1, high - gap_to > 1
    take_below = room_below & (~room_above | (turn % 2 == 0))
    beside: Rows = np.where(hit, np.where(take_below, below, above), times)
    return beside


def _is_filled_by_gap(low: Rows, high: Rows, allowed: Rows, gap_from: Rows, gap_to: Rows) -> Mask:
    """Marks spans that a gap fills apart from the allowed error on either side."""
    inside = (gap_from <= gap_to) & (gap_from <= high) & (gap_to >= low)
    mask: Mask = inside & (gap_from - low <= allowed) & (high - gap_to <= allowed)
    return mask
