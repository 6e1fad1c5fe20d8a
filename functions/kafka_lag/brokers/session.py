# SPDX-License-Identifier: Apache-2.0
"""Connections to one cluster that last from run to run, and their logins."""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from kafka_lag.brokers.access import PROBE_LIMITS, Access, Login, ProbeLimits
from kafka_lag.brokers.bootstrap import connect
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.login import CredentialSource
from kafka_lag.errors import ConfigError

T = TypeVar("T")


class Session:
    """Keeps working connections, whatever their login.

    Reads the secret again if a broker rejects a login. Not thread-safe.
    """

    def __init__(
        self, access: Access, credentials: CredentialSource, limits: ProbeLimits = PROBE_LIMITS
    ) -> None:
        self._access = access
        self._credentials = credentials
        self._limits = limits
        self._connections: Connections | None = None
        # Logins that no broker has accepted yet. A broker may learn of a rotation some runs later.
        self._unaccepted: list[Login | None] = []

    @property
    def connections(self) -> Connections | None:
        """Returns the present connections; None before the first ones and after they broke."""
        return self._connections

    def connect(self, deadline: float) -> Connections:
        """Returns the present connections, else new ones made by `deadline` (time.monotonic).

        Raises LoginError or SourceError if no broker answers, ConfigError for a secret.
        """
        if self._connections is None:
            self._connections, login = connect(
                self._access, self._credentials.candidates(), deadline, self._limits
            )
            self._credentials.remember(login)
        return self._connections

    def run(self, connections: Connections, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs requests on these connections and returns the result; an error closes them."""
        try:
            return connections.run(coroutine)
        except BaseException:
            # Connections in an unknown state are not used again, whatever the error was.
            self.close()
            raise

    def add_logins(self) -> list[Login | None]:
        """Adds the secret's present logins if a broker rejected the known ones; returns the new."""
        added: list[Login | None] = []
        if self._connections is None or not self._connections.login_rejected:
            return added
        with suppress(ConfigError):
            for login in self._credentials.others():
                # Only brokers that rejected a login get new connections; the others keep theirs.
                if self._connections.add_login(login):
                    added.append(login)  # noqa: PERF401 - those before an error count
        return added

    def remember_accepted(self, added: list[Login | None]) -> None:
        """Makes new connections begin with an added login as soon as a broker accepts it."""
        self._unaccepted += added
        used = set() if self._connections is None else self._connections.pool.logins()
        for login in self._unaccepted:
            if login in used:
                self._credentials.remember(login)
                self._unaccepted = []
                return

    def close(self) -> None:
        """Closes the connections; the next request makes new ones."""
        if self._connections is not None:
            self._connections.close()
            self._connections = None
            self._unaccepted = []
