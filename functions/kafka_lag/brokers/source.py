# SPDX-License-Identifier: Apache-2.0
"""The cluster as the collector reads it each minute: connections kept, re-made when broken."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from kafka_lag.brokers.access import PROBE_LIMITS, Access, Login, ProbeLimits
from kafka_lag.brokers.bootstrap import connect, explain_unread
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.login import CredentialSource
from kafka_lag.brokers.problems import without_name
from kafka_lag.brokers.reading import ReadRequest, read_cluster
from kafka_lag.brokers.time_lookups import LookUpBudget, look_up
from kafka_lag.brokers.topic_settings import TopicSettingsCache
from kafka_lag.errors import ConfigError, ReporterError, SourceError
from kafka_lag.lag.model import ClusterReading, Problem
from kafka_lag.lag.time_index import LookUp, LookupResults, TimestampLookups

T = TypeVar("T")


class ClusterSource(Protocol):
    """A cluster that can be read again and again."""

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        """One reading, ended by `deadline` (time.monotonic). Raises SourceError, ConfigError."""

    def look_up(self, look_ups: TimestampLookups, deadline: float) -> LookupResults:
        """What the time index answered by `deadline`; nothing where no broker could be reached."""

    def not_responding(self) -> tuple[Problem, ...]:
        """Brokers that answered the last reading, and then not its look-ups."""


class KafkaSource:
    """Reads one cluster; not thread-safe.

    Connections that work are kept, whatever login they were made with. When a broker rejects a
    login the secret is read again, once a run.
    """

    def __init__(
        self,
        access: Access,
        credentials: CredentialSource,
        clock: Callable[[], float] = time.time,
        limits: ProbeLimits = PROBE_LIMITS,
    ) -> None:
        self._access = access
        self._limits = limits
        self._credentials = credentials
        self._clock = clock
        self._settings_cache = TopicSettingsCache()
        self._connections: Connections | None = None
        self._budget: LookUpBudget | None = None
        self._reported: frozenset[int] = frozenset()
        # Logins that no broker has accepted yet: one may learn of a rotation runs later.
        self._unaccepted: list[Login | None] = []

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        """What the brokers answer until `deadline` (time.monotonic).

        Raises LoginError or SourceError when no broker answers, ConfigError for a secret.
        """
        reading = self._read_first(request, deadline)
        if self._connections is not None and self._connections.login_rejected:
            # Only those that rejected it get new ones: all others answer on connections there are.
            added = self._add_logins(self._connections)
            if added:
                with suppress(SourceError):
                    again = self._read(self._connections, request)
                    # The time may have ended in between.
                    reading = max(again, reading, key=_rows_read)
                self._unaccepted += added
        self._remember_accepted()
        return reading

    def look_up(self, look_ups: TimestampLookups, deadline: float) -> LookupResults:
        """What the brokers' time index answers until `deadline` (time.monotonic).

        Raises nothing for brokers that do not answer. One that hung or was slow since the last
        `read` began gets no look-up before the next, and without a reading none does.
        """
        if self._budget is None:
            return LookupResults.unanswered(len(look_ups))
        try:
            connections = self._connections or self._connect(deadline)
        except (SourceError, ConfigError):
            self._budget = None
            return LookupResults.unanswered(len(look_ups))
        connections.set_deadline(deadline)
        return self._run(
            connections,
            look_up(
                connections,
                look_ups,
                self._budget,
                deadline,
                time.monotonic,
                self._settings_cache.tiered_topics(),
            ),
            self._budget,
        )

    def not_responding(self) -> tuple[Problem, ...]:
        """The brokers that answered the last reading, and then a look-up not within their time."""
        down = {} if self._connections is None else self._connections.not_responding()
        return tuple(
            Problem("broker", str(node), why.reason, f"look-ups by time: {without_name(node, why)}")
            for node, why in down.items()
            if node not in self._reported
        )

    def _read_first(self, request: ReadRequest, deadline: float) -> ClusterReading:
        if self._connections is None:
            return self._connect_and_read(request, deadline)
        self._connections.begin_run(deadline)
        try:
            return self._read(self._connections, request)
        except SourceError as first:
            # Brokers may have been replaced since the last run, or the login changed.
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
            # Whatever it was, connections in an unknown state are not used again.
            self.close()
            raise
        budget.exclude(*connections.down())
        return answer

    def cluster_id(self, deadline: float) -> str:
        """Kafka's own id of the cluster. Raises as `read` does."""
        return (self._connections or self._connect(deadline)).cluster_id

    def close(self) -> None:
        """Closes the connections; the next read makes new ones."""
        if self._connections is not None:
            self._connections.close()
            self._connections = None
            self._unaccepted = []

    def _connect(self, deadline: float) -> Connections:
        self._connections, login = connect(
            self._access, self._credentials.candidates(), deadline, self._limits
        )
        self._credentials.remember(login)
        return self._connections

    def _add_logins(self, connections: Connections) -> list[Login | None]:
        """Those that the secret holds by now and the connections lack."""
        added: list[Login | None] = []
        with suppress(ConfigError):
            for login in self._credentials.others():
                if connections.add_login(login):
                    added.append(login)  # noqa: PERF401 - those before an error count
        return added

    def _remember_accepted(self) -> None:
        """Lets new connections begin with a login that a broker accepts since it was added."""
        used = set() if self._connections is None else self._connections.pool.logins()
        for login in self._unaccepted:
            if login in used:
                self._credentials.remember(login)
                self._unaccepted = []
                return


def _rows_read(reading: ClusterReading) -> int:
    return int((~reading.group_partitions.strings("unread_reason").known).sum())


def look_up_until(source: ClusterSource, deadline: float, clock: Callable[[], float]) -> LookUp:
    """Look-ups of this source, none sent and none answered once the clock is past `deadline`."""

    def look_up(look_ups: TimestampLookups) -> LookupResults:
        if clock() >= deadline:
            return LookupResults.unanswered(len(look_ups))
        return source.look_up(look_ups, deadline)

    return look_up


def quiet_library() -> None:
    """Silences kafka-python's own log: what it reports is in our errors, once, in our words."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
