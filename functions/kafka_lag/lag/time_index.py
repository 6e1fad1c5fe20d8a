# SPDX-License-Identifier: Apache-2.0
"""Look-ups in the brokers' time index (ListOffsets by timestamp), and the bounds they give.

A look-up names the first record at or after a time. So it bounds the times of all records before
that one, and of those after it. The times here are record timestamps, ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame

# Used in place of a time: look up the record with the newest timestamp [KIP-734].
NEWEST = -3


@dataclass(frozen=True, slots=True)
class LookupResults:
    """A result for each look-up, in their order.

    `found`: the broker named a record, with its offset in `offsets` and its timestamp in `times`,
    ms. `none`: the broker answered that there is no such record. If neither is true, the broker did
    not answer.
    """

    found: Mask
    none: Mask
    offsets: Rows
    times: Rows

    @classmethod
    def unanswered(cls, length: int) -> LookupResults:
        """Returns results in which none of `length` look-ups was answered."""
        no, zeros = np.zeros(length, bool), np.zeros(length, np.int64)
        return cls(no, no.copy(), zeros, zeros.copy())


# Sends a look-up per row, in any order: partitions (topic, partition_id, leader), which may have
# several rows each, and times, ms, or NEWEST.
LookUp: TypeAlias = Callable[[Frame, Rows], LookupResults]


def no_look_up(_: Frame, times: Rows) -> LookupResults:
    """Answers none of the look-ups, for runs without a time index."""
    return LookupResults.unanswered(len(times))


# The year 2000. An earlier timestamp is an error: seconds read as milliseconds are in January 1970,
# and -1 means no timestamp.
OLDEST_PLAUSIBLE = 946_684_800_000
# Times are limited to this (the year 2248), so that partition and time fit in one number.
_ERA = 2**43
_NO_TIME = _ERA - 1


@dataclass(frozen=True, slots=True)
class Index:
    """All results so far.

    A row per record named: `part` (its partition), `requested` (the time of the look-up), `offset`
    and `time` of the record.
    A row per partition: `log_start`; `newest`, the newest timestamp, and `newest_offset`, its
    record; `newest_answered`: that look-up was answered; `ceiling`: there is no record at or after
    it; `gap_from` to `gap_to`: times at or after which the broker found no record although there
    may be one; `surveyed`: the first look-ups were sent; `denied`: no record has a plausible time;
    `unanswered`: a look-up got no answer.
    """

    part: Rows
    requested: Rows
    offset: Rows
    time: Rows
    log_start: Rows
    newest: Column
    newest_offset: Rows
    newest_answered: Mask
    ceiling: Rows
    gap_from: Rows
    gap_to: Rows
    surveyed: Mask
    denied: Mask
    unanswered: Mask

    @classmethod
    def empty(cls, log_start: Rows) -> Index:
        """Returns an index without results, for partitions with these log starts."""
        partitions = len(log_start)
        none, no = np.zeros(0, np.int64), np.zeros(partitions, bool)
        zeros, far = np.zeros(partitions, np.int64), np.full(partitions, _NO_TIME, np.int64)
        newest = Column.unknown(partitions)
        return cls(
            part=none,
            requested=none,
            offset=none,
            time=none,
            log_start=log_start,
            newest=newest,
            newest_offset=zeros,
            newest_answered=no,
            ceiling=far,
            gap_from=far,
            gap_to=zeros - 1,
            surveyed=no,
            denied=no,
            unanswered=no,
        )


@dataclass(frozen=True, slots=True)
class Brackets:
    """Bounds per position: the largest timestamp up to it is at or after `low` and before `high`.

    Both are ms; unknown is unbounded. `low_offset` is the nearest record named at or before the
    position, `next_offset` with `next_time` the nearest after it. `exact`: the record at the
    position itself was named. `head`: no record up to the position has a plausible time; `first`:
    the record named after it is then the first in the log that has one.
    """

    low: Column
    high: Column
    low_offset: Column
    next_time: Column
    next_offset: Column
    exact: Mask
    head: Mask
    first: Mask

    @property
    def answered(self) -> Mask:
        """Marks positions for which the index gave any bound."""
        return self.low.known | self.high.known | self.head

    def are_before(self, now: Rows) -> Mask:
        """Marks positions whose time is at or before `now`, ms, by the index alone."""
        mask: Mask = self.exact | self.head | (self.high <= now + 1)
        return mask


def add_answers(index: Index, part: Rows, times: Rows, answers: LookupResults) -> Index:
    """Returns the index with one more round's results; `part` and `times` are of its look-ups."""
    about_newest = times == NEWEST
    index = _add_newest(index, part, about_newest, answers)
    named = answers.found & ~about_newest
    # An answer is invalid if its record is older than the time, or deleted.
    named &= (answers.times >= times) & (answers.offsets >= index.log_start[part])
    unanswered = index.unanswered.copy()
    unanswered[part[~named & ~answers.none & ~about_newest]] = True
    surveyed, denied = index.surveyed.copy(), index.denied.copy()
    first = times == OLDEST_PLAUSIBLE
    surveyed[part[first]] = True
    denied[part[first & answers.none]] = True
    index = replace(
        index,
        part=np.concatenate([index.part, part[named]]),
        requested=np.concatenate([index.requested, times[named]]),
        offset=np.concatenate([index.offset, answers.offsets[named]]),
        time=np.concatenate([index.time, np.minimum(answers.times[named], _NO_TIME - 1)]),
        unanswered=unanswered,
        surveyed=surveyed,
        denied=denied,
    )
    index = _drop_deleted(index)
    return _add_denials(index, part, times, answers.none & ~about_newest)


