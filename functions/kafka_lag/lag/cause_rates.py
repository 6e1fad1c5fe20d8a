# SPDX-License-Identifier: Apache-2.0
"""Rules for causes that a comparison makes likely: of partitions and members with each other, and
of rates with those of runs in which the group kept up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.cause_case import NEARLY_ALL, Case, Cause, Evidence
from kafka_lag.lag.cause_proofs import find_last_move, find_slow_restarts
from kafka_lag.lag.columns import Mask
from kafka_lag.lag.sets import unique

# A hot partition gets this many times what others of its topic get; at most this share can be hot.
HOT, _MOST_HOT = 1.5, 0.34
# A member is as busy as another if this share of the other's records is written to it.
_AS_BUSY = 0.95
# Several slow members are at most this share of all: of more it is the group that is slow.
_MOST_SLOW = 0.75
# Rates that differ by less than this share are the same, or by less than this many standard
# deviations of the records of a window, if they come at random: rates are averages over about that.
_SAME_RATE, _NO_NOISE = 0.1, 3.0
# A member has left if members are this many below their average.
_MEMBERS_LEFT = 0.6
# A member that reads this share of what it read before is as fast as before.
_AS_FAST = 0.85
# Averages have a half-life of half a window: after so many, little of the time before is in them.
_AVERAGES_WINDOWS = 2.0
# Rates show what members can read only if less than this share of the last runs saw a rebalance.
FEW_REBALANCES = 0.25


def weigh_catching_up(case: Case) -> Cause | None:
    """Weighs `catching_up`: nothing is wrong any more, and the backlog of an earlier time shrinks.

    For some windows after a cause is over the averages cover the time before, so a lag that does
    not grow is enough.
    """
    change = _compare(case)
    normal = change is None or not (change.behind.rose or change.all.rose)
    if change is not None and change.all.fell:
        # The average may not have seen yet that the group reads as much as before.
        normal &= case.read_lately >= (1.0 - change.all.tolerance) * change.all.before
    growing = case.group["trend"] == contract.GROWING
    moves = case.behind.any() and not case.still[case.behind].all()
    after = False
    if case.over_for is not None and moves:
        # The trend covers nearly half a window.
        after = case.over_for < case.window * (0.5 if growing else _AVERAGES_WINDOWS)
    if case.group["lag"] == 0 or (not (case.drains and normal) and not after):
        return None
    # Averages cover the time before, in which the group may have read nothing.
    shrank_by = case.shrank_by
    shrinks = shrank_by is not None and shrank_by > 0
    return Cause(
        contract.CATCHING_UP,
        case.since,
        {
            "consume_rate": None if shrank_by is None else case.read_lately,
            "produce_rate": float(case.written[case.active].sum()),
            "drain_seconds": case.group["lag"] / shrank_by if shrinks else None,
        },
    )


def find_hot(case: Case) -> tuple[Mask, Mask]:
    """Marks partitions behind that get more records than all others of their topic, and those that
    wait for one, because they have the same member."""
    none = np.zeros_like(case.behind)
    if case.is_shared:
        return none, none
    hot, topics = none.copy(), case.rows.strings("topic").codes.fill(-1)
    for topic in unique(topics[case.behind]).tolist():
        others = case.produced[case.fine & (topics == topic)]
        if len(others):
            needed = max(HOT * others.mean(), others.max())
            hot |= case.behind & (topics == topic) & (case.produced >= needed)
    waits = case.behind & ~hot & (case.members >= 0) & np.isin(case.members, case.members[hot])
    if hot.sum() > max(1.0, _MOST_HOT * case.active.sum()) or case.still[hot].any():
        return none, none
    return hot, waits


def weigh_hot_partition(case: Case, hot: Mask) -> Cause | None:
    """Weighs `hot_partition`: some of those behind are `hot`."""
    if not hot.any():
        return None
    at = int(np.argmax(np.where(hot, case.age, -1.0)))
    return Cause(
        contract.HOT_PARTITION,
        case.since,
        {
            **case.row(at),
            "key_skew": True,
            "produce_rate": float(case.produced[at]),
            "produce_rate_of_others": float(case.produced[case.active & ~hot].mean()),
            "consume_rate": float(case.consumed[at]),
        },
    )


def weigh_slow_partition(case: Case) -> Cause | None:
    """Weighs `hot_partition`: one is behind, its member's others are not: its records are slow."""
    if not case.behind.any() or case.is_shared:
        return None
    at = case.worst
    own = case.active & (case.members == case.members[at])
    if case.behind.sum() > 1 or own.sum() == 1 or case.members[at] < 0 or case.still[at]:
        return None
    return Cause(
        contract.HOT_PARTITION,
        case.since,
        {
            **case.row(at),
            "key_skew": False,
            "offset": case.value(at, "committed_offset"),
            "produce_rate": float(case.produced[at]),
            "consume_rate": float(case.consumed[at]),
            "partitions_of_member_in_time": int(own.sum()) - 1,
        },
    )


