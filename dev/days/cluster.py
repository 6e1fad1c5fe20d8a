# SPDX-License-Identifier: Apache-2.0
"""A described cluster at a second of its day: log ends, owners of partitions, commits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dev.days.describe import (
    HOUR,
    Absent,
    Day,
    Events,
    Group,
    Lead,
    Partition,
    Rebalance,
    Rewind,
    Rows,
    Skip,
    Slow,
    Surge,
    Topic,
)

Seconds: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]

_DAY = 86_400.0
# Bursts come every 4 to 30 minutes.
_SHORTEST, _LONGEST = 240.0, 1_800.0
# Kafka deletes whole segments: about ten minutes of records each.
_SEGMENT_SECONDS = 600.0


class Logs:
    """One row a topic partition, in the order of the day's topics; times in seconds of the day."""

    def __init__(self, day: Day) -> None:
        pairs = [(number, p) for number, t in enumerate(day.topics) for p in t.partitions]
        self.topic = np.array([number for number, _ in pairs], np.int32)
        self.partition = np.array([n for t in day.topics for n in range(len(t.partitions))], "i4")
        self.rate = np.array([p.rate for _, p in pairs])
        leaders = [p.leader for _, p in pairs]
        self.leader = np.array([-1 if leader is None else leader for leader in leaders], np.int32)
        self.since = np.array([_since(day.topics[number], p) for number, p in pairs])
        self.until = self._of_topics([topic.exists.end * HOUR for topic in day.topics])
        self._shape(day)
        self._origin = self._grown(self.since, None)

    def __len__(self) -> int:
        return len(self.topic)

    def exist(self, second: float) -> npt.NDArray[np.bool_]:
        """Which partitions there are."""
        mask: npt.NDArray[np.bool_] = (self.since <= second) & (second < self.until)
        return mask

    def ends(self, seconds: float | Seconds, rows: Numbers | None = None) -> Numbers:
        """The next offset to be written, of all partitions or of `rows` (each at its second)."""
        origin = self._origin if rows is None else self._origin[rows]
        rate = self.rate if rows is None else self.rate[rows]
        written = rate * (self._grown(seconds, rows) - origin)
        return np.maximum(written, 0.0).astype(np.int64)

    def starts(self, second: float) -> Numbers:
        """The oldest offset that retention has left."""
        segment = np.maximum(np.round(self.rate * _SEGMENT_SECONDS), 1.0)
        old = self.ends(np.where(np.isfinite(self.retention), second - self.retention, -np.inf))
        return (old // segment * segment).astype(np.int64)

    def _shape(self, day: Day) -> None:
        rng = np.random.default_rng(day.seed)
        of = self._of_topics
        self._swing = of([topic.swing for topic in day.topics])
        self._peak = of([topic.peak_hour * HOUR for topic in day.topics])
        self._bursts = of([topic.bursts for topic in day.topics])
        retained = [
            np.inf
            if t.retention_seconds is None or "delete" not in t.cleanup_policy
            else t.retention_seconds
            for t in day.topics
        ]
        self.retention = of(retained)
        self._period = rng.uniform(_SHORTEST, _LONGEST, len(self))
        self._phase = rng.uniform(0.0, 2 * np.pi, len(self))
        self._surges = [
            (surge, np.array([t.name == surge.topic for t in day.topics])[self.topic])
            for surge in day.events
            if isinstance(surge, Surge)
        ]

    def _of_topics(self, values: list[float]) -> Seconds:
        array: Seconds = np.array(values, np.float64)[self.topic]
        return array

    def _grown(self, seconds: float | Seconds, rows: Numbers | None) -> Seconds:
        """Seconds' worth of mean production since an origin that is each partition's own."""

        def own(values: Any) -> Any:
            return values if rows is None else values[rows]

        time = np.maximum(seconds, own(self.since))
        turn = 2 * np.pi / own(self._period)
        time = time + own(self._bursts) / turn * np.sin(turn * time + own(self._phase))
        daily = 2 * np.pi / _DAY
        grown: Seconds = time + own(self._swing) / daily * np.sin(daily * (time - own(self._peak)))
        for surge, rows_hit in self._surges:
            begin, end = surge.when.begin * HOUR, surge.when.end * HOUR
            more = np.clip(time, begin, end) - begin
            grown = grown + own(rows_hit) * (surge.factor - 1.0) * more
        return grown


def _since(topic: Topic, partition: Partition) -> float:
    return max(partition.since, topic.exists.begin) * HOUR


Mask: TypeAlias = npt.NDArray[np.bool_]
_NONE = np.zeros(0, np.int64)


class Consumers:
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

    def of_groups(self, value: Callable[[Group], float]) -> npt.NDArray[np.float64]:
        """A value of each row's group."""
        return np.array([value(group) for group in self.day.groups] + [0.0], np.float64)[self.group]

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


# So far back at most has a group been at rest that is at rest in the first run.
_LONGEST_REST = 30 * 86_400.0


class Commits:
    """The last run's commit of each row of the consumers, -1 for none."""

    def __init__(self, consumers: Consumers, events: Events) -> None:
        self._consumers, self._logs, self._events = consumers, consumers.logs, events
        self._reads = ~consumers.uncommitted()
        self._delay = consumers.of_groups(lambda group: group.delay_seconds)
        self._pace = consumers.of_groups(lambda group: group.catch_up)
        self.now: Numbers = np.full(len(consumers), -1, np.int64)
        self._second: float | None = None

    def move_on(self, second: float) -> Numbers:
        """The commits at this second, which must be later than the one before."""
        there = self._consumers.exist(second) & self._reads
        target = self._logs.ends(second - self._delays(second), self._consumers.row)
        if self._second is None:
            moved = self._rested(target, second)
        else:
            moved = self._moved(np.where(self.now < 0, target, self.now), target, second)
            moved = self._skipped(self._rewound(moved, second), second)
        self.now, self._second = np.where(there, moved, -1), second
        return self.now

    def _delays(self, second: float) -> npt.NDArray[np.float64]:
        rng = np.random.default_rng((self._consumers.day.seed, int(second) + 10**9))
        return self._delay * rng.uniform(0.2, 1.0, len(self._consumers))

    def _rested(self, target: Numbers, second: float) -> Numbers:
        """Commits of the first run: whoever reads nothing in it has not since that began."""
        stops = [(e.when, Rows(group=e.group)) for e in self._events.on(Absent, second)]
        stops += [(e.when, e.rows) for e in self._events.on(Slow, second) if not e.share]
        for when, rows in stops:
            since = np.full(len(self._consumers), max(when.begin * HOUR, -_LONGEST_REST))
            rested = self._logs.ends(since, self._consumers.row)
            target = np.where(self._consumers.fit(rows, second), rested, target)
        return target

    def _moved(self, before: Numbers, target: Numbers, second: float) -> Numbers:
        """No farther than the target, nor faster than each row can."""
        most = self._most(second)
        # A consumer that lost records goes on at the log's beginning.
        start = self._logs.starts(second)[self._consumers.row]
        begin = np.where(most > 0, np.maximum(before, start), before)
        return np.maximum(begin, np.minimum(target, begin + most))

    def _most(self, second: float) -> Numbers:
        last = second if self._second is None else self._second
        row = self._consumers.row
        produced = (self._logs.ends(second) - self._logs.ends(last))[row]
        usual = self._logs.rate[row] * (second - last)
        most = np.ceil(np.maximum(usual * self._pace, produced * 1.1)) + 1.0
        for event in self._events.on(Slow, second):
            hit = self._consumers.fit(event.rows, second)
            most = np.where(hit, np.minimum(most, np.round(produced * event.share)), most)
        return np.where(self._consumers.resting(second), 0.0, most).astype(np.int64)

    def _rewound(self, commits: Numbers, second: float) -> Numbers:
        for event in self._events.on(Rewind, second):
            if self._second is not None and not event.when.holds(self._second):
                hit = self._consumers.fit(event.rows, second) & (commits >= 0)
                at = np.full(len(self._consumers), second - event.seconds)
                back = np.minimum(self._logs.ends(at, self._consumers.row), commits)
                commits = np.where(hit, back, commits)
        return commits

    def _skipped(self, commits: Numbers, second: float) -> Numbers:
        for event in self._events.on(Skip, second):
            if self._second is not None and not event.when.holds(self._second):
                hit = self._consumers.fit(event.rows, second) & (commits >= 0)
                commits = np.where(hit, self._logs.ends(second, self._consumers.row), commits)
        return commits
