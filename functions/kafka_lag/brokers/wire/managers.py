# SPDX-License-Identifier: Apache-2.0
"""One connection to each broker, made with whichever login that broker accepts."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kafka import errors
from kafka.future import Future
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from kafka_lag.brokers.wire.access import CLIENT_ID, Access, Login


class ClosedHereError(errors.KafkaConnectionError):  # type: ignore[misc]
    """We closed the connection ourselves: neither a refused login nor a reason to connect again."""


class _Manager(KafkaConnectionManager):  # type: ignore[misc]
    """The library's, with an end to TLS handshakes, in which it waits for a hung broker forever."""

    def __init__(self, net: NetworkSelector, **options: Any) -> None:
        super().__init__(net, **options)
        self._building: dict[Any, tuple[Any, Future]] = {}

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        built = Future()

        async def build() -> None:
            try:
                built.success(await KafkaConnectionManager._build_transport(self, node, timeout_at))
            except Exception as error:  # noqa: BLE001 - raised by whoever awaits it
                built.failure(error)

        self._building[node.node_id] = self._net.call_soon(build), built
        try:
            return await built
        finally:
            if self._building.get(node.node_id, (None, None))[1] is built:
                del self._building[node.node_id]

    def stop_building(self, node: Any) -> None:
        """Closes the socket of a connection that is not made yet: no one else knows it."""
        if node in self._building:
            task, built = self._building.pop(node)
            self._net.cancel(task)
            if not built.is_done:
                built.failure(ClosedHereError("hung up"))


@dataclass(frozen=True, slots=True)
class _Made:
    login: Login | None
    connection: Any


class Connections:
    """At most one connection to each broker; a manager of the library for each login.

    A broker is offered the login it accepted last, then the others in the order they were added.
    One that it refused is not offered to it again before `begin`.
    """

    def __init__(self, access: Access) -> None:
        self.net = NetworkSelector(client_id=CLIENT_ID)
        self._access = access
        self._managers: dict[Login | None, _Manager] = {}
        self._made: dict[Any, _Made] = {}
        self._login_of: dict[Any, Login | None] = {}
        self._refused: dict[Any, list[Login | None]] = defaultdict(list)

    def add(self, login: Login | None) -> bool:
        """Takes another login; whether it is new. Raises ConfigError."""
        if login in self._managers:
            return False
        manager = _Manager(self.net, **self._access.client_options(login))
        if self._managers:
            manager.cluster = self.any.cluster
            manager.broker_version_data = self.any.broker_version_data
        self._managers[login] = manager
        return True

    @property
    def any(self) -> Any:
        """A manager, for what they all share: the event loop, the brokers, their versions."""
        return next(iter(self._managers.values()))

    def begin(self) -> None:
        """Forgets which logins were refused: brokers learn of a rotation late."""
        self._refused.clear()

    def to(self, node: Any, seconds: float) -> Any:
        """The connection to a broker, which has so long to be made if it is a new one."""
        made = self._made.get(node)
        if made is None or made.connection.closed:
            login = self._login_of[node] = self._offer(node)
            connection = self._managers[login].get_connection(
                node, timeout_ms=seconds * 1000, refresh_metadata_on_err=False
            )
            made = self._made[node] = _Made(login, connection)
        return made.connection

    def try_next_login(self, node: Any, connection: Any) -> bool:
        """Whether there is another login for the broker that refused the one of a connection."""
        made = self._made.get(node)
        if made is not None and made.connection is connection:
            self._refused[node].append(made.login)
            self._login_of.pop(node, None)
            self.close(node)
        return len(self._refused[node]) < len(self._managers)

    def refusing(self) -> list[Any]:
        """The brokers that refused a login since `begin`."""
        return [node for node, refused in self._refused.items() if refused]

    def logins(self) -> set[Login | None]:
        """The logins of all open connections."""
        return {made.login for made in self._made.values() if not made.connection.closed}

    def learn(self, connection: Any) -> None:
        """Takes what brokers can do from one of them, and its login as the first to try."""
        for made in self._made.values():
            if made.connection is connection:
                self._managers = {made.login: self._managers[made.login], **self._managers}
        for manager in self._managers.values():
            manager.broker_version_data = connection.broker_version_data

    def close(self, node: Any) -> None:
        """Cuts one connection at once, without flushing."""
        made = self._made.pop(node, None)
        if made is not None and not made.connection.closed:
            made.connection.close(ClosedHereError("hung up"))
            self._managers[made.login].stop_building(node)

    def close_all(self) -> None:
        """Closes every connection, those in a handshake too; nothing can be used after."""
        for node in list(self._made):
            self.close(node)
        for manager in self._managers.values():
            manager.close()
        # The library's loop may trip over what it has just been told to forget.
        with suppress(Exception):
            self.net.close()

    def _offer(self, node: Any) -> Login | None:
        known = [self._login_of[node]] if node in self._login_of else []
        order = [*known, *self._managers]
        return next((one for one in order if one not in self._refused[node]), order[0])
