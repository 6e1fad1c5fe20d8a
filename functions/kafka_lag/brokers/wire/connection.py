# SPDX-License-Identifier: Apache-2.0
"""Questions to many brokers at once: bounded in number and time, one silence costs one broker."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from kafka import errors
from kafka.future import Future

from kafka_lag import contract
from kafka_lag.brokers.wire.access import Access, Login
from kafka_lag.brokers.wire.managers import Connections
from kafka_lag.brokers.wire.refusals import UnansweredError, cause, is_refusal, reason_of

T = TypeVar("T")

# kafka-python fails the request after its fifth unanswered one on a connection.
_UNDER_WAY = 4
# Of the time that a run has left at its beginning, what one broker may take. A few can hang one
# after the other before all of it is gone: bootstrap alone takes up to twice as long.
BROKER_SHARE = 0.25
# Seconds between two looks at a connection that takes nothing more for now.
_PAUSE = 0.005


class Wire:
    """Connections to one cluster, kept open between runs, and what a run asks on them.

    A broker that timed out or refused a connection is not asked again before `begin`, so that a
    hung one costs a run one timeout and not one a question. Not thread-safe.

    A broker that refuses a login is tried with the next one. After a run `refused` says that some
    broker refused them all.
    """

    def __init__(self, access: Access, login: Login | None) -> None:
        self.access = access
        self.cluster_id = ""
        self.refused = False
        self.timeout = access.broker_timeout
        self.connections = Connections(access)
        self.connections.add(login)
        self._deadline = float("inf")
        self._down: dict[Any, UnansweredError] = {}
        self._odd: dict[Any, str] = {}
        self._cut_off: set[Any] = set()
        self._down_before: set[Any] = set()
        self._under_way: dict[Any, int] = defaultdict(int)
        self._waiting: dict[Any, deque[Future]] = defaultdict(deque)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Drives the connections until the coroutine is done, on the caller's thread."""
        result: T = self.connections.any.run(coroutine)
        return result

    def begin(self, deadline: float) -> None:
        """Starts a run that must end by `deadline` (time.monotonic); forgets who was silent."""
        self._down_before = set(self._down)
        self._down.clear()
        self._odd.clear()
        self._cut_off.clear()
        self.connections.begin()
        self.refused = False
        self.until(deadline)
        self.share_time(deadline)

    def until(self, deadline: float) -> None:
        """Goes on with the run, which must now end by `deadline`."""
        self._deadline = deadline

    def share_time(self, deadline: float) -> None:
        """Bounds what a broker may take, in seconds, by what is left until `deadline`."""
        left = max(deadline - time.monotonic(), 0.0)
        self.timeout = min(self.access.broker_timeout, BROKER_SHARE * left)

    def add(self, login: Login | None) -> bool:
        """Takes another login for the brokers that refuse the others; whether it is new.

        Those that did are asked again. Raises ConfigError.
        """
        if not self.connections.add(login):
            return False
        for node in self.connections.refusing():
            self._down.pop(node, None)
        self.refused = False
        return True

    def close(self) -> None:
        """Closes every connection, those in a handshake too; the wire cannot be used after."""
        self.connections.close_all()

    @property
    def nodes(self) -> list[int]:
        """The ids of the brokers that the last metadata named."""
        return [broker.node_id for broker in self.connections.any.cluster.brokers()]

    def down(self) -> dict[Any, UnansweredError]:
        """The brokers that did not answer in this run, and why."""
        return dict(self._down)

    def not_responding(self) -> dict[Any, UnansweredError]:
        """Those of `down` that the end of the run's time did not cut off, as it does slow ones."""
        return {node: why for node, why in self._down.items() if node not in self._cut_off}

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
        await self.connections.net.sleep(seconds)

    def learn(self, metadata: Any) -> None:
        """Takes the brokers' addresses from a metadata response, whose topics it drops."""
        metadata.topics = []
        self.cluster_id = metadata.cluster_id or ""
        self.connections.any.cluster.update_metadata(metadata)

    def version(self, request: type[Any]) -> int:
        """The highest version of a request that both sides speak, -1 where the broker has none."""
        try:
            return int(self.connections.any.broker_version_data.api_version(request))
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
        """The answer of whichever broker gives one; `request_of` makes the request afresh.

        One is asked, and all others at once if it fails: many hung ones cost two timeouts.
        """
        nodes = sorted(self.nodes, key=lambda n: (n in self._down, n in self._down_before))
        last = UnansweredError(contract.ERROR, "no broker is known")
        for some in filter(None, (nodes[:1], nodes[1:])):
            try:
                return await self.first_of(self.ask(node, request_of()) for node in some)
            except UnansweredError as error:
                last = error
        raise last

    async def first_of(self, questions: Iterable[Coroutine[Any, Any, T]]) -> T:
        """The first answer, while the others go on; where all fail, what the last one raises."""
        left, answer = list(questions), Future()

        async def attempt(question: Coroutine[Any, Any, T]) -> None:
            try:
                told = await question
            except Exception as error:  # noqa: BLE001 - raised to the caller, if nobody answers
                left.remove(question)
                if not left:
                    answer.failure(error)
            else:
                if not answer.is_done:
                    answer.success(told)

        for question in list(left):
            self.connections.any.call_soon(attempt(question))
        result: T = await answer
        return result

    async def together(self, questions: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """All at once, results in the order asked; an exception of one is raised at the end."""
        futures = [self.connections.any.call_soon(question) for question in questions]
        return [await future for future in futures]

    async def together_any(self, *questions: Coroutine[Any, Any, Any]) -> list[Any]:
        """The same for questions of different kinds."""
        return await self.together(questions)

    async def within(self, answer: Awaitable[T], seconds: float) -> T:
        """The answer, or KafkaTimeoutError after so long or the run's end, the nearer."""
        left = min(seconds, self._deadline - time.monotonic())
        if left <= 0:
            raise errors.KafkaTimeoutError("the time of this run is used up")
        future = answer if isinstance(answer, Future) else self.connections.any.call_soon(answer)
        try:
            result: T = await self.connections.any.wait_for(future, left * 1000)
        except errors.KafkaTimeoutError as error:
            raise errors.KafkaTimeoutError(f"no answer within {left:.2g} s") from error
        return result

    async def _slot(self, node: Any) -> None:
        while self._under_way[node] >= _UNDER_WAY:
            waiter = Future()
            self._waiting[node].append(waiter)
            await waiter
        self._under_way[node] += 1

    async def _asked(self, node: Any, request: Any) -> Any:
        was_cut = False
        while True:
            if node in self._down:
                raise self._down[node]
            connection = None
            try:
                connection = self.connections.to(node, self.timeout)
                await self._open_for_writing(connection)
                answer = connection.send_request(request)
                return await self.within(answer, self.timeout)
            except Exception as error:
                if is_refusal(self.access, connection, error):
                    if self.connections.try_next_login(node, connection):
                        continue
                    self.refused = True
                elif _was_cut(connection, error) and not was_cut:
                    was_cut = True
                    continue
                raise self._silent(node, error) from error

    async def _open_for_writing(self, connection: Any) -> None:
        """Waits while the library would refuse a request: a full buffer, or a broker's quota."""
        end = min(time.monotonic() + self.timeout, self._deadline)
        while connection.connected and connection.paused and time.monotonic() < end:
            await self.connections.net.sleep(_PAUSE)

    def _silent(self, node: Any, error: Exception) -> UnansweredError:
        unanswered = UnansweredError(reason_of(error), f"broker {node}: {cause(error)}")
        if isinstance(error, errors.IncompatibleBrokerVersion):
            return unanswered
        self.connections.close(node)
        if node not in self._down and time.monotonic() >= self._deadline:
            self._cut_off.add(node)
        return self._down.setdefault(node, unanswered)


def _was_cut(connection: Any, error: Exception) -> bool:
    """Whether a connection that had been made ended, as one does that was idle between runs."""
    ended = type(error) in (errors.KafkaConnectionError, errors.Cancelled)
    return ended and connection is not None and bool(connection.init_future.succeeded())
