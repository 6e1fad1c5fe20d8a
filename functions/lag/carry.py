# SPDX-License-Identifier: Apache-2.0
"""Rows that could not be read this time, kept from the newest snapshot.

One bad run loses no state: a carried row has every column of the row before and says why it was
not read. It goes when it is proven gone, no longer wanted, or 24 hours old; a group or partition
that is still listed then keeps a row without numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from functions import contract
from functions.lag.columns import Column, Mask, Words
from functions.lag.frame import AnyColumn, Frame, locate
from functions.lag.model import ClusterReading, Rules, Snapshot

KEPT_MS = 24 * 3_600_000
_PARTITION = ("topic", "partition_id")
_OWNED = ("consumer_group", "topic", "partition_id")


def topic_partitions(reading: ClusterReading, before: Snapshot, rules: Rules, now: int) -> Frame:
    """All partitions read or asked for, and those of topics that were hidden from this run."""
    fresh = reading.topic_partitions.completed(contract.TOPIC_PARTITIONS)
    fresh = _filled(fresh, before.topic_partitions, _PARTITION, now)
    old = before.topic_partitions
    hidden = _reasons(old.words("topic"), reading.hidden_topics)
    return _with_old(fresh, old, hidden, _PARTITION, now, rules)


def groups(reading: ClusterReading, before: Snapshot, rules: Rules, now: int) -> Frame:
    """All groups read or asked for; one that is gone is left out here."""
    fresh = reading.groups.completed(contract.GROUPS)
    filled = _filled(fresh, before.groups, ("consumer_group",), now)
    unlisted = fresh.words("consumer_group").is_in(reading.unlisted_groups)
    keep = ~unlisted | filled.numbers("read_at").known
    return filled.where(keep & _accepted(filled, rules))


def group_partitions(
    reading: ClusterReading, before: Snapshot, rules: Rules, now: int, partitions: Frame
) -> Frame:
    """All rows read, with their partition's silence marked, and those of silent groups and topics.

    A commit that was read stands even if its partition's end was not.
    """
    fresh = reading.group_partitions.completed(contract.GROUP_PARTITIONS)
    where = locate(fresh, partitions, _PARTITION)
    reason = fresh.words("unread_reason").or_else(partitions.words("unread_reason").take(where))
    read_at = fresh.numbers("read_at").only(~reason.known)
    fresh = fresh.with_columns(unread_reason=reason, read_at=read_at)
    fresh = _filled(fresh, before.group_partitions, _OWNED, now)
    old = before.group_partitions
    silent_groups = _unread(reading.groups, "consumer_group")
    why = _reasons(old.words("consumer_group"), silent_groups)
    why = why.or_else(_reasons(old.words("topic"), reading.hidden_topics))
    gone = old.words("topic").is_in(reading.gone_topics)
    gone |= old.words("consumer_group").is_in(reading.gone_groups)
    return _with_old(fresh, old, why.only(~gone), _OWNED, now, rules)


def _filled(fresh: Frame, old: Frame, key: tuple[str, ...], now: int) -> Frame:
    """Unread rows take from the row before whatever they do not know themselves."""
    silent = fresh.words("unread_reason").known
    rows = np.where(silent, locate(fresh, old, key), -1)
    rows = np.where(Column.of(_young(old, now)).take(rows).values, rows, -1)
    if "topic_id" in fresh:
        rows = np.where(_recreated(fresh, old.take(rows)), -1, rows)
    if not (rows >= 0).any():
        return fresh
    before = old.take(rows)
    columns: dict[str, AnyColumn] = {}
    for name, column in fresh.columns.items():
        if isinstance(column, Words):
            columns[name] = column.or_else(before.words(name))
        else:
            columns[name] = column.or_else(before.numbers(name))
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
