# SPDX-License-Identifier: Apache-2.0
"""Rules for causes that rates make likely: the changes since the group kept up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.cause_case import (
    Case,
    Cause,
    Evidence,
    Finding,
    RuledOut,
    count_behind,
    list_rates,
)
from kafka_lag.lag.cause_peers import (
    HOT,
    count_members,
    has_busier_peer,
    is_spread,
    weigh_slow_member,
    weigh_slow_partition,
)

# Rates that differ by less than this share are the same, or by less than this many standard
# deviations of the records of a window, if they come at random: rates are averages over about that.
_SAME_RATE, _NO_NOISE = 0.1, 3.0
# A member has left if members are this many below their average.
_MEMBERS_LEFT = 0.6
# A member that reads this share of what it read before is as fast as before.
_AS_FAST = 0.85
# Rates show what members can read only if less than this share of the last runs saw a rebalance.
_SETTLED = 0.25
_BY_RATES = (
    contract.TOO_FEW_MEMBERS,
    contract.SLOW_MEMBER,
    contract.MORE_PRODUCED,
    contract.CAPACITY_FELL,
)


def weigh_rates(case: Case) -> Iterator[Finding]:
    """Yields what changed since the group kept up: records written, records read, or members.

    No cause fits if less than a record a window is written to the partitions behind, because the
    rate at which they were read before is then unknown.
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
            yield RuledOut(name, lambda: {**count_behind(case), "produce_rate": to_behind})
        return
    change = _compare(case, written)
    if change is None:
        yield weigh_slow_member(case)
        yield weigh_slow_partition(case)
        yield _weigh_too_few_since_ever(case, written)
        for name in (contract.MORE_PRODUCED, contract.CAPACITY_FELL):
            yield RuledOut(name, lambda: {"kept_up": False})
        return
    slow = weigh_slow_member(case)
    if isinstance(slow, Cause) and has_busier_peer(case):
        yield slow
    yield _weigh_too_few_members(case, change)
    if change.fell and not change.keeps_pace:
        yield weigh_slow_member(case)
        yield weigh_slow_partition(case)
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


@dataclass(frozen=True, slots=True)
class _Change:
    """Records written (`grown`) and read now, as shares of the rates when the group kept up.

    `before`: records/s written then. `read` is of the partitions behind: what was written to them
    then, and so read, is estimated by the present proportions, because earlier ones are not stored.
    Shares within `tolerance` of 1 are the same.
    """

    before: float
    grown: float
    read: float
    tolerance: float

    @property
    def rose(self) -> bool:
        """Returns true if more is written."""
        return self.grown >= 1.0 + self.tolerance

    @property
    def fell(self) -> bool:
        """Returns true if less is read."""
        return self.read <= 1.0 - self.tolerance

    @property
    def keeps_pace(self) -> bool:
        """Returns true if as much is read as is written on the partitions behind."""
        return self.grown * self.read >= 1.0


def _compare(case: Case, written: float) -> _Change | None:
    """Returns the change; None if the group never kept up, or not since it was unread for long."""
    before = case.group["kept_up_produce_rate"]
    if before is None or before <= 0:
        return None
    tolerance = max(_SAME_RATE, _NO_NOISE / np.sqrt(before * case.window))
    grown = written / before
    written_then = float(case.produced[case.behind].sum()) / grown
    read = float(case.consumed[case.behind].sum()) / written_then
    return _Change(before, grown, read, float(tolerance))


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
        return Cause(contract.MORE_PRODUCED, case.kept_up_at, list_rates(case))
    written = _describe_written(change)
    return RuledOut(
        contract.MORE_PRODUCED,
        lambda: {**written, **_describe_read(change)} if change.rose else written,
    )


def _weigh_capacity(case: Case, change: _Change) -> Finding:
    """Weighs `capacity_fell`: less is read, by nearly all members unless more is also written."""
    if change.fell and case.group["members"] and (change.rose or is_spread(case)):
        return Cause(
            contract.CAPACITY_FELL,
            case.kept_up_at,
            {**list_rates(case), "consume_rate_before": change.before},
        )
    members = count_members(case) if change.fell else {}
    return RuledOut(contract.CAPACITY_FELL, lambda: {**_describe_read(change), **members})


def _weigh_too_few_members(case: Case, change: _Change) -> Finding:
    """Weighs `too_few_members`: members left, and each of the others reads as much as before.

    If more is written as well, it fits only if the remaining members read less than was written
    before, and the earlier number of members would read all that is written now.
    """
    members, before = case.group["members"], case.group["kept_up_members"]
    written, read = case.group["kept_up_produce_rate"], case.group["consume_rate"]
    known = bool(members) and before is not None and read is not None
    left = known and members <= before - _MEMBERS_LEFT
    would_do = left and read < written * (1.0 - change.tolerance)
    would_do = would_do and before * read / members >= change.grown * change.before
    if left and read / members >= _AS_FAST * written / before and (not change.rose or would_do):
        return Cause(contract.TOO_FEW_MEMBERS, case.kept_up_at, list_rates(case))

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
    """Weighs `too_few_members`: the group never kept up, and its members read all they can."""
    members, capacity = case.group["members"], case.group["capacity"]
    if (
        case.kept_up_at is not None
        or not members
        or capacity is None
        or members >= case.active.sum()
        or members * capacity > written * (1.0 - _SAME_RATE)
        or not is_spread(case)
    ):
        return RuledOut(
            contract.TOO_FEW_MEMBERS,
            lambda: {
                "kept_up": False,
                "members": members,
                "partitions_read": int(case.active.sum()),
                "capacity": capacity,
                "produce_rate": written,
                **count_members(case),
            },
        )
    return Cause(
        contract.TOO_FEW_MEMBERS,
        case.group["worst_status_since"],
        {**list_rates(case), "capacity": capacity},
    )


def weigh_unusual(case: Case) -> Finding:
    """Weighs `more_produced` for a group in OK: more than at this hour of other weeks."""
    usual, written = case.group["usual_produce_rate"], case.group["produce_rate"]
    if usual is None or written is None or written < HOT * usual:
        return RuledOut(
            contract.MORE_PRODUCED,
            lambda: {
                "produce_rate": written,
                "usual_produce_rate": usual,
                "produce_rate_from": None if usual is None else HOT * usual,
            },
        )
    return Cause(
        contract.MORE_PRODUCED,
        case.group["unusual_since"],
        {"produce_rate": written, "usual_produce_rate": usual},
    )
