# SPDX-License-Identifier: Apache-2.0
"""Open transactions: the last stable offset, their beginning, and the groups that wait for them."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.previous_rows import is_read, is_recreated, set_where_read
from kafka_lag.lag.sets import Sets

_COMPARED = (
    "taken_at",
    "topic_id",
    "end_offset",
    "stable_offset",
    "open_transaction_since",
    "transaction_seen_at",
)


def add_transactions(e: Evaluation) -> Frame:
    """Returns the partitions with the columns of their transactions; unread rows are unchanged.

    `open_transaction_since`: the first run, ms, by which the first record of the oldest open
    transaction was written; it may have been written up to an interval earlier. The end of a
    transaction moves the stable offset, so an offset that does not move means the same transaction.
    Unknown if none is open or the stable offset was not requested. `transaction_seen_at`: the last
    run, ms, that saw one open.
    """
    topics, every = e.topics, e.newest.topic_partitions
    at = locate(topics, every, contract.PARTITION_KEY)
    old = Frame.of({name: every.columns[name].take(at) for name in _COMPARED})
    at = np.where(is_recreated(topics, old), -1, at)
    old = Frame.of({name: every.columns[name].take(at) for name in _COMPARED})
    stable, end = topics.numbers("stable_offset"), topics.numbers("end_offset")
    is_open = (stable < end) & is_read(topics)
    this_run = e.run.now(len(topics)).only(is_open)
    # The transaction was open in the previous run: after another one, or the offset was not
    # requested.
    begun = old.numbers("taken_at").where(old.numbers("end_offset") > stable, this_run)
    since = old.numbers("open_transaction_since").only(old.numbers("stable_offset") == stable)
    topics = set_where_read(
        topics,
        open_transaction_since=since.or_else(begun).only(is_open),
        transaction_seen_at=this_run.or_else(old.numbers("transaction_seen_at")),
    )
    e.transactional = find_transactional(topics)
    return topics


def find_transactional(topics: Frame) -> frozenset[str]:
    """Returns the topics in which a transaction was ever seen open, in any partition."""
    seen = topics.numbers("transaction_seen_at").known
    return frozenset(topics.strings("topic").only(seen).pruned().categories)


def find_held_up(rows: Frame, position: Column) -> Mask:
    """Marks rows whose next record, at `position`, is the first of an open transaction.

    A consumer of committed records has nothing to read there. Brokers do not say which consumers
    read only those.
    """
    stable = rows.numbers("stable_offset")
    mask: Mask = (position == stable) & (stable < rows.numbers("end_offset")) & is_read(rows)
    return mask


def add_held_up(e: Evaluation) -> Frame:
    """Returns the rows with `held_up_at`.

    It is the last run, ms, in which an open transaction held up a commit that has not moved since.
    """
    rows, lag, old = e.rows, e.rows.numbers("lag"), e.previous.rows
    held_up = find_held_up(rows, e.position)
    e.is_marker = (lag > 0) & (e.position >= rows.numbers("end_offset"))
    e.unreadable = lag.where((e.is_marker | held_up) & (lag > e.allowed), e.allowed)
    same = rows.numbers("committed_offset") == old.numbers("committed_offset")
    this_run = e.run.now(len(rows)).only(held_up)
    return set_where_read(rows, held_up_at=this_run.or_else(old.numbers("held_up_at").only(same)))


def is_held_up(rows: Frame) -> Mask:
    """Marks rows that an open transaction held up in their run."""
    mask: Mask = rows.numbers("held_up_at") == rows.numbers("taken_at")
    return mask


def find_readable_time_lag(rows: Frame) -> Column:
    """Returns the time lag of each row, s; 0 if a transaction holds it up, so that nothing is
    readable.
    """
    return rows.numbers("time_lag_seconds") * ~is_held_up(rows)


def name_held_up(e: Evaluation) -> Frame:
    """Returns the rows; those in OK that a transaction holds up get the reason `open_transaction`.

    Two runs must have seen the transaction, because most end before the next run.
    """
    rows, now = e.rows, e.run.taken_at
    seen_before = e.of_topic.numbers("open_transaction_since") < now
    named = (rows.numbers("held_up_at") == now) & seen_before & is_read(rows)
    named &= rows.strings("status") == contract.OK
    reason = Strings.constant(contract.OPEN_TRANSACTION, len(rows)).only(named)
    return rows.with_columns(status_reason=rows.strings("status_reason").or_else(reason))


def add_open_transactions(e: Evaluation) -> Frame:
    """Returns the groups with the records that open transactions, seen by two runs, hold up.

    `held_up_records` are at or after the stable offsets of partitions that are held up; unknown if
    none is. `open_transaction_since`, `_topic` and `_partition` are of the oldest transaction. A
    group in OK has the reason `open_transaction`. It is in WARN once a transaction has held it up
    for longer than the window.
    """
    groups, rows, run = e.groups, e.rows, e.run
    since = e.of_topic.numbers("open_transaction_since")
    named = is_held_up(rows) & (since < rows.numbers("taken_at")) & is_read(rows)
    at = np.flatnonzero(named)
    rows, since = rows.lazy_take(at), since.take(at)
    sets = Sets(e.at_group[at], len(groups))
    records = rows.numbers("end_offset") - rows.numbers("stable_offset")
    oldest = sets.first_at_maximum(np.ones(len(at), bool), -since.fill(0))
    held, status = sets.total(records), groups.strings("status")
    waits = held.known & (status == contract.OK)
    reason = Strings.constant(contract.OPEN_TRANSACTION, len(groups)).only(waits)
    long = ~run.within_window(since) & ~run.within_window(rows.numbers("commit_changed_at"))
    warned = Strings.constant(contract.WARN, len(groups)).only(waits & sets.have(long))
    return groups.with_columns(
        status=warned.or_else(status),
        status_reason=groups.strings("status_reason").or_else(reason),
        held_up_records=held,
        open_transaction_since=since.take(oldest),
        open_transaction_topic=rows.strings("topic").take(oldest),
        open_transaction_partition=rows.numbers("partition_id").take(oldest),
    )
