# SPDX-License-Identifier: Apache-2.0
"""Many groups at once have one cause: one message tells of all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.notify.messages.event import event
from kafka_lag.notify.messages.notice import behind, worst
from kafka_lag.notify.messages.telling import Notice, Telling
from kafka_lag.notify.messages.wording import LONGEST_SUBJECT, counted, in_subject, moment, shown
from kafka_lag.notify.news.change import Change
from kafka_lag.notify.news.incident import incident_id

# As many, and at least half of all groups, are a storm.
FEWEST = 10
# So many are one in any case: nobody reads a hundred messages, and no run has the time for more.
MANY = 100
_KINDS = (
    contract.OPENED,
    contract.WORSE,
    contract.GONE,
    contract.BETTER,
    contract.RESOLVED,
)
_STATUSES = (contract.ERR, contract.WARN)
_LINES = 20
_NAME = 60
_CLUSTER_IN_SUBJECT = 30
# SNS takes 256 KB of text and attributes together, and lists as JSON.
_LONGEST_LIST = 50_000


def is_storm(changes: Sequence[Change], groups: int) -> bool:
    """Whether half of so many groups, and not just a few, changed in one run, or very many."""
    changed = len(changes)
    return changed >= MANY or (changed >= FEWEST and 2 * changed >= groups)


def storm(changes: Sequence[Change], groups: int) -> Telling:
    """One notice of all changes, the worst first as they come, and an event of each."""
    first = changes[0]
    name = f"storm-{incident_id(first.cluster, 'storm', first.taken_at)}"
    notice = Notice(
        subject=_subject(changes, groups),
        text="\n".join(_lines(changes, groups)),
        attributes=_attributes(changes),
        thread=name,
    )
    return Telling(name, notice, tuple(event(change, storm=name) for change in changes))


def worst_first(changes: Sequence[Change]) -> list[Change]:
    """By kind, then by status, then by lag, then by name."""
    return sorted(
        changes,
        key=lambda change: (
            _KINDS.index(change.kind),
            _STATUSES.index(change.status) if change.status in _STATUSES else len(_STATUSES),
            -(change.row.get("lag") or 0),
            change.group,
        ),
    )


def _subject(changes: Sequence[Change], groups: int) -> str:
    cluster = in_subject(changes[0].cluster, _CLUSTER_IN_SUBJECT)
    counts = Counter(change.status for change in changes)
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    subject = f"Kafka lag storm on {cluster}: {len(changes)} of {groups} groups ({told})"
    return subject[:LONGEST_SUBJECT]


def _attributes(changes: Sequence[Change]) -> dict[str, str | tuple[str, ...]]:
    """All statuses, kinds, groups and owners, so that a filter by one of them finds it."""
    groups = [dimension_value(change.group) for change in changes]
    owners = [change.row.get("owner") for change in changes]
    return {
        contract.ATTRIBUTE_CLUSTER: changes[0].cluster,
        **_listed(contract.ATTRIBUTE_STATUS, [change.status for change in changes]),
        **_listed(contract.ATTRIBUTE_KIND, [change.kind for change in changes]),
        **_listed(contract.ATTRIBUTE_GROUP, groups),
        **_listed(contract.ATTRIBUTE_OWNER, owners),
    }


def _lines(changes: Sequence[Change], groups: int) -> Iterator[str]:
    first = changes[0]
    kinds = Counter(change.kind for change in changes)
    told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    yield (
        f"{len(changes):,} of {counted(groups, 'group')} on {first.cluster} changed in the run of "
        f"{moment(first.taken_at)}: {told}."
    )
    yield from _common_leader(changes)
    for change in changes[:_LINES]:
        yield f"- {_one(change)}"
    if len(changes) > _LINES:
        yield f"and {counted(len(changes) - _LINES, 'more group')}"


def _one(change: Change) -> str:
    owner = change.row.get("owner")
    told = [
        f"{shown(change.group, _NAME)} {change.kind}, {change.status} after {change.before}",
        behind(change.row),
        None if change.kind == contract.RESOLVED else worst(change.row),
        owner and f"owner {shown(owner, _NAME)}",
        f"incident {change.id}",
    ]
    return "; ".join(part for part in told if part)


def _common_leader(changes: Sequence[Change]) -> Iterator[str]:
    """The broker to look at first, where most worst partitions have one."""
    leaders = Counter(
        change.row["worst_leader"]
        for change in changes
        if change.row.get("worst_leader") is not None and change.kind != contract.RESOLVED
    )
    for broker, count in leaders.most_common(1):
        if count > 1 and 2 * count > leaders.total():
            yield f"Broker {broker} leads the worst partition of {count:,} of them."


def _listed(name: str, values: Sequence[str | None]) -> dict[str, tuple[str, ...]]:
    """Each value once, as many as there is room for; none: no attribute."""
    kept, room = [], _LONGEST_LIST
    for value in dict.fromkeys(value for value in values if value):
        room -= len(json.dumps(value)) + len(", ")
        if room < 0:
            break
        kept.append(value)
    return {name: tuple(kept)} if kept else {}
