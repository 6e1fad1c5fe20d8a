# SPDX-License-Identifier: Apache-2.0
"""Requests to many brokers at once, limited in number and time.

A broker that does not answer delays only its own requests.
"""

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
# One broker may take this share of the time that a run has left at its beginning. A few brokers can
# hang one after the other before all of it is gone: bootstrap alone takes up to twice as long.
_BROKER_SHARE = 0.25
# Seconds between two checks of a connection that takes no more requests for now.
_PAUSE = 0.005
# Errors of a request on a muted connection: it was not taken, or not answered in time.
_LATE = (errors.KafkaTimeoutError, errors.RequestTimedOutError, errors.NodeNotReadyError)


class Connections:
    """Connections to one cluster, kept open between runs, and the requests of a run on them.

    A broker that timed out or refused a connection gets no more requests before `begin_run`, so
    that a hung broker costs a run one timeout, not one for each request. Not thread-safe.

    A broker that rejects a login is tried with the next one. After a run `login_rejected` says
    whether some broker rejected all logins. `timeout` is the number of seconds that a broker may
    take. The time for which a client quota mutes the connection does not count, but the run's end
    holds.
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
        """Runs the coroutine on the caller's thread and returns its result."""
        result: T = self.pool.manager.run(coroutine)
        return result

    def begin_run(self, deadline: float) -> None:
        """Starts a run that ends by `deadline` (time.monotonic), and tries all brokers again."""
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
        """Changes the time by which the present run must end (time.monotonic)."""
        self._deadline = deadline

    def limit_broker_time(self, deadline: float) -> None:
        """Limits the time for one broker to a share of the time left until `deadline`."""
        left = max(deadline - time.monotonic(), 0.0)
        self.timeout = min(self.access.broker_timeout, _BROKER_SHARE * left)

    def add_login(self, login: Login | None) -> bool:
        """Adds a login for brokers that reject the others, and returns True if it is new.

        Brokers that rejected a login get requests again. Raises ConfigError.
        """
        if not self.pool.add_login(login):
            return False
        for node in self.pool.rejecting():
            self._down.pop(node, None)
        self.login_rejected = False
        return True

    def close(self) -> None:
        """Closes every connection, also one in a handshake. No request can be sent afterwards."""
        self.pool.close_all()

    @property
    def nodes(self) -> list[int]:
        """Returns the ids of the brokers in the last metadata."""
        return [broker.node_id for broker in self.pool.manager.cluster.brokers()]

    def down(self) -> dict[Any, UnansweredError]:
        """Returns the brokers that did not answer in this run, and why."""
        return dict(self._down)

    def not_responding(self) -> dict[Any, UnansweredError]:
        """Returns the brokers of `down`, without brokers that a quota or the run's end cut off."""
        return {node: why for node, why in self._down.items() if node not in self._cut_off}

    def throttled_seconds(self) -> dict[Any, float]:
        """Returns by broker the seconds for which a client quota delayed requests in this run."""
        return self._throttling.seconds()

    def unexpected_answers(self) -> dict[Any, str]:
        """Returns, by broker, an answer of this run about something that was not requested."""
        return dict(self._unexpected)

    def note_unexpected(self, node: Any, detail: str) -> None:
        """Keeps a broker's first answer about something that was not requested."""
        self._unexpected.setdefault(node, detail)

    def seconds_left(self) -> float:
        """Returns the seconds until this run must end."""
        return self._deadline - time.monotonic()

    async def pause(self, seconds: float) -> None:
        """Waits for `seconds` while other requests go on."""
        await self.pool.net.sleep(seconds)

    def update_brokers(self, metadata: Any) -> None:
        """Stores the brokers' addresses of a metadata response and drops its topics."""
        metadata.topics = []
        self.note_addresses({each.node_id: (each.host, each.port) for each in metadata.brokers})
        self.cluster_id = metadata.cluster_id or ""
        self.pool.manager.cluster.update_metadata(metadata)

    def note_addresses(self, addresses: Mapping[int, tuple[str, int]]) -> None:
        """Stores the brokers' addresses, which remain known after brokers are no longer listed."""
        for node, (host, port) in addresses.items():
            self._addresses[node] = escape_name(f"{host}:{port}", python_escape)

    def address_of(self, node: int) -> str | None:
        """Returns host and port of a broker; None if no answer has named them."""
        return self._addresses.get(node)

    def version(self, request: type[Any]) -> int:
        """Returns the highest version of a request that both sides support; -1 if there is none."""
        try:
            return int(self.pool.manager.broker_version_data.api_version(request))
        except errors.IncompatibleBrokerVersion:
            return -1

    async def send(self, node: Any, request: Any) -> Any:
        """Returns the answer of one broker. Raises UnansweredError instead of waiting long.

        A connection that has ended since its last request is made again once.
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
        """Returns the answer of any broker; each gets its own request.

        The first broker gets a request alone. If it fails, all others get one at once, so that many
        hung brokers cost two timeouts. Raises UnansweredError if none answers.
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
        """Returns the first result while the others go on; raises the last error if all fail."""
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
        """Runs all coroutines at once and returns their results in the order given.

        If some raise an Exception, the first in this order is raised after all have ended. A
        KeyboardInterrupt is raised at once.
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
        """Starts the coroutine and returns its future; it goes on while others are awaited.

        The library's own method works from any thread, and wakes the loop up for each coroutine.
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
        """Returns the answer.

        Raises KafkaTimeoutError after `seconds` or at the run's end.
        """
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
                # Otherwise the library would close a muted connection after its own time.
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
        """Waits while the library takes no request: a full buffer, or a client quota.

        Returns at once if the quota mutes the connection beyond the run's end.
        """
        began = time.monotonic()
        while connection.connected and connection.paused:
            now, muted_until = time.monotonic(), self._throttling.until(node)
            end = self._end_of_request(node, connection, began)
            if now >= end or muted_until >= self._deadline:
                return
            await self.pool.net.sleep(max(_PAUSE, min(muted_until, end) - now))

    async def _wait_for_answer(self, node: Any, connection: Any, answer: Future) -> Any:
        """Returns the answer.

        Raises KafkaTimeoutError if the broker's or the run's time is over.
        """
        began = time.monotonic()
        while True:
            end = self._end_of_request(node, connection, began)
            try:
                return await self.wait_for(answer, end - time.monotonic())
            except errors.KafkaTimeoutError:
                # A quota may have muted the connection meanwhile because of earlier requests on it.
                end = self._end_of_request(node, connection, began)
                if answer.is_done or time.monotonic() >= end:
                    raise

    def _end_of_request(self, node: Any, connection: Any, began: float) -> float:
        """Returns the time by which a request must end; it counts from the end of muting."""
        muted_until = self._throttling.until(node)
        if _is_muted(connection):
            muted_until = max(muted_until, time.monotonic())
        return min(max(began, muted_until) + self.timeout, self._deadline)

    def _is_throttled(self, node: Any, connection: Any, error: Exception, began: float) -> bool:
        """Returns True if a client quota held a request back while its broker still had time."""
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
    """Returns True if a client quota mutes the connection."""
    return connection is not None and "throttle" in connection.paused


def _is_stale(connection: Any, error: Exception) -> bool:
    """Returns True if an established connection ended, for example while idle between runs."""
    ended = type(error) in (errors.KafkaConnectionError, errors.Cancelled)
    return ended and connection is not None and bool(connection.init_future.succeeded())
