# SPDX-License-Identifier: Apache-2.0
"""A wire whose brokers answer from a list, so that what a stranger sends can be tried."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any


class FakeWire:
    """Answers each request with what `answer` makes of it, and remembers the requests.

    An answer that is an error is raised; `asked_of` has the broker of each request.
    """

    def __init__(self, answer: Callable[[Any], Any], versions: int = 8) -> None:
        self.asked: list[Any] = []
        self.asked_of: list[Any] = []
        self.nodes = [1]
        self._answer = answer
        self._versions = versions

    def version(self, request: type[Any]) -> int:
        return self._versions

    def learn(self, metadata: Any) -> None:
        """Addresses are of no use here."""

    async def ask(self, node: Any, request: Any) -> Any:
        self.asked.append(request)
        self.asked_of.append(node)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ask_any(self, request_of: Callable[[], Any]) -> Any:
        return await self.ask(1, request_of())

    async def together(self, questions: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        return [await question for question in questions]
