# SPDX-License-Identifier: Apache-2.0
"""What really happened, by the clients' own acknowledgements.

Times are ms of one clock, that of this machine. A client knows when it sent something and when
it was acknowledged; what happened in the cluster happened in between. So the truth is an interval
throughout, and a published number is wrong when it lies outside with all of its stated error.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Times: TypeAlias = npt.NDArray[np.int64]
Partition: TypeAlias = tuple[str, int]

NEVER = 2**62
# In place of a broker: any coordinator, of commits alone.
COORDINATORS = -1
# A commit whose answer was lost may still lie in the buffer of a broker that is stopped.
_LINGERS_MS = 60_000
# Followers hear of a new high watermark with their next fetch, half a second later at most.
FRESH_AFTER_MS = 2_000
# For so long a broker keeps a log start in memory alone.
_STARTS_KEPT_MS = 60_000


def now_ms() -> int:
    """The clock of all that is recorded, ms, rounded down."""
    return int(time.time() * 1000)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of an offset (None: it was removed).

    `acked` is NEVER where it is not known whether it was taken.
    """

    offset: int | None
    sent: int
    acked: int = NEVER


@dataclass(frozen=True, slots=True)
class Purge:
    """Records before `offset` were deleted between `sent` and `acked` (NEVER: perhaps)."""

    offset: int
    sent: int
    acked: int = NEVER


@dataclass(frozen=True, slots=True)
class LogView:
    """One partition of one topic id: by offset, when each record was sent and acknowledged.

    `low` and `high` bound the moment at which a consumer could first read the record; both rise
    with the offset. `loose` are times of what may have become one record or marker, at no offset
    that is known. `aborted` are offsets of records that no consumer of committed ones reads.
    """

    offset: Times
    low: Times
    high: Times
    loose: Times
    purges: tuple[Purge, ...] = ()
    since: int = 0
    aborted: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        records: Iterable[tuple[int, int, int]],
        loose: Sequence[int] = (),
        purges: Iterable[Purge] = (),
        since: int = 0,
    ) -> LogView:
        """From (offset, sent, acknowledged) in any order."""
        rows = np.array(sorted(records), np.int64).reshape(-1, 3)
        low = np.maximum.accumulate(rows[:, 1])
        high = np.minimum.accumulate(rows[::-1, 2])[::-1]
        return cls(rows[:, 0], low, high, np.sort(np.array(loose, np.int64)), (*purges,), since)

    def ends(self, sent: int, read: int) -> tuple[int, int]:
        """Least and greatest end offset that an answer between these times may hold."""
        surely = int(np.searchsorted(self.high, sent, "right"))
        least = int(self.offset[surely - 1]) + 1 if surely else 0
        begun = int(np.searchsorted(self.low, read, "right"))
        if begun < len(self.offset):
            return least, int(self.offset[begun])
        if not len(self.offset):
            return least, int(np.searchsorted(self.loose, read, "right"))
        # What was sent before the last known record lies before it, if anywhere.
        behind = int(np.searchsorted(self.loose, self.low[-1], "left"))
        loose = max(0, int(np.searchsorted(self.loose, read, "right")) - behind)
        return least, int(self.offset[-1]) + 1 + loose

    def starts(self, sent: int, read: int) -> tuple[int, int]:
        """Least and greatest log start that an answer between these times may hold."""
        least = max((p.offset for p in self.purges if p.acked <= sent), default=0)
        return least, max((p.offset for p in self.purges if p.sent <= read), default=0)

    @property
    def has_markers(self) -> bool:
        """Whether an offset between its records has none, or one of an aborted transaction."""
        span = int(self.offset[-1] - self.offset[0]) + 1 if len(self.offset) else 0
        return span > len(self.offset) or bool(self.aborted)

    def readable(self, offset: int) -> tuple[int, int]:
        """Between which times the record at this offset, or what is there, became readable."""
        at = int(np.searchsorted(self.offset, offset))
        if at < len(self.offset) and self.offset[at] == offset:
            return int(self.low[at]), int(self.high[at])
        low = int(self.low[at - 1]) if at else self.since
        return low, int(self.high[at]) if at < len(self.offset) else NEVER


