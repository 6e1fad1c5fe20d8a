# SPDX-License-Identifier: Apache-2.0
"""Connections whose brokers answer from a list, so that tests can try any answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from kafka.protocol import consumer

from kafka_lag.brokers.offset_codec import (
    FetchedOffsets,
    ListedOffsets,
    ListOffsetsRequest,
    OffsetFetchRequest,
)

_VERSION = 10


class FakeConnections:
    """Answers each request with what `answer` makes of it, and remembers the requests.

    An answer that is an error is raised; `sent_to` has the broker of each request.
    """

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.requests: list[Any] = []
        self.sent_to: list[Any] = []
        self.nodes = [1]
        self._answer = answer
        self.pauses: list[float] = []
        self.seconds = 45.0
        self.hung: dict[Any, Any] = {}
        self.addresses: dict[int, str] = {}
        self.unexpected: dict[Any, str] = {}

    def version(self, request: type[Any]) -> int:
        return 8

    def update_brokers(self, metadata: Any) -> None:
        """Addresses are of no use here."""

    def note_addresses(self, addresses: Mapping[int, tuple[str, int]]) -> None:
        self.addresses |= {node: f"{host}:{port}" for node, (host, port) in addresses.items()}

    def address_of(self, node: int) -> str | None:
        return self.addresses.get(node)

    def down(self) -> dict[Any, Any]:
        return dict(self.hung)

    def unexpected_answers(self) -> dict[Any, str]:
        return dict(self.unexpected)

    def note_unexpected(self, node: Any, detail: str) -> None:
        self.unexpected.setdefault(node, detail)

    def seconds_left(self) -> float:
        return self.seconds - sum(self.pauses)

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def send(self, node: Any, request: Any) -> Any:
        self.requests.append(in_objects(request))
        self.sent_to.append(node)
        return in_columns(request, self._answer(self.requests[-1]))

    async def send_to_any(self, make_request: Callable[[], Any]) -> Any:
        return await self.send(1, make_request())

    async def gather(self, coroutines: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        return [await coroutine for coroutine in coroutines]


def in_objects(request: Any) -> Any:
    """The library's request of the same bytes, for one that is answered with columns."""
    if not isinstance(request, ListOffsetsRequest):
        return request
    return consumer.ListOffsetsRequest.decode(request.encode(version=_VERSION), version=_VERSION)


def in_columns(request: Any, answer: Any) -> Any:
    """The answer as the request wants it; one that is an error is raised."""
    if isinstance(answer, Exception):
        raise answer
    if isinstance(request, ListOffsetsRequest):
        return ListedOffsets.of(answer)
    if isinstance(request, OffsetFetchRequest):
        return FetchedOffsets.of(answer)
    return answer
