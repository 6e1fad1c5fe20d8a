# SPDX-License-Identifier: Apache-2.0
"""Lists the groups of one run, then reads their offsets and members, with retries by group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from kafka.protocol.admin import ListGroupsRequest

from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import ConsumerGroup, find_coordinators
from kafka_lag.brokers.errors import (
    MOST_RETRIES,
    NOT_KNOWN_YET,
    Failure,
    UnansweredError,
    failure_of,
    failure_of_code,
)
from kafka_lag.brokers.group_members import (
    GroupDescription,
    ShareGroupDescribeRequest,
    confirm_deleted,
    describe_groups,
)
from kafka_lag.brokers.group_offsets import CommittedOffsets, fetch_offsets
from kafka_lag.brokers.problems import name_broker
from kafka_lag.brokers.retries import RetryBudget
from kafka_lag.brokers.topics import TopicTable
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import Problem


@dataclass(frozen=True, slots=True)
class GroupListing:
    """The groups to report, known groups that are deleted, and brokers that could not list."""

    groups: list[ConsumerGroup]
    gone: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list)


async def find_groups(
    connections: Connections,
    retries: RetryBudget,
    wanted: NameFilter,
    known: Collection[str],
    once: Collection[str],
) -> GroupListing:
    """Returns the listed groups, and the `known` ones that were not listed: found, unread or gone.

    A search for groups in `once` is not retried. A group counts as gone if its coordinator does not
    know it in the last two retries.
    """
    listing = await _list_groups(connections, wanted, retries)
    found: dict[str, ConsumerGroup] = {}
    absent: set[str] = set()
    gone: set[str] = set()

    async def search(names: list[str], retry: int) -> list[str]:
        groups = await find_coordinators(connections, names)
        reachable = [group for group in groups.values() if group.coordinator is not None]
        descriptions = await confirm_deleted(connections, reachable)
        for name in names:
            group = groups[name]
            described = descriptions.get(name, GroupDescription(failure=group.failure))
            failure = NOT_KNOWN_YET if described.absent else described.failure
            found[name] = replace(
                group, failure=failure, state=described.state, kind=described.kind
            )
        absent_before = frozenset(absent)
        absent.clear()
        absent.update(name for name, each in descriptions.items() if each.absent)
        if retry == MOST_RETRIES:
            gone.update(absent & absent_before)
        return [
            name
            for name in names
            if _retries(found[name].failure) > retry and (name not in once or name in absent)
        ]

    listed = {group.name for group in listing.groups}
    missing = {name for name in known if name not in listed and wanted.accepts(name)}
    await retries.retry(sorted(missing), search)
    groups = [*listing.groups, *(found[name] for name in sorted(found.keys() - gone))]
    return GroupListing(groups, frozenset(gone), listing.problems)


async def _list_groups(
    connections: Connections, wanted: NameFilter, retries: RetryBudget
) -> GroupListing:
    """Returns the groups that the brokers list; each broker lists those it coordinates.

    A group that two brokers list while it moves counts once. A broker that cannot list is a problem
    of its own; `find_coordinators` finds its groups if they were known.
    """
    groups: dict[str, ConsumerGroup] = {}
    failures: dict[int, Failure] = {}

    async def list_each(nodes: list[int], retry: int) -> list[int]:
        answers = await connections.gather(_list_of_broker(connections, node) for node in nodes)
        for node, answer in zip(nodes, answers, strict=True):
            failures.pop(node, None)
            if isinstance(answer, Failure):
                failures[node] = answer
                continue
            named = (each for each in answer.groups or () if each.group_id is not None)
            groups.update(
                (each.group_id, _listed_group(each, node))
                for each in named
                if wanted.accepts(each.group_id)
            )
        return [node for node in nodes if node in failures and failures[node].retries > retry]

    await retries.retry(connections.nodes, list_each)
    problems = [
        name_broker(connections, node, why.reason, f"could not list its groups: {why.detail}")
        for node, why in failures.items()
    ]
    return GroupListing(list(groups.values()), problems=problems)


async def _list_of_broker(connections: Connections, node: int) -> Any:
    try:
        answer = await connections.send(node, ListGroupsRequest())
    except UnansweredError as error:
        # No other broker can list the groups that this one coordinates.
        return replace(failure_of(error), retries=0)
    return failure_of_code(answer.error_code) or answer


def _listed_group(listed: Any, node: int) -> ConsumerGroup:
    return ConsumerGroup(
        name=listed.group_id,
        coordinator=node,
        state=getattr(listed, "group_state", None) or None,
        kind=(getattr(listed, "group_type", None) or "").lower() or None,
        protocol=listed.protocol_type or None,
    )


async def read_groups(
    connections: Connections,
    retries: RetryBudget,
    listing: GroupListing,
    table: TopicTable,
    committed: Collection[str],
    once: Collection[str],
    clock: Callable[[], float],
) -> tuple[CommittedOffsets, dict[str, GroupDescription]]:
    """Returns offsets and descriptions of the groups that can have them.

    Groups in `once` are not retried. If a group is in `committed`, an answer without any commit is
    believed only after all retries.
    """
    knows_shared = connections.version(ShareGroupDescribeRequest) >= 0
    live = [
        group
        for group in listing.groups
        if group.coordinator is not None
        and not group.failure
        and (knows_shared or not group.is_shared)
    ]
    commits = CommittedOffsets(tuple(group.name for group in live))
    descriptions: dict[str, GroupDescription] = {}

    def failures(name: str) -> tuple[Failure | None, Failure | None]:
        return commits.unread.get(name), descriptions.get(name, GroupDescription()).failure

    async def read(groups: list[ConsumerGroup], retry: int) -> list[ConsumerGroup]:
        groups = await _locate_again(connections, groups, commits) if retry else groups
        unread = [group for group in groups if group.name not in commits.read_at]
        undescribed = [g for g in groups if g.name not in descriptions or failures(g.name)[1]]
        believed = committed if retry < MOST_RETRIES else ()
        both: list[Coroutine[Any, Any, Any]] = [
            fetch_offsets(connections, unread, table, commits, believed, clock),
            describe_groups(connections, undescribed),
        ]
        _, described = await connections.gather(both)
        descriptions.update(described)
        return [
            group
            for group in groups
            if max(map(_retries, failures(group.name))) > retry
            # A group whose coordinator answers is worth another request.
            and (
                group.name not in once
                or group.name in commits.unlisted
                or commits.unread.get(group.name) is NOT_KNOWN_YET
            )
        ]

    await retries.retry(live, read)
    return commits, descriptions


async def _locate_again(
    connections: Connections, groups: list[ConsumerGroup], commits: CommittedOffsets
) -> list[ConsumerGroup]:
    """Returns the groups with their present coordinators.

    Records a failure for unread groups that have none.
    """
    located = await find_coordinators(connections, [group.name for group in groups])
    for group in groups:
        # A group without a coordinator may have one by the next retry.
        failure = located[group.name].failure
        if failure and group.name not in commits.read_at:
            commits.unread[group.name] = failure
    return [replace(group, coordinator=located[group.name].coordinator) for group in groups]


def _retries(failure: Failure | None) -> int:
    return failure.retries if failure else 0
