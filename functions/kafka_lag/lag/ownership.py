# SPDX-License-Identifier: Apache-2.0
"""Ownership of partitions: which member has each, since when nobody, and what a run changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot

_CONSUMER = "consumer"
_KEYS = ("consumer_group", "topic", "partition_id")


def add_owners(rows: Frame, groups: Frame, previous: Snapshot, taken_at: int) -> Frame:
    """The rows with `owned_at`: the last run, ms, in which a live member owned the partition.

    `groups` holds each row's group. Where its members could not be read in this run, the row's
    member is of an earlier run, and does not count.
    """
    old = previous.group_partitions
    previously = old.numbers("owned_at").take(locate(rows, old, _KEYS))
    now = Column(np.full(len(rows), taken_at, np.int64), _owned_now(rows, groups))
    return rows.with_columns(owned_at=now.or_else(previously))


def find_unowned(rows: Frame, groups: Frame) -> Mask:
    """Rows that were read and are owned by no live member.

    `groups` holds each row's group. Not so where the group could not be described, as it may have
    members, nor while its members wait for an assignment.
    """
    members = groups.numbers("members")
    waiting = groups.strings("group_state").is_in(contract.REBALANCING_STATES) & (members > 0)
    read = ~rows.strings("unread_reason").known
    mask: Mask = read & members.known & ~rows.strings("member_id").known & ~waiting
    return mask


def find_owner_changes(rows: Frame, previous: Snapshot) -> Mask:
    """Rows read in this run whose owner is not that of the previous run, or is new, or has gone."""
    old = previous.group_partitions
    at = locate(rows, old, _KEYS)
    theirs = old.strings("member_id").take(at)
    members = tuple(dict.fromkeys(theirs.categories + rows.strings("member_id").categories))
    ours = rows.strings("member_id").codes_in(members)
    same = (ours == theirs.codes) | (~ours.known & ~theirs.known)
    read = ~rows.strings("unread_reason").known
    mask: Mask = (at >= 0) & read & ~same
    return mask


def count_idle(group: Mapping[str, Any], owners: int) -> int | None:
    """How many members of a described group own no partition that was read, as so many own one.

    None where it is not known: members of other protocols write it in bytes of their own, in a
    rebalance they wait for it, and where nobody owns anything it may be unreadable.
    """
    idle = max(0, group["members"] - owners)
    if not idle:
        return 0
    foreign = group["protocol"] not in (None, _CONSUMER)
    waiting = group["group_state"] in contract.REBALANCING_STATES
    unread = not owners and group["group_type"] != _CONSUMER
    return None if foreign or waiting or unread else idle


def _owned_now(rows: Frame, groups: Frame) -> Mask:
    described = groups.numbers("members").known & ~rows.strings("unread_reason").known
    mask: Mask = rows.strings("member_id").known & described
    return mask
