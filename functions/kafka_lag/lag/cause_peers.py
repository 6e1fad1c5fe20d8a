# SPDX-License-Identifier: Apache-2.0
"""Rules for causes that a comparison of partitions and members in one run shows."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.cause_case import (
    Case,
    Cause,
    Evidence,
    Finding,
    RuledOut,
    count_behind,
    trouble_since,
)
from kafka_lag.lag.columns import Mask
from kafka_lag.lag.sets import unique

# A hot partition gets this many times what others get; at most this share of all can be hot.
HOT, _MOST_HOT = 1.5, 0.34
# A member is as busy as another if this share of the other's records is written to it.
_AS_BUSY = 0.95
# A member is slow if it is behind with this share of its partitions.
_MOST_OF_ITS_OWN = 0.8


def weigh_hot_partition(case: Case) -> Finding:
    """Weighs `hot_partition`: those behind get more records than all others, or have the member of
    one that does."""
    behind, fine = case.behind, case.fine
    most = max(1.0, _MOST_HOT * case.active.sum())
    if not behind.any() or not fine.any():
        return RuledOut(contract.HOT_PARTITION, lambda: count_behind(case))
    if (unmoved := int(case.still[behind].sum())) > 0:
        return RuledOut(
            contract.HOT_PARTITION,
            lambda: {**count_behind(case), "partitions_unmoved": unmoved},
        )
    others = case.produced[fine]
    needed = max(HOT * others.mean(), others.max())
    hot = behind & (case.produced >= needed)
    # Other partitions of the member wait for the hot one.
    waits = behind & ~hot & (case.members >= 0) & np.isin(case.members, case.members[hot])
    least = case.produced[behind & ~waits].min()
    if least < needed or hot.sum() > most:
        return RuledOut(
            contract.HOT_PARTITION,
            lambda: {
                **count_behind(case),
                "partitions_behind_below": int(most) + 1,
                "produce_rate": float(least),
                "produce_rate_from": float(needed),
                "produce_rate_of_others": float(others.mean()),
            },
        )
    at = int(np.argmax(np.where(hot, case.age, -1.0)))
    return Cause(
        contract.HOT_PARTITION,
        trouble_since(case),
        {
            **case.row(at),
            "key_skew": True,
            "produce_rate": float(case.produced[at]),
            "produce_rate_of_others": float(others.mean()),
            "consume_rate": float(case.consumed[at]),
        },
    )


def weigh_slow_partition(case: Case) -> Finding:
    """Weighs `hot_partition`: one is behind, its member's others are not: its records are slow."""
    at = case.worst
    own = case.active & (case.members == case.members[at])
    if case.behind.sum() > 1 or own.sum() == 1 or case.members[at] < 0 or case.still[at]:
        return RuledOut(
            contract.HOT_PARTITION,
            lambda: {
                "partitions_behind": int(case.behind.sum()),
                "partitions_of_member": int(own.sum()),
                "partitions_unmoved": int(case.still[case.behind].sum()),
            },
        )
    return Cause(
        contract.HOT_PARTITION,
        trouble_since(case),
        {
            **case.row(at),
            "key_skew": False,
            "produce_rate": float(case.produced[at]),
            "consume_rate": float(case.consumed[at]),
            "partitions_of_member_in_time": int(own.sum()) - 1,
        },
    )