def weigh_slow_members(case: Case) -> Cause | None:
    """Weighs `slow_member`, and `slow_members` if there are several: they are behind with nearly
    all that they own, and no other member is."""
    down = case.list_down()
    own = case.active & np.isin(case.members, down)
    others = case.active & ~own
    name = contract.SLOW_MEMBERS if len(down) > 1 else contract.SLOW_MEMBER
    counts = case.count_members()
    if (
        not len(down)
        or case.is_shared
        or (case.behind & ~own).any()
        or not others.any()
        or len(down) > max(1.0, _MOST_SLOW * counts["members_read"])
        or (len(down) > 1 and is_all_of_one_leader(case))
    ):
        return None
    owned = ~own & (case.members >= 0)
    written = np.bincount(case.members[owned], case.produced[owned])
    written, load = written[written > 0], float(case.produced[own].sum()) / len(down)
    if len(written) and load > HOT * written.mean():
        return None
    at, stands = case.worst, bool(case.still[own].all())
    return Cause(
        name,
        case.since,
        {
            "member": case.value(at, "member_id"),
            "client": case.value(at, "client_id"),
            "host": case.value(at, "client_host"),
            "hosts": _list_hosts(case, own) if len(down) > 1 else None,
            **(counts if len(down) > 1 else {}),
            "partitions": int(own.sum()),
            "consume_rate": 0.0 if stands else float(case.consumed[own].sum()),
            "produce_rate": float(case.produced[own].sum()),
            "stands_since": find_last_move(case, own) if stands else None,
            "other_members_behind": 0,
        },
    )


def _list_hosts(case: Case, rows: Mask) -> str:
    hosts = case.rows.strings("client_host").to_list()
    found = {str(hosts[at]).removeprefix("/") for at in np.flatnonzero(rows).tolist()}
    return ", ".join(sorted(found))


def is_all_of_one_leader(case: Case) -> bool:
    """Returns true if all that is behind, and nothing that is not, is led by one broker: it may be
    slow as well as the members."""
    leaders = case.rows.numbers("leader").fill(-1)
    of_behind = unique(leaders[case.behind])
    return len(of_behind) == 1 and not (case.fine & (leaders == of_behind[0])).any()


def _has_busier_peer(case: Case) -> bool:
    """Returns true if another member gets at least as many records as the one behind, which then is
    slow itself, whatever was written and read before."""
    owned = case.owned
    loads = np.bincount(case.members[owned], case.produced[owned])
    down = case.list_down()
    return bool((np.delete(loads, down) >= _AS_BUSY * loads[down].max()).any())


def _is_spread(case: Case) -> bool:
    """Returns true if nearly all members are behind with nearly all that they own; without members,
    nearly all partitions."""
    if not case.owned.any():
        return bool(case.behind.sum() >= NEARLY_ALL * case.active.sum())
    return len(case.list_down()) >= NEARLY_ALL * case.count_members()["members_read"]


def weigh_rates(case: Case) -> Iterator[Cause | None]:
    """Yields what changed since the group kept up: records written, records read, or members.

    Rates say nothing in the window after a cause is over, during rebalances, and if less than a
    record a window is written to the partitions behind.
    """
    is_fresh = case.over_for is not None and case.over_for < case.window
    rebalances = (case.group["rebalancing_share"] or 0.0) >= FEW_REBALANCES
    if is_fresh or rebalances or case.produced[case.behind].sum() * case.window < 1.0:
        return
    change = _compare(case)
    slow = weigh_slow_members(case)
    if change is None:
        yield slow
        yield weigh_slow_partition(case)
        yield _weigh_too_few_since_ever(case)
        return
    if slow is not None and _has_busier_peer(case):
        yield slow
    yield _weigh_too_few_members(case, change)
    if change.behind.fell and not change.keeps_pace:
        yield slow
        yield weigh_slow_partition(case)
    yield _weigh_more_produced(case, change)
    yield _weigh_capacity(case, change)


@dataclass(frozen=True, slots=True)
class _Share:
    """Records written (`grown`) and read of some partitions, as shares of what was written to them
    `before`, in records/s, while the group kept up. `lately`: written in the last half window.

    Shares within `tolerance` of 1 are the same.
    """

    before: float
    grown: float
    lately: float
    read: float
    tolerance: float

    @property
    def rose(self) -> bool:
        """Returns true if more is written, and still was in the last half window."""
        return min(self.grown, self.lately) >= 1.0 + self.tolerance

    @property
    def fell(self) -> bool:
        """Returns true if less is read."""
        return self.read <= 1.0 - self.tolerance


