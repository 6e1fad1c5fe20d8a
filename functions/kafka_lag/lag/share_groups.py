# SPDX-License-Identifier: Apache-2.0
"""Share groups (KIP-932): members read the same partitions and finish records in any order.

The coordinator knows the start offset, which is the row's commit, and how many records are left.
All records below the start offset are finished. The oldest unfinished record may lie above it,
because the start offset that is stored moves on only when the next records are finished: then it
lies as many records above as are finished there. It is certain that the record at the start offset
is unfinished if others were finished since the previous run and the start offset did not move.
"""

from __future__ import annotations

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import Columns, Frame
from kafka_lag.lag.previous_rows import last_known_lag

# A burst may write this many times the average.
_SPARE = 2.0
_OF_RESTS = ("rest_end", "rest_left_at", "rests_seen", "rest_records")


def is_shared(groups: Frame) -> Mask:
    """Marks share groups, or rows of share groups if `groups` holds each row's group."""
    return groups.strings("group_type").is_in([contract.SHARE])


def find_finished(rows: Frame) -> Column:
    """Returns the commit that would leave as many records as the broker says: end - lag."""
    return (rows.numbers("end_offset") - last_known_lag(rows)).only(
        rows.numbers("committed_offset").known
    )


def is_held(rows: Frame, old: Frame, topics: Frame) -> Mask:
    """Marks rows whose record at the start offset is certainly unfinished.

    `old` holds each row's previous row, `topics` its partition. The end is read after the lag, and
    records written in between look as if they were finished.
    """
    same = rows.numbers("committed_offset") == old.numbers("committed_offset")
    seconds = (topics.numbers("read_at") - rows.numbers("read_at")) / 1_000
    between = topics.numbers("produce_rate") * seconds * _SPARE
    mask: Mask = same & (find_finished(rows) - find_finished(old) > between)
    return mask


def set_finished(rows: Frame, shared: Mask) -> Frame:
    """Returns the rows as if share groups had committed what is finished."""
    if not shared.any():
        return rows
    finished = find_finished(rows).where(shared, rows.numbers("committed_offset"))
    return rows.with_columns(committed_offset=finished)


def drop_rests(rows: Frame, shared: Mask) -> Frame:
    """Returns the rows; a start offset just below the end is no rest, and shows no marker."""
    if not shared.any():
        return rows
    columns: Columns = {name: rows.numbers(name).only(~shared) for name in _OF_RESTS}
    return rows.with_columns(**columns)
