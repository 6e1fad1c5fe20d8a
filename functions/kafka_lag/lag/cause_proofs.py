# SPDX-License-Identifier: Apache-2.0
"""Rules for causes that statuses and readings prove, whatever the rates; one rule per cause."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.cause_case import BAD, NEARLY_ALL, UNOWNED, Case, Cause
from kafka_lag.lag.columns import Mask
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.restarts import has_failed
from kafka_lag.lag.sets import unique
from kafka_lag.lag.transactions import is_held_up

# A group is behind because of rebalances if they were seen in this share of the last runs: a
# classic group that waits in every second reading has a share of 0.5.
REBALANCING = 0.4
# A new owner of a partition reads again the records of this share of a window, or those between two
# commits: the commit goes back, but no tool reset it.
_READ_AGAIN_WINDOWS = 0.5
# At most this share of the partitions can be stuck each by its own record.
_MOST_STUCK = 0.17
# Brokers that must have restarted one after another: a single one may have failed.
_FEWEST_RESTARTS = 2
RESET = (contract.REWOUND, contract.BEYOND_END)
_LATEST = np.iinfo(np.int64).max


def find_maintenance(case: Case) -> Cause | None:
    """Returns `maintenance` if brokers restart one after another, and the group kept up before."""
    restarts, kept_up = read_json(case.group["brokers_restarted"]), case.group["kept_up_at"]
    brokers, since = restarts.get("brokers", ()), restarts.get("since", 0)
    down_since = restarts.get("down_since")
    was_late = kept_up is None or kept_up < since - case.window * 1_000
    if len(brokers) < _FEWEST_RESTARTS or has_failed(restarts) or was_late:
        return None
    return Cause(
        contract.MAINTENANCE,
        case.since,
        {
            "brokers": ", ".join(map(str, brokers)),
            "restarts_since": since,
            "broker": None if down_since is None else brokers[-1],
        },
    )


def find_slow_restarts(case: Case) -> Cause | None:
    """Returns `maintenance` if a broker was down within half a window, and no members were
    replaced: restarts alone can have made the group slow."""
    at = read_json(case.group["brokers_restarted"]).get("at", 0)
    is_over = case.taken_at - at > case.window * 500
    return None if is_over or case.group["release_since"] else find_maintenance(case)


def or_maintenance(rule: Callable[[Case], Cause | None]) -> Callable[[Case], Cause | None]:
    """Returns the rule of a cause that restarts bring about, under the name of these if they do."""

    def weigh(case: Case) -> Cause | None:
        found = rule(case)
        return found and (find_maintenance(case) or found)

    return weigh


def weigh_unavailable(case: Case) -> Cause | None:
    """Weighs `unavailable`: no leader, or all behind, and no others, have followers out of sync."""
    if case.leaderless.any():
        # The partition that has been without a leader for longest.
        at = int(np.argmin(case.rows.numbers("read_at").only(case.leaderless).fill(_LATEST)))
        since = case.value(at, "read_at")
        return Cause(
            contract.UNAVAILABLE,
            since,
            {
                **case.row(at),
                "partitions_without_leader": int(case.leaderless.sum()),
                "partitions": len(case.age),
                "last_read_at": since,
            },
        )
    replicas = case.topics.strings("replicas").lengths().fill(0)
    in_sync = case.topics.strings("in_sync_replicas").lengths().fill(0)
    under = is_under_replicated(case.topics)
    fine = case.fine
    if not case.behind.any() or not fine.any() or not under[case.behind].all() or under[fine].any():
        return None
    at = case.worst
    return Cause(
        contract.UNAVAILABLE,
        case.since,
        {
            **case.row(at),
            "broker": case.value(at, "leader"),
            "replicas": int(replicas[at]),
            "in_sync_replicas": int(in_sync[at]),
            "partitions_under_replicated": int(under[case.behind].sum()),
        },
    )


def is_under_replicated(topics: Frame) -> Mask:
    """Marks partitions with followers out of sync."""
    in_sync = topics.strings("in_sync_replicas").lengths()
    return in_sync.fill(0) < topics.strings("replicas").lengths().fill(0)


def weigh_reset(case: Case) -> Cause | None:
    """Weighs `offsets_reset`: a commit went back, or lies beyond the end of the log."""
    reset, again = case.rows.strings("consumer_status").is_in(RESET), _find_read_again(case)
    if (again | ~reset).all():
        return None
    at = int(np.argmax(reset & ~again))
    at_reset = case.value(at, "rewound_at")
    return Cause(
        contract.OFFSETS_RESET,
        at_reset or case.group["worst_status_since"],
        {
            **case.row(at),
            "committed_offset": case.value(at, "committed_offset"),
            "rewound_from": case.value(at, "rewound_from"),
            "end_offset": case.value(at, "end_offset"),
            "reset_at": at_reset,
            "partitions": int(reset.sum()),
            "topic_was": _find_fate(case, at),
        },
    )


def _find_read_again(case: Case) -> Mask:
    """Marks partitions whose commit went back because new owners read again after a rebalance.

    A commit that lost its leader epoch is not marked: members write the epoch, operators do not.
    """
    rows = case.rows
    back = rows.numbers("rewound_from") - rows.numbers("committed_offset")
    gap = rows.numbers("commit_gap_seconds").fill(0.0)
    rate = np.maximum(case.consumed, case.produced)
    again: Mask = back <= rate * np.maximum(gap, _READ_AGAIN_WINDOWS * case.window)
    return again & ~case.unsigned


def _find_fate(case: Case, at: int) -> str | None:
    """Returns the topic's fate since the previous run; None if it was there all the time."""
    if not case.recreated[at]:
        return None
    if case.made_anew[at]:
        return contract.MADE_ANEW
    # Kafka before 2.8 has no topic ids, which tell a truncated topic from a recreated one.
    return None if case.value(at, "topic_id") is None else contract.CUT


