# SPDX-License-Identifier: Apache-2.0
"""A cluster over weeks, at a run a minute: every pattern of consumers side by side, from a seed.

Nothing is random but by hash, so that every commit gets the same numbers whatever its numpy.
What a pattern does in a minute is computed once for all minutes; a run is a row of the matrices.
"""

# ruff: noqa: PLR2004 - patterns are made of numbers

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dev.compare.readings import (
    COMMITS,
    GROUPS,
    NEWEST,
    TOPICS,
    Answers,
    Array,
    Names,
    Numbers,
    Reading,
    Run,
    names_of,
    numbers_of,
)

DAY, HOUR, MINUTE_MS = 1_440, 60, 60_000
# A Monday, 00:00 UTC.
BEGIN = 1_767_571_200_000
_ASKED_MS, _READ_MS, _COMMITS_MS = 400, 450, 150
_RACKS = {1: "az1", 2: "az2", 3: "az3"}
_WEEK_MS = 7 * DAY * MINUTE_MS
_REASONS = ("timeout", "denied", "no_leader", "no_coordinator", "error")
_STATES = ("Stable", "Empty", "PreparingRebalance", "CompletingRebalance", "Dead")
_STABLE, _EMPTY, _PREPARING, _COMPLETING, _DEAD = range(5)
TIMEOUT, DENIED, NO_LEADER, NO_COORDINATOR, ERROR = range(5)


@dataclass(frozen=True, slots=True)
class Log:
    """One partition; all arrays by minute, `unread` a code of the reasons or -1.

    `ends` counts from its birth. A topic that is recreated is two logs with one name.
    """

    topic: str
    partition: int
    ends: Array
    starts: Array
    exists: Array
    unread: Array
    topic_id: str | None
    leader: int
    settings: tuple[int, int, str, str] | None


@dataclass(frozen=True, slots=True)
class Row:
    """One partition of a group; commits by minute, -1 without; `owner` -1 without one."""

    group: str
    log: Log
    commits: Array
    owner: Array
    commit_errors: Array


@dataclass(frozen=True, slots=True)
class Group:
    """A group by minute: `state` and `unread` are codes."""

    name: str
    exists: Array
    state: Array
    members: Array
    unread: Array
    kind: str = "classic"


