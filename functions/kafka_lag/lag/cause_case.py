# SPDX-License-Identifier: Apache-2.0
"""The data of one group for the cause rules, and their result: a cause, or why it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Mask, Rows, Seconds
from kafka_lag.lag.frame import Frame

BAD = (contract.WARN, contract.ERR)
Evidence: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cause:
    """A group's cause: a name of contract.CAUSES, since when, ms, and the numbers that decided."""

    name: str
    since: int | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A cause that does not fit a group, and the numbers that say so.

    `compute` computes them only on demand, because a run needs only the cause that fits. A limit
    stands beside its number: `..._from` is the least value that would fit, `..._below` one above
    all that would.
    """

    name: str
    compute: Callable[[], Evidence]


Finding: TypeAlias = Cause | RuledOut


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker to blame for the lag of groups, with counts of these groups and their partitions."""

    id: int
    groups: int
    partitions: int


@dataclass(frozen=True, slots=True)
class Case:
    """One group in trouble, and its partitions that count.

    `group` has the columns GROUP_COLUMNS. Ages are in seconds, rates in records/s, 0 if unknown.
    `behind` marks the partitions that caused the group's status, `active` those with records to
    read, `still` those behind whose commit has not moved for half a window. `members` are codes, -1
    for no member. `window` is in seconds. `broker`: the broker to blame, None if none is.
    `recreated` and `made_anew` are of this run, `old` has the previous rows: None if the previous
    run is not available.
    """

    group: Mapping[str, Any]
    rows: Frame
    topics: Frame
    age: Seconds
    produced: Seconds
    consumed: Seconds
    active: Mask
    behind: Mask
    still: Mask
    leaderless: Mask
    members: Rows
    window: float
    broker: Broker | None
    recreated: Mask | None = None
    made_anew: Mask | None = None
    old: Frame | None = None

    def row(self, at: int) -> Mapping[str, Any]:
        """Returns topic and number of the partition, and the member that owns it."""
        names = ("topic", "partition_id", "member_id")
        topic, partition, member = (self.rows.columns[name].to_list()[at] for name in names)
        return {"topic": topic, "partition": partition, "member": member}

    def value(self, at: int, name: str) -> Any:
        """Returns a column of the partition, None for unknown."""
        return self.rows.columns[name].to_list()[at]

    @property
    def worst(self) -> int:
        """Returns the partition, of those behind, with the oldest record."""
        return int(np.argmax(np.where(self.behind, self.age, -1.0)))

    @property
    def fine(self) -> Mask:
        """Marks partitions with records to read that are not behind."""
        return self.active & ~self.behind

    @property
    def kept_up_at(self) -> int | None:
        since: int | None = self.group["kept_up_at"]
        return since


# The columns of its group that a case holds.
GROUP_COLUMNS = (
    *("status", "worst_status", "worst_status_since", "members"),
    *("rebalancing_share", "rebalances", "group_epoch"),
    *("produce_rate", "consume_rate", "capacity", "loss_since", "unusual_since"),
    *("usual_produce_rate", "kept_up_at", "kept_up_members", "kept_up_produce_rate"),
    *("status_reason", "held_up_records", "open_transaction_since"),
    *("open_transaction_topic", "open_transaction_partition"),
)


def trouble_since(case: Case) -> int | None:
    since: int | None = case.group["worst_status_since"]
    return case.kept_up_at if case.kept_up_at is not None else since


def list_rates(case: Case) -> Evidence:
    group = case.group
    return {
        "produce_rate": group["produce_rate"],
        "produce_rate_before": group["kept_up_produce_rate"],
        "consume_rate": read_rate(case),
        "members": group["members"],
        "members_before": group["kept_up_members"],
        "kept_up_at": case.kept_up_at,
    }


def read_rate(case: Case) -> float | None:
    """Returns records/s read; 0 if all partitions behind are still, as averages fall slowly."""
    behind = case.still[case.behind]
    rate: float | None = case.group["consume_rate"]
    return 0.0 if len(behind) and behind.all() else rate


def count_behind(case: Case) -> dict[str, int]:
    return {"partitions_behind": int(case.behind.sum()), "partitions_read": int(case.active.sum())}
