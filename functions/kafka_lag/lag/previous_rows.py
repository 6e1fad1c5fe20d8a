# SPDX-License-Identifier: Apache-2.0
"""Each row beside its row of the previous run: which that is, and what the two say together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.model import Snapshot

_GROUP = ("consumer_group",)
_GROUP_PARTITION = (*_GROUP, "topic", "partition_id")


@dataclass(frozen=True, slots=True)
class PreviousRows:
    """The row of the previous run for each row of this one.

    A row of `rows` is unknown throughout where there was none, and where the topic was recreated
    since then; `recreated` marks the latter, and `made_anew` those of them whose topic has another
    id.
    """

    rows: Frame
    recreated: Mask
    made_anew: Mask

    def untaken(self) -> PreviousRows:
        """The same, without the columns that were joined until now: see `Frame.untaken`."""
        return replace(self, rows=self.rows.untaken())


def match_previous(rows: Frame, previous: Snapshot) -> PreviousRows:
    """The previous row of each row, by group, topic and partition."""
    old = previous.group_partitions
    at = locate(rows, old, _GROUP_PARTITION)
    same = {name: old.columns[name].take(at) for name in ("topic_id", "end_offset")}
    recreated, made_anew = is_recreated(rows, Frame.of(same)), is_other_topic(rows, Frame.of(same))
    return PreviousRows(old.lazy_take(np.where(recreated, -1, at)), recreated, made_anew)


def match_previous_groups(groups: Frame, previous: Snapshot) -> Frame:
    """Each group's row of the previous run, with nothing known where it has none."""
    return previous.groups.lazy_take(locate(groups, previous.groups, _GROUP))


def is_recreated(rows: Frame, previous: Frame) -> Mask:
    """Rows whose topic id is not that of the previous row, or whose end was read and is lower."""
    lower = rows.numbers("end_offset") < previous.numbers("end_offset")
    mask: Mask = is_other_topic(rows, previous) | (lower & is_read(rows))
    return mask


def last_known_lag(rows: Frame) -> Column:
    """Each row's lag in records; that of its last reading if it was not read in its run."""
    return rows.numbers("lag").or_else(rows.numbers("last_lag"))


def is_read(rows: Frame) -> Mask:
    """Rows that were read in this run."""
    return ~rows.strings("unread_reason").known


def seconds_between(rows: Frame, previous: Frame) -> Column:
    """Seconds from the previous reading to this one, by the reporter's clock; 0 at least.

    Unknown where either row was never read.
    """
    return ((rows.numbers("read_at") - previous.numbers("read_at")) / 1_000).clip(0.0)


def set_where_read(rows: Frame, **columns: AnyColumn) -> Frame:
    """The rows with these columns set where they were read in this run, as carried elsewhere."""
    read = is_read(rows)
    if read.all():
        return rows.with_columns(**columns)
    chosen: dict[str, AnyColumn] = {}
    for name, column in columns.items():
        if isinstance(column, Strings):
            chosen[name] = column.where(read, rows.strings(name))
        else:
            chosen[name] = column.where(read, rows.numbers(name))
    return rows.with_columns(**chosen)


def is_other_topic(rows: Frame, previous: Frame) -> Mask:
    """Rows with another topic id; an unknown id, as with Kafka before 2.8, is no other."""
    mask: Mask = rows.strings("topic_id") != previous.strings("topic_id")
    return mask