@dataclass(slots=True)
class Cluster:
    """All logs, rows and groups of all patterns."""

    minutes: int
    seed: int
    logs: list[Log] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    hidden: dict[str, Array] = field(default_factory=dict)
    missing: list[Array] = field(default_factory=list)
    cold: list[Array] = field(default_factory=list)

    @property
    def clock(self) -> Array:
        """The minutes, as numbers."""
        return np.arange(self.minutes)

    def noise(self, stream: str) -> Array:
        """A number in [0, 1) for each minute; streams are independent."""
        salt = sum(ord(each) * 257**at for at, each in enumerate(stream)) + self.seed
        x = self.clock.astype(np.uint64) + np.uint64(salt % 2**63)
        x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: Array = ((x ^ (x >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2**53
        return mixed

    def between(self, *spans: tuple[float, float]) -> Array:
        """Whether a minute lies in one of these spans, in days."""
        inside = np.zeros(self.minutes, bool)
        for first, last in spans:
            inside[round(first * DAY) : round(last * DAY)] = True
        return inside

    def every(self, period: int, lasting: int, offset: int = 0) -> Array:
        """`lasting` minutes of each period."""
        inside: Array = (self.clock - offset) % period < lasting
        return inside

    def no(self) -> Array:
        """A code for nothing at every minute."""
        return np.full(self.minutes, -1, np.int8)

    def produced(self, name: str, rate: float, jitter: float = 0.3) -> Array:
        """Records by minute, `rate` a minute on average."""
        each = rate * (1 + jitter * (2 * self.noise(name) - 1))
        return np.floor(each + self.noise(name + "'")).astype(np.int64)

    def topic(self, name: str, *counts: Array, **more: Any) -> list[Log]:
        """Partitions with these records by minute, kept a week unless it says otherwise."""
        logs = [self._log(name, number, count, **more) for number, count in enumerate(counts)]
        self.logs += logs
        return logs

    def _log(
        self,
        name: str,
        number: int,
        count: Array,
        *,
        retention: int = 7 * DAY,
        exists: Array | None = None,
        unread: Array | None = None,
        topic_id: str | None = "",
        leader: int | None = None,
        policy: str = "delete",
        known: bool = True,
        start: Array | None = None,
    ) -> Log:
        exists = np.ones(self.minutes, bool) if exists is None else exists
        ends = np.concatenate([[0], np.cumsum(np.where(exists, count, 0))[:-1]]).astype(np.int64)
        # Segments go as a whole, once an hour.
        kept = np.maximum(self.clock // HOUR * HOUR - retention, 0)
        starts = ends[kept] if policy == "delete" else np.zeros(self.minutes, np.int64)
        return Log(
            topic=name,
            partition=number,
            ends=ends,
            starts=starts if start is None else np.maximum(starts, start),
            exists=exists,
            unread=self.no() if unread is None else unread,
            topic_id=f"id-{name}" if topic_id == "" else topic_id,
            leader=1 + number % 3 if leader is None else leader,
            settings=(retention * MINUTE_MS, -1, policy, "CreateTime") if known else None,
        )

    def read_while(self, active: Array) -> Array:
        """The minute up to which a consumer has read that reads all while it is active."""
        upto: Array = np.maximum.accumulate(np.where(active, self.clock, 0))
        return upto

    def group(
        self,
        name: str,
        logs: Sequence[Log],
        commits: Callable[[Log], Array],
        *,
        away: Array | None = None,
        state: Array | None = None,
        owner: Array | None = None,
        commit_errors: Array | None = None,
        exists: Array | None = None,
        unread: Array | None = None,
        members: int = 1,
        kind: str = "classic",
    ) -> None:
        """A group that commits so in each partition; nobody is in it while it is `away`."""
        away = np.zeros(self.minutes, bool) if away is None else away
        state = np.where(away, _EMPTY, _STABLE) if state is None else state
        exists = np.ones(self.minutes, bool) if exists is None else exists
        owned = np.where(state == _STABLE, 0 if owner is None else owner, -1)
        self.groups.append(
            Group(
                name,
                exists,
                state.astype(np.int8),
                np.where(state == _EMPTY, 0, members).astype(np.int32),
                self.no() if unread is None else unread,
                kind,
            )
        )
        for number, log in enumerate(logs):
            mine = np.where(owned >= 0, (owned + number) % max(members, 1), -1)
            found = np.where(log.exists & exists, commits(log), -1)
            no = self.no() if commit_errors is None else commit_errors
            self.rows.append(Row(name, log, found, mine.astype(np.int32), no))


Pattern = Callable[[Cluster], None]


def _at(upto: Array) -> Callable[[Log], Array]:
    return lambda log: log.ends[upto]


def _behind(share: float) -> Callable[[Log], Array]:
    return lambda log: (log.ends * share).astype(np.int64)


def steady(c: Cluster) -> None:
    """Reads all there is in every minute."""
    logs = c.topic("steady", c.produced("steady", 50), c.produced("steady1", 9))
    c.group("steady", logs, _at(c.clock), members=2)


def micro_batches(c: Cluster) -> None:
    """Commits every 5 and every 8 minutes."""
    logs = c.topic("batches", c.produced("batches", 30))
    c.group("batch-5", logs, _at(c.clock // 5 * 5))
    c.group("batch-8", logs, _at(c.clock // 8 * 8))


def bursty(c: Cluster) -> None:
    """Producers that write for 3 minutes of 20, and a reader that needs 10."""
    count = np.where(c.every(20, 3), c.produced("bursty", 2_000), 0)
    logs = c.topic("bursty", count, np.where(c.noise("spike") > 0.995, 9_000, 1))
    c.group("bursty", logs, _at(c.read_while(c.clock % 20 >= 10)))


def one_an_hour(c: Cluster) -> None:
    """A record an hour, read within two minutes."""
    logs = c.topic("hourly-record", np.where(c.clock % HOUR == 7, 1, 0))
    c.group("one-an-hour", logs, _at(np.maximum(c.clock - 2, 0)))


def jobs(c: Cluster) -> None:
    """Read all, then nothing until the next hour, night, Sunday."""
    logs = c.topic("jobs", c.produced("jobs", 20), c.produced("jobs1", 3))
    for name, period, lasting in (("hour", HOUR, 6), ("day", DAY, 40), ("week", 7 * DAY, 90)):
        active = c.every(period, lasting, period // 2)
        c.group(f"job-{name}", logs, _at(c.read_while(active)), away=~active)
        c.group(f"job-{name}-daemon", logs, _at(c.read_while(active)))


def rebalancing(c: Cluster) -> None:
    """Three minutes of every 47 without owners, and a storm of them on one day."""
    logs = c.topic("rebalancing", *(c.produced(f"reb{n}", 10) for n in range(4)))
    busy = c.every(47, 3) | (c.between((2.3, 2.5)) & (c.noise("storm") > 0.4))
    state = np.where(busy, np.where(c.clock % 2, _COMPLETING, _PREPARING), _STABLE)
    owner = np.cumsum(busy) // 3
    c.group("rebalancing", logs, _at(c.read_while(~busy)), state=state, owner=owner, members=3)


def stuck(c: Cluster) -> None:
    """A live member that never gets past a record of one partition, for hours on some days."""
    logs = c.topic("stuck", c.produced("stuck", 12), c.produced("stuck1", 12))
    halted = c.between((0.4, 0.5), (3.2, 4.9), (12, 12.1))
    stays = c.read_while(~halted)
    c.group("stuck", logs, lambda log: log.ends[stays if log.partition == 0 else c.clock])


def stopped(c: Cluster) -> None:
    """Nobody there for an hour, a night, three days."""
    logs = c.topic("stopped", c.produced("stopped", 25))
    away = c.between((0.3, 0.35), (1.8, 2.3), (9, 12))
    c.group("stopped", logs, _at(c.read_while(~away)), away=away)


def outages(c: Cluster) -> None:
    """Half an hour of trouble at odd times, which is no recurring pause."""
    logs = c.topic("outages", c.produced("outages", 40))
    down = np.convolve(c.noise("outage") > 0.9993, np.ones(30), "full")[: c.minutes] > 0
    c.group("outages", logs, _at(c.read_while(~down)))


def rewinds(c: Cluster) -> None:
    """Goes back an hour, or a day, and reads again."""
    logs = c.topic("rewinds", c.produced("rewinds", 15))
    upto = c.clock.copy()
    for at, back, pace in ((0.6, 60, 4), (5.5, DAY, 20), (5.7, 600, 1)):
        first = round(at * DAY)
        since = np.maximum(c.clock - first, 0)
        again = first - back + since * pace
        upto = np.where(c.clock >= first, np.minimum(upto, again), upto)
    c.group("rewinds", logs, _at(np.clip(upto, 0, c.clock)))


def recreated(c: Cluster) -> None:
    """A topic deleted and made anew, at once and after a pause; the group's commits stay."""
    first, again = c.between((0, 0.7), (4, 99)), c.between((0.7, 3.9))
    count = c.produced("again", 33)
    old = c.topic("again", count, exists=first & (c.clock < 3 * DAY))
    new = c.topic("again", count, exists=again, topic_id="id-again-2")
    last = c.topic("again", count, exists=first & (c.clock > 3 * DAY), topic_id="id-again-3")
    for log in (*old, *new, *last):
        born = int(np.argmax(log.exists)) if log.exists.any() else 0
        late = np.maximum(c.clock - 20, born)
        c.rows.append(
            Row(
                "again",
                log,
                np.where(log.exists, log.ends[np.minimum(late, c.minutes - 1)], -1),
                np.zeros(c.minutes, np.int32),
                c.no(),
            )
        )
    c.group("again", [], _at(c.clock))


def losing(c: Cluster) -> None:
    """Six hours of retention and a reader away for nine; one that just makes it."""
    logs = c.topic("short", c.produced("short", 18), retention=6 * HOUR)
    away = c.between((0.1, 0.45), (7.0, 7.4))
    c.group("losing", logs, _at(c.read_while(~away)), away=away)
    near = c.between((0.1, 0.32), (8.0, 8.2))
    c.group("just-in-time", logs, _at(c.read_while(~near)))


def beyond_end(c: Cluster) -> None:
    """A commit past the end for two hours, and for a single run."""
    logs = c.topic("beyond", c.produced("beyond", 8))
    wrong = c.between((0.5, 0.58), (6, 6 + 1 / DAY))
    c.group("beyond", logs, lambda log: log.ends[c.clock] + np.where(wrong, 5_000, 0))


def transactional(c: Cluster) -> None:
    """Rests at a lag of exactly 1: a marker that nobody reads; one such topic is configured."""
    for name in ("transactional", "markers"):
        logs = c.topic(name, np.where(c.clock % 240 < 120, c.produced(name, 12), 0))
        c.group(name, logs, lambda log: np.maximum(log.ends[c.clock] - 1, 0))


def idle(c: Cluster) -> None:
    """Nothing is written for days: one group has read it all, one left three records."""
    logs = c.topic("idle", np.where(c.between((0, 0.1), (8, 8.1)), 5, 0))
    c.group("idle", logs, _at(c.clock))
    c.group("left-some", logs, lambda log: np.maximum(log.ends[c.clock] - 3, 0))
    c.group("abandoned", logs, _at(np.minimum(c.clock, 30)), away=c.clock > 40)


def unread_broker(c: Cluster) -> None:
    """What broker 3 leads times out for minutes and for hours; then nobody leads it."""
    down = c.between((0.2, 0.21), (1.1, 1.4), (20, 20.5))
    code = np.where(down, TIMEOUT, -1) + np.where(c.between((4, 4.1)), NO_LEADER + 1, 0)
    counts = [c.produced(f"broker{n}", 20) for n in range(3)]
    logs = [
        replace(log, unread=code.astype(np.int8) if log.leader == 3 else log.unread)
        for log in c.topic("led", *counts)
    ]
    c.logs[-3:] = logs
    c.group("led", logs, _at(c.clock), members=3)
    c.group("led-lags", logs, _behind(0.9), members=2)


def denied(c: Cluster) -> None:
    """An ACL refuses the group, then one topic of it, then its coordinator is gone."""
    logs = c.topic("denied", c.produced("denied", 14))
    commit_errors = np.where(c.between((1.6, 1.7)), DENIED, -1).astype(np.int8)
    unread = np.where(c.between((0.8, 0.9), (14, 15.5)), DENIED, -1)
    unread = np.where(c.between((2.6, 2.61)), NO_COORDINATOR, unread).astype(np.int8)
    c.group("denied", logs, _at(c.clock // 3 * 3), commit_errors=commit_errors, unread=unread)


def hidden(c: Cluster) -> None:
    """A topic that an ACL hides for a while."""
    logs = c.topic("hidden", c.produced("hidden", 14))
    c.hidden["hidden"] = c.between((1.2, 1.3), (16, 17.2))
    c.group("hidden", logs, _behind(0.95))


def null_settings(c: Cluster) -> None:
    """Configuration and topic id unknown, forever; the group falls behind."""
    logs = c.topic("nulls", c.produced("nulls", 14), known=False, topic_id=None)
    c.group("nulls", logs, _behind(0.8))


def new_partitions(c: Cluster) -> None:
    """Two partitions, then four; the new ones are read late."""
    more = c.clock > round(0.55 * DAY)
    counts = [c.produced(f"new{n}", 16) for n in range(2)]
    logs = c.topic("grows", *counts)
    added = [
        replace(c.topic("grows", c.produced(f"grown{n}", 16), exists=more)[0], partition=n)
        for n in (2, 3)
    ]
    c.logs[-2:] = added
    seen = c.clock > round(0.56 * DAY)
    late = lambda log: np.where((log.partition < 2) | seen, log.ends[c.clock], -1)  # noqa: E731
    c.group("grows", [*logs, *added], late, members=2)


def uncommitted(c: Cluster) -> None:
    """Partitions owned and never committed; one empty; one group counts from the earliest."""
    counts = [c.produced("unc", 6), np.zeros(c.minutes, np.int64), c.produced("unc2", 6)]
    logs = c.topic("uncommitted", *counts)
    only = lambda log: np.where(log.partition == 0, log.ends[c.clock], -1)  # noqa: E731
    c.group("uncommitted", logs, only, members=3)
    c.group("from-earliest", logs, only)


def leaving(c: Cluster) -> None:
    """Members come and go; ownership moves, the last one goes at night."""
    logs = c.topic("leaving", *(c.produced(f"lea{n}", 22) for n in range(3)))
    night = c.clock % DAY < 4 * HOUR
    c.group("leaving", logs, _at(c.read_while(~night)), away=night, owner=c.clock // 90, members=3)


def falling_behind(c: Cluster) -> None:
    """Reads four fifths for six hours, then catches up; and one with a constant backlog."""
    logs = c.topic("slow", c.produced("slow", 60), c.produced("slow1", 60))
    debt = np.cumsum(np.where(c.between((0.25, 0.5), (3, 3.6)), 12, -30).clip(-30, 12))
    owed = debt - np.minimum.accumulate(np.minimum(debt, 0))
    c.group("slow", logs, lambda log: np.maximum.accumulate(np.maximum(log.ends - owed, 0)))
    c.group("backlog", logs, lambda log: np.maximum(log.ends - 3_000, 0), members=2)


def deleted(c: Cluster) -> None:
    """A group deleted while it lags, one that comes back, one that is there for an hour."""
    logs = c.topic("deleted", c.produced("deleted", 10))
    c.group("deleted", logs, _behind(0.7), exists=c.clock < round(0.65 * DAY))
    c.group("comes-back", logs, _at(c.clock), exists=~c.between((0.7, 0.75), (2, 3.5)))
    c.group("visitor", logs, _at(c.clock), exists=c.between((1.0, 1.05)))
    c.group("dead", logs, _behind(0.9), state=np.full(c.minutes, _DEAD))


def compacted(c: Cluster) -> None:
    """A compacted topic, whose dates are looked up again each hour."""
    logs = c.topic("compacted", c.produced("compacted", 4), policy="compact")
    c.group("compacted", logs, _at(c.read_while(~c.between((0.3, 0.6), (5, 6)))))


def others(c: Cluster) -> None:
    """A share group, which has no lag, and a group of the KIP-848 protocol."""
    logs = c.topic("others", c.produced("others", 11))
    c.group("share", [], _at(c.clock), kind="share")
    c.group("kip848", logs, _at(np.maximum(c.clock - 1, 0)), kind="consumer")


def truncated(c: Cluster) -> None:
    """An unclean election takes the last records: the end goes back under the same topic id."""
    count = c.produced("truncated", 10)
    at = round(0.77 * DAY)
    logs = c.topic("truncated", count)
    cut = np.where(c.clock >= at, 400, 0)
    logs = [replace(log, ends=np.maximum(log.ends - cut, 0)) for log in logs]
    c.logs[-1:] = logs
    c.group("truncated", logs, lambda log: log.ends[c.clock] + np.where(c.clock >= at, 100, 0))


def gaps(c: Cluster) -> None:
    """No runs for 5 minutes, 3 hours, a day; and processes that start cold."""
    c.missing.append(c.between((0.15, 0.1535), (1.5, 1.63), (10, 11)))
    c.cold.append(c.clock % (DAY + 7 * HOUR) == 3 * HOUR)


PATTERNS: tuple[Pattern, ...] = (
    *(steady, micro_batches, bursty, one_an_hour, jobs, rebalancing, stuck, stopped, outages),
    *(rewinds, recreated, losing, beyond_end, transactional, idle, unread_broker, denied),
    *(hidden, null_settings, new_partitions, uncommitted, leaving, falling_behind, deleted),
    *(compacted, others, truncated, gaps),
)


class Simulated:
    """All patterns for so many days."""

    def __init__(self, days: float = 30, seed: int = 16, patterns: Sequence[Pattern] = PATTERNS):
        self.cluster = Cluster(max(2, round(days * DAY)), seed)
        for pattern in patterns:
            pattern(self.cluster)
        self._prepare()

    @property
    def document(self) -> Mapping[str, Any]:
        """The collector's configuration document."""
        return {
            "cluster": "simulated",
            "bootstrap_servers": ["simulated:9096"],
            "secret_id": "AmazonMSK_simulated",
            "allowed_lag": {"^markers$": 1},
            "owner": {"^job": "Team Batch"},
            "sla_seconds": {"^slow$": 300, "^stuck$": 60},
            "uncommitted": {"^from-earliest$": "earliest"},
            "levels": {
                "drain_time": True,
                "members": True,
                "rebalancing": True,
                "max_metrics": 250,
            },
        }

    def __len__(self) -> int:
        return int(np.count_nonzero(~self._missing))

    def runs(self) -> Iterator[Run]:
        """A run a minute, but where runs are missing."""
        for minute in np.flatnonzero(~self._missing).tolist():
            at = BEGIN + minute * MINUTE_MS
            index = _Index(self, minute)
            yield Run(at, self._read(minute, at), index, bool(self._cold[minute]))

    def _prepare(self) -> None:
        c, logs, rows, groups = (
            self.cluster,
            self.cluster.logs,
            self.cluster.rows,
            self.cluster.groups,
        )
        none = np.zeros(c.minutes, bool)
        self._missing = np.logical_or.reduce([none, *c.missing])
        self._cold = np.logical_or.reduce([none, *c.cold])
        self._ends, self._starts = (
            _by_minute([g.ends for g in logs]),
            _by_minute([g.starts for g in logs]),
        )
        self._there = _by_minute([log.exists for log in logs])
        self._born = np.logical_or.accumulate(self._there)
        self._topic_names = np.array([log.topic for log in logs], object)
        self._unread = _by_minute([log.unread for log in logs])
        self._commits = _by_minute([row.commits for row in rows])
        self._owner = _by_minute([row.owner for row in rows])
        self._commit_errors = _by_minute([row.commit_errors for row in rows])
        names = [group.name for group in groups]
        of = np.array([names.index(row.group) for row in rows])
        place = {id(log): at for at, log in enumerate(logs)}
        self._log_of = np.array([place[id(row.log)] for row in rows])
        self._group_of = of
        self._exists = _by_minute([group.exists for group in groups])
        self._existed = np.logical_or.accumulate(self._exists)
        self._state = _by_minute([group.state for group in groups])
        self._members = _by_minute([group.members for group in groups])
        self._unread_groups = _by_minute([group.unread for group in groups])
        self._most = max(int(group.members.max()) for group in groups)
        self._log_names = {
            "topic": names_of(log.topic for log in logs),
            "topic_id": names_of(log.topic_id for log in logs),
            "leader_rack": names_of(_RACKS[log.leader] for log in logs),
            "replicas": names_of((log.leader, 1 + log.leader % 3) for log in logs),
            "in_sync_replicas": names_of((log.leader,) for log in logs),
            "cleanup_policy": names_of(log.settings and log.settings[2] for log in logs),
            "timestamp_type": names_of(log.settings and log.settings[3] for log in logs),
        }
        self._log_numbers = {
            "partition_id": numbers_of([log.partition for log in logs], np.int32),
            "leader": numbers_of([log.leader for log in logs], np.int32),
            "retention_ms": numbers_of([log.settings and log.settings[0] for log in logs]),
            "retention_bytes": numbers_of([log.settings and log.settings[1] for log in logs]),
        }
        self._named: dict[tuple[str, int], list[int]] = {}
        for at, log in enumerate(logs):
            self._named.setdefault((log.topic, log.partition), []).append(at)
        self._names = tuple(names)
        # A client's host is that of others, and a name must stand in its column once.
        self._owners = {
            what: names_of(
                form.format(group=name, n=n, host=n % 2)
                for name in names
                for n in range(self._most)
            )
            for what, form in (
                ("member_id", "{group}-{n}-0a1b2c3d"),
                ("client_id", "{group}-{n}"),
                ("client_host", "/10.0.0.{host}"),
            )
        }

    def _read(self, minute: int, at: int) -> Reading:
        hidden = {name: "denied" for name, when in self.cluster.hidden.items() if when[minute]}
        there = self._there[minute]
        if hidden:
            there = there & ~np.isin(self._topic_names, list(hidden))
        living = set(self._topic_names[self._there[minute]])
        dead = set(self._topic_names[self._born[minute]]) - living
        # Looked up by name once an hour as well, where the minute after its end had no run.
        before = self._existed if minute % HOUR == 0 else self._exists
        gone = before[max(minute - 1, 0)] & ~self._exists[minute]
        return Reading(
            {
                TOPICS: self._topics(minute, at, np.flatnonzero(there)),
                COMMITS: self._group_partitions(minute, at, there),
                GROUPS: self._group_rows(minute, at),
            },
            hidden_topics=hidden,
            gone_topics=frozenset(dead),
            gone_groups=frozenset(self._names[number] for number in np.flatnonzero(gone)),
        )

    def _topics(self, minute: int, at: int, rows: Array) -> dict[str, Numbers | Names]:
        unread = self._unread[minute][rows]
        read = unread < 0
        length = len(rows)
        return {
            **{n: Names(c.codes[rows], c.names) for n, c in self._log_names.items()},
            **{n: Numbers(c.values[rows], c.known[rows]) for n, c in self._log_numbers.items()},
            "asked_at": Numbers(np.full(length, at + _ASKED_MS), read),
            "read_at": Numbers(np.full(length, at + _READ_MS), read),
            "unread_reason": Names(unread.astype(np.int32), _REASONS),
            "start_offset": Numbers(self._starts[minute][rows], read),
            "end_offset": Numbers(self._ends[minute][rows], read),
        }

    def _group_partitions(self, minute: int, at: int, there: Array) -> dict[str, Numbers | Names]:
        group, log = self._group_of, self._log_of
        listed = self._exists[minute][group] & (self._unread_groups[minute][group] < 0)
        rows = np.flatnonzero(listed & there[log])
        group, log = group[rows], log[rows]
        commit_errors, commits = self._commit_errors[minute][rows], self._commits[minute][rows]
        read = commit_errors < 0
        owner = self._owner[minute][rows]
        owner = np.where(owner < 0, -1, group * self._most + owner).astype(np.int32)
        topic, topic_id = self._log_names["topic"], self._log_names["topic_id"]
        return {
            "read_at": Numbers(np.full(len(rows), at + _COMMITS_MS), read),
            "unread_reason": Names(commit_errors.astype(np.int32), _REASONS),
            "consumer_group": Names(group.astype(np.int32), self._names),
            "topic": Names(topic.codes[log], topic.names),
            "topic_id": Names(topic_id.codes[log], topic_id.names),
            "partition_id": Numbers(
                self._log_numbers["partition_id"].values[log], np.ones(len(rows), bool)
            ),
            **{
                what: Names(np.where(owner < 0, -1, names.codes[owner]), names.names)
                for what, names in self._owners.items()
            },
            "committed_offset": Numbers(commits, (commits >= 0) & read),
        }

    def _group_rows(self, minute: int, at: int) -> dict[str, Numbers | Names]:
        rows = np.flatnonzero(self._exists[minute])
        unread = self._unread_groups[minute][rows]
        read = unread < 0
        state = np.where(read, self._state[minute][rows], -1).astype(np.int32)
        kinds = names_of(self.cluster.groups[row].kind for row in rows)
        known = np.where(read, 0, -1).astype(np.int32)
        return {
            "consumer_group": Names(rows.astype(np.int32), self._names),
            "read_at": Numbers(np.full(len(rows), at + _COMMITS_MS), read),
            "unread_reason": Names(unread.astype(np.int32), _REASONS),
            "group_state": Names(state, _STATES),
            "group_type": kinds,
            "protocol": Names(known, ("range",)),
            "members": Numbers(self._members[minute][rows], read),
        }

    def answer(
        self, minute: int, topics: Sequence[str], partitions: Array, times: Array
    ) -> Answers:
        """What the index of one minute says; one that was not read then says nothing."""
        answers = Answers.nothing(len(topics))
        for at, (topic, partition, time) in enumerate(zip(topics, partitions, times, strict=True)):
            place = self._place(minute, topic, int(partition))
            if place is None:
                continue
            log = self.cluster.logs[place]
            found = self._first(log, int(log.starts[minute]), int(log.ends[minute]), int(time))
            if found is None:
                answers.none[at] = True
            else:
                answers.found[at] = True
                answers.offsets[at], answers.times[at] = found, self._stamp(log, found)
        return answers

    def _place(self, minute: int, topic: str, partition: int) -> int | None:
        """Which log answers: of a topic that was recreated, the one there is."""
        found = (
            at
            for at in self._named.get((topic, partition), ())
            if self._there[minute][at] and self._unread[minute][at] < 0
        )
        return next(found, None)

    def _first(self, log: Log, start: int, end: int, time: int) -> int | None:
        """The first record at or after a time, of those from one offset to another."""
        if time == NEWEST:
            return end - 1 if start < end else None
        within = range(start, end)
        at = bisect.bisect_left(within, time, key=lambda offset: self._stamp(log, offset))
        return within[at] if at < len(within) else None

    def _stamp(self, log: Log, offset: int) -> int:
        """When a record was written: those of a minute at equal distances."""
        minute = int(np.searchsorted(log.ends, offset, side="right")) - 1
        begin = int(log.ends[minute])
        after = int(log.ends[minute + 1]) if minute + 1 < len(log.ends) else begin + 1
        share = (2 * (offset - begin) + 1) * MINUTE_MS // (2 * max(after - begin, 1))
        return BEGIN + minute * MINUTE_MS + _READ_MS + share


@dataclass(frozen=True, slots=True)
class _Index:
    """The time index as it is in one minute."""

    of: Simulated
    minute: int

    def answer(self, topics: Sequence[str], partitions: Array, times: Array) -> Answers:
        """One look-up after another."""
        return self.of.answer(self.minute, topics, partitions, times)


def _by_minute(columns: list[Array]) -> Array:
    return np.ascontiguousarray(np.stack(columns, axis=1))
