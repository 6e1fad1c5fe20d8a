# SPDX-License-Identifier: Apache-2.0
"""Who reads what: a row a group partition, with its owner and leader at any second."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dev.days.describe import Day, Group
from dev.days.events import HOUR, Absent, Events, Lead, Rebalance, Rows
from dev.days.logs import Logs, Numbers

Mask: TypeAlias = npt.NDArray[np.bool_]
_NONE = np.zeros(0, np.int64)


class Cast:
    """`group` and `row` (of the logs) of each group partition, group by group."""

    def __init__(self, day: Day, logs: Logs, events: Events) -> None:
        self.day, self.logs, self._events = day, logs, events
        rows = [_rows(group, day, logs) for group in day.groups]
        self.group = np.repeat(np.arange(len(rows)), [len(found) for found in rows])
        self.row = np.concatenate([_NONE, *rows])
        self.members = [member for group in day.groups for member in group.members]
        self.first_member = np.cumsum([0, *(len(group.members) for group in day.groups)])
        self._place = np.concatenate(
            [_NONE, *(_places(g, r, logs) for g, r in zip(day.groups, rows, strict=True))]
        )
        self._ids = np.array([member.member_id for member in self.members] + [""], object)
        self._topics = np.array([topic.name for topic in day.topics] + [""], object)
        self._names = np.array([group.name for group in day.groups] + [""], object)

    def __len__(self) -> int:
        return len(self.group)

    def of_groups(self, told: Callable[[Group], float]) -> npt.NDArray[np.float64]:
        """What is told of each row's group."""
        return np.array([told(group) for group in self.day.groups] + [0.0], np.float64)[self.group]

    def exist(self, second: float) -> Mask:
        """Which rows there are: those of a group and of a partition that exist."""
        alive = self.of_groups(lambda group: group.exists.holds(second)) > 0
        mask: Mask = alive & self.logs.exist(second)[self.row]
        return mask

    def resting(self, second: float) -> Mask:
        """Rows of groups in which nobody owns anything now."""
        absent = {e.group for e in self._events.on(Absent, second)}
        absent |= {e.group for e in self._events.on(Rebalance, second)}
        return self.of_groups(lambda group: group.name in absent) > 0

    def owners(self, second: float) -> Numbers:
        """The member that owns each row, as a place in `members`; -1: nobody."""
        turns = self._turns(second)[self.group]
        counts = np.diff(self.first_member)[self.group]
        owner = self.first_member[self.group] + (self._place + turns) % np.maximum(counts, 1)
        owned: Numbers = np.where((counts > 0) & ~self.resting(second), owner, -1)
        return owned

    def leaders(self, second: float) -> npt.NDArray[np.int32]:
        """The leader of each row of the logs, -1 without."""
        leaders = self.logs.leader.copy()
        for event in self._events.on(Lead, second):
            mask = self.logs.leader == event.broker
            if event.topic is not None:
                mask &= self._topics[self.logs.topic] == event.topic
            leaders[mask] = -1 if event.by is None else event.by
        return leaders

    def fit(self, rows: Rows, second: float) -> Mask:
        """Which rows are meant, at this second."""
        mask = np.ones(len(self), bool)
        if rows.group is not None:
            mask &= self._names[self.group] == rows.group
        if rows.topic is not None:
            mask &= self._topics[self.logs.topic[self.row]] == rows.topic
        if rows.partitions is not None:
            mask &= np.isin(self.logs.partition[self.row], rows.partitions)
        if rows.leader is not None:
            mask &= self.leaders(second)[self.row] == rows.leader
        if rows.member is not None:
            mask &= self._ids[self.owners(second)] == rows.member
        return mask

    def uncommitted(self) -> Mask:
        """Rows that never have a commit."""
        mask = np.zeros(len(self), bool)
        for group in self.day.groups:
            for topic, partition in group.uncommitted:
                mask |= self.fit(Rows(group=group.name, topic=topic, partitions=(partition,)), 0)
        return mask

    def _turns(self, second: float) -> Numbers:
        """How often each group was rebalanced until now."""
        turns = np.zeros(len(self.day.groups) + 1, np.int64)
        for event in self._events.of(Rebalance):
            if event.when.end * HOUR <= second:
                turns += self._names == event.group
        return turns


def _rows(group: Group, day: Day, logs: Logs) -> Numbers:
    read = np.array([topic.name in group.topics for topic in day.topics] + [False], bool)
    return np.flatnonzero(read[logs.topic]).astype(np.int64)


def _places(group: Group, rows: Numbers, logs: Logs) -> Numbers:
    """Ranges of a topic's partitions, one a member, as Kafka's range assignor deals them."""
    sizes = np.bincount(logs.topic[rows], minlength=1)[logs.topic[rows]]
    places: Numbers = logs.partition[rows].astype(np.int64) * len(group.members) // sizes
    return places
