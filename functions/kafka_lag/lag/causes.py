# SPDX-License-Identifier: Apache-2.0
"""Why a group is behind: one cause of each group in WARN or ERR, with the numbers that decide it.

A cause is named where the figures leave no other, else it is `unexplained`: a wrong one costs more
than none. They are compared with those of the last runs in which the group kept up, with those of
its other partitions and members in this run, and with other groups under the same broker.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.carry_over import Seconds, is_read, seconds_between
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.rollup import Counted
from kafka_lag.lag.sets import Sets, distinct

# A group keeps up in a run whose oldest unread record is younger than so many intervals.
_KEEPS_UP_INTERVALS = 2.0
# Half-life of what it is compared with, s: a ramp of an hour still stands out against it.
_HALF_LIFE = 3_600.0
# A partition is behind whose age is such a part of its group's oldest, and so many seconds.
_BEHIND_SHARE, _BEHIND_SECONDS = 0.25, 120.0
# Rates that differ by less are the same; and so many standard deviations of records at random that
# come in ten minutes, as rates are averages of about that time.
_SAME_RATE, _NO_NOISE, _RATE_SECONDS = 0.1, 3.0, 600.0
# So many times what the others get is a hot partition, and so many hot ones of all are none.
_HOT, _FEW = 1.5, 0.34
# Members that left, of an average of some time.
_MEMBERS_LEFT = 0.6
# A member that reads such a part of what it read before is as fast as it was.
_AS_FAST = 0.85
# A group that is behind owes it to rebalances that were seen in such a part of the last runs: a
# classic one that waits in every second reading has one in two.
_REBALANCING = 0.4
# A broker is to blame for this many groups at least, on so many partitions, for such a part of the
# groups under it, and of each group's partitions there.
_GROUPS, _PARTITIONS, _OF_GROUPS, _OF_PARTITIONS = 2, 3, 0.5, 0.8
# Kafka takes names of 32,000 bytes; nobody reads them whole.
_LONGEST_NAME = 200

_GROUP = ("consumer_group",)
_BAD = (contract.WARN, contract.ERR)
# What the statuses prove takes the place of what rates made likely.
_PROVEN = frozenset(
    {
        contract.STOPPED,
        contract.STUCK_RECORD,
        contract.REBALANCES,
        contract.SLOW_BROKER,
        contract.UNAVAILABLE,
        contract.OPEN_TRANSACTION,
        contract.OFFSETS_RESET,
    }
)
_UNOWNED = (contract.STOPPED, contract.NO_MEMBER)
_RESET = (contract.REWOUND, contract.BEYOND_END)

Evidence: TypeAlias = Mapping[str, Any]


def add_causes(
    groups: Frame,
    old: Frame,
    rows: Frame,
    topics: Frame,
    counted: Counted,
    taken_at: int,
    rules: Rules,
) -> Frame:
    """The groups with `cause`, `cause_since` (ms) and `cause_evidence`, and what later runs compare
    with: `kept_up_at` (ms), `kept_up_members`, `kept_up_produce_rate` (records/s).

    `old`: each group's row of the run before; `topics`: each row's partition. A cause is known of
    groups in WARN or ERR, of those that are unusual, and of those with a partition that has no
    leader for a second run. It stays until the group is OK, unless another one is proven; so its
    evidence is of the run that named it. In a run that does not know the status it is kept.
    """
    groups = _add_kept_up(groups, old, taken_at, rules)
    status, unusual = groups.strings("status"), groups.numbers("unusual")
    leaderless = _find_leaderless(rows, taken_at, rules)
    at_group = locate(rows, groups, _GROUP)
    without = Sets(at_group, len(groups)).have(leaderless)
    held_up = groups.numbers("held_up_records").known
    wanted = status.is_in(_BAD) | (unusual == 1) | without | held_up
    kept = ~status.known & ~wanted & groups.strings("last_status").is_in(_BAD)
    if not (wanted.any() or (kept & old.strings("cause").known).any()):
        return groups.with_columns(**_no_causes(len(groups)))
    found: list[Cause | None] = [None] * len(groups)
    chosen = np.flatnonzero(wanted)
    cases = _list_cases(
        chosen, groups, at_group, rows, topics, counted, leaderless, taken_at, rules
    )
    for number, case in zip(chosen.tolist(), cases, strict=True):
        found[number] = _find_cause(case)
    return groups.with_columns(**_keep_causes(found, old, kept))


@dataclass(frozen=True, slots=True)
class Cause:
    """One group's: a name of contract.CAUSES, since when, ms, and the numbers that decided it."""

    name: str
    since: int | None
    evidence: Evidence


