# SPDX-License-Identifier: Apache-2.0
"""Rows that this run could not read are carried over from the previous run.

A run that fails to read something loses no state: a carried row has every column of its previous
row, and the reason why it was not read. It ends when its group or topic is confirmed deleted, when
the configuration no longer includes it, or after 24 hours: 30 days if access to it is denied, or no
broker lists it. A group or partition that is still listed then has a row without numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Mask, Strings
from kafka_lag.lag.frame import Columns, Frame, locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, Snapshot
from kafka_lag.lag.previous_rows import is_other_topic, is_read
from kafka_lag.lag.run import Run

CARRIED_FOR_MS = 24 * 3_600_000
# An ACL may hide a group for long, and a group that is dropped looks like one that recovered.
HIDDEN_FOR_MS = contract.UNWATCHED_AFTER_MS

_MEMBER = ("client_id", "client_host", "member_id")
# Columns known even if a row could not be read: from the metadata, and from the group listing.
_OF_METADATA = ("unread_reason", "leader", "leader_rack", "replicas", "in_sync_replicas")
_OF_LISTING = ("unread_reason", "group_state", "group_type", "protocol")
# Columns of a deleted group that a message about it needs.
_OF_DELETED = (
    "read_at",
    "consumer_group",
    "owner",
    "last_status",
    "worst_status",
    "worst_status_since",
    "held_status",
    "held_since",
    "incident_id",
    "incident_since",
    "records_skipped",
    "skipped_at",
    "skip_reason",
)


def carry_topic_partitions(reading: ClusterReading, previous: Snapshot, run: Run) -> Frame:
    """Returns rows of all partitions requested, and of topics that this run could not list."""
    old = previous.topic_partitions
    rows = reading.topic_partitions.completed(contract.TOPIC_PARTITIONS)
    rows = _fill_unread(rows, old, contract.PARTITION_KEY, run, keep=_OF_METADATA)
    hidden = _by_name(old.strings("topic"), reading.hidden_topics)
    return _append(
        rows, old, hidden, _is_young(old, run, hidden.known), contract.PARTITION_KEY, run
    )


def carry_groups(reading: ClusterReading, previous: Snapshot, run: Run) -> Frame:
    """Returns rows of all groups that were requested, without deleted ones."""
    read = reading.groups.completed(contract.GROUPS)
    unlisted = read.strings("consumer_group").is_in(reading.unlisted_groups)
    rows = _fill_unread(read, previous.groups, contract.GROUP_KEY, run, unlisted)
    listed = {name: read.strings(name).or_else(rows.strings(name)) for name in _OF_LISTING}
    rows = rows.with_columns(**listed)
    wanted = ~unlisted | rows.numbers("read_at").known | _was_never_read(read, previous)
    return rows.where(wanted & accept_rows(rows, run.rules))


def _was_never_read(groups: Frame, previous: Snapshot) -> Mask:
    """Marks groups of the previous run that have never been read, though no ACL denies it."""
    at = locate(groups, previous.groups, contract.GROUP_KEY)
    read = previous.groups.numbers("read_at").take(at).known
    denied = groups.strings("unread_reason").is_in([contract.DENIED])
    mask: Mask = (at >= 0) & ~read & ~denied
    return mask


def carry_group_partitions(
    reading: ClusterReading, previous: Snapshot, run: Run, partitions: Frame
) -> Frame:
    """Returns rows of all commits requested, and of unread groups and topics not listed.

    A row of an unread partition is unread as a whole, because a new commit and an old end would
    give a lag that never existed.
    """
    old = previous.group_partitions
    rows = reading.group_partitions.completed(contract.GROUP_PARTITIONS)
    rows = _keep_members(rows, reading.groups, old)
    of_partition = partitions.strings("unread_reason").take(
        locate(rows, partitions, contract.PARTITION_KEY)
    )
    reason = rows.strings("unread_reason").or_else(of_partition)
    read_at = rows.numbers("read_at").only(~reason.known)
    rows = rows.with_columns(unread_reason=reason, read_at=read_at)
    rows = _fill_unread(rows, old, contract.ROW_KEY, run, keep=("unread_reason", *_MEMBER))
    of_group = _by_name(old.strings("consumer_group"), _unread_reasons(reading.groups))
    of_topic = _by_name(old.strings("topic"), reading.hidden_topics)
    unlisted = old.strings("consumer_group").is_in(reading.unlisted_groups)
    hidden = of_topic.known | unlisted | of_group.is_in([contract.DENIED])
    gone = old.strings("topic").is_in(reading.gone_topics)
    gone |= old.strings("consumer_group").is_in(reading.gone_groups)
    reason = of_group.or_else(of_topic).only(~gone)
    young = _is_young(old, run, hidden)
    return _append(rows, old, reason, young, contract.ROW_KEY, run)


def add_deleted_groups(
    groups: Frame, reading: ClusterReading, previous: Snapshot, run: Run
) -> Frame:
    """Returns the groups, and one last row for each that was deleted since the previous run.

    `records_skipped` of such a row is the group's last known lag.
    """
    old = previous.groups
    announced = old.strings("status_reason").is_in(contract.LAST_ROW_REASONS)
    deleted = old.strings("consumer_group").is_in(reading.gone_groups) & ~announced
    ended = old.take(np.flatnonzero(deleted))
    lag = ended.numbers("lag")
    unread = lag > 0
    ended = ended.with_columns(
        records_skipped=lag.only(unread),
        skipped_at=run.now(len(ended)).only(unread),
        skip_reason=Strings.constant(str(contract.GONE), len(ended)).only(unread),
    )
    return add_last_rows(groups, ended, contract.GONE)


def add_last_rows(groups: Frame, ended: Frame, reason: contract.StatusReason) -> Frame:
    """Returns the groups, and a row with a few columns of each row in `ended`."""
    if not len(ended):
        return groups
    unknown = Frame.empty(contract.GROUPS).take(np.full(len(ended), -1, np.int64))
    known = {name: ended.columns[name] for name in _OF_DELETED}
    reasons = Strings.constant(reason, len(ended))
    return groups.concat(unknown.with_columns(**known, status_reason=reasons))


def _keep_members(rows: Frame, groups: Frame, old: Frame) -> Frame:
    """Returns the rows with the previous run's members, in groups whose members were not read."""
    described = groups.numbers("members").take(locate(rows, groups, contract.GROUP_KEY)).known
    at = np.where(described, -1, locate(rows, old, contract.ROW_KEY))
    members = {n: rows.strings(n).or_else(old.strings(n).take(at)) for n in _MEMBER}
    return rows.with_columns(**members)


