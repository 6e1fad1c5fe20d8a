# SPDX-License-Identifier: Apache-2.0
"""Explains why a group needs a number of tasks, and why more tasks would not help it.

Names in sentences are not escaped: escape them if strangers' names may do harm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_lag import contract
from kafka_lag.wording.causes import START, advise_on_cause, describe_cause
from kafka_lag.wording.evidence import read_evidence
from kafka_lag.wording.formatting import format_count, format_quantity, format_rate, format_share
from kafka_lag.wording.words import MEANINGS, find_word, is_share_group

# Statuses of a consumer that another member would have as well.
_WHATEVER_THE_TASKS = (contract.STALLED, contract.BEYOND_END)
# Causes that more tasks do not change: a partition has one reader, and a new one hangs as well.
_IN_VAIN = (
    *contract.NOT_OF_CONSUMERS,
    contract.STUCK_RECORD,
    contract.HOT_PARTITION,
    contract.HUNG,
)
# If all partitions get too much, a partition is named that gets this many times an even share.
_HOT = 1.5


def explain_tasks_needed(group: Mapping[str, Any]) -> str:
    """Returns why a group needs its number of tasks, or why the number is unknown, from its row."""
    reason, partition = group["tasks_needed_reason"], group["hottest_partition"]
    if reason in _WHY_UNKNOWN:
        return _WHY_UNKNOWN[reason]
    member = f"one member reads {format_rate(group['capacity'])}"
    written = f"{format_rate(_find_written(group) or 0.0)} are written, {member}"
    match reason:
        case contract.NEEDED_FOR_RECENT_RATE:
            greatest = format_rate(max(group["rates_lately"] or (0.0,)))
            return f"up to {greatest} were written in the last 15 minutes, {member}"
        case contract.NEEDED_FOR_BACKLOG:
            return f"{written}, {format_count(group['lag'])} records lie there"
        case contract.NEEDED_FOR_HOT_PARTITION:
            share = format_share(group["hottest_share"])
            return f"{written}; partition {partition} of {group['hottest_topic']} carries {share}"
        case contract.LIMITED_BY_PARTITIONS:
            lag = f", {format_count(group['lag'])} records lie there" if group["lag"] else ""
            return f"{written}{lag}: each partition needs a member, and more would read nothing"
        case contract.LIMITED_BY_SHARED:
            enough = format_quantity(group["shared_limit_members"], "member")
            read = format_rate(group["shared_limit_rate"])
            return (
                f"{enough} read {read} with a backlog and more read no more: something that they "
                "share, such as a database, is full"
            )
    return written


_WHY_UNKNOWN = {
    None: "not known",
    contract.NO_CAPACITY: (
        "no capacity known: it is learnt from members that read a backlog at full speed for three "
        "runs"
    ),
    contract.PARTITIONS_UNREAD: "a partition was not read in this run",
    contract.NO_RATE: "a partition was read only once so far",
}


def count_partitions_wanted(row: Mapping[str, Any]) -> int | None:
    """Returns how many partitions would let enough members read all records.

    Returns None if the group has enough, or if a value is unknown. Assumes that all partitions get
    the same rate. Any number is enough for a share group.
    """
    rate, capacity, partitions = _find_written(row), row["capacity"], row["partitions"]
    if rate is None or not capacity or partitions is None or is_share_group(row):
        return None
    wanted = math.ceil(rate / capacity)
    return wanted if wanted > partitions else None


def explain_limits(row: Mapping[str, Any], members_per_task: int = 1) -> Iterator[str]:
    """Yields a sentence for each limit on the effect of more tasks, from a group's row."""
    members, partitions, capacity = row["members"], row["partitions"], row["capacity"]
    if members == 0:
        yield f"Nobody reads: {START} first."
        return
    if is_in_vain(row) and (cause := describe_cause(row)):
        yield f"More tasks do not help: {cause.happened}. First {advise_on_cause(row)}."
        return
    if row.get("cause") == contract.CAPACITY_FELL and (cause := describe_cause(row)):
        yield f"{cause.happened}. First {advise_on_cause(row)}."
    shared = is_share_group(row)
    if members is not None and partitions is not None and members > partitions and not shared:
        idle = format_quantity(members - partitions, "member")
        yield f"{idle} of {members} read nothing: there are {partitions} partitions."
    if (wanted := count_partitions_wanted(row)) is not None:
        yield (
            f"{format_quantity(partitions, 'partition')} cannot be read as fast as they are "
            f"written, because each has one reader: {wanted} or more would allow it if each member "
            f"still reads {format_rate(capacity)}."
        )
    elif _has_all_readers(row, members_per_task):
        yield (
            "Each partition has a member of its own: more tasks read nothing. More partitions "
            "would let the backlog be worked off sooner."
        )
    share, rate = row["hottest_share"], _find_written(row)
    is_hot = share is not None and (wanted is None or share * partitions >= _HOT)
    if is_hot and not shared and rate is not None and capacity and share * rate > capacity:
        yield (
            f"Partition {row['hottest_partition']} of {row['hottest_topic']} gets "
            f"{format_rate(share * rate)} ({format_share(share)}), and its one reader reads "
            f"{format_rate(capacity)}: it falls behind however many tasks there are. Spread its "
            "keys, or make the consumer faster."
        )
    if row["shared_limit_members"] is not None:
        enough = format_quantity(row["shared_limit_members"], "member")
        yield (
            f"With a backlog {enough} read {format_rate(row['shared_limit_rate'])}, and more read "
            "no more in all: something that they share, such as a database, is full. Tasks needed "
            "stay at that number."
        )
    if row["worst_status"] in _WHATEVER_THE_TASKS:
        word = find_word(row["worst_status"])
        yield f"A partition is {word}: {MEANINGS[row['worst_status']]}. More tasks do not read it."


def _find_written(row: Mapping[str, Any]) -> float | None:
    """Returns records/s written in the last 15 minutes, else the average produce rate.

    The tasks needed follow from the rates of the last 15 minutes, if these are known.
    """
    rates = row["rates_lately"]
    rate: float | None = sum(rates) / len(rates) if rates else row["produce_rate"]
    return rate


def is_in_vain(row: Mapping[str, Any]) -> bool:
    """Returns true if the cause is one that more tasks do not change."""
    cause, capacity = row.get("cause"), row["capacity"]
    if cause == contract.SETTINGS_CHANGED:
        return read_evidence(row).get("setting") != contract.RETENTION
    if cause != contract.SLOW_MEMBER:
        return cause in _IN_VAIN
    reads = read_evidence(row).get("consume_rate") or 0.0
    return bool(capacity is None or reads < capacity * contract.TOO_SLOW_SHARE)


def _has_all_readers(row: Mapping[str, Any], members_per_task: int) -> bool:
    """Returns true if each partition with records to read has a member of its own."""
    members, needed = row["members"], row["tasks_needed"]
    if row["tasks_needed_reason"] != contract.LIMITED_BY_PARTITIONS:
        return False
    return members is not None and needed is not None and members >= needed * members_per_task
