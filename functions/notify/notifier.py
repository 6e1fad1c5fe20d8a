# SPDX-License-Identifier: Apache-2.0
"""From the last run that was told of to the newest: each run's news, told before the next's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from functions.errors import ReporterError
from functions.lag.frame import Frame
from functions.notify.delivery import Delivery
from functions.notify.errors import TellingError
from functions.notify.memory.cursor import Cursor, Cursors
from functions.notify.messages.tellings import tellings
from functions.notify.news.changes import news
from functions.notify.runs import Runs
from functions.snapshots.errors import UnusableError

# A wrong clock, or a hand-made event, must not silence all runs until its time has come.
_AHEAD_MS = 10 * 60_000


class Journal(Protocol):
    """Where a run tells people what they should know; powertools' Logger is one."""

    def warning(self, message: str, /) -> None:
        """Something was not as it should be, and the run went on."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Runs whose news is out now, and messages sent."""

    runs: int = 0
    told: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.runs + other.runs, self.told + other.told)


class Notifier:
    """For all clusters of one store; `clock` in seconds since the epoch."""

    def __init__(
        self,
        runs: Runs,
        cursors: Cursors,
        delivery: Delivery,
        journal: Journal,
        clock: Callable[[], float],
    ) -> None:
        self._runs = runs
        self._cursors = cursors
        self._delivery = delivery
        self._journal = journal
        self._clock = clock

    def run_all(self, newest: Mapping[str, int], seconds_left: float | None = None) -> Outcome:
        """As `run`, for each cluster, whatever becomes of the others. Raises TellingError."""
        until = None if seconds_left is None else self._clock() + seconds_left
        outcome = Outcome()
        failures = []
        for cluster, taken_at in newest.items():
            left = None if until is None else until - self._clock()
            try:
                outcome += self.run(cluster, taken_at, left)
            except ReporterError as error:
                failures.append(f"{cluster}: {error}")
        if failures:
            raise TellingError(" ".join(failures))
        return outcome

    def run(self, cluster: str, taken_at: int, seconds_left: float | None = None) -> Outcome:
        """Tells the news of all complete runs after the cursor, up to that of `taken_at`, ms UTC.

        A run at the cursor or before is no news. What does not fit into the seconds left waits for
        the next event. Raises TellingError and StoreError: the cursor is then where it was.
        """
        until = None if seconds_left is None else self._clock() + seconds_left
        if taken_at > self._clock() * 1000 + _AHEAD_MS:
            self._journal.warning(f"the run of {taken_at} ms on {cluster} is not of our time yet")
            return Outcome()
        cursor = self._cursors.read(cluster)
        outcome = Outcome()
        for at in self._due(cursor, taken_at):
            if until is not None and self._clock() >= until:
                break
            if cursor.taken_at is not None and at <= cursor.taken_at:
                continue
            groups = self._groups(cluster, at)
            if groups is None:
                continue
            cursor, sent = self._tell(cursor, at, groups)
            outcome += Outcome(1, sent)
        return outcome

    def _due(self, cursor: Cursor, taken_at: int) -> Iterable[int]:
        if cursor.taken_at is None:
            return [taken_at]
        return self._runs.between(cursor.cluster, cursor.taken_at, taken_at)

    def _tell(self, cursor: Cursor, at: int, groups: Frame) -> tuple[Cursor, int]:
        """The cursor after this run's news, and how many messages that took."""
        found = news(cursor, at, groups, partial(self._groups, cursor.cluster))
        sent = self._delivery.deliver(cursor.cluster, tellings(found.changes, len(groups)))
        return self._cursors.move(cursor, at, found.standing), sent

    def _groups(self, cluster: str, at: int) -> Frame | None:
        try:
            return self._runs.groups(cluster, at)
        except UnusableError as error:
            self._journal.warning(f"a run is left out: {error}")
            return None
