# SPDX-License-Identifier: Apache-2.0
"""States, members and assignments of groups, in both protocols, errors kept by group."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from kafka_lag.brokers.failures import Failure, failure_of, failure_of_code, left_out
from kafka_lag.brokers.groups.census import Group, by_coordinator, chunks
from kafka_lag.brokers.groups.messages import ConsumerGroupDescribeRequest
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import (
    GROUP_ID_NOT_FOUND,
    UNSUPPORTED_VERSION,
    UnansweredError,
)

_GROUPS_PER_REQUEST = 100
_DEAD = "Dead"
_NOBODY = frozenset({"Empty", _DEAD})


@dataclass(frozen=True, slots=True)
class Member:
    """One consumer of a group and the partitions it owns, by topic name."""

    member_id: str
    client_id: str
    client_host: str
    owns: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Description:
    """What a coordinator says of a group; `absent` means that it does not exist.

    `members` is None when they are not known; `failure` is set when the group was not described;
    `kind` is the group's type where the answer tells it.
    """

    state: str | None = None
    protocol: str | None = None
    members: tuple[Member, ...] | None = None
    failure: Failure | None = None
    absent: bool = False
    kind: str | None = None


async def describe(wire: Wire, groups: Iterable[Group]) -> dict[str, Description]:
    """Descriptions by group name; groups that the listing calls empty need no question."""
    known = list(groups)
    quiet = {g.name: Description(g.state, members=()) for g in known if g.state in _NOBODY}
    modern = wire.version(ConsumerGroupDescribeRequest) >= 0
    questions = []
    for node, mine in by_coordinator(g for g in known if g.name not in quiet).items():
        old: list[str] = []
        new: list[str] = []
        for group in mine:
            (new if group.kind == "consumer" and modern else old).append(group.name)
        questions += [_classic(wire, node, part) for part in chunks(old, _GROUPS_PER_REQUEST)]
        questions += [_modern(wire, node, part) for part in chunks(new, _GROUPS_PER_REQUEST)]
    for answer in await wire.together(questions):
        quiet.update(answer)
    return quiet


async def prove(wire: Wire, groups: Iterable[Group]) -> dict[str, Description]:
    """Descriptions of groups that no broker listed: `absent` only where both protocols say so."""
    sought = list(groups)
    first = await describe(wire, sought)
    absent = [group for group in sought if first[group.name].absent]
    if wire.version(ConsumerGroupDescribeRequest) < 0 or not absent:
        return first
    again = await describe(wire, [Group(g.name, g.coordinator, kind="consumer") for g in absent])
    # Brokers of 3.7 to 3.9, and later ones without the feature, know the request and not the
    # protocol: they have no group of it.
    return first | {
        name: description
        for name, description in again.items()
        if description.failure is None or description.failure.code != UNSUPPORTED_VERSION
    }


async def _classic(wire: Wire, node: int, names: list[str]) -> dict[str, Description]:
    try:
        answer = await wire.ask(node, DescribeGroupsRequest(groups=names))
    except UnansweredError as error:
        return dict.fromkeys(names, Description(failure=failure_of(error)))
    told = {group.group_id: _described(group, _classic_members) for group in answer.groups or ()}
    return _of(wire, node, "DescribeGroups", names, told)


async def _modern(wire: Wire, node: int, names: list[str]) -> dict[str, Description]:
    try:
        answer = await wire.ask(node, ConsumerGroupDescribeRequest(group_ids=names))
    except UnansweredError as error:
        return dict.fromkeys(names, Description(failure=failure_of(error)))
    told = {group.group_id: _described(group, _modern_members) for group in answer.groups or ()}
    described = _of(wire, node, "ConsumerGroupDescribe", names, told)
    return {
        name: said if said.absent else replace(said, kind="consumer")
        for name, said in described.items()
    }


def _of(
    wire: Wire, node: int, request: str, names: list[str], told: dict[str, Description]
) -> dict[str, Description]:
    """The groups that were asked for, those left out of the answer with a failure."""
    missing = Description(failure=left_out(request))
    described = {name: told.pop(name, missing) for name in names}
    for name in told:
        wire.note_odd(node, f"answered {request} for group {name!r}, unasked")
    return described


def _described(group: Any, members_of: Any) -> Description:
    if group.error_code == GROUP_ID_NOT_FOUND:
        return Description(state=_DEAD, members=(), absent=True)
    failure = failure_of_code(group.error_code)
    if failure is not None:
        return Description(failure=failure)
    return Description(
        state=group.group_state or None,
        protocol=getattr(group, "protocol_type", None) or None,
        members=members_of(group),
        absent=group.group_state == _DEAD and not group.members,
    )


def _classic_members(group: Any) -> tuple[Member, ...]:
    return tuple(
        Member(m.member_id, m.client_id, m.client_host, _classic_owns(group, m))
        for m in group.members or ()
    )


def _classic_owns(group: Any, member: Any) -> tuple[tuple[str, tuple[int, ...]], ...]:
    # Connect and Schema Registry put bytes of their own there.
    if group.protocol_type != "consumer" or not member.member_assignment:
        return ()
    try:
        decoded = ConsumerProtocolAssignment.decode(member.member_assignment)
        return tuple((topic, tuple(parts)) for topic, parts in decoded.assigned_partitions)
    except (struct.error, ValueError, TypeError, IndexError):
        # Any client may write anything there; it costs that member's partitions their owner.
        return ()


def _modern_members(group: Any) -> tuple[Member, ...]:
    return tuple(
        Member(
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
