# SPDX-License-Identifier: Apache-2.0
"""The search for append times in the brokers' time index: rounds of look-ups under a budget.

Of some twenty orders of look-ups tried on thirteen shapes of data this took the fewest: interpolate
by offsets, aiming half a record early, which hits regular data exactly; keep the tolerance away
from either end; take the middle after two steps in a row that did not halve the bracket.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.log_ends import HELD_BACK_MS, Bounds
from kafka_lag.lag.rules import Rules, Tolerance
from kafka_lag.lag.time_index import (
    NEWEST,
    OLDEST_PLAUSIBLE,
    Brackets,
    Index,
    LookUp,
    TimeQuestions,
    add_answers,
    brackets,
)

# The hardest shapes tried (thousands of records in one millisecond) took 26 steps.
_MOST_ROUNDS = 64
_ENDLESS = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class SearchTargets:
    """Positions to date: `part` is a row of `partitions` (topic, partition_id, leader).

    `log_start` and `compact` are by partition. `now`, ms, and `bounds` are by position.
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
    """What the index said in the end, where the search came to its own end, what was asked.

    `head`: no record up to the position has a plausible time; `first`: the record named beyond
    it is then the first in the log that has one.
    """

    brackets: Brackets
    ended: Mask
    head: Mask
    first: Mask
    look_ups: int

    @property
    def answered(self) -> Mask:
        """Positions of which the index said anything."""
        return self.brackets.low.known | self.brackets.high.known | self.head

    def alone(self, now: Rows) -> Mask:
        """Positions that the index alone puts before `now`, ms."""
        high = self.brackets.high
        mask: Mask = self.brackets.exact | self.head | (high.known & (high.values <= now + 1))
        return mask


