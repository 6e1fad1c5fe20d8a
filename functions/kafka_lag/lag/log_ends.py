# SPDX-License-Identifier: Apache-2.0
"""Bounds for the time from which a record could be read, from log ends that runs have read.

If the end was at or below a record's offset when a reading began, the record came later. If the end
was beyond the offset when a reading was answered, the record had come.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import Frame, have_same_keys, locate, stack_numbers

_LOG = (*contract.PARTITION_KEY, "topic_id")
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Ends:
    """Log ends of this and earlier runs: a row per run, the oldest first, a column per partition.

    `end`: the offset. `requested_at`, `read_at`: ms, by the clock of the run, before and after the
    request. `usable`: the run has read the partition, and its clock agrees with those of others.
    `contradicted` counts readings whose clock does not agree.
    """

    end: Rows
    requested_at: Rows
    read_at: Rows
    usable: Mask
    contradicted: int


def align_ends(partitions: Frame, earlier: tuple[Frame, ...]) -> Ends:
    """Returns the ends of these partitions, all read in this run, in this and `earlier` runs."""
    runs = _align(partitions, earlier)
    runs.append((partitions, np.zeros(len(partitions), bool)))
    frames = [frame for frame, _ in runs]
    end, known = stack_numbers(frames, "end_offset")
    requested, was_requested = stack_numbers(frames, "asked_at")
    read, was_read = stack_numbers(frames, "read_at")
    known = _find_first_readings(requested, read, known & was_requested & was_read)
    known = _is_unbroken(end, known, np.array([other for _, other in runs]))
    usable = _is_in_order(requested, read, known)
    return Ends(end, requested, read, usable, int((known & ~usable).sum()))


def find_bounds(ends: Ends, column: Rows, offset: Rows) -> Bounds:
    """Returns bounds for records at these offsets; `column` is the partition of each in `ends`."""
    last, first = np.full(len(offset), -1), np.full(len(offset), -1)
    for run in range(len(ends.end)):
        end, usable = ends.end[run][column], ends.usable[run][column]
        last[usable & (end <= offset)] = run
        first[usable & (end > offset) & (first < 0)] = run

    def of(table: Rows, run: Rows) -> Column:
        return Column.of(table[run, column], run >= 0)

    return Bounds(
        after=of(ends.requested_at, last),
        before=of(ends.read_at, first),
        end_after=of(ends.end, last),
        end_before=of(ends.end, first),
    )


def _align(partitions: Frame, earlier: tuple[Frame, ...]) -> list[tuple[Frame, Mask]]:
    """Returns each run's rows for these partitions, and marks those with another topic id.

    Runs that list the same logs in the same order share one join.
    """
    aligned: list[tuple[Frame, Mask]] = []
    for at, run in enumerate(earlier):
        if not at or not have_same_keys(run, earlier[at - 1], _LOG):
            rows = locate(partitions, run, contract.PARTITION_KEY)
            theirs = run.strings("topic_id").take(rows)
            other = partitions.strings("topic_id") != theirs
        aligned.append((run.lazy_take(rows), other))
    return aligned


def _find_first_readings(requested: Rows, read: Rows, known: Mask) -> Mask:
    """Marks each reading once, because the row of a run that could not read repeats the last one.

    The run that made the reading may be missing, because older runs are downsampled.
    """
    first = known.copy()
    last_asked, last_read = np.full_like(requested[0], -1), np.full_like(read[0], -1)
    for run in range(len(known)):
        first[run] &= (requested[run] != last_asked) | (read[run] != last_read)
        last_asked = np.where(known[run], requested[run], last_asked)
        last_read = np.where(known[run], read[run], last_read)
    return first


def _is_unbroken(end: Rows, known: Mask, other: Mask) -> Mask:
    """Marks readings after which the end never went back and the topic was not recreated."""
    later = np.where(known, end, _NEVER)
    least = np.minimum.accumulate(later[::-1], axis=0)[::-1]
    broken = other | (known & (end > least))
    since = np.logical_or.accumulate(broken[::-1], axis=0)[::-1]
    mask: Mask = known & ~since
    return mask


def _is_in_order(requested: Rows, read: Rows, known: Mask) -> Mask:
    """Marks readings that ended before any later one began, and began after any earlier one ended.

    A reading that is ahead of this run's clock is wrong, and does not count against others.
    """
    usable = known.copy()
    usable[:-1] &= read[:-1] <= requested[-1]
    begun_later = np.minimum.accumulate(np.where(usable, requested, _NEVER)[::-1], axis=0)[::-1]
    ended_before = np.maximum.accumulate(np.where(usable, read, -1), axis=0)
    fine = usable & (requested <= read)
    fine[:-1] &= read[:-1] <= begun_later[1:]
    fine[1:-1] &= requested[1:-1] >= ended_before[:-2]
    # Ages are measured by the clock of this run, right or wrong.
    fine[-1] = usable[-1]
    return fine
