# SPDX-License-Identifier: Apache-2.0
"""Words for statuses and reasons on a terminal, on the status page, in messages and in the docs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lag import contract
from kafka_lag.wording.formatting import format_quantity

# Keys are values of consumer_status and worst_status, status_reason and unread_reason.
WORDS = {
    contract.STOPPED: "stopped",
    contract.STALLED: "stalled",
    contract.REWOUND: "rewound",
    contract.BEYOND_END: "beyond the end",
    contract.FALLING_BEHIND: "falling behind",
    contract.SLOW: "too slow",
    contract.NO_MEMBER: "no member",
    contract.UNAVAILABLE: "unavailable",
    contract.RECORDS_LOST: "records lost",
    contract.PAUSING: "pausing",
    contract.INACTIVE: "inactive",
    contract.OPEN_TRANSACTION: "open transaction",
    contract.OFF_BY_ONE: "commits one too low: commit the last offset + 1",
    contract.TROUBLE_SLA_BROKEN: "SLA broken",
    contract.GONE: "group deleted",
    contract.UNWATCHED: "no longer watched",
    contract.TOPIC_UNWATCHED: "a topic no longer watched",
    contract.DENIED: "not read: access denied",
    contract.NO_LEADER: "not read: no leader",
    contract.NO_COORDINATOR: "not read: no coordinator",
    contract.TIMEOUT: "not read: timed out",
    contract.THROTTLED: "not read: throttled",
    contract.ERROR: "not read: error",
}
# Rates that differ by less than this share of the produce rate count as the same, because both are
# averages over minutes.
SAME_RATE = 0.05
# The words for a group for which `is_always_rebalancing` is true.
ALWAYS_REBALANCING = "rebalancing all the time"
# The meaning of each consumer status, as a clause that can follow a colon.
MEANINGS = {
    contract.STOPPED: "no member owns the partition, and its commit does not move",
    contract.STALLED: "a member owns the partition, and its commit does not move",
    contract.REWOUND: "its commit went back, and has not been where it was",
    contract.BEYOND_END: "its commit lies beyond the end of the log; was the topic recreated?",
    contract.FALLING_BEHIND: "the backlog does not shrink",
    contract.SLOW: (
        "the backlog shrinks, but working it off would take more than "
        f"{contract.SLOW_FROM_AGES:g} times the age of its oldest record"
    ),
    contract.NO_MEMBER: "no member owns the partition, and no commit came lately",
    contract.UNAVAILABLE: "the partition has no leader, so it can neither be read nor written",
}


# The reason why a share group has no lag.
NO_SHARED_LAG = "share group: lag needs Kafka 4.2"


def is_share_group(row: Mapping[str, Any]) -> bool:
    """Returns true for a share group, whose members read the same partitions."""
    return row.get("group_type") == contract.SHARE


def lacks_shared_lag(row: Mapping[str, Any]) -> bool:
    """Returns true for a share group on brokers that do not say its lag."""
    return is_share_group(row) and row["read_at"] is None and row["unread_reason"] is None


def find_word(name: str) -> str:
    """Returns the word for a status or reason; for a later version's name, the name with blanks."""
    return WORDS.get(name, name.replace("_", " "))


def is_always_rebalancing(row: Mapping[str, Any]) -> bool:
    """Returns true if the group of a row of `groups` rebalances all the time."""
    return (row.get("rebalancing_share") or 0.0) >= contract.MOSTLY_REBALANCING


def breaks_sla(row: Mapping[str, Any]) -> bool:
    """Returns true if the group of a row of `groups` has a broken SLA that is held.

    Returns false for a partition.
    """
    return row.get(contract.HELD_SLA_BROKEN) is not None


def name_troubles(
    consumer: str | None,
    reason: str | None,
    records_lost: int | None,
    *,
    sla_broken: bool = False,
) -> list[str]:
    """Returns the words behind a status: consumer status, other reason, a loss and a broken SLA.

    `consumer` is the `worst_status` of a group or the `consumer_status` of a partition, `reason`
    its `status_reason`.
    """
    why = [] if reason in (consumer, contract.RECORDS_LOST) else [reason]
    lost = contract.RECORDS_LOST if records_lost or reason == contract.RECORDS_LOST else None
    sla = contract.TROUBLE_SLA_BROKEN if sla_broken else None
    return [find_word(name) for name in (consumer, *why, lost, sla) if name]


_SKIPS = {
    contract.SET_AHEAD: "{records} were skipped because its offsets were set ahead",
    contract.TRUNCATED: (
        "{records} were skipped for ever because the log was truncated: they were written below "
        "its commit, from which it reads on"
    ),
    contract.RECREATED: (
        "{records} were skipped because the topic was recreated: they were written below its "
        "commit of the old topic, from which it reads on"
    ),
    contract.BEYOND_END: (
        "{records} were skipped because its commit lay beyond the end of the log while they were "
        "written"
    ),
    contract.GONE: (
        "{records} were left unread: its offsets are gone, because they expired or somebody "
        "deleted them"
    ),
    contract.READ_OR_SKIPPED: (
        "{records} were read or skipped, which is not known: its commit passed them at once, and "
        "it may have had no member meanwhile"
    ),
}


def describe_skip(row: Mapping[str, Any]) -> str | None:
    """Returns how many records a group skipped within the window and why; None if it skipped none.

    The words can follow a colon. A reason of a later version is named by its own word. Rows of
    earlier versions have no reason, because those knew only offsets that were set ahead.
    """
    skipped, reason = row.get("records_skipped"), row.get("skip_reason") or contract.SET_AHEAD
    if not skipped:
        return None
    records = format_quantity(skipped, "record")
    if reason not in _SKIPS:
        return f"{records} were skipped: {find_word(reason)}"
    return _SKIPS[reason].format(records=records)
