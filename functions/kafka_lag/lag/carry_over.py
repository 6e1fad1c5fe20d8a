# SPDX-License-Identifier: Apache-2.0
"""What is carried over from the newest snapshot: each row as it was, and rows not read this time.

One bad run loses no state: a carried row has every column of the row before and says why it was
not read. It goes when it is proven gone, no longer wanted, or 24 hours old; a group or partition
that is still listed then keeps a row without numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Words
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.model import ClusterReading, Snapshot
from kafka_lag.lag.rules import Rules

KEPT_MS = 24 * 3_600_000
_PARTITION = ("topic", "partition_id")
# What the metadata tells now even of a partition whose offsets nobody tells.
_TOLD_NOW = ("unread_reason", "leader", "leader_rack", "replicas", "in_sync_replicas")
_GROUP_NOW = ("unread_reason", "group_state", "group_type", "protocol")
_MEMBER = ("client_id", "client_host", "member_id")
_OWNED = ("consumer_group", "topic", "partition_id")


def topic_partitions(reading: ClusterReading, before: Snapshot, rules: Rules, now: int) -> Frame:
    """All partitions read or asked for, and those of topics that were hidden from this run."""
    fresh = reading.topic_partitions.completed(contract.TOPIC_PARTITIONS)
    fresh = _filled(fresh, before.topic_partitions, _PARTITION, now, _TOLD_NOW)
    old = before.topic_partitions
    hidden = _reasons(old.words("topic"), reading.hidden_topics)
    return _with_old(fresh, old, hidden, _PARTITION, now, rules)


def groups(reading: ClusterReading, before: Snapshot, rules: Rules, now: int) -> Frame:
    """All groups read or asked for; one that is gone is left out here."""
    fresh = reading.groups.completed(contract.GROUPS)
    filled = _filled(fresh, before.groups, ("consumer_group",), now, ())
    told_now = {n: fresh.words(n).or_else(filled.words(n)) for n in _GROUP_NOW}
    filled = filled.with_columns(**told_now)
    unlisted = fresh.words("consumer_group").is_in(reading.unlisted_groups)
    keep = ~unlisted | filled.numbers("read_at").known
    return filled.where(keep & _accepted(filled, rules))


def group_partitions(
    reading: ClusterReading, before: Snapshot, rules: Rules, now: int, partitions: Frame
) -> Frame:
    """All rows read, with their partition's silence marked, and those of silent groups and topics.

    A row stands or falls as a whole: a fresh commit beside an old end would be a lag nobody saw.
    """
    fresh = reading.group_partitions.completed(contract.GROUP_PARTITIONS)
    fresh = _remembered_owners(fresh, reading.groups, before.group_partitions)
    where = locate(fresh, partitions, _PARTITION)
    reason = fresh.words("unread_reason").or_else(partitions.words("unread_reason").take(where))
    read_at = fresh.numbers("read_at").only(~reason.known)
    fresh = fresh.with_columns(unread_reason=reason, read_at=read_at)
    told_now = ("unread_reason", *_MEMBER)
    fresh = _filled(fresh, before.group_partitions, _OWNED, now, told_now)
    old = before.group_partitions
    silent_groups = _unread(reading.groups, "consumer_group")
    why = _reasons(old.words("consumer_group"), silent_groups)
    why = why.or_else(_reasons(old.words("topic"), reading.hidden_topics))
    gone = old.words("topic").is_in(reading.gone_topics)
    gone |= old.words("consumer_group").is_in(reading.gone_groups)
    return _with_old(fresh, old, why.only(~gone), _OWNED, now, rules)


def _remembered_owners(fresh: Frame, groups: Frame, old: Frame) -> Frame:
    """Owners as they were, in groups whose members could not be asked for."""
    described = groups.numbers("members").take(locate(fresh, groups, ("consumer_group",))).known
    rows = np.where(described, -1, locate(fresh, old, _OWNED))
    owners = {n: fresh.words(n).or_else(old.words(n).take(rows)) for n in _MEMBER}
    return fresh.with_columns(**owners)


def _filled(
    fresh: Frame, old: Frame, key: tuple[str, ...], now: int, told_now: tuple[str, ...]
) -> Frame:
    """Unread rows as they were before, unknowns too, but for what is told now."""
    silent = fresh.words("unread_reason").known
    rows = np.where(silent, locate(fresh, old, key), -1)
    rows = np.where(Column.of(_young(old, now)).take(rows).values, rows, -1)
    if "topic_id" in fresh:
        rows = np.where(_recreated(fresh, old.take(rows)), -1, rows)
    new = rows < 0
    if new.all():
        return fresh
    before = old.take(rows)
    columns: dict[str, AnyColumn] = {}
    for name, column in fresh.columns.items():
        if name in told_now:
            columns[name] = column
        elif isinstance(column, Words):
            columns[name] = before.words(name).or_else(column.only(new))
        else:
            columns[name] = before.numbers(name).or_else(column.only(new))
    return Frame.of(columns)


def _recreated(fresh: Frame, old: Frame) -> Mask:
    """Rows whose topic has another id by now; brokers before Kafka 2.8 tell none."""
    theirs = old.words("topic_id")
    ours = fresh.words("topic_id").codes_in(theirs.words)
    same = ours.known & (ours.values == theirs.codes.values)
    mask: Mask = fresh.words("topic_id").known & theirs.known & ~same
    return mask


def _with_old(
    fresh: Frame, old: Frame, why: Words, key: tuple[str, ...], now: int, rules: Rules
) -> Frame:
    kept = why.known & _young(old, now) & (locate(old, fresh, key) < 0) & _accepted(old, rules)
    if not kept.any():
        return fresh
    return fresh.concat(old.with_columns(unread_reason=why).where(kept))


def _young(old: Frame, now: int) -> Mask:
    read_at = old.numbers("read_at")
    mask: Mask = read_at.known & (read_at.values >= now - KEPT_MS)
    return mask


def _accepted(frame: Frame, rules: Rules) -> Mask:
    accepted = np.ones(len(frame), bool)
    for name, wanted in (("consumer_group", rules.groups), ("topic", rules.topics)):
        if name in frame:
            words = frame.words(name)
            accepted &= words.is_in(word for word in words.words if wanted.accepts(word))
    return accepted


def _unread(frame: Frame, name: str) -> dict[str, str]:
    silent = frame.where(frame.words("unread_reason").known)
    return dict(
        zip(silent.words(name).to_list(), silent.words("unread_reason").to_list(), strict=True)
    )


def _reasons(names: Words, reasons: Mapping[str, str]) -> Words:
    """For each row the reason given for its name, unknown where there is none."""
    return Words.of(reasons.get(word) for word in names.words).take(
        np.where(names.known, names.codes.values, -1).astype(np.int64)
    )


Seconds: TypeAlias = npt.NDArray[np.float64]

_SAME_TOPIC = ("topic_id", "end_offset")


@dataclass(frozen=True, slots=True)
class Memory:
    """The snapshot before, row by row.

    `was` holds the old row of each row, all unknown where there was none or where it told of
    another topic of that name; `recreated` marks the latter.
    """

    was: Frame
    recreated: Mask


def aligned(rows: Frame, before: Snapshot) -> Memory:
    """The memory of each row, found by group, topic and partition."""
    old = before.group_partitions
    at = locate(rows, old, _OWNED)
    again = recreated(rows, Frame.of({n: old.columns[n].take(at) for n in _SAME_TOPIC}))
    return Memory(old.take(np.where(again, -1, at)), again)


def recreated(rows: Frame, was: Frame) -> Mask:
    """Rows whose topic has another id than before, or that were read with a lower end.

    An id unknown then or now (brokers before Kafka 2.8 tell none) counts as the same topic.
    """
    ids, old_ids = rows.words("topic_id"), was.words("topic_id")
    ours = ids.codes_in(old_ids.words)
    same = ours.known & (ours.values == old_ids.codes.values)
    end, old_end = rows.numbers("end_offset"), was.numbers("end_offset")
    back = end.known & old_end.known & (end.values < old_end.values) & read_now(rows)
    mask: Mask = (ids.known & old_ids.known & ~same) | back
    return mask


def read_now(rows: Frame) -> Mask:
    """Rows that were answered this time."""
    return ~rows.words("unread_reason").known


def elapsed(rows: Frame, was: Frame) -> Seconds:
    """Seconds between two readings, by the reporter's clock; 0 where one was none."""
    now, then = rows.numbers("read_at"), was.numbers("read_at")
    passed: Seconds = np.where(now.known & then.known, now.values - then.values, 0) / 1_000
    return np.maximum(passed, 0.0)


