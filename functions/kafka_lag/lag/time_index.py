# SPDX-License-Identifier: Apache-2.0
"""What the brokers' time index says of offsets: look-ups by time, and the brackets they leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame

# Asks for the newest timestamp and its offset instead of the first at or after a time [KIP-734].
NEWEST = -3


@dataclass(frozen=True, slots=True)
class TimeQuestions:
    """One look-up a row: of `partitions` (topic, partition_id, leader), at `times` (ms).

    A partition may come several times, its rows in any order; a time may be NEWEST.
    """

    partitions: Frame
    times: Rows

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True, slots=True)
class TimeAnswers:
    """One answer a question, in their order.

    `found`: a record was named, by `offsets` and its own timestamp in `times`, ms. `none`: the
    broker says that there is no such record. Neither: nobody answered.
    """

    found: Mask
    none: Mask
    offsets: Rows
    times: Rows

    @classmethod
    def nothing(cls, length: int) -> TimeAnswers:
        """Nobody answered."""
        no, zeros = np.zeros(length, bool), np.zeros(length, np.int64)
        return cls(no, no.copy(), zeros, zeros.copy())


LookUp: TypeAlias = Callable[[TimeQuestions], TimeAnswers]


def nobody(questions: TimeQuestions) -> TimeAnswers:
    """A look-up that reaches no broker: history alone must do."""
    return TimeAnswers.nothing(len(questions))


# No Kafka record is older than the year 2000: an earlier timestamp is no clock's (seconds taken
# for milliseconds are in January 1970, -1 is Kafka's word for none).
OLDEST_PLAUSIBLE = 946_684_800_000
# Times are kept below this (the year 2248), so that partition and time fit in one number.
_ERA = 2**43
_NO_TIME = _ERA - 1


@dataclass(frozen=True, slots=True)
class Index:
    """Answers so far. Columns by answer: `part`, `asked`, `offset`, `time` of the record named.

    By partition: `newest` timestamp and `newest_offset` of a living record; `heard` where that
    question was answered; no record is at or after `ceiling`; `gap_from` to `gap_to` are times
    for which there was said to be none though a newer one lives; `surveyed` where the first
    questions were asked; `denied` where the broker said that no record has a plausible time;
    `silent` where an answer is missing.
    """

    part: Rows
    asked: Rows
    offset: Rows
    time: Rows
    newest: Column
    newest_offset: Rows
    add_answers: Mask
    ceiling: Rows
    gap_from: Rows
    gap_to: Rows
    surveyed: Mask
    denied: Mask
    silent: Mask

    @classmethod
    def empty(cls, partitions: int) -> Index:
        """Nothing asked yet."""
        none, no = np.zeros(0, np.int64), np.zeros(partitions, bool)
        zeros, far = np.zeros(partitions, np.int64), np.full(partitions, _NO_TIME, np.int64)
        newest = Column.unknown(partitions)
        return cls(
            part=none,
            asked=none,
            offset=none,
            time=none,
            newest=newest,
            newest_offset=zeros,
            add_answers=no,
            ceiling=far,
            gap_from=far,
            gap_to=zeros - 1,
            surveyed=no,
            denied=no,
            silent=no,
        )


@dataclass(frozen=True, slots=True)
class Brackets:
    """Per position: M(c) is at or after `low` and before `high`, ms; unknown is unbounded.

    `low_offset` and (`next_time`, `next_offset`) are the records named nearest to the position
    on either side; `exact` where the record at the position itself was named.
    """

    low: Column
    high: Column
    low_offset: Column
    next_time: Column
    next_offset: Column
    exact: Mask


def add_answers(
    index: Index, part: Rows, times: Rows, answers: TimeAnswers, log_start: Rows
) -> Index:
    """The index with a round of answers more; `part` and `times` are the questions'."""
    about_newest = times == NEWEST
    index = _with_newest(index, part, about_newest, answers)
    named = answers.found & ~about_newest
    # No index names a record older than asked for, or deleted: such an answer is none.
    named &= (answers.times >= times) & (answers.offsets >= log_start[part])
    silent = index.silent.copy()
    silent[part[~named & ~answers.none & ~about_newest]] = True
    surveyed, denied = index.surveyed.copy(), index.denied.copy()
    first = times == OLDEST_PLAUSIBLE
    surveyed[part[first]] = True
    denied[part[first & answers.none]] = True
    index = replace(
        index,
        part=np.concatenate([index.part, part[named]]),
        asked=np.concatenate([index.asked, times[named]]),
        offset=np.concatenate([index.offset, answers.offsets[named]]),
        time=np.concatenate([index.time, np.minimum(answers.times[named], _NO_TIME - 1)]),
        silent=silent,
        surveyed=surveyed,
        denied=denied,
    )
    index = _without_deleted(index, log_start)
    return _with_denials(index, part, times, answers.none & ~about_newest, log_start)


