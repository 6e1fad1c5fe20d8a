# SPDX-License-Identifier: Apache-2.0
"""States, members and assignments of groups, in each protocol; errors are kept by group."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from kafka_lag import contract
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import ConsumerGroup, by_coordinator, chunks
from kafka_lag.brokers.errors import (
    GROUP_ID_NOT_FOUND,
    UNSUPPORTED_VERSION,
    Failure,
    UnansweredError,
    failure_of,
    failure_of_code,
    missing_failure,
)

# ConsumerGroupDescribe (API key 69, KIP-848), StreamsGroupDescribe (89, KIP-1071) and
# ShareGroupDescribe (77, KIP-932), which kafka-python lacks. Field names, types and versions are
# those of the Apache Kafka protocol definitions of 4.1 and 4.3.
_SCHEMAS = "kafka_lag.brokers.schemas"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """Requests members and assignments of groups that use the consumer protocol."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """The answer: one entry a group, each with its own error code."""


class StreamsGroupDescribeRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """Requests members and tasks of groups that use the streams protocol."""


class StreamsGroupDescribeResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """The answer: one entry a group, each with its own error code."""


class ShareGroupDescribeRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """Requests members and assignments of share groups."""


class ShareGroupDescribeResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """The answer: one entry a group, each with its own error code."""


_GROUPS_PER_REQUEST = 100
_DEAD = "Dead"
_WITHOUT_MEMBERS = frozenset({"Empty", _DEAD})


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One consumer of a group; `assignment` has the partitions it owns, by topic name."""

    member_id: str
    client_id: str | None
    client_host: str | None
    assignment: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A coordinator's description of a group; `absent` means that it does not exist.

    `members` is None if they are not known. `failure` is set if the group was not described. `kind`
    is the group's type if the answer has it. `epoch` is the coordinator's count of rebalances of a
    group of the consumer or streams protocol. A classic group has `members_hash` instead, which
    changes in every rebalance that moved a partition.
    """

    state: str | None = None
    protocol: str | None = None
    members: tuple[GroupMember, ...] | None = None
    failure: Failure | None = None
    absent: bool = False
    kind: str | None = None
    epoch: int | None = None
    members_hash: int | None = None


async def describe_groups(
    connections: Connections, groups: Iterable[ConsumerGroup]
) -> dict[str, GroupDescription]:
    """Returns descriptions by group name; groups that the listing calls empty need no request."""
    known = list(groups)
    descriptions = {
        group.name: GroupDescription(group.state, members=(), members_hash=_hash_members(()))
        for group in known
        if group.state in _WITHOUT_MEMBERS
    }
    requests = []
    for node, coordinated in by_coordinator(g for g in known if g.name not in descriptions).items():
        others = coordinated
        for kind, request, members_of in _PROTOCOLS:
            if connections.version(request) < 0:
                continue
            names = [group.name for group in others if group.kind == kind]
            others = [group for group in others if group.kind != kind]
            requests += [
                _describe(connections, node, part, request(group_ids=part), members_of, kind)
                for part in chunks(names, _GROUPS_PER_REQUEST)
            ]
        requests += [
            _describe(connections, node, part, DescribeGroupsRequest(groups=part), _classic_members)
            for part in chunks([group.name for group in others], _GROUPS_PER_REQUEST)
        ]
    for answer in await connections.gather(requests):
        descriptions.update(answer)
    return descriptions


async def confirm_deleted(
    connections: Connections, groups: Iterable[ConsumerGroup]
) -> dict[str, GroupDescription]:
    """Returns descriptions of groups that no broker listed.

    A group is `absent` only if each protocol says so.
    """
    unlisted = list(groups)
    found = await describe_groups(connections, unlisted)
    for kind, request, _ in _PROTOCOLS:
        absent = [group for group in unlisted if found[group.name].absent]
        if connections.version(request) < 0 or not absent:
            continue
        again = await describe_groups(
            connections, [ConsumerGroup(g.name, g.coordinator, kind=kind) for g in absent]
        )
        # Brokers that know the request but not the protocol have no group of it. These are Kafka
        # 3.7 to 3.9, and later versions without the feature.
        found |= {
            name: description
            for name, description in again.items()
            if description.failure is None or description.failure.code != UNSUPPORTED_VERSION
        }
    return found


async def _describe(
    connections: Connections,
    node: int,
    names: list[str],
    request: Any,
    members_of: Callable[[Any], tuple[GroupMember, ...]],
    kind: str | None = None,
) -> dict[str, GroupDescription]:
    """Returns descriptions of the groups requested; a group left out of the answer gets a failure.

    `kind` is the kind of the groups in the request; None if there are several.
    """
    try:
        answer = await connections.send(node, request)
    except UnansweredError as error:
        return dict.fromkeys(names, GroupDescription(failure=failure_of(error)))
    api = type(request).__name__.removesuffix("Request")
    answered = {group.group_id: _description(group, members_of) for group in answer.groups or ()}
    missing = GroupDescription(failure=missing_failure(api))
    described = {name: answered.pop(name, missing) for name in names}
    for name in answered:
        connections.note_unexpected(node, f"answered {api} for group {name!r}, not requested")
    return {
        name: each if each.absent else replace(each, kind=kind) for name, each in described.items()
    }


def _description(
    group: Any, members_of: Callable[[Any], tuple[GroupMember, ...]]
) -> GroupDescription:
    if group.error_code == GROUP_ID_NOT_FOUND:
        return GroupDescription(state=_DEAD, members=(), absent=True)
    failure = failure_of_code(group.error_code)
    if failure is not None:
        return GroupDescription(failure=failure)
    return GroupDescription(
        state=group.group_state or None,
        protocol=getattr(group, "protocol_type", None) or None,
        members=members_of(group),
        absent=group.group_state == _DEAD and not group.members,
        # Members of a share group read on while others join or leave.
        epoch=_epoch(group) if members_of is not _share_members else None,
        members_hash=_hash_members(group.members or ()) if _is_classic(group) else None,
    )


def _is_classic(group: Any) -> bool:
    return not hasattr(group, "group_epoch")


def _hash_members(members: Iterable[Any]) -> int:
    """Returns 64 bits of a classic group's members, their partitions and subscriptions.

    Some clients write the group's generation into their subscription: then the hash changes in
    every rebalance.
    """
    parts = sorted(
        (m.member_id.encode(), m.member_metadata or b"", m.member_assignment or b"")
        for m in members
    )
    digest = hashlib.blake2b(digest_size=8)
    for part in (part for member in parts for part in member):
        digest.update(struct.pack(">I", len(part)) + part)
    return int.from_bytes(digest.digest(), "big", signed=True)


def _epoch(group: Any) -> int | None:
    epoch: int | None = getattr(group, "group_epoch", None)
    return epoch if epoch is not None and epoch >= 0 else None


def _classic_members(group: Any) -> tuple[GroupMember, ...]:
    return tuple(
        GroupMember(m.member_id, m.client_id, m.client_host, _classic_assignment(group, m))
        for m in group.members or ()
    )


def _classic_assignment(group: Any, member: Any) -> tuple[tuple[str, tuple[int, ...]], ...]:
    # Connect and Schema Registry store their own format in the assignment.
    if group.protocol_type != "consumer" or not member.member_assignment:
        return ()
    try:
        decoded = ConsumerProtocolAssignment.decode(member.member_assignment)
        return tuple((topic, tuple(parts)) for topic, parts in decoded.assigned_partitions)
    except (struct.error, ValueError, TypeError, IndexError):
        # Any client may write anything there, so the owner of its partitions is unknown.
        return ()


def _consumer_members(group: Any) -> tuple[GroupMember, ...]:
    return tuple(
        GroupMember(
            m.member_id,
            m.client_id,
            m.client_host,
            tuple(
                (topic.topic_name, tuple(topic.partitions or ()))
                for topic in m.assignment.topic_partitions or ()
            ),
        )
        for m in group.members or ()
    )


def _streams_members(group: Any) -> tuple[GroupMember, ...]:
    """Returns members that own the partitions of their active tasks, in all topics of each task.

    A task reads the partition of its own number in each topic that has one.
    """
    topics = {
        each.subtopology_id: [
            *(each.source_topics or ()),
            *(topic.name for topic in each.repartition_source_topics or ()),
        ]
        for each in (group.topology.subtopologies or () if group.topology else ())
    }
    return tuple(
        GroupMember(
            m.member_id,
            m.client_id,
            m.client_host,
            tuple(
                (topic, tuple(task.partitions or ()))
                for task in m.assignment.active_tasks or ()
                for topic in topics.get(task.subtopology_id, ())
            ),
        )
        for m in group.members or ()
    )


def _share_members(group: Any) -> tuple[GroupMember, ...]:
    """Returns members that all have the same name, because they read the same partitions."""
    return tuple(
        replace(member, member_id=contract.SHARED_MEMBER, client_id=None, client_host=None)
        for member in _consumer_members(group)
    )


# The requests for protocols that DescribeGroups does not know, by group_type.
_PROTOCOLS: tuple[tuple[str, Any, Callable[[Any], tuple[GroupMember, ...]]], ...] = (
    ("consumer", ConsumerGroupDescribeRequest, _consumer_members),
    ("streams", StreamsGroupDescribeRequest, _streams_members),
    (contract.SHARE, ShareGroupDescribeRequest, _share_members),
)
