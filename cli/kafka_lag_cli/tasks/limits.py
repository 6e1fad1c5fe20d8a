# SPDX-License-Identifier: Apache-2.0
"""Sentences on why more tasks would not help a group.

Names in them are as Kafka has them: escape the sentence where strangers' names may do harm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from kafka_lag import contract
from kafka_lag.wording.formatting import format_quantity, format_rate, format_share
from kafka_lag.wording.words import MEANINGS, find_word
from kafka_lag_cli.tasks.shared_limit import SaturatedDay
from kafka_lag_cli.terminal.group_rows import Row

# What the consumer does that no other member of it would do better.
_WHATEVER_THE_TASKS = (contract.STALLED, contract.BEYOND_END)
# Where all partitions get too much, one is named that gets so many times an even part.
_HOT = 1.5


def partitions_wanted(row: Row) -> int | None:
    """Partitions without which too few members can read what is written; None: there are enough.

    As if all got as much.
    """
    rate, capacity, partitions = row["produce_rate"], row["capacity"], row["partitions"]
    if rate is None or not capacity or partitions is None:
        return None
    wanted = math.ceil(rate / capacity)
    return wanted if wanted > partitions else None


def explain_limits(row: Row, members_per_task: int = 1) -> Iterator[str]:
    """A sentence for each thing that more tasks would not change, from the row of `groups`."""
    members, partitions, capacity = row["members"], row["partitions"], row["capacity"]
    if members is not None and partitions is not None and members > partitions:
        idle = format_quantity(members - partitions, "member")
        yield f"{idle} of {members} read nothing: there are {partitions} partitions."
    if (wanted := partitions_wanted(row)) is not None:
        yield (
            f"{format_quantity(partitions, 'partition')} cannot be read as fast as they are "
            f"written, as each has one reader: {wanted} or more would allow it, if each member "
            f"still reads {format_rate(capacity)}."
        )
    elif _has_all_readers(row, members_per_task):
        yield (
            "Each partition has a member of its own: more tasks read nothing. More partitions "
            "would let the backlog be worked off sooner."
        )
    share, rate = row["hottest_share"], row["produce_rate"]
    is_hot = share is not None and (wanted is None or share * partitions >= _HOT)
    if is_hot and rate is not None and capacity and share * rate > capacity:
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
            "no more in all: something that they share, as a database, is full. Tasks needed stay "
            "at that number."
        )
    if row["worst_status"] in _WHATEVER_THE_TASKS:
        word = find_word(row["worst_status"])
        yield f"A partition is {word}: {MEANINGS[row['worst_status']]}. More tasks do not read it."


def _has_all_readers(row: Row, members_per_task: int) -> bool:
    """Return true if there are as many members as partitions with anything to read."""
    members, needed = row["members"], row["tasks_needed"]
    if row["tasks_needed_reason"] != contract.LIMITED_BY_PARTITIONS:
        return False
    return members is not None and needed is not None and members >= needed * members_per_task


def explain_saturated_day(day: SaturatedDay) -> str:
    """Explain in numbers what more members read."""
    verdict = "less in all" if day.is_slower else "no more in all"
    return (
        f"{day.day}: with a backlog {format_quantity(day.fewer, 'member')} read "
        f"{format_rate(day.rate_of_fewer)} ({format_rate(day.rate_of_fewer / day.fewer)} each), "
        f"{day.more} read {format_rate(day.rate_of_more)} "
        f"({format_rate(day.rate_of_more / day.more)} each), {verdict}: something that they "
        "share, as a database, is at its limit."
    )