@dataclass(frozen=True, slots=True)
class _Change:
    """What changed since the group kept up, for the partitions `behind` and for all.

    `keeps_pace`: as much is read as is written where it is behind.
    """

    behind: _Share
    all: _Share
    keeps_pace: bool


def _compare(case: Case) -> _Change | None:
    """Returns the change; None if the group never kept up, or not since it was unread for long."""
    known = case.before > 0
    if not case.group["kept_up_produce_rate"] or not (case.behind & known).any():
        return None
    behind, every = (_compare_rows(case, rows & known) for rows in (case.behind, case.active))
    written, read = (each[case.behind].sum() for each in (case.produced, case.consumed))
    return _Change(behind, every, bool(read >= written))


def is_more_written(case: Case) -> bool:
    """Returns true if more is written than while the group kept up."""
    change = _compare(case)
    return change is not None and (change.behind.rose or change.all.rose)


def _compare_rows(case: Case, rows: Mask) -> _Share:
    before = float(case.before[rows].sum())
    grown, lately, read = (
        float(each[rows].sum()) / before for each in (case.produced, case.written, case.consumed)
    )
    tolerance = max(_SAME_RATE, _NO_NOISE / float(np.sqrt(before * case.window)))
    return _Share(before, grown, lately, read, tolerance)


def _weigh_more_produced(case: Case, change: _Change) -> Cause | None:
    """Weighs `more_produced`: more is written in all or to what is behind, and as much is read."""
    if (change.all.rose and (not change.all.fell or change.keeps_pace)) or (
        change.behind.rose and (not change.behind.fell or change.keeps_pace)
    ):
        return Cause(
            contract.MORE_PRODUCED,
            case.since,
            {**case.list_rates(), **_name_grown_topic(case)},
        )
    return None


def _name_grown_topic(case: Case) -> Evidence:
    """Returns the topic that grew most and its rates; nothing if the group reads only one."""
    codes = case.rows.strings("topic").codes.fill(-1)
    topics = unique(codes[case.active])
    if len(topics) == 1:
        return {}
    more = [float((case.produced - case.before)[codes == topic].sum()) for topic in topics]
    here = codes == topics[int(np.argmax(more))]
    return {
        "topic": case.value(int(np.argmax(here)), "topic"),
        "topic_rate": float(case.produced[here].sum()),
        "topic_rate_before": float(case.before[here].sum()),
    }


def _weigh_capacity(case: Case, change: _Change) -> Cause | None:
    """Weighs `capacity_fell`: nearly all members read less, of nearly all that they own."""
    if change.behind.fell and case.group["members"] and _is_spread(case):
        return find_slow_restarts(case) or Cause(
            contract.CAPACITY_FELL,
            case.since,
            {**case.list_rates(), "consume_rate_before": change.all.before},
        )
    return None


def have_members_left(case: Case) -> bool:
    """Returns true if the group has fewer members than while it kept up."""
    members, before = case.group["members"], case.group["kept_up_members"]
    return bool(members) and before is not None and members <= before - _MEMBERS_LEFT


def _weigh_too_few_members(case: Case, change: _Change) -> Cause | None:
    """Weighs `too_few_members`: members left, and each of the others reads as much as before.

    If more is written as well, it fits only if the remaining members read less than was written
    before, and the earlier number of members would read all that is written now.
    """
    members, before = case.group["members"], case.group["kept_up_members"]
    written, read = case.group["kept_up_produce_rate"], case.group["consume_rate"]
    left = have_members_left(case) and read is not None
    would_do = left and read < written * (1.0 - change.all.tolerance)
    would_do = would_do and before * read / members >= change.all.grown * change.all.before
    as_fast = left and read / members >= _AS_FAST * written / before
    if as_fast and (not change.all.rose or would_do):
        return Cause(contract.TOO_FEW_MEMBERS, case.since, case.list_rates())
    return None


def _weigh_too_few_since_ever(case: Case) -> Cause | None:
    """Weighs `too_few_members`: the group never kept up, and its members read all they can."""
    members, capacity = case.group["members"], case.group["capacity"]
    written = float(case.produced.sum())
    if (
        case.group["kept_up_at"] is not None
        or not members
        or capacity is None
        or (members >= case.active.sum() and not case.is_shared)
        or members * capacity > written * (1.0 - _SAME_RATE)
        or not _is_spread(case)
    ):
        return None
    evidence = {**case.list_rates(), "capacity": capacity}
    return Cause(contract.TOO_FEW_MEMBERS, case.since, evidence)


def weigh_unusual(case: Case) -> Cause | None:
    """Weighs `more_produced` for a group in OK: more than at this hour of other weeks."""
    usual, written = case.group["usual_produce_rate"], case.group["produce_rate"]
    if usual is None or written is None or written < HOT * usual:
        return None
    return Cause(
        contract.MORE_PRODUCED,
        case.group["unusual_since"],
        {"produce_rate": written, "usual_produce_rate": usual},
    )
