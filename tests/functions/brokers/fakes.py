# SPDX-License-Identifier: Apache-2.0
"""Connections whose brokers answer from a list, so that what a stranger sends can be tried."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any


class FakeConnections:
    """Answers each request with what `answer` makes of it, and remembers the requests.

    An answer that is an error is raised; `sent_to` has the broker of each request.
    """

    def __init__(self, answer: Callable[[Any], Any], versions: int = 8) -> None:
        self.requests: list[Any] = []
        self.sent_to: list[Any] = []
        self.nodes = [1]
        self._answer = answer
        self._versions = versions
        self.pauses: list[float] = []
        self.seconds = 45.0
        self.hung: dict[Any, Any] = {}
        self.unexpected: dict[Any, str] = {}

    def version(self, request: type[Any]) -> int:
        return self._versions

    def update_brokers(self, metadata: Any) -> None:
        """Addresses are of no use here."""

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
        self.requests.append(request)
        self.sent_to.append(node)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def send_to_any(self, make_request: Callable[[], Any]) -> Any:
        return await self.send(1, make_request())

    async def gather(self, coroutines: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        return [await coroutine for coroutine in coroutines]
