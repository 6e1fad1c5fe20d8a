# SPDX-License-Identifier: Apache-2.0
"""Batch jobs that begin once enough records have come: the size of a batch is learnt.

Such a job pauses until its records have come: minutes by day, hours by night. Its pauses differ in
length but end at about the same lag. So a pause is expected as long as the lag is not much larger
than that, and the pause not many times longer than the longest recent one.

A group that keeps up and fails now and then ends its outages at any lag, which includes older
records, and works for much longer than it fails. A job run by the clock has pauses of one length,
which `pauses` learns. So a batch is known once three had about as many records, less one for each
that did not, if the records came during the pauses and the pauses differed in length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.aligned import Aligned
from kafka_lag.lag.columns import Column, Mask, Rows, Seconds
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.pauses import WORKED, Move, is_alike, is_busy
from kafka_lag.lag.run import Run

Records: TypeAlias = npt.NDArray[np.float64]

# Columns, in the order of the fields of `Batches`.
_COLUMNS = ("batches_seen", "batch_records", "shortest_batch_seconds", "longest_batch_seconds")
# A batch is known once this many were alike, less one for each unlike; counting ends at the second
# number.
_NEEDED, _MOST = 3, 4
# A job that begins by count has a longest batch that took this many times the shortest.
_UNLIKE = 1.5
# A lag may be this many times the usual batch, because a batch may be larger, or the job late.
_LIMIT_RATIO = 1.25
# A batch may take this many times the longest recent one, because fewer records may come than ever.
_LONGEST_RATIO = 4.0
# The longest batch counts half after this many times its length.
_FADING = 16.0
# A batch came during a pause if its oldest record is at most this many times as old as the pause.
_CAME = 2.0


@dataclass(frozen=True, slots=True)
class Batches(Aligned):
    """Batches of about one size, a row per group-partition.

    `seen`: how many pauses ended at a similar lag, less one for each other; nothing is known if it
    is 0. `records`: their mean lag. `shortest` and `longest`: how long they took, s.
    """

    seen: npt.NDArray[np.float64]
    records: Records
    shortest: Seconds
    longest: Seconds

    @property
    def known(self) -> Mask:
        """Marks jobs that are known to begin by a count of records."""
        mask: Mask = (self.seen >= _NEEDED) & (self.longest >= _UNLIKE * self.shortest)
        return mask


def learn_batches(old: Frame, move: Move, window: float) -> dict[str, Column]:
    """Returns the columns of batches after this run; `old` holds each row's previous row."""
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
    """Rows of jobs that are `known` to begin by a count, and rows explained by such a batch.

    Explained rows have a lag and an age that fit a batch that is not complete, or is being read. If
    a row is known, recurring pauses (`pauses`) say nothing about it.
    """

    known: Mask
    is_explained: Mask


def find_expected_batches(rows: Frame, ages: Column, still: Mask, run: Run) -> ExpectedBatches:
    """Finds the rows of jobs that begin by a count, and those that a batch explains.

    `ages` (s) stand in for an unknown `time_lag_seconds`. `still` marks commits that have not moved
    for a window: those rows are judged by the lesser of pause and age.
    """
    found = ExpectedBatches(np.zeros(len(rows), bool), np.zeros(len(rows), bool))
    at = np.flatnonzero(rows.numbers("batches_seen") >= _NEEDED)
    if not len(at):
        return found
    batches, lag = _read_batches(rows, at), rows.numbers("lag").take(at)
    age = rows.numbers("time_lag_seconds").or_else(ages).take(at).fill(np.inf)
    unmoved = run.seconds_since(rows.numbers("commit_changed_at").take(at))
    took = np.where(still[at], np.minimum(age, unmoved.fill(np.inf)), age)
    in_time = took <= _LONGEST_RATIO * batches.longest
    found.known[at] = batches.known
    found.is_explained[at] = batches.known & in_time & (lag <= _LIMIT_RATIO * batches.records)
    return found


def _read_batches(frame: Frame, at: Rows) -> Batches:
    return Batches(*(frame.numbers(name).take(at).fill(0.0) for name in _COLUMNS))


def _learn_from_pause(batches: Batches, move: Move, lag: Records, worked: Column) -> Batches:
    """Returns the batches after one more pause, which ended at a lag of `lag` records.

    `worked` is the time since the pause before it. If it is unknown, the pause cannot be compared
    and changes nothing. A pause that is unlike the others reduces their count.
    """
    took = move.pause
    # A pause that is not whole is an outage, not a batch.
    whole = (move.age <= _CAME * move.still_for) & ~is_busy(worked, took)
    alike = whole & is_alike(lag, batches.records)
    # The mean of all batches that were alike; from the fourth on a moving mean.
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
    first = Batches(np.ones(len(took)), lag, took, took)
    return first.where(whole & (again.seen == 0), again)
