# SPDX-License-Identifier: Apache-2.0
"""Which groups there are, who coordinates them, and whether a group that vanished is gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.metadata import CoordinatorType, FindCoordinatorRequest

from functions import contract
from functions.broker.wire.connection import Wire
from functions.broker.wire.refusals import UnansweredError, reason_of_code
from functions.lag.model import Problem
from functions.lag.rules import NameFilter

K = TypeVar("K")

_KEYS_PER_REQUEST = 500
# FindCoordinator takes many keys from this version on (KIP-699).
_MANY_KEYS = 4


@dataclass(frozen=True, slots=True)
class Group:
    """A group as listed: words are Kafka's own, None where this broker does not tell.

    `coordinator` is a broker id, None when none could be found; `reason` says why a group that
    was known before could not be read now.
    """

    name: str
    coordinator: int | None
    state: str | None = None
    kind: str | None = None
    protocol: str | None = None
    reason: str | None = None

    @property
    def supported(self) -> bool:
        """Whether its lag is commits against log ends."""
        return (self.kind or "").lower() not in contract.UNSUPPORTED_GROUP_TYPES


@dataclass(frozen=True, slots=True)
class Census:
    """All wanted groups by name, and what was met while listing them."""

    groups: dict[str, Group]
    problems: list[Problem] = field(default_factory=list)


async def list_groups(wire: Wire, wanted: NameFilter) -> Census:
    """Every broker lists the groups it coordinates, so the answer says where to ask on.

    A group that two brokers list, as while it moves, counts once. A silent broker is a problem
    of its own; what it coordinates is found, if it was known, by `seek`.
    """
    census = Census({})
    nodes = wire.nodes
    answers = await wire.together(_listed(wire, node) for node in nodes)
    for node, answer in zip(nodes, answers, strict=True):
        if isinstance(answer, UnansweredError):
            detail = f"could not list its groups: {answer.detail}"
            census.problems.append(Problem("broker", str(node), answer.reason, detail))
            continue
        for listed in answer.groups:
            if wanted.accepts(listed.group_id):
                census.groups[listed.group_id] = _group(listed, node)
    return census


async def _listed(wire: Wire, node: int) -> Any:
    try:
        answer = await wire.ask(node, ListGroupsRequest())
    except UnansweredError as error:
        return error
    reason = reason_of_code(answer.error_code)
    return answer if reason is None else UnansweredError(reason, f"error {answer.error_code}")


def _group(listed: Any, node: int) -> Group:
    return Group(
        name=listed.group_id,
        coordinator=node,
        state=getattr(listed, "group_state", None) or None,
        kind=(getattr(listed, "group_type", None) or "").lower() or None,
        protocol=listed.protocol_type or None,
    )


async def seek(wire: Wire, names: Iterable[str]) -> dict[str, Group]:
    """Groups by name with the coordinator that now answers for them, or the reason why none."""
    parts = chunks(sorted(names), _KEYS_PER_REQUEST)
    answers = await wire.together(_sought(wire, part) for part in parts)
    return {name: group for answer in answers for name, group in answer.items()}


async def _sought(wire: Wire, names: list[str]) -> dict[str, Group]:
    if wire.version(FindCoordinatorRequest) < _MANY_KEYS:
        singly = await wire.together(_sought_one(wire, name) for name in names)
        return {group.name: group for group in singly}
    try:
        answer = await wire.ask_any(
            lambda: FindCoordinatorRequest(
                key_type=CoordinatorType.GROUP.value, coordinator_keys=names, min_version=_MANY_KEYS
            )
        )
    except UnansweredError as error:
        return {name: Group(name, None, reason=error.reason) for name in names}
    return {found.key: _coordinated(found.key, found) for found in answer.coordinators}


async def _sought_one(wire: Wire, name: str) -> Group:
    try:
        answer = await wire.ask_any(
            lambda: FindCoordinatorRequest(key=name, max_version=_MANY_KEYS - 1)
        )
    except UnansweredError as error:
        return Group(name, None, reason=error.reason)
    return _coordinated(name, answer)


def _coordinated(name: str, found: Any) -> Group:
    reason = reason_of_code(found.error_code)
    if reason is None:
        return Group(name, found.node_id)
    return Group(name, None, reason=contract.NO_COORDINATOR if reason == contract.ERROR else reason)


def by_coordinator(groups: Iterable[Group]) -> dict[int, list[Group]]:
    """Groups under the broker to ask about them; those without one are left out."""
    parts: dict[int, list[Group]] = defaultdict(list)
    for group in groups:
        if group.coordinator is not None:
            parts[group.coordinator].append(group)
    return parts


def chunks(items: list[K], size: int) -> list[list[K]]:
    """Consecutive parts of at most `size`."""
    return [items[i : i + size] for i in range(0, len(items), size)]
