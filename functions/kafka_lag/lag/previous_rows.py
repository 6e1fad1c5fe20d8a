# SPDX-License-Identifier: Apache-2.0
"""Previous rows: the row of the previous run for each row, and what the two show together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import AnyColumn, Columns, Frame, locate
from kafka_lag.lag.model import Snapshot


@dataclass(frozen=True, slots=True)
class PreviousRows:
    """The row of the previous run for each row of this one.

    All columns of `rows` are unknown in a row that was not there, or whose topic was recreated or
    truncated since then. `recreated` marks the latter rows, and `made_anew` those of them whose
    topic has another id.
    """

    rows: Frame
    recreated: Mask
    made_anew: Mask

    def untaken(self) -> PreviousRows:
        """Returns the same rows without the columns joined so far; see `Frame.untaken`."""
        return replace(self, rows=self.rows.untaken())


def match_previous(rows: Frame, previous: Snapshot) -> PreviousRows:
    """Returns the previous row of each row, by group, topic and partition."""
    old = previous.group_partitions
    at = locate(rows, old, contract.ROW_KEY)
    same = {name: old.columns[name].take(at) for name in ("topic_id", "end_offset")}
    recreated, made_anew = is_recreated(rows, Frame.of(same)), is_other_topic(rows, Frame.of(same))
    return PreviousRows(old.lazy_take(np.where(recreated, -1, at)), recreated, made_anew)


def match_previous_groups(groups: Frame, previous: Snapshot) -> Frame:
    """Returns each group's previous row; all its columns are unknown if there is none."""
    return previous.groups.lazy_take(locate(groups, previous.groups, contract.GROUP_KEY))


def is_recreated(rows: Frame, previous: Frame) -> Mask:
    """Marks rows whose topic id changed since the previous row, or whose end, now read, fell."""
    lower = rows.numbers("end_offset") < previous.numbers("end_offset")
    mask: Mask = is_other_topic(rows, previous) | (lower & is_read(rows))
    return mask


def last_known_lag(rows: Frame) -> Column:
    """Returns each row's lag in records; if its run did not read it, that of its last reading."""
    return rows.numbers("lag").or_else(rows.numbers("last_lag"))


def is_read(rows: Frame) -> Mask:
    """Marks rows that were read in this run."""
    return ~rows.strings("unread_reason").known


def find_read_at(rows: Frame) -> Column:
    """Returns when each row was read, ms; unknown if it was not read in this run."""
    return rows.numbers("read_at").only(is_read(rows))


def seconds_between(rows: Frame, previous: Frame) -> Column:
    """Returns the seconds from the previous reading to this one, by the reporter's clock.

    They are at least 0, and unknown if either row was never read.
    """
    return ((rows.numbers("read_at") - previous.numbers("read_at")) / 1_000).clip(0.0)


def set_where_read(rows: Frame, **columns: AnyColumn) -> Frame:
    """Returns the rows with these columns set if they were read in this run, else as carried."""
    read = is_read(rows)
    if read.all():
        return rows.with_columns(**columns)
    chosen: Columns = {}
    for name, column in columns.items():
        if isinstance(column, Strings):
            chosen[name] = column.where(read, rows.strings(name))
        else:
            chosen[name] = column.where(read, rows.numbers(name))
    return rows.with_columns(**chosen)


def is_other_topic(rows: Frame, previous: Frame) -> Mask:
    """Marks rows with another topic id; an unknown id (Kafka before 2.8) does not differ."""
    mask: Mask = rows.strings("topic_id") != previous.strings("topic_id")
    return mask