def seconds_between(rows: Frame, was: Frame) -> Column:
    """Seconds between two readings, by the reporter's clock; unknown where one was none."""
    return ((rows.numbers("read_at") - was.numbers("read_at")) / 1_000).clip(0.0)


def updated(rows: Frame, **columns: AnyColumn) -> Frame:
    """The columns set in rows that were read now; silent rows keep what they carry."""
    read = read_now(rows)
    if read.all():
        return rows.with_columns(**columns)
    chosen: dict[str, AnyColumn] = {}
    for name, column in columns.items():
        if isinstance(column, Words):
            chosen[name] = column.only(read).or_else(rows.words(name).only(~read))
        else:
            chosen[name] = column.only(read).or_else(rows.numbers(name).only(~read))
    return rows.with_columns(**chosen)


# What a message needs to say who it was and how it was.
_KEPT = (
    "read_at",
    "consumer_group",
    "owner",
    "last_status",
    "held_status",
    "held_since",
    "incident_since",
)


def farewells(groups: Frame, reading: ClusterReading, before: Snapshot) -> Frame:
    """The rows, and one last row for each group that is proven gone since the snapshot before."""
    old = before.groups
    told = old.words("status_reason").is_in([contract.GONE])
    gone = old.where(old.words("consumer_group").is_in(reading.gone_groups) & ~told)
    if not len(gone):
        return groups
    last = Frame.empty(contract.GROUPS).take(np.full(len(gone), -1, np.int64))
    kept = {name: gone.columns[name] for name in _KEPT}
    reason = Words.constant(contract.GONE, len(gone))
    return groups.concat(last.with_columns(**kept, status_reason=reason))
