# SPDX-License-Identifier: Apache-2.0
"""Chooses the advice on a group, from its cause, status, members and SLA.

No other module decides what to do first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lag import contract
from kafka_lag.wording.causes import (
    ASK_WHETHER_RECREATED,
    ASK_WHO_REWOUND,
    END_TRANSACTION,
    FIND_RESTLESS,
    FULL_STORE,
    START,
    advise_on_broker,
    advise_on_cause,
    advise_on_stop,
    say_full,
    say_members,
)
from kafka_lag.wording.formatting import format_name
from kafka_lag.wording.words import SAME_RATE, breaks_sla, is_always_rebalancing, is_share_group

# Causes whose advice holds whatever the consumers do now.
_WHATEVER_THEY_DO = (
    *contract.NOT_OF_CONSUMERS,
    contract.OFFSETS_RESET,
    contract.SETTINGS_CHANGED,
)
# Causes whose own advice is about retention.
_OF_RETENTION = (contract.RETENTION_RACE, contract.SETTINGS_CHANGED)
# Causes that rates make likely say nothing about a consumer that stands still by now.
_LIKELY = (
    contract.MORE_PRODUCED,
    contract.CAPACITY_FELL,
    contract.TOO_FEW_MEMBERS,
    contract.HOT_PARTITION,
    contract.RETENTION_RACE,
    contract.CATCHING_UP,
    contract.UNEXPLAINED,
)
_STANDS = "look at the log of its member: usually one record fails again and again, or a call hangs"
_BY_STATUS = {
    contract.STALLED: _STANDS,
    contract.REWOUND: ASK_WHO_REWOUND,
    contract.BEYOND_END: ASK_WHETHER_RECREATED,
}
_LATE_ON_PURPOSE = (
    "it reads as fast as records are written, but late: find out whether it waits on purpose or "
    "commits seldom; if not, it must be faster until it has caught up"
)
# A group to which this many times the usual rate is written is flooded by its producers.
_FLOOD = 2.0


def advise(row: Mapping[str, Any]) -> str | None:
    """Returns a clause with the advice for a row of `groups`; None if nothing is wrong.

    Columns that are missing count as unknown.
    """
    first = _advise_first(row)
    parts = [first] if first else []
    if _may_lose(row) and row.get("cause") not in _OF_RETENTION:
        topic = _name_only_topic(row) or "the topic"
        parts.insert(0, f"raise retention.ms or retention.bytes of {topic}")
    if first == START:
        # Denying a group keeps its commits. Deleting it would lose its place, should it be needed
        # again.
        parts[-1] += (
            f"; or, if {_name_owner(row)} says that nobody needs it, name the group in groups.deny "
            "of the reporter's configuration"
        )
    return "; then ".join(parts) or None


def advise_on_deleted(row: Mapping[str, Any]) -> str:
    """Returns what to do about a group that is gone."""
    return f"ask {_name_owner(row)} whether it was meant"


def advise_on_skip() -> str:
    """Returns what to do about records if it is unknown whether they were read or skipped."""
    return "compare its results with the topic"


def advise_on_records_below_commit() -> str:
    """Returns what to do about records that were written below the commit and never read."""
    return "set its offsets back to before the skipped records if they must be read"


def _name_owner(row: Mapping[str, Any]) -> str:
    return format_name(row["owner"]) if row.get("owner") else "its owner"


def _advise_first(row: Mapping[str, Any]) -> str | None:
    cause, worst = row.get("cause"), row.get("worst_status")
    if cause in _WHATEVER_THEY_DO:
        return advise_on_cause(row)
    if not worst and row.get("held_up_records") is not None:
        return END_TRANSACTION
    if not (cause or worst or breaks_sla(row)):
        return None
    if is_always_rebalancing(row) and row.get("members") != 0:
        return FIND_RESTLESS
    if row.get("members") == 0 or worst in (contract.STOPPED, contract.NO_MEMBER):
        return advise_on_stop(row)
    if worst in _BY_STATUS and (cause is None or cause in _LIKELY):
        return _BY_STATUS[worst]
    if cause not in (None, contract.UNEXPLAINED) and (to_do := advise_on_cause(row)):
        return to_do
    if worst in contract.STATUSES_BY_RATES:
        return _advise_speed(row)
    if breaks_sla(row):
        return _advise_late(row)
    return advise_on_cause(row)


def _may_lose(row: Mapping[str, Any]) -> bool:
    left = row.get("seconds_until_loss")
    return bool(row.get("records_lost")) or (left is not None and left < contract.NO_LOSS_SECONDS)


def _advise_late(row: Mapping[str, Any]) -> str:
    """Returns what to do about an SLA that is broken while the status is OK."""
    written, read = row.get("produce_rate"), row.get("consume_rate")
    if written and read is not None:
        if read <= written * SAME_RATE:
            return _STANDS
        if abs(read - written) < written * SAME_RATE:
            return _LATE_ON_PURPOSE
    return _advise_speed(row)


def _advise_speed(row: Mapping[str, Any]) -> str:
    """Returns what may make a group read faster."""
    if of_broker := advise_on_broker(row):
        return of_broker
    written, usual = row.get("produce_rate"), row.get("usual_produce_rate")
    times = written / usual if row.get("unusual") and written and usual else 0.0
    member = format_name(row["worst_member"]) if row.get("worst_member") else None
    parts, faster = [], f"find the slow step{f' in {member}' if member else ''}"
    if times >= _FLOOD:
        topic = _name_only_topic(row) or "its topics"
        parts.append(f"ask the producers of {topic} why they write {times:.0f} times as much")
        faster = f"make {member or 'it'} faster"
    members, partitions = row.get("members"), row.get("partitions")
    if row.get("shared_limit_members") is not None:
        parts.append(f"{faster}; {FULL_STORE}")
    elif is_share_group(row):
        parts.append(f"add consumers, or {faster}")
    elif not members or not partitions:
        add = "add consumers, as many as there are partitions at most, or"
        parts.append(f"{add} {faster}")
    elif members < partitions:
        parts.append(f"add consumers: {say_members(members, partitions)}; or {faster}")
    else:
        parts.append(f"{faster}; more consumers do not help, because {say_full(partitions)}")
    return "; then ".join(parts)


def _name_only_topic(row: Mapping[str, Any]) -> str | None:
    """Returns the group's only topic; None if there are several."""
    is_only = row.get("topics") == 1 and row.get("worst_topic") is not None
    return format_name(row["worst_topic"]) if is_only else None
