# SPDX-License-Identifier: Apache-2.0
"""Why a group needs a number of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lag import contract
from kafka_lag.wording.formatting import format_count, format_quantity, format_rate, format_share


def explain_tasks_needed(group: Mapping[str, Any]) -> str:
    """Returns why a group needs this many tasks, or why that is unknown, from its row of `groups`.

    Names in it are as Kafka has them: escape the sentence if strangers' names may do harm.
    """
    reason, partition = group["tasks_needed_reason"], group["hottest_partition"]
    if reason in _WHY_UNKNOWN:
        return _WHY_UNKNOWN[reason]
    rates = group["rates_lately"] or (0.0,)
    member = f"one member reads {format_rate(group['capacity'])}"
    written = f"{format_rate(sum(rates) / len(rates))} are written, {member}"
    match reason:
        case contract.NEEDED_FOR_RECENT_RATE:
            greatest = format_rate(max(rates))
            return f"up to {greatest} were written in the last 15 minutes, {member}"
        case contract.NEEDED_FOR_BACKLOG:
            return f"{written}, {format_count(group['lag'])} records lie there"
        case contract.NEEDED_FOR_HOT_PARTITION:
            share = format_share(group["hottest_share"])
            return f"{written}; partition {partition} of {group['hottest_topic']} carries {share}"
        case contract.LIMITED_BY_PARTITIONS:
            return f"{written}: each partition has a member of its own, and more read nothing"
        case contract.LIMITED_BY_SHARED:
            enough = format_quantity(group["shared_limit_members"], "member")
            read = format_rate(group["shared_limit_rate"])
            return (
                f"{enough} read {read} with a backlog and more read no more: something that they "
                "share, as a database, is full"
            )
    return written


_WHY_UNKNOWN = {
    None: "not known",
    contract.NO_CAPACITY: "no capacity known: no minute with a backlog was seen yet",
    contract.PARTITIONS_UNREAD: "a partition was not read in this run",
    contract.NO_RATE: "a partition was read only once so far",
}