def _no_causes(length: int) -> dict[str, AnyColumn]:
    return {
        "cause": Strings.unknown(length),
        "cause_since": Column.unknown(length),
        "cause_evidence": Strings.unknown(length),
    }


def _keep_causes(found: Sequence[Cause | None], old: Frame, kept: Mask) -> dict[str, AnyColumn]:
    """The columns, with a cause of the run before where it still holds."""
    names = old.strings("cause").to_list()
    since = old.numbers("cause_since").to_list()
    evidence = old.strings("cause_evidence").to_list()
    columns: list[tuple[str | None, int | None, str | None]] = []
    for number, cause in enumerate(found):
        last = names[number], since[number], evidence[number]
        if cause is None:
            columns.append(last if kept[number] else (None, None, None))
        elif last[0] is not None and not _replaces(cause.name, last[0]):
            columns.append(last)
        else:
            columns.append((cause.name, cause.since, write_evidence(cause.evidence)))
    return {
        "cause": Strings.of(name for name, _, _ in columns),
        "cause_since": Column.optional([since for _, since, _ in columns]),
        "cause_evidence": Strings.of(text for _, _, text in columns),
    }


def _replaces(name: str, last: str) -> bool:
    """Whether a cause takes the place of the one before.

    While a backlog is worked off, what made it is over: no other one is looked for then.
    """
    if name in (last, contract.UNEXPLAINED):
        return False
    return last == contract.UNEXPLAINED or name in _PROVEN


def write_evidence(evidence: Evidence) -> str:
    """As JSON: rates rounded, names cut, times in ms UTC, what is unknown left out."""
    shown = {name: _shorten(value) for name, value in evidence.items() if value is not None}
    return json.dumps(shown, ensure_ascii=False)


