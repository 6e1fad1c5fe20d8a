# SPDX-License-Identifier: Apache-2.0
"""From the last run that one channel was told of to the newest: news in order, told once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.channels.channel import InTime
from kafka_lag.notify.delivery import Delivery
from kafka_lag.notify.memory.cursor import Cursor, Cursors
from kafka_lag.notify.messages.tellings import tellings
from kafka_lag.notify.news.changes import news
from kafka_lag.notify.runs import Runs


class Journal(Protocol):
    """Where a run tells people what they should know; powertools' Logger is one."""

    def info(self, message: str, /) -> None:
        """What was done."""

    def warning(self, message: str, /) -> None:
        """Something was not as it should be, and the run went on."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Runs whose news is out now, and messages sent; of two channels, of each."""

    runs: int = 0
    told: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.runs + other.runs, self.told + other.told)


class Notifier:
    """For one channel and all clusters of one store."""

    def __init__(self, runs: Runs, cursors: Cursors, delivery: Delivery, journal: Journal) -> None:
        self._runs = runs
        self._cursors = cursors
        self._delivery = delivery
        self._journal = journal

    def run(self, cluster: str, taken_at: int, in_time: InTime) -> Outcome:
        """Tells the news of all complete runs after the cursor, up to that of `taken_at`, ms UTC.

        A run at the cursor or before is no news. Runs that do not fit into the time wait for the
        next event. Raises TellingError and StoreError: the cursor is then where it was.
        """
        cursor = self._cursors.read(cluster, taken_at)
        outcome = Outcome()
        for at in self._runs.between(cluster, cursor.taken_at, taken_at):
            if not in_time():
                break
            if at <= cursor.taken_at:
                continue
            groups = self._groups(cluster, at)
            if groups is None:
                continue
            cursor, sent = self._tell(cursor, at, groups, in_time)
            outcome += Outcome(1, sent)
        return outcome

    def _tell(self, cursor: Cursor, at: int, groups: Frame, in_time: InTime) -> tuple[Cursor, int]:
        """The cursor after this run's news, and how many messages that took."""
        found = news(cursor, at, groups, partial(self._earlier, cursor.cluster))
        told = tellings(found.changes, found.among)
        sent = self._delivery.deliver(cursor.cluster, told, in_time)
        if sent:
            self._journal.info(f"{cursor.cluster}: {sent} sent by {self._delivery.channel}")
        return self._cursors.move(cursor, at, found.standing), sent

    def _groups(self, cluster: str, at: int) -> Frame | None:
        try:
            return self._runs.groups(cluster, at)
        except UnusableError as error:
            self._journal.warning(f"a run is left out: {error}")
            return None

    def _earlier(self, cluster: str, at: int) -> Frame | None:
        try:
            return self._runs.groups(cluster, at)
        except UnusableError:
            return None