def weigh_slow_broker(case: Case) -> Cause | None:
    broker = case.broker
    if broker is None or case.drains:
        return None
    return Cause(
        contract.SLOW_BROKER,
        case.since,
        {
            "broker": broker.id,
            "groups": broker.groups,
            "partitions": broker.partitions,
        },
    )


def weigh_rebalances(case: Case) -> Cause | None:
    """Weighs `rebalances`: one follows another. A consumer-protocol group reads on during one."""
    share, epoch = case.group["rebalancing_share"], case.group["group_epoch"]
    often = share is not None and share >= REBALANCING
    under_way = often and epoch is not None and not case.group["rebalances"]
    if not often or under_way:
        return None
    return Cause(
        contract.REBALANCES,
        case.since,
        {
            "rebalancing_share": share,
            "members": case.group["members"],
            "consume_rate": case.read_rate(),
            "produce_rate": case.group["produce_rate"],
        },
    )


def weigh_open_transaction(case: Case) -> Cause | None:
    """Weighs `open_transaction`: it holds up a group that has read all records before it.

    A group in WARN or ERR for another reason has another cause.
    """
    group = case.group
    waits = group["status"] not in BAD or group["status_reason"] == contract.OPEN_TRANSACTION
    if group["held_up_records"] is None or not waits:
        return None
    since = group["open_transaction_since"]
    return Cause(
        contract.OPEN_TRANSACTION,
        since,
        {
            "topic": group["open_transaction_topic"],
            "partition": group["open_transaction_partition"],
            "held_up_records": group["held_up_records"],
            "open_since": since,
        },
    )


def weigh_stopped(case: Case) -> Cause | None:
    """Weighs `stopped`: no partition that is behind has a member."""
    owned = case.rows.strings("member_id").known
    none = case.group["members"] == 0 and case.behind.any()
    if not (none or case.group["worst_status"] in UNOWNED) or owned[case.behind].any():
        return None
    at = case.worst
    since = case.group["worst_status_since"]
    return Cause(
        contract.STOPPED,
        since,
        {
            "members": case.group["members"],
            "topic": case.value(at, "topic"),
            "partitions_unowned": int((~owned & case.active).sum()),
            "last_commit_at": since,
        },
    )


def weigh_hung(case: Case) -> Cause | None:
    """Weighs `hung`: members own all that can be read, and no commit moves."""
    moving = case.active & ~case.still & ~case.leaderless & ~is_held_up(case.rows)
    owned = case.owned
    fits = case.group["worst_status"] == contract.STALLED and case.behind.any()
    if not fits or moving.any() or not owned[case.active].all():
        return None
    at = case.worst
    return Cause(
        contract.HUNG,
        case.since,
        {
            **case.row(at),
            "members": case.group["members"],
            "partitions": int(case.active.sum()),
            "stands_since": find_last_move(case, case.active),
            "produce_rate": case.group["produce_rate"],
        },
    )