@dataclass(frozen=True, slots=True)
class TopicView:
    """One topic id: partitions in order, since when each may exist and when it surely did."""

    name: str
    topic_id: str
    logs: tuple[LogView, ...]
    sent: tuple[int, ...]
    acked: tuple[int, ...]
    deleted_sent: int = NEVER
    deleted_acked: int = NEVER

    def exists(self, partition: int, begin: int, end: int) -> bool:
        """Whether the partition existed for sure in all of this time."""
        known = partition < len(self.logs)
        return known and self.acked[partition] < begin and end < self.deleted_sent


@dataclass(frozen=True, slots=True)
class Stale:
    """From `begin` to `end` a broker may answer as things were at `since`.

    One that had been stopped does not know yet that others took over: Kafka fences its writes and
    not its answers; `groups` are those that it coordinated. A new coordinator (COORDINATORS)
    reports commits as of the high watermark that it knew of as a follower: of a moment before the
    answer, or before the fault until it has taken a commit itself.
    """

    broker: int
    since: int
    begin: int
    end: int = NEVER
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Trouble:
    """From `begin` to `end` a broker was under a fault, or on its way back from one."""

    broker: int
    begin: int
    end: int = NEVER


@dataclass(frozen=True, slots=True)
class TruthView:
    """All that is known at one moment; checks are pure functions of it."""

    topics: Mapping[str, TopicView]
    commits: Mapping[str, Mapping[Partition, Sequence[Commit]]]
    stale: tuple[Stale, ...] = ()
    troubles: tuple[Trouble, ...] = ()

    def living(self, name: str, begin: int, end: int) -> TopicView | None:
        """The topic of this name that existed in all of this time."""
        return next(
            (t for t in self.topics.values() if t.name == name and t.exists(0, begin, end)), None
        )

    def as_of(self, begin: int, end: int, broker: int | None = None) -> int:
        """The earliest moment that this broker's answer in this time may show; None is any."""
        since = [
            each.since
            for each in self.stale
            if each.broker != COORDINATORS
            and each.begin <= end
            and each.end >= begin
            and broker in (None, each.broker)
        ]
        return min(begin, *since) if since else begin

    def commits_as_of(self, group: str, begin: int, end: int) -> int:
        """The earliest moment that a coordinator's answer about the group's commits may show."""
        since = [
            self._as_a_follower(each, group, begin) if each.broker == COORDINATORS else each.since
            for each in self.stale
            if each.begin <= end
            and each.end >= begin
            and (each.broker == COORDINATORS or group in each.groups)
        ]
        return min(begin, *since) if since else begin

    def _as_a_follower(self, change: Stale, group: str, begin: int) -> int:
        """When a new coordinator heard of the high watermark, as long as it has not moved it."""
        latest = begin - FRESH_AFTER_MS
        of_new = change.since + FRESH_AFTER_MS
        for commits in self.commits.get(group, {}).values():
            for each in reversed(commits):
                if each.sent < change.since:
                    break
                if of_new < each.acked < latest:
                    return latest
        return min(latest, change.since - FRESH_AFTER_MS)

    def troubled(self, broker: int, begin: int, end: int) -> bool:
        """Whether the broker was under a fault at any moment of this time."""
        return any(
            each.broker == broker and each.begin <= end and each.end >= begin
            for each in self.troubles
        )


def possible(commits: Sequence[Commit], begin: int, end: int) -> set[int | None]:
    """Offsets that a coordinator may answer between two times; `commits` rise by `sent`.

    A commit holds until one that was sent after its answer has itself been answered.
    """
    settled = -1
    found: set[int | None] = set()
    for each in reversed(commits):
        if each.sent < settled - _LINGERS_MS:
            break
        lasts = each.acked if each.acked != NEVER else each.sent + _LINGERS_MS
        if each.sent <= end and lasts >= settled:
            found.add(each.offset)
        if each.acked < begin:
            settled = max(settled, each.sent)
    else:
        if settled < 0:
            found.add(None)
    return found


