# SPDX-License-Identifier: Apache-2.0
"""The rules by which a group's cause is found: each says which cause fits, or by which number not.

They look at one group in one run: its figures beside those of the runs in which it kept up, its
partitions and members beside each other, and other groups under the same broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Mask, Rows, Seconds, Strings
from kafka_lag.lag.frame import Frame

# Rates that differ by less are the same; and so many standard deviations of records at random that
# come in a window, as rates are averages of about that time.
_SAME_RATE, _NO_NOISE = 0.1, 3.0
# So many times what the others get is a hot partition, and so many hot ones of all are none.
_HOT, _MOST_HOT = 1.5, 0.34
# Members that left, of an average of some time.
_MEMBERS_LEFT = 0.6
# A member that reads such a part of what it read before is as fast as it was.
_AS_FAST = 0.85
# A member is as busy as another one to which such a part of that is written.
_AS_BUSY = 0.95
# One member is slow that is behind with such a part of what it has to read.
_MOST_OF_ITS_OWN = 0.8
# A group that is behind owes it to rebalances that were seen in such a part of the last runs: a
# classic one that waits in every second reading has one in two.
REBALANCING = 0.4
# Rates show what members can read where no more of the last runs saw a rebalance.
_SETTLED = 0.25
# Who takes a partition over reads again what was read there in such a part of a window, or between
# two commits: that goes back, and nobody set it.
_READ_AGAIN_WINDOWS = 0.5

_BAD = (contract.WARN, contract.ERR)
UNOWNED = (contract.STOPPED, contract.NO_MEMBER)
RESET = (contract.REWOUND, contract.BEYOND_END)

Evidence: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cause:
    """One group's: a name of contract.CAUSES, since when, ms, and the numbers that decided it."""

    name: str
    since: int | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A cause that does not fit a group, and the numbers that say so.

    They are reckoned when somebody wants to see them: a run looks for what fits alone. A limit
    stands beside its number, as `..._from` from which on it fits, or `..._below`.
    """

    name: str
    reckon: Callable[[], Evidence]


Finding: TypeAlias = Cause | RuledOut


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker under which several groups are behind, and nowhere else; with counts of them."""

    id: int
    groups: int
    partitions: int


