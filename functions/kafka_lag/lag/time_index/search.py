# SPDX-License-Identifier: Apache-2.0
"""The search for append times in the brokers' time index: rounds of questions under a budget."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.bounds import HELD_BACK_MS, Bounds
from kafka_lag.lag.columns import Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.time_index.index import OLDEST_PLAUSIBLE, Brackets, Index, brackets, heard
from kafka_lag.lag.time_index.questions import NEWEST, LookUp, TimeQuestions
from kafka_lag.lag.time_index.queue import Queue
from kafka_lag.lag.time_index.steps import (
    Span,
    allowance,
    around_gap,
    next_times,
    shut_in,
)

# The hardest shapes tried (thousands of records in one millisecond) took 26 steps.
_MOST_ROUNDS = 64
_ENDLESS = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Sought:
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

    def take(self, at: Rows) -> Sought:
        """These positions only."""
        return replace(
            self,
            part=self.part[at],
            offset=self.offset[at],
            now=self.now[at],
            bounds=self.bounds.take(at),
        )


@dataclass(frozen=True, slots=True)
class Searched:
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
    def told(self) -> Mask:
        """Positions of which the index said anything."""
        return self.brackets.low.known | self.brackets.high.known | self.head

    def alone(self, now: Rows) -> Mask:
        """Positions that the index alone puts before `now`, ms."""
        high = self.brackets.high
        mask: Mask = self.brackets.exact | self.head | (high.known & (high.values <= now + 1))
        return mask


def search(sought: Sought, queue: Queue, rules: Rules, look_up: LookUp) -> Searched:
    """Asks until every position is dated well enough, the budget is used up or nobody answers."""
    index, left = Index.empty(len(sought.partitions)), rules.lookup_budget
    slow = np.zeros(len(sought.part), np.int64)
    width, inside = np.full(len(slow), _ENDLESS), np.zeros(len(slow), bool)
    view = _view(sought, index, rules)
    for turn in range(_MOST_ROUNDS):
        slow = np.where(view.span.width > width // 2, slow + 1, 0)
        width = view.span.width
        open_ = ~view.ended & ~index.silent[sought.part]
        inside = queue.let_in(open_, inside, view.span.low, view.span.high, left)
        part, times = _questions(sought, index, view, inside, slow, rules, turn)
        part, times = part[:left], times[:left]
        if not len(part):
            break
        answers = look_up(TimeQuestions(sought.partitions.take(part), times))
        if not (answers.found | answers.none).any():
            # The time for questions is over, or nobody is there to ask.
            break
        left -= len(part)
        index = heard(index, part, times, answers, sought.log_start)
        view = _view(sought, index, rules)
    first = view.head & ~index.denied[sought.part]
    return Searched(view.found, view.ended, view.head, first, rules.lookup_budget - left)


@dataclass(frozen=True, slots=True)
class _View:
    """All that follows for each position from what was heard so far."""

    found: Brackets
    span: Span
    ended: Mask
    head: Mask
    allowed: Rows


def _view(sought: Sought, index: Index, rules: Rules) -> _View:
    found = brackets(index, sought.part, sought.offset)
    span = _span(sought, found)
    allowed = allowance(rules.tolerance, sought.now - span.high)
    surveyed = (index.surveyed & ~index.silent)[sought.part]
    head = surveyed & ~found.low.known & found.next_time.known
    untold = surveyed & ~found.low.known & (head | index.denied[sought.part])
    ended = found.exact | untold | _outside(sought, found)
    known_next = found.low.known & found.high.known & (found.high.values == found.low.values + 1)
    compact = sought.compact[sought.part]
    gap = shut_in(span, index.gap_from[sought.part], index.gap_to[sought.part], allowed)
    ended |= np.where(compact, known_next, span.width <= allowed) | gap
    return _View(found, span, ended, head, allowed)


def _outside(sought: Sought, found: Brackets) -> Mask:
    """Positions whose record time is surely of a clock that is not the reporter's own."""
    bounds, low, high = sought.bounds, found.low, found.high
    floor = bounds.after.values - HELD_BACK_MS
    early = high.known & bounds.after.known & (high.values <= floor)
    late = low.known & (low.values > sought.now)
    late |= low.known & bounds.before.known & (low.values > bounds.before.values)
    mask: Mask = early | late
    return mask


def _questions(
    sought: Sought,
    index: Index,
    view: _View,
    inside: Mask,
    slow: Rows,
    rules: Rules,
    turn: int,
) -> tuple[Rows, Rows]:
    """Partition and time of each question: two about a partition first, then one a position."""
    asking = np.flatnonzero(inside)
    new = ~index.surveyed[sought.part[asking]]
    first = np.unique(sought.part[asking[new]])
    rest = asking[~new]
    times = next_times(view.span, sought.offset, sought.now, slow, rules.tolerance)
    part = sought.part
    times = around_gap(times, view.span, index.gap_from[part], index.gap_to[part], turn)
    # On a compacted topic the record after the bracket's low end is the one that is sought.
    beyond = sought.compact[part] & (view.span.width <= view.allowed) & (turn % 2 == 0)
    times = np.where(beyond, view.span.low + 1, times)[rest]
    wanted = np.unique(np.stack([part[rest], times]), axis=1)
    return (
        np.concatenate([first, first, wanted[0]]),
        np.concatenate([_all(first, NEWEST), _all(first, OLDEST_PLAUSIBLE), wanted[1]]),
    )


def _all(rows: Rows, value: int) -> Rows:
    return np.full(len(rows), value, np.int64)


def _span(sought: Sought, found: Brackets) -> Span:
    """The brackets of history and index put together, and the points of the log at their ends.

    A record may have been appended before history's bracket, while the high watermark stood still.
    """
    bounds = sought.bounds
    after = np.where(bounds.after.known, bounds.after.values, -1)
    low = np.where(found.low.known, found.low.values, -1)
    lowest = np.maximum(low, np.where(bounds.after.known, after - HELD_BACK_MS, -1))
    before = np.where(bounds.before.known, bounds.before.values, sought.now)
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