def _fill_unread(
    rows: Frame,
    old: Frame,
    key: tuple[str, ...],
    run: Run,
    unlisted: Mask | None = None,
    keep: Collection[str] = (),
) -> Frame:
    """Returns the rows; unread ones have the previous row's columns, apart from those to `keep`."""
    unread = ~is_read(rows)
    if not unread.any():
        return rows
    at = np.where(unread, locate(rows, old, key), -1)
    hidden = rows.strings("unread_reason").is_in([contract.DENIED])
    hidden = hidden if unlisted is None else hidden | unlisted
    at = np.where(_is_young(old.lazy_take(at), run, hidden), at, -1)
    if "topic_id" in rows:
        at = np.where(is_other_topic(rows, old.lazy_take(at)), -1, at)
    new = at < 0
    if new.all():
        return rows
    previous = old.lazy_take(at)
    columns: Columns = {}
    for name, column in rows.columns.items():
        if name in keep:
            columns[name] = column
        elif isinstance(column, Strings):
            columns[name] = previous.strings(name).or_else(column.only(new))
        else:
            columns[name] = previous.numbers(name).or_else(column.only(new))
    return Frame.of(columns)


def _append(
    rows: Frame, old: Frame, reason: Strings, young: Mask, key: tuple[str, ...], run: Run
) -> Frame:
    """Returns the rows, then `young` rows of `old` that are absent and have a `reason`."""
    absent = locate(old, rows, key) < 0
    carried = reason.known & young & absent & accept_rows(old, run.rules)
    if not carried.any():
        return rows
    return rows.concat(old.with_columns(unread_reason=reason).where(carried))


def _is_young(old: Frame, run: Run, hidden: Mask) -> Mask:
    """Marks previous rows that may be carried over.

    A row that was last denied keeps the longer limit, also if this run could not read it for
    another reason.
    """
    hidden = hidden | old.strings("unread_reason").is_in([contract.DENIED])
    limit = np.where(hidden, HIDDEN_FOR_MS, CARRIED_FOR_MS)
    return old.numbers("read_at") >= run.taken_at - limit


def accept_rows(frame: Frame, rules: Rules) -> Mask:
    """Marks rows whose group and topic the configuration includes."""
    accepted = np.ones(len(frame), bool)
    for column, filter_ in (("consumer_group", rules.groups), ("topic", rules.topics)):
        if column in frame:
            names = frame.strings(column)
            accepted &= names.are(filter_.accepts)
    return accepted


def _unread_reasons(groups: Frame) -> dict[str, str]:
    unread = groups.where(~is_read(groups))
    names, reasons = unread.strings("consumer_group"), unread.strings("unread_reason")
    return dict(zip(names.to_list(), reasons.to_list(), strict=True))


def _by_name(names: Strings, reasons: Mapping[str, str]) -> Strings:
    """Returns the reason of each name; unknown if there is none."""
    return names.words_of(reasons.get)
