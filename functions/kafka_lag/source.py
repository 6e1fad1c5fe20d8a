# SPDX-License-Identifier: Apache-2.0
"""The cluster as a run sees it, and how long a run may ask it for times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lag.brokers.reading import Question
from kafka_lag.lag.model import ClusterReading, Problem
from kafka_lag.lag.time_index import LookUp, TimeAnswers, TimeQuestions


class Source(Protocol):
    """A cluster that can be read again and again."""

    def read(self, question: Question, deadline: float) -> ClusterReading:
        """One reading, ended by `deadline` (time.monotonic). Raises SourceError, ConfigError."""

    def look_up(self, questions: TimeQuestions, deadline: float) -> TimeAnswers:
        """What the time index answered by `deadline`; nothing where nobody could be asked."""

    def not_responding(self) -> tuple[Problem, ...]:
        """Brokers that answered the last reading, and then not its look-ups."""


def look_up_until(source: Source, deadline: float, clock: Callable[[], float]) -> LookUp:
    """Look-ups of this source, unanswered and unasked once the clock is past `deadline`."""

    def look_up(questions: TimeQuestions) -> TimeAnswers:
        if clock() >= deadline:
            return TimeAnswers.nothing(len(questions))
        return source.look_up(questions, deadline)

    return look_up
