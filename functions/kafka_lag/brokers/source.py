# SPDX-License-Identifier: Apache-2.0
"""The cluster as the collector reads it in each run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from kafka_lag.brokers.access import PROBE_LIMITS, Access, Credentials, Login, ProbeLimits
from kafka_lag.brokers.bootstrap import connect, explain_unread
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.login import CredentialSource
from kafka_lag.brokers.problems import name_broker, without_name
from kafka_lag.brokers.reading import ReadRequest, read_cluster
from kafka_lag.brokers.throttling import summarize
from kafka_lag.brokers.time_lookups import LookUpBudget, look_up
from kafka_lag.brokers.topic_settings import TopicSettingsCache
from kafka_lag.errors import ConfigError, ReporterError, SourceError
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading, Problem, Throttled
from kafka_lag.lag.previous_rows import is_read
from kafka_lag.lag.time_index import LookUp, LookupResults

T = TypeVar("T")


class ClusterSource(Protocol):
    """A cluster that can be read again and again."""

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        """Returns one reading, ended by `deadline` (time.monotonic).

        Raises SourceError, ConfigError.
        """

    def look_up(self, partitions: Frame, times: Rows, deadline: float) -> LookupResults:
        """Returns the answers of the time index by `deadline`; none if no broker was reached."""

    def not_responding(self) -> tuple[Problem, ...]:
        """Returns the brokers that answered the last reading but not its look-ups."""

    def throttled(self) -> Throttled | None:
        """Returns how long a client quota delayed the last reading; None if it did not."""


class KafkaSource:
    """Reads one cluster on connections that are kept from run to run, whatever their login.

    It reads the secret again if a broker rejects a login. Not thread-safe.
    """

    def __init__(
        self,
        access: Access,
        credentials: CredentialSource,
        clock: Callable[[], float] = time.time,
        limits: ProbeLimits = PROBE_LIMITS,
    ) -> None:
        self._access, self._credentials, self._limits = access, credentials, limits
        # None before the first connections and after they broke.
        self._connections: Connections | None = None
        # Logins that no broker has accepted yet. A broker may learn of a rotation some runs later.
        self._unaccepted: list[Login | None] = []
        self._clock = clock
        self._settings_cache = TopicSettingsCache()
        self._budget: LookUpBudget | None = None
        self._reported: frozenset[int] = frozenset()

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        """Returns one reading of the brokers, ended by `deadline` (time.monotonic).

        Raises LoginError or SourceError if no broker answers, ConfigError for a secret.
        """
        reading = self._read_first(request, deadline)
        added = self._add_logins()
        if added:
            with suppress(SourceError):
                again = self._read(self._connect(deadline), request)
                # The second reading may have run out of time.
                reading = max(again, reading, key=_rows_read)
        self._remember_accepted(added)
        return reading

    def look_up(self, partitions: Frame, times: Rows, deadline: float) -> LookupResults:
        """Returns the answers of the brokers' time index until `deadline` (time.monotonic).

        Raises nothing for brokers that do not answer. A broker that hung or was slow since the last
        `read` began gets no look-up before the next one. Without a reading no broker gets any.
        """
        if self._budget is None:
            return LookupResults.unanswered(len(times))
        try:
            connections = self._connect(deadline)
        except (SourceError, ConfigError):
            self._budget = None
            return LookupResults.unanswered(len(times))
        connections.set_deadline(deadline)
        return self._run(
            connections,
            look_up(
                connections,
                partitions,
                times,
                self._budget,
                deadline,
                time.monotonic,
                self._settings_cache.tiered_topics(),
            ),
            self._budget,
        )

    def not_responding(self) -> tuple[Problem, ...]:
        """Returns the brokers that answered the last reading but not a look-up in time."""
        connections = self._connections
        if connections is None:
            return ()
        down = connections.not_responding()
        return tuple(
            name_broker(
                connections, node, why.reason, f"look-ups by time: {without_name(node, why)}"
            )
            for node, why in down.items()
            if node not in self._reported
        )

    def throttled(self) -> Throttled | None:
        """Returns how long a client quota delayed the last reading; None if it did not."""
        connections = self._connections
        if connections is None:
            return None
        logins = connections.pool.logins()
        users = {login.username for login in logins if isinstance(login, Credentials)}
        return summarize(connections.throttled_seconds(), users)

    def cluster_id(self, deadline: float) -> str:
        """Returns Kafka's own id of the cluster. Raises the same errors as `read`."""
        return self._connect(deadline).cluster_id

    def close(self) -> None:
        """Closes the connections; the next read makes new ones."""
        if self._connections is not None:
            self._connections.close()
            self._connections = None
            self._unaccepted = []

    def _connect(self, deadline: float) -> Connections:
        """Returns the present connections, else new ones made by `deadline` (time.monotonic).

        Raises LoginError or SourceError if no broker answers, ConfigError for a secret.
        """
        if self._connections is None:
            logins = self._credentials.candidates()
            self._connections, login = connect(self._access, logins, deadline, self._limits)
            self._credentials.remember(login)
        return self._connections

    def _add_logins(self) -> list[Login | None]:
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

    def _remember_accepted(self, added: list[Login | None]) -> None:
        """Makes new connections begin with an added login as soon as a broker accepts it."""
        self._unaccepted += added
        used = set() if self._connections is None else self._connections.pool.logins()
        for login in self._unaccepted:
            if login in used:
                self._credentials.remember(login)
                self._unaccepted = []
                return

    def _read_first(self, request: ReadRequest, deadline: float) -> ClusterReading:
        if self._connections is None:
            return self._connect_and_read(request, deadline)
        self._connections.begin_run(deadline)
        try:
            return self._read(self._connections, request)
        except SourceError as first:
            # The brokers may have been replaced since the previous run, or the login may have
            # changed.
            self.close()
            try:
                return self._connect_and_read(request, deadline)
            except ReporterError as second:
                raise type(second)(f"{first} With new connections: {second}") from first

    def _connect_and_read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        connections = self._connect(deadline)
        try:
            return self._read(connections, request)
        except SourceError as error:
            raise explain_unread(connections, error, deadline, self._limits) from error

    def _read(self, connections: Connections, request: ReadRequest) -> ClusterReading:
        self._budget = None
        budget = LookUpBudget()
        answer = self._run(
            connections,
            read_cluster(connections, request, self._settings_cache, self._clock),
            budget,
        )
        self._budget, self._reported = budget, frozenset(connections.down())
        return answer

    def _run(
        self, connections: Connections, coroutine: Coroutine[Any, Any, T], budget: LookUpBudget
    ) -> T:
        try:
            answer = connections.run(coroutine)
        except BaseException:
            # Connections in an unknown state are not used again, whatever the error was.
            self.close()
            raise
        budget.exclude(*connections.down())
        return answer


def _rows_read(reading: ClusterReading) -> int:
    return int(is_read(reading.group_partitions).sum())


def look_up_until(source: ClusterSource, deadline: float, clock: Callable[[], float]) -> LookUp:
    """Returns a look-up on this source that sends nothing once the clock is past `deadline`."""

    def look_up(partitions: Frame, times: Rows) -> LookupResults:
        if clock() >= deadline:
            return LookupResults.unanswered(len(times))
        return source.look_up(partitions, times, deadline)

    return look_up


def quiet_library() -> None:
    """Silences kafka-python's own log: our errors report the same once, in our words."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
