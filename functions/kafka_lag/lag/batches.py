# SPDX-License-Identifier: Apache-2.0
"""Batch jobs that begin once so many records are there: a batch is learnt, in records.

Such a job pauses for as long as its records take to come: minutes by day, hours by night. What is
alike is the lag with which its pauses end. So a pause is expected while the lag is no larger than
that, and the pause no longer than some times the longest one of late.

A group that keeps up and fails now and then ends its outages at any lag, with what was unread
before them, and works for much longer than it fails. A job by the clock has like pauses, which
`pauses` knows. So a batch is known once three were alike in records, less one for each unlike,
came during the pause and took unlike times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Mask, Rows, Seconds
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.pauses import WORKED, Move, is_alike, is_busy

Records: TypeAlias = npt.NDArray[np.float64]

# Columns, in the order of the fields of `Batches`.
_COLUMNS = ("batches_seen", "batch_records", "shortest_batch_seconds", "longest_batch_seconds")
# So many alike, less one for each unlike, make a batch known; the count ends at the second number.
_NEEDED, _MOST = 3, 4
# Of a job by count the longest batch took so many times the shortest.
_UNLIKE = 1.5
# A lag may be so many times the usual batch, as a batch may be larger, and the job late.
_LIMIT_RATIO = 1.25
# A batch may take so many times the longest one of late, as fewer records may come than ever.
_LONGEST_RATIO = 4.0
# Half of the longest one is forgotten in so many times its length.
_FADING = 16.0
# A batch has come during a pause if the oldest record is at most so many times as old as that.
_CAME = 2.0


@dataclass(frozen=True, slots=True)
class Batches:
    """Batches of about one size, a row per group-partition.

    `seen`: so many pauses ended at a like lag, less one for each unlike, 0 where none is left. Else
    `records` is their mean lag; `shortest` and `longest` are how long they took.
    """

    seen: npt.NDArray[np.float64]
    records: Records
    shortest: Seconds
    longest: Seconds

    @property
    def known(self) -> Mask:
        """Where a job is known to begin by a count of records."""
        mask: Mask = (self.seen >= _NEEDED) & (self.longest >= _UNLIKE * self.shortest)
        return mask

    def where(self, mask: Mask, other: Batches) -> Batches:
        """These where the mask is true, the others where it is false."""
        return Batches(
            np.where(mask, self.seen, other.seen),
            np.where(mask, self.records, other.records),
            np.where(mask, self.shortest, other.shortest),
            np.where(mask, self.longest, other.longest),
        )


def learn_batches(old: Frame, move: Move, window: float) -> dict[str, Column]:
    """The columns of batches after this run; `old` holds each row of the previous run."""
    columns = {name: old.numbers(name) for name in _COLUMNS}
    at = np.flatnonzero(move.ends_pause(window) & old.numbers("lag").known)
    if not len(at):
        return columns
    lag = old.numbers("lag").take(at).fill(0.0)
    worked = old.numbers(WORKED).take(at)
    batches = _learn_from_pause(_read_batches(old, at), move.take(at), lag, worked)
    counts = batches.seen > 0
    learnt = (batches.seen, batches.records, batches.shortest, batches.longest)
    return {
        name: columns[name].put(at, Column(numbers, counts))
        for name, numbers in zip(_COLUMNS, learnt, strict=True)
    }


@dataclass(frozen=True, slots=True)
class ExpectedBatches:
    """Rows of jobs that are `known` to begin by a count, and those that are `explained` by it.

    The latter have a lag and an age as of a batch that is not whole yet, or that is being read. For
    a known one the length of other pauses says nothing.
    """

    known: Mask
    explained: Mask


def find_expected_batches(rows: Frame, ages: Column, still: Mask, taken_at: int) -> ExpectedBatches:
    """Rows in which batches by count play a part.

    `ages` (s) stand in for a `time_lag_seconds` that is unknown. `still` marks commits that have
    not moved for a window: for those the pause counts where it is shorter than the age.
    """
    found = ExpectedBatches(np.zeros(len(rows), bool), np.zeros(len(rows), bool))
    at = np.flatnonzero(rows.numbers("batches_seen") >= _NEEDED)
    if not len(at):
        return found
    batches, lag = _read_batches(rows, at), rows.numbers("lag").take(at)
    age = rows.numbers("time_lag_seconds").or_else(ages).take(at).fill(np.inf)
    unmoved = (taken_at - rows.numbers("commit_changed_at").take(at)) / 1_000
    took = np.where(still[at], np.minimum(age, unmoved.fill(np.inf)), age)
    in_time = took <= _LONGEST_RATIO * batches.longest
    found.known[at] = batches.known
    found.explained[at] = batches.known & in_time & (lag <= _LIMIT_RATIO * batches.records)
    return found


def _read_batches(frame: Frame, at: Rows) -> Batches:
    return Batches(*(frame.numbers(name).take(at).fill(0.0) for name in _COLUMNS))


def _learn_from_pause(batches: Batches, move: Move, lag: Records, worked: Column) -> Batches:
    """The batches after one more pause, which ended at a lag of so many records.

    `worked` is the time from the pause before it. What cannot be compared, as that is unknown,
    changes nothing; a pause that is unlike counts against those that were alike.
    """
    took = move.pause
    # Else it is no batch at all, but an outage.
    whole = (move.age <= _CAME * move.still_for) & ~is_busy(worked, took)
    alike = whole & is_alike(lag, batches.records)
    # The mean of all that were alike, and from the fourth on a moving one.
    weight = 1.0 / np.minimum(batches.seen + 1, _MOST)
    longest = batches.longest * np.exp2(-took / (_FADING * np.maximum(batches.longest, took)))
    more = Batches(
        np.minimum(batches.seen + 1, _MOST),
        batches.records + (lag - batches.records) * weight,
        np.minimum(batches.shortest, took),
        np.maximum(longest, took),
    )
    less = Batches(
        np.maximum(batches.seen - 1, 0), batches.records, batches.shortest, batches.longest
    )
    again = more.where(alike, less).where(worked.known & (batches.seen > 0), batches)
    anew = Batches(np.ones(len(took)), lag, took, took)
    return anew.where(whole & (again.seen == 0), again)
