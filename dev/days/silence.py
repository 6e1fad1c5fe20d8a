# SPDX-License-Identifier: Apache-2.0
"""Which groups, commits and partitions are asked for in vain, and why."""

from __future__ import annotations

import numpy as np

from dev.days.cast import Cast, Mask
from dev.days.events import Events, Hidden, Rows, Unread
from kafka_lag import contract
from kafka_lag.lag.columns import Strings


class Silence:
    """The reasons, where there is one, at a second of the day."""

    def __init__(self, cast: Cast, events: Events) -> None:
        self._cast, self._events = cast, events

    def of_groups(self, second: float) -> list[str | None]:
        """The reason why nothing of a group is told, by group."""
        whole = {
            event.group: event.reason
            for event in self._events.on(Unread, second)
            if event.group is not None and event.topic is None
        }
        return [whole.get(group.name) for group in self._cast.day.groups]

    def of_commits(self, second: float) -> Strings:
        """The reason why a group's commit is not told, by row of the cast."""
        silent = Strings.unknown(len(self._cast))
        for event in self._events.on(Unread, second):
            if event.group is not None and event.topic is not None:
                rows = Rows(group=event.group, topic=event.topic, partitions=event.partitions)
                silent = silent.or_else(_reason(event.reason, self._cast.fit(rows, second)))
        return silent

    def of_partitions(self, second: float) -> Strings:
        """The reason why a log's ends are not told, by row of the logs."""
        logs = self._cast.logs
        silent = _reason(contract.NO_LEADER, self._cast.leaders(second) < 0)
        for event in self._events.on(Unread, second):
            if event.group is None and event.topic is not None:
                hit = self.named({event.topic})
                if event.partitions is not None:
                    hit &= np.isin(logs.partition, event.partitions)
                silent = _reason(event.reason, hit).or_else(silent)
        return silent

    def hidden(self, second: float) -> dict[str, str]:
        """Topics that are not listed, with the reason."""
        return {event.topic: contract.DENIED for event in self._events.on(Hidden, second)}

    def named(self, topics: set[str]) -> Mask:
        """Rows of the logs whose topic has one of these names."""
        logs = self._cast.logs
        return np.array([t.name in topics for t in self._cast.day.topics] + [False])[logs.topic]


def _reason(reason: str, rows: Mask) -> Strings:
    return Strings.constant(reason, len(rows)).only(rows)
