# SPDX-License-Identifier: Apache-2.0
"""Computes how far offsets rose since the run before: records written to a log, or read by a group.

The history stores the rise in a column of each row. A rise therefore counts for the leader or the
owner that the row names. The history's files compute it here; for rows without the column, from
snapshots and from histories of earlier releases, `sql/reductions` computes it with a window
function.

A rise is null in rows that were not read, in the first row of a log on a day, and if an offset is
unknown. An offset that went back counts as 0, and records that are written or read again count
again. Records that a group skipped, or that were deleted ahead of its commit, do not count as read.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kafka_lag.contract import SKIPPED_BEYOND_END

Numbers = npt.NDArray[np.int64]

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Offsets:
    """The offsets of rows in any order, whether each is known, and where the next rise begins."""

    value: Numbers
    is_known: npt.NDArray[np.bool_]
    passed: Numbers


def find_offsets(rows: pa.Table, dataset: str) -> Offsets:
    """Returns the offsets of a dataset's rows; each column must be one chunk.

    For groups this is the commit without the records that it skipped on that day.
    """
    if dataset == "topic_partitions":
        value, known = _read_numbers(rows, "end_offset")
        lost = np.zeros(len(value), dtype=np.int64)
    else:
        commit, known = _read_numbers(rows, "committed_offset")
        end, has_end = _read_numbers(rows, "end_offset")
        came, has_came = _read_numbers(rows, "skipped_to")
        left, has_left = _read_numbers(rows, "skipped_from")
        at, has_at = _read_numbers(rows, "skipped_at")
        taken, _ = _read_numbers(rows, "taken_at")
        skipped = has_at & (at >= taken - taken % _DAY_MS)
        reasons = rows["skip_reason"].cast(pa.string())
        skipped &= ~pc.is_in(reasons, pa.array(SKIPPED_BEYOND_END)).to_numpy()
        has_skip = has_came & has_left
        value = commit - np.where(skipped, came - left, 0)
        known &= ~(has_end & (commit > end)) & (~skipped | has_skip)
        lost, _ = _read_numbers(rows, "records_lost")
    known &= rows["unread_reason"].is_null().to_numpy()
    return Offsets(value, known, value + lost)


def _read_numbers(rows: pa.Table, name: str) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Returns a column's values, 0 for null, and whether each is not null."""
    column = rows[name]
    values: Numbers = column.cast(pa.int64()).fill_null(0).to_numpy()
    return values, pc.is_valid(column).to_numpy()


def compute_rises(offsets: Offsets, logs: Numbers) -> tuple[pa.Array, Numbers]:
    """Returns the rise of each row, and the places of the last known row of each log.

    `logs` are numbers of the rows' logs; the rows of a log must be in order of time.
    """
    order = np.argsort(logs, kind="stable")
    log, is_known = logs[order], offsets.is_known[order]
    value, passed = offsets.value[order], offsets.passed[order]
    place = np.arange(len(log))
    latest = np.maximum.accumulate(np.where(is_known, place, -1))
    before = np.concatenate(([-1], latest))[: len(log)]
    has_before = is_known & (before >= 0) & (log[before] == log)
    rise, is_null = np.zeros_like(value), np.ones(len(log), dtype=np.bool_)
    rise[order] = np.maximum(value - passed[before], 0)
    is_null[order] = ~has_before
    ends = np.flatnonzero(np.diff(log, append=-1))
    last = latest[ends]
    return pa.array(rise, mask=is_null), order[last[(last >= 0) & (log[last] == log[ends])]]