@dataclass(slots=True)
class _Log:
    since: int
    offset: array[int] = field(default_factory=lambda: array("q"))
    sent: array[int] = field(default_factory=lambda: array("q"))
    acked: array[int] = field(default_factory=lambda: array("q"))
    flying: dict[int, int] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    purges: list[Purge] = field(default_factory=list)
    aborted: set[int] = field(default_factory=set)

    def view(self) -> LogView:
        offset, sent, acked = (np.array(c, np.int64) for c in (self.offset, self.sent, self.acked))
        order = np.argsort(offset, kind="stable")
        low = np.maximum.accumulate(sent[order])
        high = np.minimum.accumulate(acked[order][::-1])[::-1]
        loose = np.sort(np.array([*self.flying.values(), *self.lost], np.int64))
        aborted = frozenset(self.aborted)
        return LogView(offset[order], low, high, loose, (*self.purges,), self.since, aborted)


class Topic:
    """The record of one topic id, written by producers; see `Truth` for the lock."""

    def __init__(self, truth: Truth, name: str, topic_id: str) -> None:
        self.name, self.topic_id = name, topic_id
        self.logs: list[_Log] = []
        self.sent: list[int] = []
        self.acked: list[int] = []
        self.deleted_sent = self.deleted_acked = NEVER
        self._truth = truth
        self._token = 0

    def extended(self, partitions: int, sent: int, acked: int) -> None:
        """There are so many partitions now."""
        with self._truth.lock:
            while len(self.logs) < partitions:
                self.logs.append(_Log(sent))
                self.sent.append(sent)
                self.acked.append(acked)

    def sending(self, partition: int, at: int | None = None) -> int:
        """A record goes out, or something that may become one; returns a token for it."""
        with self._truth.lock:
            self._token += 1
            self.logs[partition].flying[self._token] = now_ms() if at is None else at
            return self._token

    def acknowledged(self, partition: int, token: int, offset: int, at: int | None = None) -> None:
        """The record is in the log; a negative offset is one that the client does not know."""
        with self._truth.lock:
            log = self.logs[partition]
            sent = log.flying.pop(token)
            if offset < 0:
                log.lost.append(sent)
                return
            log.offset.append(offset)
            log.sent.append(sent)
            # Rounded up, as the other end of the interval is rounded down.
            log.acked.append(now_ms() + 1 if at is None else at)

    def lost(self, partition: int, token: int) -> None:
        """Nobody knows whether it is in the log."""
        with self._truth.lock:
            log = self.logs[partition]
            log.lost.append(log.flying.pop(token))

    def aborted(self, partition: int, offset: int) -> None:
        """No consumer of committed records reads this one, or perhaps none does."""
        with self._truth.lock:
            self.logs[partition].aborted.add(offset)

    def purged(self, partition: int, offset: int, sent: int, acked: int = NEVER) -> None:
        """Records before the offset are deleted, or may be."""
        with self._truth.lock:
            self.logs[partition].purges.append(Purge(offset, sent, acked))

    def end(self, partition: int) -> int:
        """The offset behind the record that was acknowledged last."""
        with self._truth.lock:
            offsets = self.logs[partition].offset
            return offsets[-1] + 1 if offsets else 0

    def view(self) -> TopicView:
        """A copy; the caller holds the lock."""
        return TopicView(
            self.name,
            self.topic_id,
            tuple(log.view() for log in self.logs),
            (*self.sent,),
            (*self.acked,),
            self.deleted_sent,
            self.deleted_acked,
        )