def _shorten(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value[:_LONGEST_NAME] if isinstance(value, str) else value


def _add_kept_up(groups: Frame, old: Frame, taken_at: int, rules: Rules) -> Frame:
    """What the group was like while it kept up.

    Averages over the runs in which it did, as time goes by between two readings.
    """
    age, rate = groups.numbers("time_lag_seconds"), groups.numbers("produce_rate")
    fine = groups.strings("status").is_in([contract.OK]) & is_read(groups)
    fine &= (age <= _KEEPS_UP_INTERVALS * rules.interval_ms / 1_000) & rate.known
    # An age that is a least one proves nothing.
    fine &= groups.numbers("time_lag_error_seconds").known
    now = Column.of(np.full(len(groups), taken_at, np.int64))
    weight = 1.0 - np.exp2(-seconds_between(groups, old).fill(0.0) / _HALF_LIFE)
    values = {"kept_up_produce_rate": rate, "kept_up_members": groups.numbers("members")}
    averages: dict[str, AnyColumn] = {}
    for name, value in values.items():
        last, seen = old.numbers(name), value.only(fine) * 1.0
        averages[name] = (last * (1.0 - weight) + seen * weight).or_else(last).or_else(seen)
    kept_up_at = now.only(fine).or_else(old.numbers("kept_up_at"))
    return groups.with_columns(kept_up_at=kept_up_at, **averages)


def _find_leaderless(rows: Frame, taken_at: int, rules: Rules) -> Mask:
    """Rows that had no leader in this run nor in the one before: an election is over by then."""
    reason = rows.strings("unread_reason").is_in([contract.NO_LEADER])
    if not reason.any():
        return reason
    return reason & (taken_at - rows.numbers("read_at") > 1.5 * rules.interval_ms)


def _lengths(lists: Strings) -> Rows:
    """How many entries each list has; 0 of an unknown one."""
    table = np.array([len(each) for each in lists.categories] or [0], np.int64)
    lengths: Rows = np.where(lists.known, table[np.where(lists.known, lists.codes.values, 0)], 0)
    return lengths


@dataclass(frozen=True, slots=True)
class _Case:
    """One group in trouble, and those of its partitions that count.

    Ages in seconds, rates in records/s, 0 where they are unknown; `before` is None for a group that
    was never seen to keep up. `behind` marks partitions to which it owes its status, `active` those
    with records to read, `still` those whose commit has not moved for half a window, `members` are
    codes, -1 for nobody. `broker`: the one to blame with how many groups and partitions.
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
    broker: _Broker | None

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


def _find_cause(case: _Case) -> Cause:
    for find in _RULES:
        cause = find(case)
        if cause is not None:
            return cause
    return Cause(contract.UNEXPLAINED, _trouble_since(case), _list_rates(case))


def _trouble_since(case: _Case) -> int | None:
    since: int | None = case.group["worst_status_since"]
    return case.kept_up_at if case.kept_up_at is not None else since


def _list_rates(case: _Case) -> Evidence:
    group = case.group
    return {
        "produce_rate": group["produce_rate"],
        "produce_rate_before": group["kept_up_produce_rate"],
        "consume_rate": group["consume_rate"],
        "members": group["members"],
        "members_before": group["kept_up_members"],
        "kept_up_at": case.kept_up_at,
    }


def _find_unavailable(case: _Case) -> Cause | None:
    """No leader; or just those partitions are behind whose followers are out of step."""
    if case.leaderless.any():
        at = int(np.argmax(case.leaderless))
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
    if not case.behind.any() or not case.fine.any():
        return None
    replicas = _lengths(case.topics.strings("replicas"))
    under = _lengths(case.topics.strings("in_sync_replicas")) < replicas
    if not under[case.behind].all() or under[case.fine].any():
        return None
    at = case.worst
    in_sync = _lengths(case.topics.strings("in_sync_replicas"))
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


def _find_reset(case: _Case) -> Cause | None:
    """The commit went back, or lies beyond the end of a log that was made anew."""
    if case.group["worst_status"] not in _RESET:
        return None
    words = case.rows.strings("consumer_status").is_in(_RESET)
    at = int(np.argmax(words))
    return Cause(
        contract.OFFSETS_RESET,
        case.group["worst_status_since"],
        {
            **case.row(at),
            "committed_offset": case.value(at, "committed_offset"),
            "rewound_from": case.value(at, "rewound_from"),
            "end_offset": case.value(at, "end_offset"),
            "partitions": int(words.sum()),
        },
    )


def _find_rebalances(case: _Case) -> Cause | None:
    share = case.group["rebalancing_share"]
    if share is None or share < _REBALANCING:
        return None
    return Cause(
        contract.REBALANCES,
        _trouble_since(case),
        {
            "rebalancing_share": share,
            "members": case.group["members"],
            "consume_rate": case.group["consume_rate"],
            "produce_rate": case.group["produce_rate"],
        },
    )


def _find_stopped(case: _Case) -> Cause | None:
    """Nobody owns what is behind."""
    if case.group["worst_status"] not in _UNOWNED:
        return None
    owned = case.rows.strings("member_id").known
    if owned[case.behind].any():
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


def _find_open_transaction(case: _Case) -> Cause | None:
    """A transaction that is open holds up a group that has read all before it.

    What it holds up makes no WARN, so one that is behind is so for another reason.
    """
    group = case.group
    if group["held_up_records"] is None or group["status"] in _BAD:
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


def _find_retention_race(case: _Case) -> Cause | None:
    """Records are deleted of partitions that are read all the time."""
    lost = case.rows.numbers("records_lost") > 0
    if not lost.any() or case.group["worst_status"] in (contract.STALLED, *_UNOWNED, *_RESET):
        return None
    if not (case.consumed[lost] > 0).all():
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


def _find_slow_broker(case: _Case) -> Cause | None:
    broker = case.broker
    if broker is None:
        return None
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


def _find_hot_partition(case: _Case) -> Cause | None:
    """To each partition that is behind more is written than to any that is not."""
    if not case.behind.any() or not case.fine.any() or case.still[case.behind].any():
        return None
    others = case.produced[case.fine]
    if case.produced[case.behind].min() < max(_HOT * others.mean(), others.max()):
        return None
    if case.behind.sum() > max(1.0, _FEW * case.active.sum()):
        return None
    at = case.worst
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


def _find_stuck_record(case: _Case) -> Cause | None:
    """A commit that does not move, though a member owns the partition, and its peers' do."""
    stalled = case.rows.strings("consumer_status").is_in([contract.STALLED]) & case.behind
    moving = case.active & ~case.still
    if not stalled.any() or not moving.any() or not (case.consumed[moving] > 0).any():
        return None
    if stalled.sum() > max(1.0, _FEW * case.active.sum() / 2) or (case.behind & ~stalled).any():
        return None
    at = case.worst
    own = case.active & (case.members == case.members[at])
    if own.sum() > 1 and case.still[own].all():
        return None
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


def _find_by_rates(case: _Case) -> Cause | None:
    """What changed since the group kept up: what is written, what is read, or by how many.

    `was` is what was written to what is behind while the group kept up, so what it read of it then:
    in the proportions of now, as those of then are not kept.
    """
    group, before = case.group, case.group["kept_up_produce_rate"]
    written = float(case.produced.sum())
    if not case.behind.any() or not written:
        return None
    slow = _find_only_member(case)
    if before is None or before <= 0:
        return slow or _find_too_few_since_ever(case, written)
    tolerance = max(_SAME_RATE, _NO_NOISE / np.sqrt(before * _RATE_SECONDS))
    grown = written / before
    was = float(case.produced[case.behind].sum()) / grown
    read = float(case.consumed[case.behind].sum()) / was
    rose, fell = grown >= 1.0 + tolerance, read <= 1.0 - tolerance
    left = _find_too_few_members(case)
    if left is not None and not rose:
        return left
    if fell and slow is not None and read * grown < 1.0:
        return slow
    if not _is_spread(case) and not rose:
        return None
    if rose and (not fell or grown * read >= 1.0):
        return Cause(contract.MORE_PRODUCED, case.kept_up_at, _list_rates(case))
    if fell and group["members"]:
        return Cause(
            contract.CAPACITY_FELL,
            case.kept_up_at,
            {**_list_rates(case), "consume_rate_before": before},
        )
    return None


def _find_too_few_members(case: _Case) -> Cause | None:
    """Members left, and those that stay read as much as each did before."""
    members, before = case.group["members"], case.group["kept_up_members"]
    written, read = case.group["kept_up_produce_rate"], case.group["consume_rate"]
    if not members or before is None or read is None or members > before - _MEMBERS_LEFT:
        return None
    if read / members < _AS_FAST * written / before:
        return None
    return Cause(contract.TOO_FEW_MEMBERS, case.kept_up_at, _list_rates(case))


def _find_too_few_since_ever(case: _Case, written: float) -> Cause | None:
    """A group that never kept up, whose members read all the time as much as they can."""
    members, capacity = case.group["members"], case.group["capacity"]
    if not members or capacity is None or members >= case.active.sum():
        return None
    if members * capacity > written * (1.0 - _SAME_RATE) or not _is_spread(case):
        return None
    return Cause(
        contract.TOO_FEW_MEMBERS,
        case.group["worst_status_since"],
        {**_list_rates(case), "capacity": capacity},
    )


def _is_spread(case: _Case) -> bool:
    """Whether nearly every member with something to read is behind."""
    owned = case.members >= 0
    if not owned[case.active].any():
        return bool(case.behind.sum() * 2 >= case.active.sum())
    behind = np.unique(case.members[case.behind & owned])
    return len(behind) * 4 >= 3 * len(np.unique(case.members[case.active & owned]))


def _find_only_member(case: _Case) -> Cause | None:
    """One member is behind with what it owns, or with one partition of it; no other member is."""
    members = np.unique(case.members[case.behind])
    others = case.active & (case.members != members[0])
    if len(members) != 1 or members[0] < 0 or not others.any():
        return _find_slow_partition(case)
    own = case.active & (case.members == members[0])
    if case.behind.sum() < _OF_PARTITIONS * own.sum():
        return _find_slow_partition(case)
    owned = others & (case.members >= 0)
    loads = np.bincount(case.members[owned], case.produced[owned])
    load = float(case.produced[own].sum())
    written = loads[loads > 0]
    if len(written) and load > _HOT * written.mean():
        return None
    at = case.worst
    return Cause(
        contract.SLOW_MEMBER,
        case.kept_up_at,
        {
            "member": case.value(at, "member_id"),
            "client": case.value(at, "client_id"),
            "host": case.value(at, "client_host"),
            "partitions": int(own.sum()),
            "consume_rate": float(case.consumed[own].sum()),
            "produce_rate": load,
            "other_members_behind": 0,
        },
    )


def _find_slow_partition(case: _Case) -> Cause | None:
    """One partition is behind, and its member reads its others in time: its records take longer."""
    at = case.worst
    own = case.active & (case.members == case.members[at])
    if case.behind.sum() > 1 or own.sum() == 1 or case.members[at] < 0 or case.still[at]:
        return None
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


def _find_unusual(case: _Case) -> Cause | None:
    """Of a group that is OK: more is written than at this hour of other weeks."""
    usual, written = case.group["usual_produce_rate"], case.group["produce_rate"]
    if case.group["status"] in _BAD or usual is None or written is None:
        return None
    if written < _HOT * usual:
        return None
    return Cause(
        contract.MORE_PRODUCED,
        case.group["unusual_since"],
        {"produce_rate": written, "usual_produce_rate": usual},
    )


# The first that finds one: what statuses and readings prove, then what figures beside each other
# show.
_RULES = (
    _find_unavailable,
    _find_reset,
    _find_rebalances,
    _find_open_transaction,
    _find_stopped,
    _find_retention_race,
    _find_hot_partition,
    _find_slow_broker,
    _find_stuck_record,
    _find_by_rates,
    _find_unusual,
)


@dataclass(frozen=True, slots=True)
class _Broker:
    """A broker under which several groups are behind, and nowhere else; with counts of them."""

    id: int
    groups: int
    partitions: int


def _list_cases(
    chosen: Rows,
    groups: Frame,
    at_group: Rows,
    rows: Frame,
    topics: Frame,
    counted: Counted,
    leaderless: Mask,
    taken_at: int,
    rules: Rules,
) -> Iterator[_Case]:
    """The groups that were chosen, one after another."""
    sets = counted.counts.sets(Sets(at_group, len(groups)))
    behind, active = _find_behind(sets, counted)
    brokers = _blame_brokers(sets, rows, active, behind)
    age = counted.counts.age.fill(0.0)
    produced, consumed = counted.produce_rate.fill(0.0), rows.numbers("consume_rate").fill(0.0)
    changed = rows.numbers("commit_changed_at")
    still = behind & (taken_at - changed >= rules.window_ms / 2)
    owners = rows.strings("member_id").codes
    members = np.where(owners.known, owners.values, -1)
    place = np.full(len(groups) + 1, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    of_row = place[sets.of_row]
    order = np.argsort(of_row, kind="stable")
    bounds = np.searchsorted(of_row[order], np.arange(len(chosen) + 1))
    table = groups.lazy_take(chosen)
    columns = {name: table.columns[name].to_list() for name in _GROUP_COLUMNS}
    for number, group in enumerate(chosen.tolist()):
        at = order[bounds[number] : bounds[number + 1]]
        yield _Case(
            group={name: values[number] for name, values in columns.items()},
            rows=rows.lazy_take(at),
            topics=topics.lazy_take(at),
            age=age[at],
            produced=produced[at],
            consumed=consumed[at],
            active=active[at],
            behind=behind[at],
            still=still[at],
            leaderless=leaderless[at],
            members=members[at],
            broker=brokers.get(group),
        )


def _find_behind(sets: Sets, counted: Counted) -> tuple[Mask, Mask]:
    """Rows that are behind by a part of their group's worst, and those with records to read."""
    counts = counted.counts
    lagging = counted.lagging()
    oldest = sets.maximum(counts.age.only(lagging)).fill(0.0)
    limit = np.maximum(np.append(oldest, 0.0) * _BEHIND_SHARE, _BEHIND_SECONDS)[sets.of_row]
    behind = lagging & (counts.age >= limit)
    active = lagging | (counted.produce_rate > 0)
    return behind, active


def _blame_brokers(sets: Sets, rows: Frame, active: Mask, behind: Mask) -> dict[int, _Broker]:
    """By group, the broker that it owes its lag to, where it does.

    It does where all that is behind lies under one broker, and most of what it reads there is, and
    the same is so of most other groups that read there.
    """
    leader = rows.numbers("leader")
    leaders = leader.values.astype(np.int64)
    counts = active & leader.known & (sets.of_row < sets.count)
    bad = behind & counts
    if not bad.any():
        return {}
    found: dict[int, _Broker] = {}
    for broker in np.unique(leaders[bad]).tolist():
        here = counts & (leaders == broker)
        there, ill = sets.rows(here).values, sets.rows(here & bad).values
        elsewhere = sets.rows(bad).values > ill
        others = sets.rows(counts & ~here).values
        blamed = (ill > 0) & ~elsewhere & (others > 0) & (ill >= _OF_PARTITIONS * there)
        groups = np.flatnonzero(blamed)
        if len(groups) < max(_GROUPS, _OF_GROUPS * (there > 0).sum()):
            continue
        among = here & bad & np.append(blamed, False)[sets.of_row]
        partitions, _ = distinct(
            rows.strings("topic").codes.values[among].astype(np.int64),
            rows.numbers("partition_id").values[among].astype(np.int64),
        )
        if partitions.count < _PARTITIONS:
            continue
        for group in groups.tolist():
            found[group] = _Broker(broker, len(groups), partitions.count)
    return found


_GROUP_COLUMNS = (
    *("status", "worst_status", "worst_status_since", "members", "rebalancing_share"),
    *("produce_rate", "consume_rate", "capacity", "loss_since", "unusual_since"),
    *("usual_produce_rate", "kept_up_at", "kept_up_members", "kept_up_produce_rate"),
    *("held_up_records", "open_transaction_since"),
    *("open_transaction_topic", "open_transaction_partition"),
)
