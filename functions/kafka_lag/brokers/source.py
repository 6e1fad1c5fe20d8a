# SPDX-License-Identifier: Apache-2.0
"""The cluster as something to read again and again: connections kept, re-made when broken."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from kafka_lag.brokers.problems import unnamed
from kafka_lag.brokers.reading import Question, read_cluster
from kafka_lag.brokers.topics.configs import ConfigCache
from kafka_lag.brokers.topics.patience import Patience
from kafka_lag.brokers.topics.times import look_up
from kafka_lag.brokers.wire.access import Access, Login
from kafka_lag.brokers.wire.bootstrap import connected
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.credentials import CredentialSource
from kafka_lag.errors import ConfigError, ReporterError, SourceError
from kafka_lag.lag.model import ClusterReading, Problem
from kafka_lag.lag.time_index import TimeAnswers, TimeQuestions

T = TypeVar("T")


class KafkaSource:
    """Reads one cluster; not thread-safe.

    Connections that work are kept, whatever login they were made with. A login that a broker
    refuses is looked up again, once a run.
    """

    def __init__(
        self,
        access: Access,
        credentials: CredentialSource,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._access = access
        self._credentials = credentials
        self._clock = clock
        self._configs = ConfigCache()
        self._wire: Wire | None = None
        self._patience: Patience | None = None
        self._named: frozenset[int] = frozenset()
        # Logins that no broker has accepted yet: one may learn of a rotation runs later.
        self._unaccepted: list[Login | None] = []

    def read(self, question: Question, deadline: float) -> ClusterReading:
        """What the cluster tells until `deadline` (time.monotonic).

        Raises LoginError or SourceError when no broker tells anything, ConfigError for a secret.
        """
        reading = self._read_first(question, deadline)
        if self._wire is not None and self._wire.refused:
            # Only those who refused are new to it: all others answer on connections there are.
            added = self._add_logins(self._wire)
            if added:
                with suppress(SourceError):
                    again = self._read(self._wire, question)
                    # The time may have ended in between.
                    reading = max(again, reading, key=_rows_read)
                self._unaccepted += added
        self._note_accepted()
        return reading

    def look_up(self, questions: TimeQuestions, deadline: float) -> TimeAnswers:
        """What the brokers' time index tells until `deadline` (time.monotonic).

        Raises nothing for brokers that do not answer. One that was silent or slow since the last
        `read` began is not asked again before the next, and without a reading nobody is.
        """
        if self._patience is None:
            return TimeAnswers.nothing(len(questions))
        try:
            wire = self._wire or self._connect(deadline)
        except (SourceError, ConfigError):
            self._patience = None
            return TimeAnswers.nothing(len(questions))
        wire.until(deadline)
        return self._run(wire, look_up(wire, questions, self._patience, deadline), self._patience)

    def not_responding(self) -> tuple[Problem, ...]:
        """The brokers that answered the last reading, and then a look-up not within their time."""
        down = {} if self._wire is None else self._wire.not_responding()
        return tuple(
            Problem("broker", str(node), why.reason, f"look-ups by time: {unnamed(node, why)}")
            for node, why in down.items()
            if node not in self._named
        )

    def _read_first(self, question: Question, deadline: float) -> ClusterReading:
        if self._wire is None:
            return self._read(self._connect(deadline), question)
        self._wire.begin(deadline)
        try:
            return self._read(self._wire, question)
        except SourceError as first:
            # Brokers may have been replaced since the last run, or the login changed.
            self.close()
            try:
                return self._read(self._connect(deadline), question)
            except ReporterError as second:
                raise type(second)(f"{first} With new connections: {second}") from first

    def _read(self, wire: Wire, question: Question) -> ClusterReading:
        self._patience = None
        patience = Patience()
        answer = self._run(wire, read_cluster(wire, question, self._configs, self._clock), patience)
        self._patience, self._named = patience, frozenset(wire.down())
        return answer

    def _run(self, wire: Wire, question: Coroutine[Any, Any, T], patience: Patience) -> T:
        try:
            answer = wire.run(question)
        except BaseException:
            # Whatever it was, connections in an unknown state are not used again.
            self.close()
            raise
        patience.leave(*wire.down())
        return answer

    def cluster_id(self, deadline: float) -> str:
        """Kafka's own id of the cluster. Raises as `read` does."""
        return (self._wire or self._connect(deadline)).cluster_id

    def close(self) -> None:
        """Closes the connections; the next read makes new ones."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
            self._unaccepted = []

    def _connect(self, deadline: float) -> Wire:
        self._wire, login = connected(self._access, self._credentials.candidates(), deadline)
        self._credentials.accepted(login)
        return self._wire

    def _add_logins(self, wire: Wire) -> list[Login | None]:
        """Those that the secret holds by now and the connections lack, for brokers that refuse."""
        added: list[Login | None] = []
        with suppress(ConfigError):
            for login in self._credentials.others():
                if wire.add(login):
                    added.append(login)  # noqa: PERF401 - those before an error count
        return added

    def _note_accepted(self) -> None:
        """Lets new connections begin with a login that a broker accepts since it was added."""
        used = set() if self._wire is None else self._wire.connections.logins()
        for login in self._unaccepted:
            if login in used:
                self._credentials.accepted(login)
                self._unaccepted = []
                return


def _rows_read(reading: ClusterReading) -> int:
    return int((~reading.group_partitions.strings("unread_reason").known).sum())


def quiet_library() -> None:
    """Silences kafka-python's own log: what it reports is in our errors, once, in our words."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