def search(targets: SearchTargets, queue: Queue, rules: Rules, look_up: LookUp) -> SearchResult:
    """Asks until every position is dated well enough, the budget is used up or nobody answers."""
    index, left = Index.empty(len(targets.partitions)), rules.lookup_budget
    slow = np.zeros(len(targets.part), np.int64)
    width, inside = np.full(len(slow), _ENDLESS), np.zeros(len(slow), bool)
    view = _view(targets, index, rules)
    for turn in range(_MOST_ROUNDS):
        slow = np.where(view.span.width > width // 2, slow + 1, 0)
        width = view.span.width
        open_ = ~view.ended & ~index.silent[targets.part]
        inside = queue.let_in(open_, inside, view.span.low, view.span.high, left)
        part, times = _questions(targets, index, view, inside, slow, rules, turn)
        part, times = part[:left], times[:left]
        if not len(part):
            break
        answers = look_up(TimeQuestions(targets.partitions.take(part), times))
        if not (answers.found | answers.none).any():
            # The time for questions is over, or nobody is there to ask.
            break
        left -= len(part)
        index = add_answers(index, part, times, answers, targets.log_start)
        view = _view(targets, index, rules)
    first = view.head & ~index.denied[targets.part]
    return SearchResult(view.found, view.ended, view.head, first, rules.lookup_budget - left)


@dataclass(frozen=True, slots=True)
class _View:
    """All that follows for each position from what was heard so far."""

    found: Brackets
    span: Span
    ended: Mask
    head: Mask
    allowed: Rows


def _view(targets: SearchTargets, index: Index, rules: Rules) -> _View:
    found = brackets(index, targets.part, targets.offset)
    span = _span(targets, found)
    allowed = allowance(rules.tolerance, targets.now - span.high)
    surveyed = (index.surveyed & ~index.silent)[targets.part]
    head = surveyed & ~found.low.known & found.next_time.known
    untold = surveyed & ~found.low.known & (head | index.denied[targets.part])
    ended = found.exact | untold | _outside(targets, found)
    known_next = found.low.known & found.high.known & (found.high.values == found.low.values + 1)
    compact = targets.compact[targets.part]
    gap = shut_in(span, index.gap_from[targets.part], index.gap_to[targets.part], allowed)
    ended |= np.where(compact, known_next, span.width <= allowed) | gap
    return _View(found, span, ended, head, allowed)


def _outside(targets: SearchTargets, found: Brackets) -> Mask:
    """Positions whose record time is surely of a clock that is not the reporter's own."""
    bounds, low, high = targets.bounds, found.low, found.high
    floor = bounds.after.values - HELD_BACK_MS
    early = high.known & bounds.after.known & (high.values <= floor)
    late = low.known & (low.values > targets.now)
    late |= low.known & bounds.before.known & (low.values > bounds.before.values)
    mask: Mask = early | late
    return mask


def _questions(
    targets: SearchTargets,
    index: Index,
    view: _View,
    inside: Mask,
    slow: Rows,
    rules: Rules,
    turn: int,
) -> tuple[Rows, Rows]:
    """Partition and time of each question: two about a partition first, then one a position."""
    asking = np.flatnonzero(inside)
    new = ~index.surveyed[targets.part[asking]]
    first = np.unique(targets.part[asking[new]])
    rest = asking[~new]
    times = next_times(view.span, targets.offset, targets.now, slow, rules.tolerance)
    part = targets.part
    times = around_gap(times, view.span, index.gap_from[part], index.gap_to[part], turn)
    # On a compacted topic the record after the bracket's low end is the one that is sought.
    beyond = targets.compact[part] & (view.span.width <= view.allowed) & (turn % 2 == 0)
    times = np.where(beyond, view.span.low + 1, times)[rest]
    wanted = np.unique(np.stack([part[rest], times]), axis=1)
    return (
        np.concatenate([first, first, wanted[0]]),
        np.concatenate([_all(first, NEWEST), _all(first, OLDEST_PLAUSIBLE), wanted[1]]),
    )


def _all(rows: Rows, value: int) -> Rows:
    return np.full(len(rows), value, np.int64)


def _span(targets: SearchTargets, found: Brackets) -> Span:
    """The brackets of history and index put together, and the points of the log at their ends.

    A record may have been appended before history's bracket, while the high watermark stood still.
    """
    bounds = targets.bounds
    after = np.where(bounds.after.known, bounds.after.values, -1)
    low = np.where(found.low.known, found.low.values, -1)
    lowest = np.maximum(low, np.where(bounds.after.known, after - HELD_BACK_MS, -1))
    before = np.where(bounds.before.known, bounds.before.values, targets.now)
    high = np.where(found.high.known, found.high.values, _ENDLESS)
    by_index = (low >= after) | (high <= after)
    record = found.next_time.known & (found.next_time.values <= before)
    return Span(
        low=lowest,
        high=np.minimum(high, before + 1),
        left_time=np.where(by_index, lowest, after),
        left_offset=found.low_offset.where(by_index, bounds.end_after),
        right_time=np.where(record, found.next_time.values, before),
        right_offset=found.next_offset.where(record, bounds.end_before),
    )


# Steps in a row that may fail to halve a bracket.
PATIENCE = 2
# A silence is long that could hold so many tolerances.
_LONG = 30


@dataclass(frozen=True, slots=True)
class Span:
    """Where each position's append time still may be: from `low` to before `high`, ms.

    (`left_time`, `left_offset`) and (`right_time`, `right_offset`) are points of the log at or
    around these ends, for the interpolation; unknown where there is none.
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


def allowance(tolerance: Tolerance, age: Rows) -> Rows:
    """How far off a time of this age may be, both in ms."""
    share = np.maximum(age, 0) * tolerance.share
    allowed: Rows = np.maximum(share.astype(np.int64), tolerance.floor_ms)
    return allowed


def next_times(span: Span, offset: Rows, now: Rows, slow: Rows, tolerance: Tolerance) -> Rows:
    """The time to ask for at each position, strictly inside its span where that has an inside."""
    middle = span.low + np.maximum(span.width // 2, 1)
    known = span.left_offset.known & span.right_offset.known
    rise = np.where(known, span.right_offset.values - span.left_offset.values, 1)
    # From the high end to the record named beyond it there is none: the end is the better point.
    right_time = np.minimum(span.high, span.right_time)
    run = (right_time - span.left_time).astype(np.float64)
    share = (offset - 0.5 - span.left_offset.values) / np.maximum(rise, 1)
    aimed = span.left_time + np.clip(share, 0.0, 1.0) * run
    near = allowance(tolerance, now - span.low)
    nearest = span.low + near
    farthest = span.high - allowance(tolerance, now - span.high)
    inside = nearest < farthest
    clipped = np.clip(aimed, nearest, np.maximum(nearest, farthest)).astype(np.int64)
    times = np.where(known & inside & (slow < PATIENCE), clipped, middle)
    silence = span.right_time - span.high > _LONG * near
    # Before a long silence a burst often ends: perhaps within the tolerance of the low end.
    times = np.where(silence & (slow % 2 == 1) & (span.width > 2 * near), nearest, times)
    chosen: Rows = np.clip(times, span.low + 1, np.maximum(span.high - 1, span.low + 1))
    return chosen


def around_gap(times: Rows, span: Span, gap_from: Rows, gap_to: Rows, turn: int) -> Rows:
    """The times, but beside a gap in which brokers deny all records: now below it, now above."""
    inside = (gap_from > span.low) & (gap_to < span.high) & (gap_from <= gap_to)
    hit = inside & (times >= gap_from) & (times <= gap_to)
    below = span.low + (gap_from - span.low) // 2
    above = gap_to + (span.high - gap_to) // 2
    room_below, room_above = gap_from - span.low > 1, span.high - gap_to > 1
    take_below = room_below & (~room_above | (turn % 2 == 0))
    beside: Rows = np.where(hit, np.where(take_below, below, above), times)
    return beside


def shut_in(span: Span, gap_from: Rows, gap_to: Rows, allowed: Rows) -> Mask:
    """Spans that a gap fills but for less than what is allowed on either side of it."""
    inside = (gap_from <= gap_to) & (gap_from <= span.high) & (gap_to >= span.low)
    mask: Mask = inside & (gap_from - span.low <= allowed) & (span.high - gap_to <= allowed)
    return mask


# Look-ups set aside for a position when it is let in: two for its partition, then some steps.
_EACH = 5
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Queue:
    """`pair` and `position` of each group-partition that waits; `rank` within its pair, 0 first.

    `turn` is each pair's place in this run. Those that do not `move` are asked about once and
    never again, so that they come first.
    """

    pair: Rows
    position: Rows
    rank: Rows
    turn: Rows
    moves: Mask

    @classmethod
    def of(cls, pair: Rows, position: Rows, lag: Rows, moves: Mask, run: int, budget: int) -> Queue:
        """Pairs are numbered from 0; within one most lag comes first. `run` counts runs.

        When all pairs had their turn, the next in rank leads each of them.
        """
        order = np.lexsort((-lag, pair))
        first = np.searchsorted(pair[order], pair[order])
        size = np.bincount(pair, minlength=1)
        pairs, before = len(size), run * max(1, budget // _EACH)
        rank = np.empty(len(pair), np.int64)
        rank[order] = (np.arange(len(pair)) - first - before // pairs) % size[pair[order]]
        turn = (np.arange(pairs) - before) % pairs
        return cls(pair, position, rank, turn, moves)

    def let_in(self, open_: Mask, inside: Mask, low: Rows, high: Rows, left: int) -> Mask:
        """Open positions that may ask now: those inside already, and as many more as fit.

        `low` and `high` are the times, ms, between which each position still may be.
        """
        waiting = open_ & ~inside
        room = left // _EACH - int((open_ & inside).sum())
        if room >= int(waiting.sum()):
            return open_
        order = self._order(low, high)
        line = order[waiting[order]][: max(room, 0)]
        chosen: Mask = open_ & inside
        chosen[line] = True
        # A rest too small for a whole position still serves the first in line.
        if left > 0 and not chosen.any() and waiting.any():
            chosen[order[waiting[order]][:1]] = True
        return chosen

    def _order(self, low: Rows, high: Rows) -> Rows:
        """Positions, those first that may be the oldest of a group and topic."""
        surely = np.full(len(self.turn), _LAST, np.int64)
        np.minimum.at(surely, self.pair, high[self.position])
        may_be = low[self.position] <= surely[self.pair]
        later = np.where(may_be, 0, 2) + self.moves
        key, turn = (np.full(len(low), _LAST, np.int64) for _ in range(2))
        np.minimum.at(key, self.position, self.rank + later * len(self.pair))
        np.minimum.at(turn, self.position, self.turn[self.pair])
        order: Rows = np.lexsort((turn, key))
        return order
