# SPDX-License-Identifier: Apache-2.0
"""Topics in which a group no longer has offsets, although it left records unread.

Offsets expire, a group stops reading a topic, or somebody deletes its offsets. Its rows then end,
which would look like a recovery.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.carry_over import accept_rows
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame, have_same_keys, locate
from kafka_lag.lag.previous_rows import is_read, last_known_lag
from kafka_lag.lag.sets import Sets

_NOTHING = np.zeros(0, np.int64)
_NAMED = 20


def find_left(e: Evaluation) -> Frame:
    """Returns previous rows with unread records that have no row in this run.

    Only groups and partitions read in this run count. A topic that was deleted or recreated since
    then has no such row, because its records are gone as well.
    """
    old = e.newest.group_partitions
    if have_same_keys(old, e.rows, contract.ROW_KEY):
        return old.take(_NOTHING)
    among = old.numbers("committed_offset").known & (last_known_lag(old) > 0)
    at = np.flatnonzero(among)
    at = at[locate(old.lazy_take(at), e.rows, contract.ROW_KEY) < 0]
    if not len(at):
        return old.take(_NOTHING)
    left = old.take(at)
    of_group = e.groups.lazy_take(locate(left, e.groups, contract.GROUP_KEY))
    of_topic = e.topics.lazy_take(locate(left, e.topics, contract.PARTITION_KEY))
    was_read = of_group.numbers("read_at").known & is_read(of_group)
    was_read &= of_topic.numbers("end_offset").known & is_read(of_topic)
    same = ~(left.strings("topic_id") != of_topic.strings("topic_id"))
    return left.where(was_read & same & accept_rows(left, e.run.rules))


def add_left(e: Evaluation) -> Frame:
    """Returns the groups; for a window, records that they left unread count as skipped.

    A group with another skip keeps that.
    """
    e.left = left = find_left(e)
    groups, old, run = e.groups, e.old_groups, e.run
    sets = Sets(
        np.where((at := locate(left, groups, contract.GROUP_KEY)) < 0, len(groups), at), len(groups)
    )
    records = sets.total(last_known_lag(left))
    now = run.now(len(groups)).only(records.known)
    last = old.numbers("skipped_at")
    kept = old.strings("skip_reason").is_in([contract.GONE]) & run.within_window(last)
    is_gone = (records.known | kept) & ~groups.numbers("skipped_at").known
    if not is_gone.any():
        return groups
    reason = Strings.constant(str(contract.GONE), len(groups)).only(is_gone)
    records = records.or_else(old.numbers("records_skipped").only(kept)).only(is_gone)
    return groups.with_columns(
        records_skipped=groups.numbers("records_skipped").or_else(records),
        skipped_at=groups.numbers("skipped_at").or_else(now.or_else(last.only(kept)).only(is_gone)),
        skip_reason=groups.strings("skip_reason").or_else(reason),
    )


def describe_left(left: Frame) -> Iterator[str]:
    """Yields a sentence for each group and topic, at most _NAMED, and one about the others."""
    records: dict[tuple[str, str], int] = {}
    backlog = last_known_lag(left)
    names = (left.strings(name).to_list() for name in ("consumer_group", "topic"))
    for group, topic, lag in zip(*names, backlog.to_list(), strict=True):
        records[group, topic] = records.get((group, topic), 0) + lag
    for (group, topic), lag in sorted(records.items())[:_NAMED]:
        yield (
            f"group {group!r} has no offsets in topic {topic!r} any more; records that it left "
            f"unread: {lag:,}"
        )
    if len(records) > _NAMED:
        yield f"and {len(records) - _NAMED} more groups and topics are like that"
