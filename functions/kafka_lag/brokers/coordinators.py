# SPDX-License-Identifier: Apache-2.0
"""Consumer groups and the brokers that coordinate them (FindCoordinator)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from kafka.protocol.metadata import CoordinatorType, FindCoordinatorRequest

from kafka_lag import contract
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.errors import (
    Failure,
    UnansweredError,
    failure_of,
    failure_of_code,
    missing_failure,
)

# A list, or rows.
Items = TypeVar("Items", bound="_Sliceable")

_KEYS_PER_REQUEST = 500
# FindCoordinator takes many keys from this version on (KIP-699).
_MANY_KEYS = 4


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """A group as listed: the words are Kafka's own, None if the broker does not say.

    `coordinator` is a broker id, None if none was found. `failure` says why a group that was known
    before could not be read now.
    """

    name: str
    coordinator: int | None
    state: str | None = None
    kind: str | None = None
    protocol: str | None = None
    failure: Failure | None = None

    @property
    def is_shared(self) -> bool:
        """Returns True for a share group, whose members read the same partitions."""
        return self.kind == contract.SHARE


async def find_coordinators(
    connections: Connections, names: Iterable[str]
) -> dict[str, ConsumerGroup]:
    """Returns the groups by name, each with its coordinator or the reason why it has none."""
    parts = chunks(sorted(names), _KEYS_PER_REQUEST)
    answers = await connections.gather(_find_many(connections, part) for part in parts)
    return {name: group for answer in answers for name, group in answer.items()}


async def _find_many(connections: Connections, names: list[str]) -> dict[str, ConsumerGroup]:
    try:
        answer = await connections.send_to_any(
            lambda: FindCoordinatorRequest(
                key_type=CoordinatorType.GROUP.value, coordinator_keys=names, min_version=_MANY_KEYS
            )
        )
    except UnansweredError as error:
        return {name: ConsumerGroup(name, None, failure=failure_of(error)) for name in names}
    found = {each.key: _located_group(each.key, each) for each in answer.coordinators or ()}
    missing = missing_failure("FindCoordinator")
    return {name: found.get(name, ConsumerGroup(name, None, failure=missing)) for name in names}


def _located_group(name: str, coordinator: Any) -> ConsumerGroup:
    failure = failure_of_code(coordinator.error_code)
    if failure is None and coordinator.node_id >= 0:
        return ConsumerGroup(name, coordinator.node_id)
    failure = failure or Failure(contract.NO_COORDINATOR, "FindCoordinator names no broker")
    if failure.reason == contract.ERROR:
        failure = replace(failure, reason=contract.NO_COORDINATOR)
    return ConsumerGroup(name, None, failure=failure)


def by_coordinator(groups: Iterable[ConsumerGroup]) -> dict[int, list[ConsumerGroup]]:
    """Returns the groups by their coordinator; groups without one are left out."""
    parts: dict[int, list[ConsumerGroup]] = defaultdict(list)
    for group in groups:
        if group.coordinator is not None:
            parts[group.coordinator].append(group)
    return parts


class _Sliceable(Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Any: ...


def chunks(items: Items, size: int) -> list[Items]:
    """Returns consecutive parts of at most `size` items."""
    return [items[i : i + size] for i in range(0, len(items), size)]