@dataclass(frozen=True, slots=True)
class Case:
    """One group in trouble, and those of its partitions that count.

    `group` has the columns GROUP_COLUMNS. Ages in seconds, rates in records/s, 0 where they are
    unknown. `behind` marks partitions to which it owes its status, `active` those with records to
    read, `still` those whose commit has not moved for half a window, `members` are codes, -1 for
    nobody, `window` is in seconds. `broker`: the one to blame with how many groups and partitions.
    `recreated` and `made_anew` are of this run, `old` has the rows of the one before: None where
    that is not at hand.
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
        """The partition by name, with the member that owns it."""
        names = ("topic", "partition_id", "member_id")
        topic, partition, member = (self.rows.columns[name].to_list()[at] for name in names)
        return {"topic": topic, "partition": partition, "member": member}

    def value(self, at: int, name: str) -> Any:
        """A column of the partition, None for unknown."""
        return self.rows.columns[name].to_list()[at]

    @property
    def worst(self) -> int:
        """The partition that is behind with the oldest record."""
        return int(np.argmax(np.where(self.behind, self.age, -1.0)))

    @property
    def fine(self) -> Mask:
        """Partitions with records to read that are not behind."""
        return self.active & ~self.behind

    @property
    def kept_up_at(self) -> int | None:
        since: int | None = self.group["kept_up_at"]
        return since


# What a case holds of its group.
GROUP_COLUMNS = (
    *("status", "worst_status", "worst_status_since", "members"),
    *("rebalancing_share", "rebalances", "group_epoch"),
    *("produce_rate", "consume_rate", "capacity", "loss_since", "unusual_since"),
    *("usual_produce_rate", "kept_up_at", "kept_up_members", "kept_up_produce_rate"),
    *("held_up_records", "open_transaction_since"),
    *("open_transaction_topic", "open_transaction_partition"),
)


def find_cause(case: Case) -> Cause:
    """The first that fits; `unexplained` where none does."""
    for finding in weigh(case):
        if isinstance(finding, Cause):
            return finding
    return Cause(contract.UNEXPLAINED, _trouble_since(case), _list_rates(case))


def weigh(case: Case) -> Iterator[Finding]:
    """What each rule finds, in their order: what statuses and readings prove, then what figures
    beside each other show. A cause may come more than once, by several rules. Nothing, of a group
    that has no partition in this run.
    """
    if not len(case.rows):
        return
    for rule in _RULES:
        yield rule(case)
    yield from _weigh_rates(case)
    if case.group["status"] not in _BAD:
        yield _weigh_unusual(case)


def _trouble_since(case: Case) -> int | None:
    since: int | None = case.group["worst_status_since"]
    return case.kept_up_at if case.kept_up_at is not None else since


def _list_rates(case: Case) -> Evidence:
    group = case.group
    return {
        "produce_rate": group["produce_rate"],
        "produce_rate_before": group["kept_up_produce_rate"],
        "consume_rate": _read_rate(case),
        "members": group["members"],
        "members_before": group["kept_up_members"],
        "kept_up_at": case.kept_up_at,
    }


def _read_rate(case: Case) -> float | None:
    """Records/s; 0 once all that is behind stands still: averages fall for minutes after that."""
    behind = case.still[case.behind]
    rate: float | None = case.group["consume_rate"]
    return 0.0 if len(behind) and behind.all() else rate


def _lengths(lists: Strings) -> Rows:
    """How many entries each list has; 0 of an unknown one."""
    table = np.array([len(each) for each in lists.categories] or [0], np.int64)
    lengths: Rows = np.where(lists.known, table[np.where(lists.known, lists.codes.values, 0)], 0)
    return lengths


def is_under_replicated(topics: Frame) -> Mask:
    """Where followers are out of step."""
    lengths = (_lengths(topics.strings(name)) for name in ("in_sync_replicas", "replicas"))
    in_sync, replicas = lengths
    under: Mask = in_sync < replicas
    return under


def _count_behind(case: Case) -> dict[str, int]:
    return {"partitions_behind": int(case.behind.sum()), "partitions_read": int(case.active.sum())}


_LATEST = np.iinfo(np.int64).max


def _weigh_unavailable(case: Case) -> Finding:
    """No leader; or just those partitions are behind whose followers are out of step."""
    if case.leaderless.any():
        # The one that has been without for longest, whichever row it is in.
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
    replicas = _lengths(case.topics.strings("replicas"))
    in_sync = _lengths(case.topics.strings("in_sync_replicas"))
    under = is_under_replicated(case.topics)
    fine = case.fine
    if not case.behind.any() or not fine.any() or not under[case.behind].all() or under[fine].any():
        return RuledOut(
            contract.UNAVAILABLE,
            lambda: {
                "partitions_without_leader": 0,
                "partitions_behind": int(case.behind.sum()),
                "behind_under_replicated": int(under[case.behind].sum()),
                "partitions_in_time": int(fine.sum()),
                "in_time_under_replicated": int(under[fine].sum()),
            },
        )
    at = case.worst
    return Cause(
        contract.UNAVAILABLE,
        _trouble_since(case),
        {
            **case.row(at),
            "broker": case.value(at, "leader"),
            "replicas": int(replicas[at]),
            "in_sync_replicas": int(in_sync[at]),
            "partitions_under_replicated": int(under[case.behind].sum()),
        },
    )


def _weigh_reset(case: Case) -> Finding:
    """The commit went back, or lies beyond the end of a log that was made anew."""
    words = case.rows.strings("consumer_status")
    if case.group["worst_status"] not in RESET:
        return RuledOut(
            contract.OFFSETS_RESET,
            lambda: {
                "partitions_set_back": int(words.is_in(RESET).sum()),
                "partitions": len(case.age),
                "worst_status": case.group["worst_status"],
            },
        )
    reset = words.is_in(RESET)
    again = _find_read_again(case)
    if (again | ~reset).all():
        return RuledOut(
            contract.OFFSETS_RESET,
            lambda: {"partitions": len(case.age), "partitions_read_again": int(again.sum())},
        )
    at = int(np.argmax(reset & ~again))
    return Cause(
        contract.OFFSETS_RESET,
        case.group["worst_status_since"],
        {
            **case.row(at),
            "committed_offset": case.value(at, "committed_offset"),
            "rewound_from": case.value(at, "rewound_from"),
            "end_offset": case.value(at, "end_offset"),
            "partitions": int(reset.sum()),
            "topic_was": _find_fate(case, at),
        },
    )


def _find_read_again(case: Case) -> Mask:
    """Partitions whose commit went back by what their new owners read again after a rebalance.

    Not where it lost its leader epoch, which members write beside it and operators do not.
    """
    rows = case.rows
    back = rows.numbers("rewound_from") - rows.numbers("committed_offset")
    gap = rows.numbers("commit_gap_seconds").fill(0.0)
    rate = np.maximum(case.consumed, case.produced)
    again: Mask = rows.strings("consumer_status").is_in([contract.REWOUND])
    again &= back <= rate * np.maximum(gap, _READ_AGAIN_WINDOWS * case.window)
    if case.old is not None:
        unsigned = ~rows.numbers("commit_epoch").known
        again &= ~(unsigned & case.old.numbers("commit_epoch").known)
    return again


def _find_fate(case: Case, at: int) -> str | None:
    """What became of the topic between two runs; None where it was there all the time."""
    if case.made_anew is None or case.recreated is None or not case.recreated[at]:
        return None
    if case.made_anew[at]:
        return contract.MADE_ANEW
    # Kafka before 2.8 has no ids to tell by.
    return None if case.value(at, "topic_id") is None else contract.CUT


def _weigh_rebalances(case: Case) -> Finding:
    """One after another: a group of the consumer protocol reads on while one is under way."""
    share, epoch = case.group["rebalancing_share"], case.group["group_epoch"]
    often = share is not None and share >= REBALANCING
    under_way = often and epoch is not None and not case.group["rebalances"]
    if not often or under_way:
        return RuledOut(
            contract.REBALANCES,
            lambda: (
                {"rebalancing_share": share, "same_epoch": epoch}
                if under_way
                else {"rebalancing_share": share, "rebalancing_share_from": REBALANCING}
            ),
        )
    return Cause(
        contract.REBALANCES,
        _trouble_since(case),
        {
            "rebalancing_share": share,
            "members": case.group["members"],
            "consume_rate": _read_rate(case),
            "produce_rate": case.group["produce_rate"],
        },
    )


def _weigh_open_transaction(case: Case) -> Finding:
    """A transaction that is open holds up a group that has read all before it.

    What it holds up makes no WARN, so one that is behind is so for another reason.
    """
    group = case.group
    if group["held_up_records"] is None or group["status"] in _BAD:
        return RuledOut(
            contract.OPEN_TRANSACTION,
            lambda: {"held_up_records": group["held_up_records"] or 0, "status": group["status"]},
        )
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


def _weigh_stopped(case: Case) -> Finding:
    """Nobody owns what is behind."""
    owned = case.rows.strings("member_id").known
    if case.group["worst_status"] not in UNOWNED or owned[case.behind].any():
        return RuledOut(
            contract.STOPPED,
            lambda: {
                "partitions_owned": int(owned[case.behind].sum()),
                "partitions_behind": int(case.behind.sum()),
                "worst_status": case.group["worst_status"],
            },
        )
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


def _weigh_retention_race(case: Case) -> Finding:
    """Records are deleted of partitions that are read all the time."""
    lost = case.rows.numbers("records_lost") > 0
    is_read = case.consumed > 0
    if (
        not lost.any()
        or case.group["worst_status"] in (contract.STALLED, *UNOWNED, *RESET)
        or not is_read[lost].all()
    ):
        return RuledOut(
            contract.RETENTION_RACE,
            lambda: {
                "partitions_with_losses": int(lost.sum()),
                "of_these_read": int(is_read[lost].sum()),
                "worst_status": case.group["worst_status"],
            },
        )
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


def _weigh_hot_partition(case: Case) -> Finding:
    """To partitions that are behind more is written than to any that is not; others that are behind
    have the member of one of these."""
    behind, fine = case.behind, case.fine
    most = max(1.0, _MOST_HOT * case.active.sum())
    if not behind.any() or not fine.any():
        return RuledOut(contract.HOT_PARTITION, lambda: _count_behind(case))
    if (unmoved := int(case.still[behind].sum())) > 0:
        return RuledOut(
            contract.HOT_PARTITION,
            lambda: {**_count_behind(case), "partitions_unmoved": unmoved},
        )
    others = case.produced[fine]
    needed = max(_HOT * others.mean(), others.max())
    hot = behind & (case.produced >= needed)
    # What else its member reads waits for it.
    waits = behind & ~hot & (case.members >= 0) & np.isin(case.members, case.members[hot])
    least = case.produced[behind & ~waits].min()
    if least < needed or hot.sum() > most:
        return RuledOut(
            contract.HOT_PARTITION,
            lambda: {
                **_count_behind(case),
                "partitions_behind_below": int(most) + 1,
                "produce_rate": float(least),
                "produce_rate_from": float(needed),
                "produce_rate_of_others": float(others.mean()),
            },
        )
    at = int(np.argmax(np.where(hot, case.age, -1.0)))
    return Cause(
        contract.HOT_PARTITION,
        _trouble_since(case),
        {
            **case.row(at),
            "key_skew": True,
            "produce_rate": float(case.produced[at]),
            "produce_rate_of_others": float(others.mean()),
            "consume_rate": float(case.consumed[at]),
        },
    )


def _weigh_slow_broker(case: Case) -> Finding:
    broker = case.broker
    if broker is None:
        return RuledOut(contract.SLOW_BROKER, lambda: _count_brokers(case))
    return Cause(
        contract.SLOW_BROKER,
        _trouble_since(case),
        {
            "broker": broker.id,
            "groups": broker.groups,
            "partitions": broker.partitions,
            "partitions_of_other_brokers_behind": 0,
        },
    )


def _count_brokers(case: Case) -> Evidence:
    """How many lead what is behind; of one alone, how much that it leads is."""
    leader = case.rows.numbers("leader")
    leaders = np.unique(leader.values[case.behind & leader.known])
    if len(leaders) != 1:
        return {"brokers_of_what_is_behind": len(leaders)}
    there = case.active & (leader == int(leaders[0]))
    return {
        "brokers_of_what_is_behind": 1,
        "broker": int(leaders[0]),
        "partitions_behind": int(case.behind.sum()),
        "partitions_there": int(there.sum()),
    }


def _weigh_stuck_record(case: Case) -> Finding:
    """A commit that does not move, though a member owns the partition, and its peers' do."""
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