def brackets(index: Index, part: Rows, offset: Rows) -> Brackets:
    """What all answers together say of each position; the positions need no order."""
    living = np.flatnonzero(index.newest.known)
    parts = np.concatenate([index.part, living, part])
    offsets = np.concatenate([index.offset, index.newest_offset[living], offset])
    times = np.concatenate([index.time, index.newest.values[living]])
    asked = np.concatenate([index.asked, index.newest.values[living] + 1])
    order = np.lexsort((np.arange(len(parts)), offsets, parts))
    found, base = order < len(times), parts[order] * _ERA
    spot = np.where(found, order, 0)
    line = np.arange(len(order))
    if not len(times):
        times, asked = np.zeros(1, np.int64), np.zeros(1, np.int64)
    low = np.maximum.accumulate(base + np.where(found, times[spot], -1)) - base
    high = base + np.where(found, np.minimum(asked[spot], _NO_TIME - 1), _NO_TIME)
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
    ceiling = np.where(index.newest.known, index.newest.values + 1, _NO_TIME)
    top = np.minimum(high[back], np.minimum(ceiling, index.ceiling)[part])
    return Brackets(
        low=Column(low[back], low[back] >= 0),
        high=Column(top, top < _NO_TIME),
        low_offset=Column(sorted_offsets[left], has_left),
        next_time=Column(times[spot[right]], has_right),
        next_offset=Column(sorted_offsets[right], has_right),
        exact=has_left & (sorted_offsets[left] == offset),
    )


def _with_newest(index: Index, part: Rows, about_newest: Mask, answers: TimeAnswers) -> Index:
    named = about_newest & answers.found & (answers.times >= OLDEST_PLAUSIBLE)
    newest = Column(index.newest.values.copy(), index.newest.known.copy())
    newest.values[part[named]] = np.minimum(answers.times[named], _NO_TIME - 1)
    newest.known[part[named]] = True
    offsets, told = index.newest_offset.copy(), index.add_answers.copy()
    offsets[part[named]] = answers.offsets[named]
    told[part[about_newest & (answers.found | answers.none)]] = True
    return replace(index, newest=newest, newest_offset=offsets, add_answers=told)


def _without_deleted(index: Index, log_start: Rows) -> Index:
    """The newest timestamp is left out where its record is gone: it may name a deleted one."""
    first = log_start.copy()
    began = index.asked == OLDEST_PLAUSIBLE
    first[index.part[began]] = np.maximum(first[index.part[began]], index.offset[began])
    alive = index.newest.known & (index.newest_offset >= first)
    return replace(index, newest=index.newest.only(alive))


def _with_denials(index: Index, part: Rows, times: Rows, none: Mask, log_start: Rows) -> Index:
    """Where there was said to be no record: believed only of a log that lost none of its head.

    Where the head of the first segment was deleted together with that segment's newest record,
    brokers deny that there are records at times which later segments hold.
    """
    believed = none & ~index.add_answers[part] & (log_start[part] == 0)
    doubted = none & ~believed
    ceiling = index.ceiling.copy()
    gap_from, gap_to = index.gap_from.copy(), index.gap_to.copy()
    np.minimum.at(ceiling, part[believed], times[believed])
    np.minimum.at(gap_from, part[doubted], times[doubted])
    np.maximum.at(gap_to, part[doubted], times[doubted])
    return replace(index, ceiling=ceiling, gap_from=gap_from, gap_to=gap_to)
