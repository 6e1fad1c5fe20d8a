# SPDX-License-Identifier: Apache-2.0
"""Requests to many brokers at once, bounded in number and time; a hung broker costs itself."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from kafka import errors
from kafka.future import Future

from kafka_lag import contract
from kafka_lag.brokers.access import Access, Login
from kafka_lag.brokers.connection_pool import ConnectionPool
from kafka_lag.brokers.errors import UnansweredError, cause, is_login_rejected, reason_of
from kafka_lag.brokers.throttling import GIVEN_UP, Throttling
from kafka_lag.wording.formatting import escape_name, python_escape

T = TypeVar("T")

# kafka-python fails the request after its fifth unanswered one on a connection.
_IN_FLIGHT = 4
# Of the time that a run has left at its beginning, what one broker may take. A few can hang one
# after the other before all of it is gone: bootstrap alone takes up to twice as long.
_BROKER_SHARE = 0.25
# Seconds between two looks at a connection that takes nothing more for now.
_PAUSE = 0.005
# How a request ends that a muted connection does not take, or does not answer in its time.
_LATE = (errors.KafkaTimeoutError, errors.RequestTimedOutError, errors.NodeNotReadyError)


class Connections:
    """Connections to one cluster, kept open between runs, and the requests of a run on them.

    A broker that timed out or refused a connection gets no more requests before `begin_run`, so
    that a hung one costs a run one timeout and not one a request. Not thread-safe.

    A broker that rejects a login is tried with the next one. After a run `login_rejected` says
    that some broker rejected them all. `timeout` is the seconds that a broker may take, and time in
    which it mutes a connection by a client quota does not count for it; the run's end does.
    """

    def __init__(self, access: Access, login: Login | None) -> None:
        self.access = access
        self.cluster_id = ""
        self.login_rejected = False
        self.timeout = access.broker_timeout
        self.pool = ConnectionPool(access)
        self.pool.add_login(login)
        self._deadline = float("inf")
        self._addresses: dict[int, str] = {}
        self._down: dict[Any, UnansweredError] = {}
        self._unexpected: dict[Any, str] = {}
        self._cut_off: set[Any] = set()
        self._down_before: set[Any] = set()
        self._throttling = Throttling()
        self._in_flight: dict[Any, int] = defaultdict(int)
        self._waiting: dict[Any, deque[Future]] = defaultdict(deque)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Drives the connections until the coroutine is done, on the caller's thread."""
        result: T = self.pool.manager.run(coroutine)
        return result

    def begin_run(self, deadline: float) -> None:
        """Starts a run, to end by `deadline` (time.monotonic); all brokers are tried again."""
        self._down_before = set(self._down)
        self._down.clear()
        self._unexpected.clear()
        self._cut_off.clear()
        self._throttling.begin_run()
        self.pool.forget_rejections()
        self.login_rejected = False
        self.set_deadline(deadline)
        self.limit_broker_time(deadline)

    def set_deadline(self, deadline: float) -> None:
        """Goes on with the run, which must now end by `deadline`."""
        self._deadline = deadline

    def limit_broker_time(self, deadline: float) -> None:
        """Bounds what a broker may take by what is left until `deadline`."""
        left = max(deadline - time.monotonic(), 0.0)
        self.timeout = min(self.access.broker_timeout, _BROKER_SHARE * left)

    def add_login(self, login: Login | None) -> bool:
        """Takes another login for the brokers that reject the others; whether it is new.

        Those that did get requests again. Raises ConfigError.
        """
        if not self.pool.add_login(login):
            return False
        for node in self.pool.rejecting():
            self._down.pop(node, None)
        self.login_rejected = False
        return True

    def close(self) -> None:
        """Closes every connection, those in a handshake too; nothing can be sent after."""
        self.pool.close_all()

    @property
    def nodes(self) -> list[int]:
        """The ids of the brokers that the last metadata named."""
        return [broker.node_id for broker in self.pool.manager.cluster.brokers()]

    def down(self) -> dict[Any, UnansweredError]:
        """The brokers that did not answer in this run, and why."""
        return dict(self._down)

    def not_responding(self) -> dict[Any, UnansweredError]:
        """Return the brokers of `down` without those that only ran out of the run's time."""
        return {node: why for node, why in self._down.items() if node not in self._cut_off}

    def throttled_seconds(self) -> dict[Any, float]:
        """Return by broker for how many seconds a client quota held back requests in this run."""
        return self._throttling.seconds()

    def unexpected_answers(self) -> dict[Any, str]:
        """The brokers that answered, in this run, what no request was about, and what it was."""
        return dict(self._unexpected)

    def note_unexpected(self, node: Any, detail: str) -> None:
        """Keeps an answer that names what was not requested, the first of each broker."""
        self._unexpected.setdefault(node, detail)

    def seconds_left(self) -> float:
        """The seconds until this run must end."""
        return self._deadline - time.monotonic()

    async def pause(self, seconds: float) -> None:
        """Waits, while other requests go on."""
        await self.pool.net.sleep(seconds)

    def update_brokers(self, metadata: Any) -> None:
        """Takes the brokers' addresses from a metadata response, whose topics it drops."""
        metadata.topics = []
        self.note_addresses({each.node_id: (each.host, each.port) for each in metadata.brokers})
        self.cluster_id = metadata.cluster_id or ""
        self.pool.manager.cluster.update_metadata(metadata)

    def note_addresses(self, addresses: Mapping[int, tuple[str, int]]) -> None:
        """Keeps where brokers are, or were, for the time when they are listed no more."""
        for node, (host, port) in addresses.items():
            self._addresses[node] = escape_name(f"{host}:{port}", python_escape)

    def address_of(self, node: int) -> str | None:
        """Host and port of a broker, null where no answer has named them."""
        return self._addresses.get(node)

    def version(self, request: type[Any]) -> int:
        """The highest version of a request that both sides speak, -1 where the broker has none."""
        try:
            return int(self.pool.manager.broker_version_data.api_version(request))
        except errors.IncompatibleBrokerVersion:
            return -1

    async def send(self, node: Any, request: Any) -> Any:
        """The answer of one broker. Raises UnansweredError instead of waiting long.

        A connection that went stale since the last run is made once more.
        """
        if node in self._down:
            raise self._down[node]
        began = time.monotonic()
        await self._wait_for_turn(node)
        try:
            return await self._send(node, request, began)
        finally:
            self._in_flight[node] -= 1
            if self._waiting[node]:
                self._waiting[node].popleft().success(None)

    async def send_to_any(self, make_request: Callable[[], Any]) -> Any:
        """The answer of whichever broker gives one; each gets a request of its own.

        One gets it, and all others at once if it fails: many hung ones cost two timeouts.
        """
        nodes = sorted(self.nodes, key=lambda n: (n in self._down, n in self._down_before))
        last = UnansweredError(contract.ERROR, "no broker is known")
        for some in filter(None, (nodes[:1], nodes[1:])):
            try:
                return await self.first_of(self.send(node, make_request()) for node in some)
            except UnansweredError as error:
                last = error
        raise last

    async def first_of(self, coroutines: Iterable[Coroutine[Any, Any, T]]) -> T:
        """The first result, while the others go on; where all fail, what the last one raises."""
        left, first = list(coroutines), Future()

        async def attempt(coroutine: Coroutine[Any, Any, T]) -> None:
            try:
                answer = await coroutine
            except Exception as error:  # noqa: BLE001 - raised to the caller, if no broker answers
                left.remove(coroutine)
                if not left:
                    first.failure(error)
            else:
                if not first.is_done:
                    first.success(answer)

        for coroutine in list(left):
            self.start(attempt(coroutine))
        result: T = await first
        return result

    async def gather(self, coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """All at once, results in the order given. If some raise an Exception, the first of these
        in that order is raised once all have ended; KeyboardInterrupt is raised at once.
        """
        results: list[T] = []
        failures: list[Exception] = []
        for future in [self.start(coroutine) for coroutine in coroutines]:
            try:
                results.append(await future)
            except Exception as error:  # noqa: BLE001 - raised below, if it is the first
                failures.append(error)
        if failures:
            raise failures[0]
        return results

    def start(self, coroutine: Awaitable[T]) -> Future:
        """Its future; it goes on while others are awaited.

        The library's own way is for any thread, and wakes the loop up for each.
        """
        future = Future()

        async def work() -> None:
            try:
                future.success(await coroutine)
            except BaseException as error:  # noqa: BLE001 - raised by whoever awaits it
                future.failure(error)

        self.pool.net.call_soon(work())
        return future

    async def wait_for(self, answer: Awaitable[T], seconds: float) -> T:
        """The answer, or KafkaTimeoutError after so long or the run's end, the nearer."""
        left = min(seconds, self._deadline - time.monotonic())
        if left <= 0:
            raise errors.KafkaTimeoutError("the time of this run is used up")
        future = answer if isinstance(answer, Future) else self.start(answer)
        try:
            result: T = await self.pool.manager.wait_for(future, left * 1000)
        except errors.KafkaTimeoutError as error:
            raise errors.KafkaTimeoutError(f"no answer within {left:.2g} s") from error
        return result

    async def _wait_for_turn(self, node: Any) -> None:
        while self._in_flight[node] >= _IN_FLIGHT:
            waiter = Future()
            self._waiting[node].append(waiter)
            await waiter
        self._in_flight[node] += 1

    async def _send(self, node: Any, request: Any, began: float) -> Any:
        was_stale = False
        while True:
            if node in self._down:
                raise self._down[node]
            connection = None
            try:
                connection = self.pool.get(node, self.timeout)
                await self._wait_until_writable(node, connection)
                # Else the library would cut a muted connection after its own time.
                left_ms = (self._deadline - time.monotonic()) * 1000
                future = connection.send_request(request, request_timeout_ms=left_ms)
                answer = await self._wait_for_answer(node, connection, future)
            except Exception as error:
                if is_login_rejected(self.access, connection, error):
                    if self.pool.try_next_login(node, connection):
                        continue
                    self.login_rejected = True
                elif _is_stale(connection, error) and not was_stale:
                    was_stale = True
                    continue
                throttled = self._is_throttled(node, connection, error, began)
                raise self._mark_down(node, error, throttled=throttled) from error
            self._throttling.note(node, answer)
            return answer

    async def _wait_until_writable(self, node: Any, connection: Any) -> None:
        """Waits while the library would not take a request: a full buffer, or a client quota.

        Returns at once where the quota mutes the connection beyond the run's end.
        """
        began = time.monotonic()
        while connection.connected and connection.paused:
            now, muted_until = time.monotonic(), self._throttling.until(node)
            end = self._end_of_request(node, connection, began)
            if now >= end or muted_until >= self._deadline:
                return
            await self.pool.net.sleep(max(_PAUSE, min(muted_until, end) - now))

    async def _wait_for_answer(self, node: Any, connection: Any, answer: Future) -> Any:
        """The answer, or KafkaTimeoutError once the broker or the run has no time left."""
        began = time.monotonic()
        while True:
            end = self._end_of_request(node, connection, began)
            try:
                return await self.wait_for(answer, end - time.monotonic())
            except errors.KafkaTimeoutError:
                # Earlier requests on the connection may have had it muted meanwhile.
                end = self._end_of_request(node, connection, began)
                if answer.is_done or time.monotonic() >= end:
                    raise

    def _end_of_request(self, node: Any, connection: Any, began: float) -> float:
        """Return when a request must end; its time begins once the broker no longer mutes us."""
        muted_until = self._throttling.until(node)
        if _is_muted(connection):
            muted_until = max(muted_until, time.monotonic())
        return min(max(began, muted_until) + self.timeout, self._deadline)

    def _is_throttled(self, node: Any, connection: Any, error: Exception, began: float) -> bool:
        """Return true if a client quota held a request back while its broker still had time."""
        muted_until = self._throttling.until(node)
        had_time = muted_until > began and time.monotonic() < muted_until + self.timeout
        return isinstance(error, _LATE) and (had_time or _is_muted(connection))

    def _mark_down(self, node: Any, error: Exception, *, throttled: bool) -> UnansweredError:
        reason, said = reason_of(error), cause(error)
        if throttled:
            reason, said = contract.THROTTLED, GIVEN_UP
        unanswered = UnansweredError(reason, f"broker {node}: {said}", node)
        if isinstance(error, errors.IncompatibleBrokerVersion):
            return unanswered
        self.pool.close(node)
        if node not in self._down and (throttled or time.monotonic() >= self._deadline):
            self._cut_off.add(node)
        return self._down.setdefault(node, unanswered)


def _is_muted(connection: Any) -> bool:
    """Return true if a client quota mutes the connection, or just began to."""
    return connection is not None and "throttle" in connection.paused


def _is_stale(connection: Any, error: Exception) -> bool:
    """Return true if an established connection ended, for example while idle between runs."""
    ended = type(error) in (errors.KafkaConnectionError, errors.Cancelled)
    return ended and connection is not None and bool(connection.init_future.succeeded())