@dataclass(frozen=True, slots=True)
class _Change:
    """What is written and read now, as shares of what was while the group kept up.

    `read` is of what is behind: what was written to it then, so what the group read of it; in the
    proportions of now, as those of then are not kept. Shares within `tolerance` of 1 are the same.
    """

    before: float
    grown: float
    read: float
    tolerance: float

    @property
    def rose(self) -> bool:
        """Whether more is written."""
        return self.grown >= 1.0 + self.tolerance

    @property
    def fell(self) -> bool:
        """Whether less is read."""
        return self.read <= 1.0 - self.tolerance

    @property
    def keeps_pace(self) -> bool:
        """Whether as much is read as is written, where the group is behind."""
        return self.grown * self.read >= 1.0


def _compare(case: Case, written: float) -> _Change | None:
    """None for a group that was never seen to keep up, or not since it was unread for long."""
    before = case.group["kept_up_produce_rate"]
    if before is None or before <= 0:
        return None
    tolerance = max(_SAME_RATE, _NO_NOISE / np.sqrt(before * case.window))
    grown = written / before
    written_then = float(case.produced[case.behind].sum()) / grown
    read = float(case.consumed[case.behind].sum()) / written_then
    return _Change(before, grown, read, float(tolerance))


_BY_RATES = (
    contract.TOO_FEW_MEMBERS,
    contract.SLOW_MEMBER,
    contract.MORE_PRODUCED,
    contract.CAPACITY_FELL,
)


