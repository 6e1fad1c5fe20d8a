# SPDX-License-Identifier: Apache-2.0
"""Questions to many brokers at once: bounded in number and time, one silence costs one broker."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from kafka import errors
from kafka.future import Future
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from functions import contract
from functions.broker.wire.access import (
    Access,
    Credentials,
    UnansweredError,
    reason_of,
)

T = TypeVar("T")

# kafka-python fails the request after its fifth unanswered one on a connection.
_UNDER_WAY = 4

# Seconds between two looks at a connection that takes nothing more for now.
_PAUSE = 0.005


class Wire:
    """Connections to one cluster, kept open between runs.

    A broker that timed out or refused a connection is not asked again before `begin`, so that a
    hung one costs a run one timeout and not one a question. Not thread-safe.
    """

    def __init__(self, access: Access, credentials: Credentials | None) -> None:
        options = access.client_options(credentials)
        self.access = access
        self._net = NetworkSelector(client_id=options["client_id"])
        self._manager = KafkaConnectionManager(self._net, **options)
        self._deadline = float("inf")
        self._down: dict[Any, UnansweredError] = {}
        self._under_way: dict[Any, int] = defaultdict(int)
        self._waiting: dict[Any, deque[Future]] = defaultdict(deque)
        self.refused = False
        self.cluster_id = ""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Drives the connections until the coroutine is done, on the caller's thread."""
        result: T = self._manager.run(coroutine)
        return result

    def begin(self, deadline: float) -> None:
        """Starts a run that must end by `deadline` (time.monotonic); forgets who was silent."""
        self._deadline = deadline
        self._down.clear()
        self.refused = False

    def close(self) -> None:
        """Closes every connection; the wire cannot be used after."""
        self._manager.close()

    @property
    def nodes(self) -> list[int]:
        """The ids of the brokers that the last metadata named."""
        return [broker.node_id for broker in self._manager.cluster.brokers()]

    def down(self) -> dict[Any, UnansweredError]:
        """The brokers that did not answer in this run, and why."""
        return dict(self._down)

    def servers(self) -> list[Any]:
        """The bootstrap servers, with `node_id`, `host` and `port`."""
        return list(self._manager.cluster.bootstrap_brokers())

    def learn(self, metadata: Any) -> None:
        """Takes the brokers' addresses from a metadata response, whose topics it drops."""
        metadata.topics = []
        self.cluster_id = metadata.cluster_id or ""
        self._manager.cluster.update_metadata(metadata)

    def version(self, request: type[Any]) -> int:
        """The highest version of a request that both sides speak, -1 where the broker has none."""
        try:
            return int(self._manager.broker_version_data.api_version(request))
        except errors.IncompatibleBrokerVersion:
            return -1

    async def ask(self, node: Any, request: Any) -> Any:
        """One answer of one broker. Raises UnansweredError instead of waiting long.

        A connection that was cut since the last run is made once more.
        """
        if node in self._down:
            raise self._down[node]
        await self._slot(node)
        try:
            return await self._asked(node, request)
        finally:
            self._under_way[node] -= 1
            if self._waiting[node]:
                self._waiting[node].popleft().success(None)

    async def ask_any(self, request_of: Callable[[], Any]) -> Any:
        """The answer of whichever broker gives one; `request_of` makes the request afresh."""
        last = UnansweredError(contract.ERROR, "no broker is known")
        for node in self.nodes:
            try:
                return await self.ask(node, request_of())
            except UnansweredError as error:
                last = error
        raise last

    async def together(self, questions: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """All at once, results in the order asked; an exception of one is raised at the end."""
        futures = [self._manager.call_soon(question) for question in questions]
        return [await future for future in futures]

    async def together_any(self, *questions: Coroutine[Any, Any, Any]) -> list[Any]:
        """The same for questions of different kinds."""
        return await self.together(questions)

    def start(self, question: Coroutine[Any, Any, None]) -> None:
        """Sets a question going that nobody awaits."""
        self._manager.call_soon(question)

    async def connect(self, node: Any) -> None:
        """Connects and logs in. Raises what the client raises, a refused login as its own error."""
        connection = self._manager.get_connection(node, refresh_metadata_on_err=False)
        try:
            await self._within(connection.init_future)
        except errors.KafkaError as error:
            if self.access.is_refusal(connection, error):
                raise errors.SaslAuthenticationFailedError(str(error)) from error
            raise

    def hang_up(self, node: Any) -> None:
        """Closes one connection, and forgets that its broker was silent."""
        self._manager.close(node)
        self._down.pop(node, None)

    async def _within(self, answer: Awaitable[T]) -> T:
        """The answer, or KafkaTimeoutError after the broker's time or the run's, the nearer."""
        left = min(self.access.broker_timeout, self._deadline - time.monotonic())
        if left <= 0:
            raise errors.KafkaTimeoutError("the time of this run is used up")
        future = answer if isinstance(answer, Future) else self._manager.call_soon(answer)
        result: T = await self._manager.wait_for(future, left * 1000)
        return result

    async def _slot(self, node: Any) -> None:
        while self._under_way[node] >= _UNDER_WAY:
            waiter = Future()
            self._waiting[node].append(waiter)
            await waiter
        self._under_way[node] += 1

    async def _asked(self, node: Any, request: Any) -> Any:
        for again in (True, False):
            if node in self._down:
                raise self._down[node]
            connection = None
            try:
                connection = self._manager.get_connection(node, refresh_metadata_on_err=False)
                await self._open_for_writing(connection)
                return await self._within(connection.send_request(request))
            except (errors.KafkaError, OSError) as error:
                cut = type(error) is errors.KafkaConnectionError
                if not (cut and again):
                    raise self._silent(node, connection, error) from error
        raise AssertionError("unreachable")

    async def _open_for_writing(self, connection: Any) -> None:
        """Waits while the library would refuse a request: a full buffer, or a broker's quota."""
        end = time.monotonic() + self.access.broker_timeout
        while connection.connected and connection.paused and time.monotonic() < end:
            await self._net.sleep(_PAUSE)

    def _silent(self, node: Any, connection: Any, error: Exception) -> UnansweredError:
        unanswered = UnansweredError(reason_of(error), f"broker {node}: {error}")
        if isinstance(error, errors.IncompatibleBrokerVersion):
            return unanswered
        self.refused = self.refused or self.access.is_refusal(connection, error)
        self._down.setdefault(node, unanswered)
        self._manager.close(node)
        return unanswered
