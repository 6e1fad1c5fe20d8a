# SPDX-License-Identifier: Apache-2.0
"""How far an offset rose since the run before: records that a log got, or that a group read of it.

The history has it in a column of each row, so each rise belongs to whom its row names: the leader,
or the owner, of the run in which it was seen. The history's maker finds it in Arrow's columns;
rows that lack it, of snapshots and of histories of earlier releases, get it by a window.

It is null in rows that were not read, of a log's first row of the day, and where an offset is
unknown. What went back is no negative rise, and what is written or read again counts again. What a
group skipped, or was deleted ahead of its commit, it has not read.
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
    """Of rows in any order: their offset, known or not, and where the next rise begins."""

    value: Numbers
    is_known: npt.NDArray[np.bool_]
    passed: Numbers


def offsets_of(rows: pa.Table, dataset: str) -> Offsets:
    """What rises, of rows as snapshots have them, in columns of one piece."""
    if dataset == "topic_partitions":
        value, known = _numbers(rows, "end_offset")
        lost = np.zeros(len(value), dtype=np.int64)
    else:
        commit, known = _numbers(rows, "committed_offset")
        end, has_end = _numbers(rows, "end_offset")
        came, has_came = _numbers(rows, "skipped_to")
        left, has_left = _numbers(rows, "skipped_from")
        at, has_at = _numbers(rows, "skipped_at")
        taken, _ = _numbers(rows, "taken_at")
        skipped = has_at & (at >= taken - taken % _DAY_MS)
        reasons = rows["skip_reason"].cast(pa.string())
        skipped &= ~pc.is_in(reasons, pa.array(SKIPPED_BEYOND_END)).to_numpy()
        has_skip = has_came & has_left
        value = commit - np.where(skipped, came - left, 0)
        known &= ~(has_end & (commit > end)) & (~skipped | has_skip)
        lost, _ = _numbers(rows, "records_lost")
    known &= rows["unread_reason"].is_null().to_numpy()
    return Offsets(value, known, value + lost)


def _numbers(rows: pa.Table, name: str) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """A column's values, 0 where it is null, and where it is not."""
    column = rows[name]
    values: Numbers = column.cast(pa.int64()).fill_null(0).to_numpy()
    return values, pc.is_valid(column).to_numpy()


def rises(offsets: Offsets, logs: Numbers) -> tuple[pa.Array, Numbers]:
    """The rise of each row, and the places of the last row of each log whose offset is known.

    `logs` are numbers of the rows' logs; the rows of each are in order of time.
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