def _weigh_rates(case: Case) -> Iterator[Finding]:
    """What changed since the group kept up: what is written, what is read, or by how many.

    Nothing, where to all that is behind no record is written in a window: what was read of it
    before is not known then.
    """
    share = case.group["rebalancing_share"]
    if share is not None and share >= _SETTLED:
        for name in _BY_RATES:
            yield RuledOut(
                name, lambda: {"rebalancing_share": share, "rebalancing_share_below": _SETTLED}
            )
        return
    written, to_behind = float(case.produced.sum()), float(case.produced[case.behind].sum())
    if to_behind * case.window < 1.0:
        for name in _BY_RATES:
            yield RuledOut(name, lambda: {**_count_behind(case), "produce_rate": to_behind})
        return
    change = _compare(case, written)
    if change is None:
        yield _weigh_slow_member(case)
        yield _weigh_slow_partition(case)
        yield _weigh_too_few_since_ever(case, written)
        for name in (contract.MORE_PRODUCED, contract.CAPACITY_FELL):
            yield RuledOut(name, lambda: {"kept_up": False})
        return
    slow = _weigh_slow_member(case)
    if isinstance(slow, Cause) and _has_busier_peer(case):
        yield slow
    yield _weigh_too_few_members(case, change)
    if change.fell and not change.keeps_pace:
        yield _weigh_slow_member(case)
        yield _weigh_slow_partition(case)
    else:
        yield RuledOut(
            contract.SLOW_MEMBER,
            lambda: (
                {**_describe_read(change), "read_of_written": change.grown * change.read}
                if change.fell
                else _describe_read(change)
            ),
        )
    yield _weigh_more_produced(case, change)
    yield _weigh_capacity(case, change)


