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
        self.pauses: list[float] = []
        self.seconds = 45.0
        self.silent: dict[Any, Any] = {}
        self.odd: dict[Any, str] = {}

    def version(self, request: type[Any]) -> int:
        return self._versions

    def learn(self, metadata: Any) -> None:
        """Addresses are of no use here."""

    def down(self) -> dict[Any, Any]:
        return dict(self.silent)

    def odd_answers(self) -> dict[Any, str]:
        return dict(self.odd)

    def note_odd(self, node: Any, detail: str) -> None:
        self.odd.setdefault(node, detail)

    def seconds_left(self) -> float:
        return self.seconds - sum(self.pauses)

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

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

    async def together_any(self, *questions: Coroutine[Any, Any, Any]) -> list[Any]:
        return await self.together(questions)
