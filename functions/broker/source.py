# SPDX-License-Identifier: Apache-2.0
"""The cluster as something to read again and again: connections kept, re-made when broken."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from functions.broker.reading import Question, read_cluster
from functions.broker.topics.configs import ConfigCache
from functions.broker.topics.patience import Patience
from functions.broker.topics.times import look_up
from functions.broker.wire.access import Access, Login
from functions.broker.wire.bootstrap import connected
from functions.broker.wire.connection import Wire
from functions.broker.wire.credentials import CredentialSource
from functions.errors import ConfigError, LoginError, SourceError
from functions.lag.model import ClusterReading
from functions.lag.time_index.questions import TimeAnswers, TimeQuestions

T = TypeVar("T")


class KafkaSource:
    """Reads one cluster; not thread-safe.

    A login that a broker refuses is looked up again, once a run; connections that are open stay
    open until new ones are made.
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

    def read(self, question: Question, deadline: float) -> ClusterReading:
        """What the cluster tells until `deadline` (time.monotonic).

        Raises LoginError or SourceError when no broker tells anything, ConfigError for a secret.
        """
        warm = self._wire is not None
        try:
            reading = self._read(question, deadline)
        except SourceError:
            # Brokers may have been replaced since the last run, or the login changed.
            if not warm:
                raise
            reading = self._read(question, deadline)
        if self._wire is not None and self._wire.refused and self._renewed(deadline):
            with suppress(SourceError):
                return self._read(question, deadline)
        return reading

    def look_up(self, questions: TimeQuestions, deadline: float) -> TimeAnswers:
        """What the brokers' time index tells until `deadline` (time.monotonic).

        Raises nothing for brokers that do not answer. One that was silent or slow since the last
        `read` began is not asked again before the next, and without a reading nobody is.
        """
        if self._patience is None:
            return TimeAnswers.nothing(len(questions))
        try:
            wire = self._wire or self._connect(deadline, self._credentials.candidates())
        except (SourceError, ConfigError):
            self._patience = None
            return TimeAnswers.nothing(len(questions))
        wire.begin(deadline)
        return self._run(wire, look_up(wire, questions, self._patience, deadline), self._patience)

    def _read(self, question: Question, deadline: float) -> ClusterReading:
        self._patience = None
        wire = self._wire or self._connect(deadline, self._credentials.candidates())
        wire.begin(deadline)
        patience = Patience()
        reading = read_cluster(wire, question, self._configs, self._clock)
        answer = self._run(wire, reading, patience)
        self._patience = patience
        return answer

    def _run(self, wire: Wire, question: Coroutine[Any, Any, T], patience: Patience) -> T:
        try:
            answer = wire.run(question)
        except BaseException:
            # Whatever it was, connections in an unknown state are not used again.
            self.close()
            raise
        patience.leave(*wire.down())
        if wire.worn:
            self.close()
        return answer

    def cluster_id(self, deadline: float) -> str:
        """Kafka's own id of the cluster. Raises as `read` does."""
        wire = self._wire or self._connect(deadline, self._credentials.candidates())
        return wire.cluster_id

    def close(self) -> None:
        """Closes the connections; the next read makes new ones."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _renewed(self, deadline: float) -> bool:
        """Connects with what the secret holds by now; the old connections stay if that fails."""
        old = self._wire
        try:
            self._connect(deadline, self._credentials.others())
        except (SourceError, ConfigError):
            self._wire = old
            return False
        if old is not None:
            old.close()
        return True

    def _connect(self, deadline: float, logins: Iterator[Login | None]) -> Wire:
        refusal: LoginError | None = None
        for login in logins:
            try:
                self._wire = connected(self._access, login, deadline)
            except LoginError as error:
                refusal = error
                continue
            self._credentials.accepted(login)
            return self._wire
        raise refusal or LoginError("There is no other login to try.")


def quiet_library() -> None:
    """Silences kafka-python's own log: what it reports is in our errors, once, in our words."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