def _describe_read(change: _Change) -> Evidence:
    return {"read_share": change.read, "read_share_below": 1.0 - change.tolerance}


def _describe_written(change: _Change) -> Evidence:
    return {
        "produce_rate": change.grown * change.before,
        "produce_rate_before": change.before,
        "produce_rate_from": (1.0 + change.tolerance) * change.before,
    }


def _weigh_more_produced(case: Case, change: _Change) -> Finding:
    if change.rose and (not change.fell or change.keeps_pace):
        return Cause(contract.MORE_PRODUCED, case.kept_up_at, _list_rates(case))
    written = _describe_written(change)
    return RuledOut(
        contract.MORE_PRODUCED,
        lambda: {**written, **_describe_read(change)} if change.rose else written,
    )


def _weigh_capacity(case: Case, change: _Change) -> Finding:
    """Less is read than before: on nearly all members, unless more is written as well."""
    if change.fell and case.group["members"] and (change.rose or _is_spread(case)):
        return Cause(
            contract.CAPACITY_FELL,
            case.kept_up_at,
            {**_list_rates(case), "consume_rate_before": change.before},
        )
    members = _count_members(case) if change.fell else {}
    return RuledOut(contract.CAPACITY_FELL, lambda: {**_describe_read(change), **members})


def _weigh_too_few_members(case: Case, change: _Change) -> Finding:
    """Members left, and those that stay read as much as each did before.

    If more is written as well, it is they that are missing where those that stay could not have
    read what was written before, and as many as before would read what is written now.
    """
    members, before = case.group["members"], case.group["kept_up_members"]
    written, read = case.group["kept_up_produce_rate"], case.group["consume_rate"]
    known = bool(members) and before is not None and read is not None
    left = known and members <= before - _MEMBERS_LEFT
    would_do = left and read < written * (1.0 - change.tolerance)
    would_do = would_do and before * read / members >= change.grown * change.before
    if left and read / members >= _AS_FAST * written / before and (not change.rose or would_do):
        return Cause(contract.TOO_FEW_MEMBERS, case.kept_up_at, _list_rates(case))

    def rule_out() -> Evidence:
        counted = {"members": members, "members_before": before}
        if not left:
            return counted
        if change.rose:
            return {**counted, **_describe_written(change)}
        each = {"read_by_each": read / members, "read_by_each_before": written / before}
        return {**counted, **each, "read_by_each_from": _AS_FAST * written / before}

    return RuledOut(contract.TOO_FEW_MEMBERS, rule_out)


def _weigh_too_few_since_ever(case: Case, written: float) -> Finding:
    """A group that never kept up, whose members read all the time as much as they can."""
    members, capacity = case.group["members"], case.group["capacity"]
    if (
        case.kept_up_at is not None
        or not members
        or capacity is None
        or members >= case.active.sum()
        or members * capacity > written * (1.0 - _SAME_RATE)
        or not _is_spread(case)
    ):
        return RuledOut(
            contract.TOO_FEW_MEMBERS,
            lambda: {
                "kept_up": False,
                "members": members,
                "partitions_read": int(case.active.sum()),
                "capacity": capacity,
                "produce_rate": written,
                **_count_members(case),
            },
        )
    return Cause(
        contract.TOO_FEW_MEMBERS,
        case.group["worst_status_since"],
        {**_list_rates(case), "capacity": capacity},
    )


