# SPDX-License-Identifier: Apache-2.0
"""Which groups there are, who coordinates them, and whether a group that vanished is gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.metadata import CoordinatorType, FindCoordinatorRequest

from kafka_lag import contract
from kafka_lag.brokers.failures import Failure, failure_of, failure_of_code, left_out
from kafka_lag.brokers.retries import Retries
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import UnansweredError
from kafka_lag.lag.model import Problem
from kafka_lag.lag.rules import NameFilter

K = TypeVar("K")

_KEYS_PER_REQUEST = 500
# FindCoordinator takes many keys from this version on (KIP-699).
_MANY_KEYS = 4


@dataclass(frozen=True, slots=True)
class Group:
    """A group as listed: words are Kafka's own, None where this broker does not tell.

    `coordinator` is a broker id, None when none could be found; `failure` says why a group that
    was known before could not be read now.
    """

    name: str
    coordinator: int | None
    state: str | None = None
    kind: str | None = None
    protocol: str | None = None
    failure: Failure | None = None

    @property
    def supported(self) -> bool:
        """Whether its lag is commits against log ends."""
        return (self.kind or "").lower() not in contract.UNSUPPORTED_GROUP_TYPES


@dataclass(frozen=True, slots=True)
class Census:
    """All wanted groups by name, and what was met while listing them."""

    groups: dict[str, Group]
    problems: list[Problem] = field(default_factory=list)


async def list_groups(wire: Wire, wanted: NameFilter, retries: Retries) -> Census:
    """Every broker lists the groups it coordinates, so the answer says where to ask on.

    A group that two brokers list, as while it moves, counts once. A broker that cannot list is a
    problem of its own; what it coordinates is found, if it was known, by `seek`.
    """
    groups: dict[str, Group] = {}
    failures: dict[int, Failure] = {}

    async def ask(nodes: list[int], retry: int) -> list[int]:
        answers = await wire.together(_listed(wire, node) for node in nodes)
        for node, answer in zip(nodes, answers, strict=True):
            failures.pop(node, None)
            if isinstance(answer, Failure):
                failures[node] = answer
                continue
            mine = (one for one in answer.groups or () if one.group_id is not None)
            groups.update((g.group_id, _group(g, node)) for g in mine if wanted.accepts(g.group_id))
        return [node for node in nodes if node in failures and failures[node].retries > retry]

    await retries.of(wire.nodes, ask)
    return Census(groups, [_unlisted(node, failure) for node, failure in failures.items()])


def _unlisted(node: int, failure: Failure) -> Problem:
    detail = f"could not list its groups: {failure.detail}"
    return Problem("broker", str(node), failure.reason, detail)


async def _listed(wire: Wire, node: int) -> Any:
    try:
        answer = await wire.ask(node, ListGroupsRequest())
    except UnansweredError as error:
        # No other broker can list what this one coordinates.
        return replace(failure_of(error), retries=0)
    return failure_of_code(answer.error_code) or answer


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
        return {name: Group(name, None, failure=failure_of(error)) for name in names}
    told = {found.key: _coordinated(found.key, found) for found in answer.coordinators or ()}
    nowhere = left_out("FindCoordinator")
    return {name: told.get(name, Group(name, None, failure=nowhere)) for name in names}


async def _sought_one(wire: Wire, name: str) -> Group:
    try:
        answer = await wire.ask_any(
            lambda: FindCoordinatorRequest(key=name, max_version=_MANY_KEYS - 1)
        )
    except UnansweredError as error:
        return Group(name, None, failure=failure_of(error))
    return _coordinated(name, answer)


def _coordinated(name: str, found: Any) -> Group:
    failure = failure_of_code(found.error_code)
    if failure is None and found.node_id >= 0:
        return Group(name, found.node_id)
    failure = failure or Failure(contract.NO_COORDINATOR, "FindCoordinator names no broker")
    if failure.reason == contract.ERROR:
        failure = replace(failure, reason=contract.NO_COORDINATOR)
    return Group(name, None, failure=failure)


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
