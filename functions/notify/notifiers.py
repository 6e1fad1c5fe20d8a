# SPDX-License-Identifier: Apache-2.0
"""All channels for all clusters of an event, each whatever becomes of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from functions.errors import ReporterError
from functions.notify.errors import TellingError
from functions.notify.notifier import Journal, Notifier, Outcome
from functions.snapshots.keys import AHEAD_MS


class Notifiers:
    """One a channel; `clock` in seconds since the epoch.

    Each has its own cursor: while one is down, the others go on telling what is new.
    """

    def __init__(
        self, notifiers: Sequence[Notifier], journal: Journal, clock: Callable[[], float]
    ) -> None:
        self._notifiers = notifiers
        self._journal = journal
        self._clock = clock

    def run(self, newest: Mapping[str, int], seconds_left: float | None = None) -> Outcome:
        """Tells the news up to each cluster's newest run, ms UTC, and nothing new once time is up.

        Raises TellingError with every cause, after all others had their turn.
        """
        until = None if seconds_left is None else self._clock() + seconds_left
        outcome = Outcome()
        failures: dict[str, None] = {}
        for cluster, taken_at in self._of_our_time(newest):
            for notifier in self._notifiers:
                try:
                    outcome += notifier.run(
                        cluster, taken_at, lambda: until is None or self._clock() < until
                    )
                except ReporterError as error:
                    failures[f"{cluster}: {error}"] = None
        if failures:
            raise TellingError(" ".join(failures))
        return outcome

    def _of_our_time(self, newest: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        for cluster, taken_at in newest.items():
            if taken_at <= self._clock() * 1000 + AHEAD_MS:
                yield cluster, taken_at
                continue
            self._journal.warning(f"the run of {taken_at} ms on {cluster} is not of our time yet")