def _is_spread(case: Case) -> bool:
    """Whether nearly every member with something to read is behind."""
    owned = case.members >= 0
    if not owned[case.active].any():
        return bool(case.behind.sum() * 2 >= case.active.sum())
    behind = np.unique(case.members[case.behind & owned])
    return len(behind) * 4 >= 3 * len(np.unique(case.members[case.active & owned]))


def _count_members(case: Case) -> dict[str, int]:
    """Members with something to read, and those of them that are behind."""
    owned = case.members >= 0
    return {
        "members_behind": len(np.unique(case.members[case.behind & owned])),
        "members_read": len(np.unique(case.members[case.active & owned])),
    }


def _weigh_slow_member(case: Case) -> Finding:
    """One member is behind with nearly all that it owns; no other member is."""
    members = np.unique(case.members[case.behind])
    others = case.active & (case.members != members[0])
    if len(members) != 1 or members[0] < 0 or not others.any():
        return RuledOut(contract.SLOW_MEMBER, lambda: _count_members(case))
    own = case.active & (case.members == members[0])
    if case.behind.sum() < _MOST_OF_ITS_OWN * own.sum():
        return RuledOut(
            contract.SLOW_MEMBER,
            lambda: {
                **_count_members(case),
                "partitions_behind": int(case.behind.sum()),
                "partitions_of_member": int(own.sum()),
                "partitions_behind_from": int(np.ceil(_MOST_OF_ITS_OWN * own.sum())),
            },
        )
    owned = others & (case.members >= 0)
    loads = np.bincount(case.members[owned], case.produced[owned])
    load = float(case.produced[own].sum())
    written = loads[loads > 0]
    if len(written) and load > _HOT * written.mean():
        return RuledOut(
            contract.SLOW_MEMBER,
            lambda: {
                "produce_rate": load,
                "produce_rate_of_others": float(written.mean()),
                "produce_rate_below": float(_HOT * written.mean()),
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


def _has_busier_peer(case: Case) -> bool:
    """Whether a member that is in time gets as much as the one that is behind: it owes that to
    itself, whatever was written and read before."""
    owned = case.active & (case.members >= 0)
    loads = np.bincount(case.members[owned], case.produced[owned])
    own = case.members[case.worst]
    return bool((np.delete(loads, own) >= _AS_BUSY * loads[own]).any())


def _last_move(case: Case, rows: Mask) -> int | None:
    """When the last commit on these partitions was seen to move, ms."""
    changed = case.rows.numbers("commit_changed_at").only(rows)
    return int(changed.values[changed.known].max()) if changed.known.any() else None


def _weigh_slow_partition(case: Case) -> Finding:
    """One partition is behind, and its member reads its others in time: its records take longer."""
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
        _trouble_since(case),
        {
            **case.row(at),
            "key_skew": False,
            "produce_rate": float(case.produced[at]),
            "consume_rate": float(case.consumed[at]),
            "partitions_of_member_in_time": int(own.sum()) - 1,
        },
    )


def _weigh_unusual(case: Case) -> Finding:
    """Of a group that is OK: more is written than at this hour of other weeks."""
    usual, written = case.group["usual_produce_rate"], case.group["produce_rate"]
    if usual is None or written is None or written < _HOT * usual:
        return RuledOut(
            contract.MORE_PRODUCED,
            lambda: {
                "produce_rate": written,
                "usual_produce_rate": usual,
                "produce_rate_from": None if usual is None else _HOT * usual,
            },
        )
    return Cause(
        contract.MORE_PRODUCED,
        case.group["unusual_since"],
        {"produce_rate": written, "usual_produce_rate": usual},
    )


_RULES: tuple[Callable[[Case], Finding], ...] = (
    _weigh_unavailable,
    _weigh_reset,
    _weigh_slow_broker,
    _weigh_rebalances,
    _weigh_open_transaction,
    _weigh_stopped,
    _weigh_retention_race,
    _weigh_hot_partition,
    _weigh_stuck_record,
)
