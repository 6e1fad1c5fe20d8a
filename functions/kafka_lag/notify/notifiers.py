# SPDX-License-Identifier: Apache-2.0
"""All channels for all clusters of an event, each whatever becomes of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from kafka_lag.errors import ReporterError
from kafka_lag.notify.channels.channel import InTime
from kafka_lag.notify.errors import TellingError
from kafka_lag.notify.notifier import Journal, Notifier, Outcome
from kafka_lag.snapshots.keys import AHEAD_MS


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
        """Tells the news up to each cluster's newest run, ms UTC; begins nothing once time is up.

        Each channel of each cluster has its share of the time that is left: one that is slow takes
        none from the next. Raises TellingError with every cause, after all had their turn, or what
        nobody foresaw.
        """
        until = None if seconds_left is None else self._clock() + seconds_left
        turns = list(product(self._of_our_time(newest), self._notifiers))
        outcome = Outcome()
        failures: dict[str, None] = {}
        unforeseen: list[Exception] = []
        for behind, ((cluster, taken_at), notifier) in zip(
            range(len(turns), 0, -1), turns, strict=True
        ):
            try:
                outcome += notifier.run(cluster, taken_at, self._share(until, behind))
            except ReporterError as error:
                failures[f"{cluster}: {error}"] = None
            except Exception as error:  # noqa: BLE001  # a fault here is no fault of the next
                unforeseen.append(error)
        if unforeseen:
            raise unforeseen[0]
        if failures:
            raise TellingError(" ".join(failures))
        return outcome

    def _share(self, until: float | None, behind: int) -> InTime:
        """Whether the first of so many turns is still in its time."""
        if until is None:
            return lambda: True
        now = self._clock()
        end = now + (until - now) / behind
        return lambda: self._clock() < end

    def _of_our_time(self, newest: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        for cluster, taken_at in newest.items():
            if taken_at <= self._clock() * 1000 + AHEAD_MS:
                yield cluster, taken_at
                continue
            self._journal.warning(f"the run of {taken_at} ms on {cluster} is not of our time yet")
