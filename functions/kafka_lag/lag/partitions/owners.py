# SPDX-License-Identifier: Apache-2.0
"""Who owns a partition, since when, and whether that changed from the run before."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot

_OWNED = ("consumer_group", "topic", "partition_id")


def with_owners(rows: Frame, groups: Frame, before: Snapshot, taken_at: int) -> Frame:
    """`owned_at`: the last run, ms, in which a live member owned the partition; else unknown.

    `groups` holds each row's group: one that told no members may have none of those remembered.
    """
    old = before.group_partitions
    remembered = old.numbers("owned_at").take(locate(rows, old, _OWNED))
    now = Column(np.full(len(rows), taken_at, np.int64), _owned_now(rows, groups))
    return rows.with_columns(owned_at=now.or_else(remembered))


def unowned(rows: Frame, groups: Frame) -> Mask:
    """Rows that no live member owns, as far as is known; not while partitions are being assigned.

    `groups` holds each row's group. One that could not be described may have members.
    """
    members = groups.numbers("members")
    waiting = groups.words("group_state").is_in(contract.REBALANCING_STATES) & (members.values > 0)
    read = ~rows.words("unread_reason").known
    mask: Mask = read & members.known & ~rows.words("member_id").known & ~waiting
    return mask


def changed(rows: Frame, before: Snapshot) -> Mask:
    """Rows read now and before whose member is another, or came, or went."""
    old = before.group_partitions
    at = locate(rows, old, _OWNED)
    theirs = old.words("member_id").take(at)
    members = tuple(dict.fromkeys(theirs.words + rows.words("member_id").words))
    ours = rows.words("member_id").codes_in(members)
    same = (ours.known == theirs.known) & (~ours.known | (ours.values == theirs.codes.values))
    read = ~rows.words("unread_reason").known
    mask: Mask = (at >= 0) & read & ~same
    return mask


def _owned_now(rows: Frame, groups: Frame) -> Mask:
    told = groups.numbers("members").known & ~rows.words("unread_reason").known
    mask: Mask = rows.words("member_id").known & told
    return mask