def find_last_move(case: Case, rows: Mask) -> int | None:
    """Returns when the last commit on these partitions was seen to move, ms."""
    changed = case.rows.numbers("commit_changed_at").only(rows).to_list()
    return max((at for at in changed if at is not None), default=None)


def weigh_settings(case: Case) -> Cause | None:
    """Weighs `settings_changed`: the topic of what is behind got another setting that explains it.

    A lower retention deletes records before they are read, new partitions have no reader, and
    replicas on other brokers make all partitions of a topic slow.
    """
    changed = read_json(case.group["settings_changed"])
    name, setting = changed.get("topic"), changed.get("setting")
    here = case.rows.strings("topic").is_in([name])
    behind, since = case.behind & here, case.group["kept_up_at"]
    recent = since is None or changed.get("changed_at", 0) >= since - case.window * 1_000
    fits = False
    if setting == contract.RETENTION:
        lost = case.rows.numbers("records_lost") > 0
        loses = lost.any() or case.group["loss_since"] is not None
        fits = changed["now"] < changed["was"] and loses and not lost[~here].any()
    elif setting == contract.PARTITIONS:
        behind &= (case.rows.numbers("partition_id") >= changed["was"]) & (case.members < 0)
        # A group that takes partitions without a coordinator has no members, and moves.
        behind &= case.still
        fits = bool(behind.any())
    elif setting == contract.REPLICAS and behind.any():
        slow = behind.sum() >= NEARLY_ALL * (case.active & here).sum() and not case.still.any()
        slow &= case.consumed[behind].sum() < min(
            case.produced[behind].sum(), case.before[behind].sum()
        )
        fits = bool(recent and slow and not (case.drains or (case.behind & ~here).any()))
    if not fits:
        return None
    lost_here = case.rows.numbers("records_lost").only(here).fill(0)
    return Cause(
        contract.SETTINGS_CHANGED,
        case.since,
        {
            **changed,
            "partitions_behind": int(behind.sum()),
            "records_lost": int(lost_here.sum()) or None,
        },
    )


def read_json(text: str | None) -> dict[str, Any]:
    """Returns what a column holds as JSON; empty if it is unknown."""
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


def weigh_stuck_record(case: Case, stuck: Mask) -> Cause | None:
    """Weighs `stuck_record`: on `stuck` partitions a commit does not move though a member owns it,
    and other commits move."""
    if not stuck.any():
        return None
    at = int(np.argmax(np.where(stuck, case.age, -1.0)))
    since = case.value(at, "commit_changed_at")
    return Cause(
        contract.STUCK_RECORD,
        since,
        {
            **case.row(at),
            "offset": case.value(at, "committed_offset"),
            "stuck_since": since,
            "partitions_moving": int((case.active & ~case.still).sum()),
        },
    )


def find_stuck(case: Case) -> Mask:
    """Marks the few partitions that stand still with an owner that moves its others."""
    stalled, moving = _find_stalled(case), case.active & ~case.still
    none = np.zeros_like(stalled)
    if not stalled.any() or not (case.consumed[moving] > 0).any():
        return none
    hangs = [
        member
        for member in unique(case.members[stalled]).tolist()
        if (own := case.active & (case.members == member)).sum() > 1 and case.still[own].all()
    ]
    stuck: Mask = stalled & ~np.isin(case.members, hangs)
    few = stuck.sum() <= max(1.0, _MOST_STUCK * case.active.sum())
    return stuck if few else none


def _find_stalled(case: Case) -> Mask:
    stalled: Mask = case.rows.strings("consumer_status").is_in([contract.STALLED]) & case.behind
    return stalled & (case.members >= 0)


def weigh_retention_race(case: Case) -> Cause | None:
    """Weighs `retention_race`: records are deleted from partitions that are read all the time."""
    lost = case.rows.numbers("records_lost") > 0
    is_read = case.consumed > 0
    if (
        not lost.any()
        or case.group["worst_status"] in (contract.STALLED, *UNOWNED, *RESET)
        or not is_read[lost].all()
    ):
        return None
    at = int(np.argmax(np.where(lost, case.rows.numbers("records_lost").fill(0), -1)))
    return Cause(
        contract.RETENTION_RACE,
        case.group["loss_since"],
        {
            **case.row(at),
            "records_lost": case.value(at, "records_lost"),
            "retention_ms": case.topics.numbers("retention_ms").to_list()[at],
            "produce_rate": float(case.produced[at]),
            "consume_rate": float(case.consumed[at]),
        },
    )