def weigh_stuck_record(case: Case) -> Finding:
    """Weighs `stuck_record`: a commit does not move though a member owns it; other commits move."""
    stalled = case.rows.strings("consumer_status").is_in([contract.STALLED]) & case.behind
    moving = case.active & ~case.still

    def rule_out() -> Evidence:
        return {
            "partitions_stalled": int(stalled.sum()),
            "partitions_behind": int(case.behind.sum()),
            "partitions_moving": int(moving.sum()),
        }

    if not stalled.any() or not moving.any() or not (case.consumed[moving] > 0).any():
        return RuledOut(contract.STUCK_RECORD, rule_out)
    if (
        stalled.sum() > max(1.0, _MOST_HOT * case.active.sum() / 2)
        or (case.behind & ~stalled).any()
    ):
        return RuledOut(contract.STUCK_RECORD, rule_out)
    at = case.worst
    own = case.active & (case.members == case.members[at])
    if own.sum() > 1 and case.still[own].all():
        return RuledOut(
            contract.STUCK_RECORD,
            lambda: {**rule_out(), "partitions_of_member_unmoved": int(own.sum())},
        )
    since = case.value(at, "commit_changed_at")
    return Cause(
        contract.STUCK_RECORD,
        since,
        {
            **case.row(at),
            "offset": case.value(at, "committed_offset"),
            "stuck_since": since,
            "partitions_moving": int(moving.sum()),
        },
    )


def weigh_slow_member(case: Case) -> Finding:
    """Weighs `slow_member`: one member is behind with nearly all it owns; no other member is."""
    members = unique(case.members[case.behind])
    others = case.active & (case.members != members[0])
    if len(members) != 1 or members[0] < 0 or not others.any():
        return RuledOut(contract.SLOW_MEMBER, lambda: count_members(case))
    own = case.active & (case.members == members[0])
    if case.behind.sum() < _MOST_OF_ITS_OWN * own.sum():
        return RuledOut(
            contract.SLOW_MEMBER,
            lambda: {
                **count_members(case),
                "partitions_behind": int(case.behind.sum()),
                "partitions_of_member": int(own.sum()),
                "partitions_behind_from": int(np.ceil(_MOST_OF_ITS_OWN * own.sum())),
            },
        )
    owned = others & (case.members >= 0)
    loads = np.bincount(case.members[owned], case.produced[owned])
    load = float(case.produced[own].sum())
    written = loads[loads > 0]
    if len(written) and load > HOT * written.mean():
        return RuledOut(
            contract.SLOW_MEMBER,
            lambda: {
                "produce_rate": load,
                "produce_rate_of_others": float(written.mean()),
                "produce_rate_below": float(HOT * written.mean()),
            },
        )
    at, stands = case.worst, bool(case.still[own].all())
    return Cause(
        contract.SLOW_MEMBER,
        case.kept_up_at,
        {
            "member": case.value(at, "member_id"),
            "client": case.value(at, "client_id"),
            "host": case.value(at, "client_host"),
            "partitions": int(own.sum()),
            "consume_rate": 0.0 if stands else float(case.consumed[own].sum()),
            "produce_rate": load,
            "stands_since": _last_move(case, own) if stands else None,
            "other_members_behind": 0,
        },
    )


def has_busier_peer(case: Case) -> bool:
    """Returns true if another member gets at least as many records as the one behind, which then is
    slow itself, whatever was written and read before."""
    owned = case.active & (case.members >= 0)
    loads = np.bincount(case.members[owned], case.produced[owned])
    own = case.members[case.worst]
    return bool((np.delete(loads, own) >= _AS_BUSY * loads[own]).any())


def _last_move(case: Case, rows: Mask) -> int | None:
    """Returns when the last commit on these partitions was seen to move, ms."""
    changed = case.rows.numbers("commit_changed_at").only(rows).to_list()
    return max((at for at in changed if at is not None), default=None)


def is_spread(case: Case) -> bool:
    """Returns true if 3/4 of active members are behind; without members, 1/2 of partitions."""
    owned = case.members >= 0
    if not owned[case.active].any():
        return bool(case.behind.sum() * 2 >= case.active.sum())
    behind = unique(case.members[case.behind & owned])
    return len(behind) * 4 >= 3 * len(unique(case.members[case.active & owned]))


def count_members(case: Case) -> dict[str, int]:
    """Returns the counts of members with records to read, and of those behind."""
    owned = case.members >= 0
    return {
        "members_behind": len(unique(case.members[case.behind & owned])),
        "members_read": len(unique(case.members[case.active & owned])),
    }