def find_brackets(index: Index, part: Rows, offset: Rows) -> Brackets:
    """Returns the brackets of each position by all results; positions may be in any order."""
    living = np.flatnonzero(index.newest.known)
    parts = np.concatenate([index.part, living, part])
    offsets = np.concatenate([index.offset, index.newest_offset[living], offset])
    times = np.concatenate([index.time, index.newest.values[living]])
    requested = np.concatenate([index.requested, index.newest.values[living] + 1])
    order = np.lexsort((np.arange(len(parts)), offsets, parts))
    found, base = order < len(times), parts[order] * _ERA
    spot = np.where(found, order, 0)
    line = np.arange(len(order))
    if not len(times):
        times, requested = np.zeros(1, np.int64), np.zeros(1, np.int64)
    low = np.maximum.accumulate(base + np.where(found, times[spot], -1)) - base
    high = base + np.where(found, np.minimum(requested[spot], _NO_TIME - 1), _NO_TIME)
    high = np.minimum.accumulate(high[::-1])[::-1] - base
    left = np.maximum.accumulate(np.where(found, line, -1))
    right = np.minimum.accumulate(np.where(found, line, len(line))[::-1])[::-1]
    mine = np.flatnonzero(~found)
    back = np.empty(len(part), np.int64)
    back[order[mine] - (len(parts) - len(part))] = mine
    sorted_parts, sorted_offsets = parts[order], offsets[order]
    left, right = left[back], np.minimum(right[back], len(line) - 1)
    has_left = (left >= 0) & (sorted_parts[left] == part)
    has_right = found[right] & (sorted_parts[right] == part)
    top = np.minimum(high[back], index.ceiling[part])
    head = (index.surveyed & ~index.unanswered)[part] & (low[back] < 0) & has_right
    return Brackets(
        low=Column(low[back], low[back] >= 0),
        high=Column(top, top < _NO_TIME),
        low_offset=Column(sorted_offsets[left], has_left),
        next_time=Column(times[spot[right]], has_right),
        next_offset=Column(sorted_offsets[right], has_right),
        exact=has_left & (sorted_offsets[left] == offset),
        head=head,
        first=head & ~index.denied[part],
    )


def _add_newest(index: Index, part: Rows, about_newest: Mask, answers: LookupResults) -> Index:
    named = about_newest & answers.found & (answers.times >= OLDEST_PLAUSIBLE)
    times = np.minimum(answers.times[named], _NO_TIME - 1)
    newest, ceiling = index.newest.put(part[named], Column.of(times)), index.ceiling.copy()
    # No remaining record is newer, even if this one was deleted.
    np.minimum.at(ceiling, part[named], times + 1)
    offsets, answered = index.newest_offset.copy(), index.newest_answered.copy()
    offsets[part[named]] = answers.offsets[named]
    answered[part[about_newest & (answers.found | answers.none)]] = True
    return replace(
        index,
        newest=newest,
        newest_offset=offsets,
        newest_answered=answered,
        ceiling=ceiling,
    )


def _drop_deleted(index: Index) -> Index:
    """Returns the index without newest timestamps of deleted records, below the log start."""
    first = index.log_start.copy()
    began = index.requested == OLDEST_PLAUSIBLE
    first[index.part[began]] = np.maximum(first[index.part[began]], index.offset[began])
    alive = index.newest.known & (index.newest_offset >= first)
    return replace(index, newest=index.newest.only(alive))


def _add_denials(index: Index, part: Rows, times: Rows, none: Mask) -> Index:
    """Returns the index with answers that there is no record at or after a time.

    They are believed only for a log that starts at 0 and whose look-up of the newest record was not
    answered. If the first segment has lost its head, and with it its newest record, brokers answer
    so for times at which later segments have records.
    """
    believed = none & ~index.newest_answered[part] & (index.log_start[part] == 0)
    doubted = none & ~believed
    ceiling = index.ceiling.copy()
    gap_from, gap_to = index.gap_from.copy(), index.gap_to.copy()
    np.minimum.at(ceiling, part[believed], times[believed])
    np.minimum.at(gap_from, part[doubted], times[doubted])
    np.maximum.at(gap_to, part[doubted], times[doubted])
    return replace(index, ceiling=ceiling, gap_from=gap_from, gap_to=gap_to)
