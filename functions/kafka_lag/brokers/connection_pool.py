# SPDX-License-Identifier: Apache-2.0
"""One connection to each broker, made with the login that the broker accepts."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kafka import errors
from kafka.future import Future
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from kafka_lag.brokers.access import CLIENT_ID, Access, Login


class ClosedHereError(errors.KafkaConnectionError):  # type: ignore[misc]
    """We closed the connection ourselves: no login was rejected, and no retry is needed."""


class _Manager(KafkaConnectionManager):  # type: ignore[misc]
    """The library's manager with a way to end TLS handshakes.

    In a handshake the library waits for a hung broker forever.
    """

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

    def cancel_building(self, node: Any) -> None:
        """Closes the socket of a connection that is still being made."""
        if node in self._building:
            task, built = self._building.pop(node)
            self._net.cancel(task)
            if not built.is_done:
                built.failure(ClosedHereError("hung up"))


@dataclass(frozen=True, slots=True)
class _PoolEntry:
    login: Login | None
    connection: Any


class ConnectionPool:
    """At most one connection to each broker, and one manager of the library for each login.

    A broker is offered the login it accepted last, then the others in the order they were added. A
    login that it rejected is not offered to it again before `forget_rejections`.
    """

    def __init__(self, access: Access) -> None:
        # Measuring each step costs time, and the warnings about slow ones are not shown.
        self.net = NetworkSelector(client_id=CLIENT_ID, slow_task_threshold_secs=0)
        self._access = access
        self._managers: dict[Login | None, _Manager] = {}
        self._entries: dict[Any, _PoolEntry] = {}
        self._login_of: dict[Any, Login | None] = {}
        self._rejected: dict[Any, list[Login | None]] = defaultdict(list)

    def add_login(self, login: Login | None) -> bool:
        """Adds a login and returns True if it is new. Raises ConfigError."""
        if login in self._managers:
            return False
        manager = _Manager(self.net, **self._access.client_options(login))
        if self._managers:
            manager.cluster = self.manager.cluster
            manager.broker_version_data = self.manager.broker_version_data
        self._managers[login] = manager
        return True

    @property
    def manager(self) -> Any:
        """Returns one of the managers; all share the event loop, the brokers and their versions."""
        return next(iter(self._managers.values()))

    def forget_rejections(self) -> None:
        """Offers every login to every broker again, because brokers learn of a rotation late."""
        self._rejected.clear()

    def get(self, node: Any, seconds: float) -> Any:
        """Returns the connection to a broker; a new one must be made within `seconds`."""
        entry = self._entries.get(node)
        if entry is None or entry.connection.closed:
            login = self._login_of[node] = self._next_login(node)
            connection = self._managers[login].get_connection(
                node, timeout_ms=seconds * 1000, refresh_metadata_on_err=False
            )
            entry = self._entries[node] = _PoolEntry(login, connection)
        return entry.connection

    def try_next_login(self, node: Any, connection: Any) -> bool:
        """Closes the connection whose login was rejected; returns True if another login is left."""
        entry = self._entries.get(node)
        if entry is not None and entry.connection is connection:
            self._rejected[node].append(entry.login)
            self._login_of.pop(node, None)
            self.close(node)
        return len(self._rejected[node]) < len(self._managers)

    def rejecting(self) -> list[Any]:
        """Returns the brokers that rejected a login since `forget_rejections`."""
        return [node for node, rejected in self._rejected.items() if rejected]

    def logins(self) -> set[Login | None]:
        """Returns the logins of all open connections."""
        return {each.login for each in self._entries.values() if not each.connection.closed}

    def prefer(self, connection: Any) -> None:
        """Takes the supported versions from this connection, and tries its login first."""
        for entry in self._entries.values():
            if entry.connection is connection:
                self._managers = {entry.login: self._managers[entry.login], **self._managers}
        for manager in self._managers.values():
            manager.broker_version_data = connection.broker_version_data

    def close(self, node: Any) -> None:
        """Closes the connection to one broker at once, without flushing."""
        entry = self._entries.pop(node, None)
        if entry is not None and not entry.connection.closed:
            entry.connection.close(ClosedHereError("hung up"))
            self._managers[entry.login].cancel_building(node)

    def close_all(self) -> None:
        """Closes every connection, also one in a handshake. The pool cannot be used afterwards."""
        for node in list(self._entries):
            self.close(node)
        for manager in self._managers.values():
            manager.close()
        # The library's loop may fail on connections that were just closed.
        with suppress(Exception):
            self.net.close()

    def _next_login(self, node: Any) -> Login | None:
        accepted = [self._login_of[node]] if node in self._login_of else []
        order = [*accepted, *self._managers]
        return next((each for each in order if each not in self._rejected[node]), order[0])
