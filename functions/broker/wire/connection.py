# SPDX-License-Identifier: Apache-2.0
"""Questions to many brokers at once: bounded in number and time, one silence costs one broker."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from kafka import errors
from kafka.future import Future
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from functions import contract
from functions.broker.wire.access import Access, Login
from functions.broker.wire.refusals import UnansweredError, cause, is_refusal, reason_of, refusal

T = TypeVar("T")

# kafka-python fails the request after its fifth unanswered one on a connection.
_UNDER_WAY = 4
# Seconds between two looks at a connection that takes nothing more for now.
_PAUSE = 0.005


class Wire:
    """Connections to one cluster, kept open between runs.

    A broker that timed out or refused a connection is not asked again before `begin`, so that a
    hung one costs a run one timeout and not one a question. Not thread-safe.

    After a run `refused` says that some broker refused the login, and `worn` that a connection
    was left hanging in a handshake, which only closing the whole wire ends.
    """

    def __init__(self, access: Access, login: Login | None) -> None:
        options = access.client_options(login)
        self.access = access
        self.cluster_id = ""
        self.refused = self.worn = False
        self._net = NetworkSelector(client_id=options["client_id"])
        self._manager = KafkaConnectionManager(self._net, **options)
        self._connections: dict[Any, Any] = {}
        self._deadline = float("inf")
        self._down: dict[Any, UnansweredError] = {}
        self._odd: dict[Any, str] = {}
        self._under_way: dict[Any, int] = defaultdict(int)
        self._waiting: dict[Any, deque[Future]] = defaultdict(deque)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Drives the connections until the coroutine is done, on the caller's thread."""
        result: T = self._manager.run(coroutine)
        return result

    def begin(self, deadline: float) -> None:
        """Starts a run that must end by `deadline` (time.monotonic); forgets who was silent."""
        self._deadline = deadline
        self._down.clear()
        self._odd.clear()
        self.refused = self.worn = False

    def close(self) -> None:
        """Closes every connection, those in a handshake too; the wire cannot be used after."""
        for node in list(self._connections):
            self.hang_up(node)
        self._manager.close()
        # The library's loop may trip over what it has just been told to forget.
        with suppress(Exception):
            self._net.close()

    @property
    def nodes(self) -> list[int]:
        """The ids of the brokers that the last metadata named."""
        return [broker.node_id for broker in self._manager.cluster.brokers()]

    def down(self) -> dict[Any, UnansweredError]:
        """The brokers that did not answer in this run, and why."""
        return dict(self._down)

    def odd_answers(self) -> dict[Any, str]:
        """The brokers that answered, in this run, what they were not asked, and what it was."""
        return dict(self._odd)

    def note_odd(self, node: Any, detail: str) -> None:
        """Takes note of an answer that names what was not asked for, the first of each broker."""
        self._odd.setdefault(node, detail)

    def seconds_left(self) -> float:
        """Until this run must end."""
        return self._deadline - time.monotonic()

    async def pause(self, seconds: float) -> None:
        """Waits, while other questions go on."""
        await self._net.sleep(seconds)

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
        connection = self._connection(node)
        try:
            await self.within(connection.init_future, self.access.broker_timeout)
        except errors.KafkaError as error:
            if type(error) is errors.KafkaConnectionError and is_refusal(
                self.access, connection, error
            ):
                raise refusal(self.access, error) from error
            raise

    async def within(self, answer: Awaitable[T], seconds: float) -> T:
        """The answer, or KafkaTimeoutError after so long or the run's end, the nearer."""
        left = min(seconds, self._deadline - time.monotonic())
        if left <= 0:
            raise errors.KafkaTimeoutError("the time of this run is used up")
        future = answer if isinstance(answer, Future) else self._manager.call_soon(answer)
        result: T = await self._manager.wait_for(future, left * 1000)
        return result

    def hang_up(self, node: Any) -> None:
        """Cuts one connection at once, without flushing, and forgets its broker's silence."""
        connection = self._connections.pop(node, None)
        if connection is not None and not connection.closed:
            # No transport yet: the handshake goes on somewhere in the library, without end.
            self.worn = self.worn or connection.transport is None
            connection.close(errors.KafkaConnectionError("hung up"))
        self._down.pop(node, None)

    def _connection(self, node: Any) -> Any:
        connection = self._manager.get_connection(node, refresh_metadata_on_err=False)
        self._connections[node] = connection
        return connection

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
                connection = self._connection(node)
                await self._open_for_writing(connection)
                answer = connection.send_request(request)
                return await self.within(answer, self.access.broker_timeout)
            except Exception as error:
                if not (again and _was_cut(connection, error)):
                    raise self._silent(node, connection, error) from error
        raise AssertionError("unreachable")

    async def _open_for_writing(self, connection: Any) -> None:
        """Waits while the library would refuse a request: a full buffer, or a broker's quota."""
        end = min(time.monotonic() + self.access.broker_timeout, self._deadline)
        while connection.connected and connection.paused and time.monotonic() < end:
            await self._net.sleep(_PAUSE)

    def _silent(self, node: Any, connection: Any, error: Exception) -> UnansweredError:
        unanswered = UnansweredError(reason_of(error), f"broker {node}: {cause(error)}")
        if isinstance(error, errors.IncompatibleBrokerVersion):
            return unanswered
        self.refused = self.refused or is_refusal(self.access, connection, error)
        self.hang_up(node)
        return self._down.setdefault(node, unanswered)


def _was_cut(connection: Any, error: Exception) -> bool:
    """Whether a connection that had been made ended, as one does that was idle between runs."""
    ended = type(error) in (errors.KafkaConnectionError, errors.Cancelled)
    return ended and connection is not None and bool(connection.init_future.succeeded())
