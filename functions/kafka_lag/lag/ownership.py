# SPDX-License-Identifier: Apache-2.0
"""Ownership of partitions: which member has each, until when one had it, and what changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lag import contract
from kafka_lag.lag.columns import Mask
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.previous_rows import is_read

_CONSUMER = "consumer"


def add_owners(e: Evaluation) -> Frame:
    """Returns the rows with `owned_at`: the last run, ms, in which a member owned the partition.

    If the group's members could not be read in this run, the row's member comes from an earlier run
    and does not count.
    """
    rows, old = e.rows, e.newest.group_partitions
    previously = old.numbers("owned_at").take(locate(rows, old, contract.ROW_KEY))
    now = e.run.now(len(rows)).only(_is_owned_now(rows, e.of_group))
    return rows.with_columns(owned_at=now.or_else(previously))


def find_unowned(rows: Frame, groups: Frame) -> Mask:
    """Marks rows that were read and are owned by no live member.

    `groups` holds each row's group. Rows are not marked if the group could not be described,
    because it may have members, nor while its members wait for an assignment.
    """
    members = groups.numbers("members")
    waiting = groups.strings("group_state").is_in(contract.REBALANCING_STATES) & (members > 0)
    read = is_read(rows)
    mask: Mask = read & members.known & ~rows.strings("member_id").known & ~waiting
    return mask


def find_owner_changes(rows: Frame, previous: Snapshot) -> Mask:
    """Marks rows read in this run whose owner is another than in the previous run, new, or gone."""
    old = previous.group_partitions
    at = locate(rows, old, contract.ROW_KEY)
    theirs = old.strings("member_id").take(at)
    members = tuple(dict.fromkeys(theirs.categories + rows.strings("member_id").categories))
    ours = rows.strings("member_id").codes_in(members)
    same = (ours == theirs.codes) | (~ours.known & ~theirs.known)
    read = is_read(rows)
    mask: Mask = (at >= 0) & read & ~same
    return mask


def count_idle(group: Mapping[str, Any], owners: int) -> int | None:
    """Returns how many members of a described group own no partition, if `owners` members own one.

    It is 0 for a share group, whose members share partitions. Returns None if it is not known.
    Other protocols encode assignments in their own way, members in a rebalance wait for one, and if
    no member owns a partition the assignments may be unreadable.
    """
    idle = max(0, group["members"] - owners)
    if not idle or group["group_type"] == contract.SHARE:
        return 0
    foreign = group["protocol"] not in (None, _CONSUMER)
    waiting = group["group_state"] in contract.REBALANCING_STATES
    unread = not owners and group["group_type"] != _CONSUMER
    return None if foreign or waiting or unread else idle


def _is_owned_now(rows: Frame, groups: Frame) -> Mask:
    described = groups.numbers("members").known & is_read(rows)
    mask: Mask = rows.strings("member_id").known & described
    return mask