class Truth:
    """The record of a campaign; written by many threads."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._topics: dict[str, Topic] = {}
        self._commits: dict[str, dict[Partition, list[Commit]]] = defaultdict(dict)
        self._open: dict[int, int] = {}
        self._stale: list[Stale] = []
        self._troubles: list[Trouble] = []
        self._token = 0

    def created(self, name: str, topic_id: str, partitions: int, sent: int, acked: int) -> Topic:
        """A topic exists."""
        topic = Topic(self, name, topic_id)
        topic.extended(partitions, sent, acked)
        with self.lock:
            self._topics[topic_id] = topic
        return topic

    def knows(self, topic_id: str) -> bool:
        """Whether there was such a topic."""
        with self.lock:
            return topic_id in self._topics

    def killed(self, at: int) -> None:
        """A broker had a power cut: it may have forgotten which records were deleted lately.

        It writes log starts down each minute [log.flush.start.offset.checkpoint.interval.ms].
        """
        with self.lock:
            for topic in self._topics.values():
                for log in topic.logs:
                    log.purges = [
                        replace(each, acked=NEVER) if each.acked >= at - _STARTS_KEPT_MS else each
                        for each in log.purges
                    ]

    def deleted(self, topic: Topic, sent: int, acked: int) -> None:
        """A topic is gone, and what groups committed there may go, too."""
        with self.lock:
            topic.deleted_sent, topic.deleted_acked = sent, acked
            for commits in self._commits.values():
                for (name, _), known in commits.items():
                    if name == topic.name:
                        known.append(Commit(None, sent))

    def committing(self, group: str, offsets: Mapping[Partition, int | None]) -> int:
        """A commit goes out; returns a token for its answer."""
        sent = now_ms()
        with self.lock:
            self._token += 1
            self._open[self._token] = sent
            for at, offset in offsets.items():
                self._commits[group].setdefault(at, []).append(Commit(offset, sent))
            return self._token

    def committed(self, group: str, token: int, taken: Mapping[Partition, int | None]) -> None:
        """Its answer came; of offsets that are not `taken` nobody knows what became."""
        acked = now_ms() + 1
        with self.lock:
            sent = self._open.pop(token)
            for at, offset in taken.items():
                known = self._commits[group][at]
                place = len(known) - 1
                while known[place] != Commit(offset, sent):
                    place -= 1
                known[place] = Commit(offset, sent, acked)

    def partitions_of(self, group: str) -> list[Partition]:
        """Where the group ever committed."""
        with self.lock:
            return list(self._commits[group])

    def stale(
        self, broker: int, since: int, begin: int, groups: frozenset[str] = frozenset()
    ) -> Stale:
        """From now on the broker may answer as of `since`; see `Stale` for the groups."""
        stale = Stale(broker, since, begin, groups=groups)
        with self.lock:
            self._stale.append(stale)
        return stale

    def fresh(self, stale: Stale, end: int) -> None:
        """The broker knows what the others know."""
        with self.lock:
            self._stale.remove(stale)
            self._stale.append(replace(stale, end=end))

    def troubled(self, broker: int) -> Trouble:
        """From now on the broker is under a fault."""
        trouble = Trouble(broker, now_ms())
        with self.lock:
            self._troubles.append(trouble)
        return trouble

    def relieved(self, trouble: Trouble) -> None:
        """The fault is over."""
        with self.lock:
            self._troubles.remove(trouble)
            self._troubles.append(replace(trouble, end=now_ms()))

    def was_troubled(self, broker: int, begin: int, end: int) -> None:
        """The broker did not answer in this time, ms, though no fault was on it."""
        with self.lock:
            self._troubles.append(Trouble(broker, begin, end))

    def settled(self, until: int) -> bool:
        """Whether all that was sent by then has been answered, so that a view is final."""
        with self.lock:
            if any(sent <= until for sent in self._open.values()):
                return False
            return not any(
                sent <= until
                for topic in self._topics.values()
                for log in topic.logs
                for sent in log.flying.values()
            )

    def view(self) -> TruthView:
        """All of it as it is known now."""
        with self.lock:
            return TruthView(
                {topic_id: topic.view() for topic_id, topic in self._topics.items()},
                {
                    group: {at: (*known,) for at, known in commits.items()}
                    for group, commits in self._commits.items()
                },
                (*self._stale,),
                (*self._troubles,),
            )
