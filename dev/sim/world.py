# SPDX-License-Identifier: Apache-2.0
"""A cluster in memory: topics that are written and groups that read them, in steps of some seconds.

The collector sees it once a minute, as the broker adapter would. Its input holds nothing about the
planted events. `truth` reads the logs that are kept here.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, TypeAlias, TypeVar
from zlib import crc32

import numpy as np

from dev.sim import events as on
from dev.sim.events import MINUTE, WAVE_SHARE, Case, Event, Group, Topic
from dev.sim.reading import Floats, Ints, Layout, Sight
from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings

T = TypeVar("T", bound=Hashable)
V = TypeVar("V")

# Is called with the number of a minute; may return what is called before each of its steps.
Change: TypeAlias = Callable[["World", int], Callable[[int], None] | None]

STEP = 10
BROKERS = 3
# A run reads commits and then the ends of the logs so many ms after it began.
_READ = (150, 200)
_NEW_LOG = 50.0
# A member that crashed is started again after so many seconds, and crashes at once.
_RESTART = 30.0


@dataclass
class TopicState:
    """A topic; `rates` are records/s written to each partition.

    Brokers lead partitions in turn, beginning after `first_leader`, and hold `copies` replicas, of
    which `in_sync` are up to date. A partition without a leader is neither written nor read.
    """

    name: str
    rates: Floats
    noise: float = 0.1
    first_leader: int = 0
    retention_ms: int = 7 * 86_400_000
    # The log starts so many seconds behind its end; None: nothing is deleted.
    kept_seconds: float | None = None
    copies: int = BROKERS
    generation: int = 0
    # Returns the rates of a second; None: they stay as they are.
    plan: Callable[[float], Floats] | None = None
    batch_seconds: float | None = None
    # Each write ends with an offset that holds no record.
    markers: bool = False
    # Replicas are on other brokers, and most records/s that are read of a partition.
    moved: bool = False
    limit: float = math.inf

    def __post_init__(self) -> None:
        partitions = len(self.rates)
        self.end, self.start = np.full(partitions, 1_000.0), np.zeros(partitions)
        # The last offsets of the log that hold no record.
        self.tail = np.zeros(partitions)
        self.in_sync = np.full(partitions, self.copies)
        # Partitions that exist, and those that have a leader.
        self.there, self.has_leader = np.ones(partitions, bool), np.ones(partitions, bool)
        # Up to where a reader of committed records may read; infinity: no transaction is open.
        self.stable = np.full(partitions, np.inf)
        self.leaders = (np.arange(partitions) + self.first_leader) % BROKERS + 1
        self.usual, self.due = self.rates.copy(), np.zeros(partitions)

    @property
    def partitions(self) -> int:
        """Number of partitions."""
        return len(self.rates)

    def retain(self, seconds: float | None, retention_ms: int) -> None:
        """Keeps records for so long; None: nothing is deleted."""
        self.kept_seconds, self.retention_ms = seconds, retention_ms

    def move_leaders(self) -> None:
        """Lets the next broker lead each partition."""
        self.leaders = self.leaders % BROKERS + 1

    def recreate(self) -> None:
        """Deletes the topic and creates it again, with its first records."""
        self.generation += 1
        self.end[:], self.start[:], self.tail[:] = _NEW_LOG, 0.0, 0.0


@dataclass
class GroupState:
    """A group; `speed` is what each member reads, in records/s, by its name.

    Its arrays hold the partitions of `topic`, then those of `more_topics`; partitions are assigned
    in turn, topic by topic. A member of speed 0 neither reads nor commits. `slow`: most records/s
    of a partition. `stuck`: offsets that are not passed. `commit_every` is in steps. While it is
    `rebalancing` the group reads nothing. `commit_epoch`: the leader epoch in its commits, which
    members write if it `signs`. With `workers_each` a member reads at its speed from each of its
    partitions. `vanished`: members that died and are not removed yet.
    """

    name: str
    topic: TopicState
    speed: dict[str, float]
    slow: dict[int, float] = field(default_factory=dict)
    stuck: dict[int, float] = field(default_factory=dict)
    commit_every: int = 1
    epoch: int | None = None
    commit_epoch: int | None = None
    signs: bool = False
    state: str = "Stable"
    rebalancing: bool = False
    generation: int = 0
    workers_each: bool = False
    slow_line: bool = True
    # Steps that a record waits before members read it.
    waits: int = 0
    vanished: set[str] = field(default_factory=set)
    more_topics: tuple[TopicState, ...] = ()
    exists: bool = True
    # Places of partitions that members do not read, and of those without a commit.
    blind: set[int] = field(default_factory=set)
    uncommitted: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.position: Floats = self.gather("end").copy()
        self.committed = self.position.copy()
        # Records of each partition that were deleted before the group committed them, and the log's
        # start up to which they are counted.
        self.lost, self.counted = np.zeros(len(self.position)), self.gather("start").copy()

    @property
    def topics(self) -> tuple[TopicState, ...]:
        """All topics that it reads."""
        return (self.topic, *self.more_topics)

    def gather(self, name: str) -> Any:
        """Returns an array of the topics: a value for each partition."""
        if not self.more_topics:
            return getattr(self.topic, name)
        return np.concatenate([getattr(topic, name) for topic in self.topics])

    def places_of(self, topic: str) -> list[int]:
        """Returns the places of a topic's partitions in the arrays."""
        names = [each.name for each in self.topics for _ in range(each.partitions)]
        return [place for place, name in enumerate(names) if name == topic]

    def owners(self) -> Ints:
        """Returns the owner of each partition: its place among the sorted names, -1 for none."""
        if not self.speed:
            return np.full(len(self.position), -1)
        numbers = [np.arange(topic.partitions) % len(self.speed) for topic in self.topics]
        owners = numbers[0] if len(numbers) == 1 else np.concatenate(numbers)
        if self.blind:
            owners[list(self.blind)] = -1
        return owners


@dataclass(slots=True)
class World:
    """A cluster and its time in steps. `broker_limit`: records/s of a partition, by its broker.

    Acts of `at` are done at the beginning of the step that their second falls into.
    """

    topics: list[TopicState]
    groups: list[GroupState]
    rng: np.random.Generator
    broker_limit: dict[int, float] = field(default_factory=dict)
    # Ends of each topic's records, the readers' offsets of each group, and what each lost until
    # then, at the end of each step, or of every so many.
    ends: dict[str, list[Floats]] = field(default_factory=dict)
    positions: dict[str, list[Floats]] = field(default_factory=dict)
    losses: dict[str, list[float]] = field(default_factory=dict)
    keep_every: int = 1
    missed_until: float = 0.0
    # Why groups, partitions of topics, and commits of groups in topics are not answered.
    unread_groups: dict[str, str] = field(default_factory=dict)
    unread_partitions: dict[tuple[str, int], str] = field(default_factory=dict)
    unread_commits: dict[tuple[str, str], str] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    down: set[int] = field(default_factory=set)
    # Is called as a minute begins; and minutes in which no run takes place.
    change: Change | None = None
    unseen: Sequence[int] = ()
    _step: int = 0
    _acts: list[tuple[float, int, Callable[[], object]]] = field(default_factory=list)
    _number: count[int] = field(default_factory=count)

    @property
    def now(self) -> float:
        """Seconds since the world began."""
        return float(self._step * STEP)

    def at(self, second: float, act: Callable[[], object]) -> None:
        """Does something at a second of the world."""
        heapq.heappush(self._acts, (second, next(self._number), act))

    def live_a_minute(self) -> None:
        """Lets a minute pass."""
        each_step = self.change(self, round(self.now / MINUTE)) if self.change else None
        for number in range(round(MINUTE) // STEP):
            if each_step is not None:
                each_step(number)
            while self._acts and self._acts[0][0] <= self.now:
                heapq.heappop(self._acts)[2]()
            for topic in self.topics:
                self._write(topic)
            for group in self.groups:
                self._read(group)
            self._step += 1
            if self._step % self.keep_every == 0:
                self._keep()

    def _keep(self) -> None:
        for topic in self.topics:
            self.ends.setdefault(topic.name, []).append(topic.end - topic.tail)
        for group in self.groups:
            self.positions.setdefault(group.name, []).append(group.position.copy())
            self.losses.setdefault(group.name, []).append(float(group.lost.sum()))

    def ends_of(self, group: GroupState) -> Floats:
        """Returns the log ends that are kept: a row for each time, a column for each partition."""
        return np.concatenate([np.array(self.ends[topic.name]) for topic in group.topics], axis=1)

    def _write(self, topic: TopicState) -> None:
        if topic.plan is not None:
            topic.rates = topic.plan(self.now)
        noise = 1.0 + topic.noise * self.rng.standard_normal(topic.partitions)
        mean = np.maximum(topic.rates * STEP * noise, 0.0) * (topic.has_leader & topic.there)
        topic.due += self.rng.poisson(mean)
        if topic.batch_seconds is None or self.now % topic.batch_seconds < STEP:
            topic.end += topic.due
            if topic.markers:
                written = topic.due > 0
                topic.end += written
                topic.tail[written] = 1.0
            topic.due[:] = 0.0
        if topic.kept_seconds is not None:
            start = np.floor(topic.end - topic.rates * topic.kept_seconds)
            topic.start = np.maximum(topic.start, start)

    def _read(self, group: GroupState) -> None:
        start = group.gather("start")
        group.lost += np.maximum(start - np.maximum(group.committed, group.counted), 0.0)
        group.counted = start.copy()
        if not group.speed or group.rebalancing or not group.exists:
            return
        owners = group.owners()
        speeds = np.array([group.speed[name] for name in sorted(group.speed)])
        works = (speeds[owners] > 0.0) & (owners >= 0)
        # A reader goes on at the start of a log if its next records were deleted.
        if (group.position < start).any():
            follows = works.copy()
            for number, offset in group.stuck.items():
                follows[number] &= group.position[number] < offset
            group.position = np.where(follows, np.maximum(group.position, start), group.position)
        most, budgets = np.where(works, self._find_most(group), 0.0), speeds * STEP
        if group.workers_each:
            group.position += np.minimum(most, budgets[owners])
        elif (np.bincount(owners.clip(0), most, len(budgets)) <= budgets).all():
            group.position += most
        else:
            for place, budget in enumerate(budgets.tolist()):
                own = owners == place
                group.position[own] += _share_out(most[own], budget)
        if self._step % group.commit_every == 0:
            group.committed = np.where(works, np.floor(group.position), group.committed)
            group.commit_epoch = 1 if group.signs else group.commit_epoch

    def _find_most(self, group: GroupState) -> Floats:
        """Returns how many records of each partition there are to read in this step."""
        readable = np.minimum(group.gather("end") - group.gather("tail"), group.gather("stable"))
        readable *= group.gather("has_leader")
        if group.waits:
            readable = np.minimum(readable, self._find_due(group))
        for number, offset in group.stuck.items():
            readable[number] = min(readable[number], offset)
        most: Floats = np.maximum(readable - group.position, 0.0)
        if any(topic.limit < math.inf for topic in group.topics):
            limits = [np.full(topic.partitions, topic.limit) for topic in group.topics]
            most = np.minimum(most, np.concatenate(limits) * STEP)
        for number, limit in group.slow.items():
            most[number] = min(most[number], limit * STEP)
        if group.slow_line and self.broker_limit:
            leaders = group.gather("leaders").tolist()
            of_broker = [self.broker_limit.get(leader, np.inf) for leader in leaders]
            most = np.minimum(most, np.array(of_broker) * STEP)
        return most

    def _find_due(self, group: GroupState) -> Floats:
        """Returns where the records of each partition end that the group has waited for."""
        if len(self.ends.get(group.topic.name, ())) < group.waits:
            return group.position
        return np.concatenate([self.ends[each.name][-group.waits] for each in group.topics])

    def layout(self) -> Layout:
        """Returns the rows of all readings."""
        topics = {topic.name: topic.partitions for topic in self.topics}
        read = {each.name: [topic.name for topic in each.topics] for each in self.groups}
        return Layout.of(topics, read, _READ)

    def sight(self) -> Sight | None:
        """Returns what the brokers know now, or None while the collector does not run."""
        if self.now <= self.missed_until or round(self.now / MINUTE) - 1 in self.unseen:
            return None
        groups, every = self.groups, self._gather
        members = [sorted(group.speed) for group in groups]
        replicas = self._find_replicas()
        counts = every("in_sync").tolist()
        rows = [(group, topic) for group in groups for topic in group.topics]
        return Sight(
            end=every("end").astype(np.int64),
            committed=np.concatenate([each.committed for each in groups]).astype(np.int64),
            without_commit=np.array(
                [n in each.uncommitted for each in groups for n in range(len(each.position))]
            ),
            owner=self._find_owners(),
            members=tuple(name for names in members for name in names),
            counts=np.array([len(names) for names in members]),
            states=Strings.of(group.state if group.speed else "Empty" for group in groups),
            start=every("start").astype(np.int64),
            stable=Column.of(np.minimum(every("end"), every("stable")).astype(np.int64)),
            leader=np.where(every("has_leader"), every("leaders"), -1),
            replicas=replicas,
            in_sync=[
                self._find_in_sync(each, number)
                for each, number in zip(replicas, counts, strict=True)
            ],
            ids=tuple(f"{topic.name}-{topic.generation}" for topic in self.topics),
            retention_ms=np.array([topic.retention_ms for topic in self.topics]),
            commit_epoch=Column.optional(
                [each.commit_epoch for each in groups for _ in each.position], np.int32
            ),
            epochs=Column.optional([group.epoch for group in groups], np.int32),
            hashes=Column.optional([_hash_members(group) for group in groups]),
            unread=Strings.of(
                self.unread_partitions.get((topic.name, number))
                for topic in self.topics
                for number in range(topic.partitions)
            ),
            commits_unread=Strings.of(
                self.unread_commits.get((group.name, topic.name))
                for group, topic in rows
                for _ in range(topic.partitions)
            ),
            groups_unread=Strings.of(self.unread_groups.get(group.name) for group in groups),
            there=every("there"),
            alive=np.array([group.exists for group in groups]),
            hidden=dict(self.hidden),
            gone=frozenset(self.gone),
        )

    def _gather(self, name: str) -> Any:
        """Returns an array of all topics: a value for each partition."""
        return np.concatenate([getattr(topic, name) for topic in self.topics])

    def _find_replicas(self) -> list[tuple[int, ...]]:
        """Returns the replicas of each partition; followers that moved lead nothing."""
        return [
            tuple(
                (leader + n - 1) % BROKERS + 1 + BROKERS * (topic.moved and n > 0)
                for n in range(topic.copies)
            )
            for topic in self.topics
            for leader in topic.leaders.tolist()
        ]

    def _find_in_sync(self, replicas: tuple[int, ...], number: int) -> tuple[int, ...]:
        """Returns the replicas in sync; the last one stays, as with Kafka."""
        alive = [broker for broker in replicas if broker not in self.down]
        return tuple(alive[:number]) or replicas[:1]

    def _find_owners(self) -> Ints:
        """Returns the place of each owner among the members of all groups."""
        first, found = 0, []
        for group in self.groups:
            owner, waits = group.owners(), group.state in contract.REBALANCING_STATES
            found.append(np.where((owner < 0) | waits, -1, owner + first))
            first += len(group.speed)
        return np.concatenate(found)


def _hash_members(group: GroupState) -> int | None:
    """Returns what tells memberships apart, where no epoch does."""
    words = f"{group.generation} {sorted(group.speed)}"
    return crc32(words.encode()) if group.epoch is None else None


def _share_out(wanted: Floats, budget: float) -> Floats:
    """Gives each what it wants, or an equal part of what is left if that is less."""
    given = np.zeros(len(wanted))
    for place, at in enumerate(np.argsort(wanted)):
        part = budget / (len(wanted) - place)
        given[at] = min(wanted[at], part)
        budget -= given[at]
    return given


class Staged:
    """A case as a world: its events are planned, and each changes topics, groups and members."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._topics = {name: _make_topic(name, each) for name, each in case.topics.items()}
        self._groups = {
            name: _make_group(name, each, [self._topics[topic] for topic in each.topics])
            for name, each in case.groups.items()
        }
        self.world = World(
            list(self._topics.values()),
            list(self._groups.values()),
            np.random.default_rng(case.seed),
        )
        self._stable_at = dict.fromkeys(case.groups, 0.0)
        self._restarts = count(1)
        # What a member of each group reads from now on if it starts.
        self._speed = {name: 1_000.0 / each.ms for name, each in case.groups.items()}
        for second, event in case.happens:
            self.world.at(case.warm_up + second, partial(self._do, event))
            if isinstance(event, on.Create):
                self._groups[event.group].exists = False
            elif isinstance(event, on.Move):
                mover = self._groups[event.group]
                mover.blind = mover.uncommitted = set(mover.places_of(event.to))
            elif isinstance(event, on.Grow):
                topic, added = self._topics[event.topic], list(event.partitions)
                topic.there[added], topic.end[added] = False, 0.0
                for state in self.world.groups:
                    if topic in state.topics:
                        state.position = state.gather("end").copy()
                        state.committed = state.position.copy()

    def _do(self, event: Event) -> None:
        """Lets an event happen, and undoes it once it is over."""
        undo = self._change(event)
        lasts: float | None = getattr(event, "lasts", None)
        if undo is not None and lasts is not None:
            self._later(lasts, undo)

    def _change(self, event: Event) -> Callable[[], object] | None:
        """Changes what the event changes; returns what undoes it, or None for what cannot end."""
        groups = self._groups
        match event:
            case on.Slow(group):
                self._slow_down(event)
                return partial(self._slow_down, replace(event, ms=self.case.groups[group].ms))
            case on.Hang(group, members):
                return self._halt(group, self._names(group, members))
            case on.Freeze(group, members):
                names = self._names(group, members)
                self._vanish(group, names)
                return partial(self._add, group, names)
            case on.Kill(group, members):
                self._vanish(group, self._names(group, members))
            case on.Leave(group, members):
                names = self._names(group, members)
                self._remove(group, names)
                return partial(self._add, group, names)
            case on.Join(group, number):
                present = groups[group].speed
                free = (f"{group}-{each:02}" for each in count())
                names = [name for name in (next(free) for _ in range(99)) if name not in present]
                self._add(group, names[:number])
            case on.Deploy():
                self._deploy(event)
            case on.Flap(group, lasts=lasts):
                until = math.inf if lasts is None else self.world.now + lasts
                self._flap(event, self._names(group, None)[-event.members :], until)
            case on.Move(group, to):
                self._move(groups[group], to)
            case on.Poison(group, partition, then):
                self._poison(group, partition, then)
                return partial(groups[group].stuck.pop, partition, None)
            case on.Reset(group, seconds, partitions):
                self._reset(groups[group], seconds, partitions)
            case on.Skip(group):
                self._skip(groups[group])
            case on.Create(group):
                groups[group].exists = True
                self._skip(groups[group])
            case on.Delete(group):
                groups[group].exists = False
                self.world.gone.add(group)
            case _:
                return self._change_topic(event)
        return None

    def _change_topic(self, event: Event) -> Callable[[], object] | None:
        topics = self._topics
        match event:
            case on.Produce(topic, times, ramp):
                self._change_rates(topic, times, ramp)
                return partial(self._change_rates, topic, 1.0, ramp)
            case on.Grow(topic, partitions, seen):
                topics[topic].there[list(partitions)] = True
                for state in self._groups.values():
                    if state.topic is topics[topic] and not seen:
                        state.blind |= set(partitions)
            case on.Reassign(topic, rate):
                topics[topic].moved, topics[topic].limit = True, rate
            case on.Recreate(topic):
                topics[topic].recreate()
                # Clients ask for an offset that the new log does not have, and begin at its start.
                for state in self._groups.values():
                    state.position[state.places_of(topic)] = 0.0
            case on.Retain(topic, seconds):
                before = topics[topic].kept_seconds, topics[topic].retention_ms
                is_limited = math.isfinite(seconds)
                ms = round(seconds * 1_000) if is_limited else -1
                topics[topic].retain(seconds if is_limited else None, ms)
                return partial(topics[topic].retain, *before)
            case on.OpenTransaction(topic, partition):
                stable = topics[topic].stable
                stable[partition] = topics[topic].end[partition]
                return partial(stable.__setitem__, partition, np.inf)
            case on.MoveLeaders(topic, None):
                topics[topic].move_leaders()
            case on.MoveLeaders(topic, int() as broker):
                leaders = topics[topic].leaders
                led = leaders == broker
                leaders[led] = broker % BROKERS + 1
                return partial(leaders.__setitem__, led, broker)
            case on.LoseLeaders(topic, partitions):
                has_leader = topics[topic].has_leader
                has_leader[list(partitions)] = False
                return partial(has_leader.__setitem__, list(partitions), True)
            case on.OutOfSync(topic, in_sync, partitions):
                copied = topics[topic]
                chosen = list(range(copied.partitions) if partitions is None else partitions)
                copied.in_sync[chosen] = in_sync
                return partial(copied.in_sync.__setitem__, chosen, copied.copies)
            case _:
                return self._change_answers(event)
        return None

    def _change_answers(self, event: Event) -> Callable[[], object] | None:
        """Changes a broker, or what is answered."""
        world = self.world
        match event:
            case on.StopBroker(broker):
                return self._stop_broker(broker)
            case on.SlowBroker(broker, rate):
                return _put({broker: rate}, world.broker_limit)
            case on.Unread(reason, str() as group, None):
                return _put({group: reason}, world.unread_groups)
            case on.Unread(reason, str() as group, str() as topic):
                return _put({(group, topic): reason}, world.unread_commits)
            case on.Unread(reason, None, str() as topic, partitions):
                every = range(self._topics[topic].partitions)
                chosen = list(every if partitions is None else partitions)
                reasons = {(topic, number): reason for number in chosen}
                return _put(reasons, world.unread_partitions)
            case on.Hide(topic):
                return _put({topic: contract.DENIED}, world.hidden)
            case on.MissRuns(seconds):
                world.missed_until = world.now + seconds
        return None

    def _later(self, seconds: float, act: Callable[[], object]) -> None:
        self.world.at(self.world.now + seconds, act)

    def _names(self, group: str, members: Iterable[int] | None) -> list[str]:
        names = sorted(self._groups[group].speed)
        return names if members is None else [names[number] for number in members]

    def _change_rates(self, name: str, times: float | tuple[float, ...], ramp: float) -> None:
        topic = self._topics[name]
        since, before = self.world.now, topic.plan
        wanted = topic.usual * np.array(times)

        def plan(now: float) -> Floats:
            share = min((now - since + STEP) / ramp, 1.0) if ramp else 1.0
            old = topic.usual if before is None else before(now)
            changed: Floats = old + (wanted - old) * share
            return changed

        topic.plan = plan

    def _skip(self, state: GroupState) -> None:
        state.commit_epoch = None
        state.position = state.gather("end").copy()
        state.committed = np.floor(state.position)

    def _move(self, state: GroupState, to: str) -> None:
        read = state.places_of(to)
        state.position[read] = state.gather("end")[read]
        state.committed = np.floor(state.position)
        state.uncommitted, state.blind = set(), set(range(len(state.position))) - set(read)
        self._rebalance(state.name)

    def _slow_down(self, event: on.Slow) -> None:
        state, names = self._groups[event.group], self._names(event.group, event.members)
        ms = event.ms if isinstance(event.ms, tuple) else (event.ms,) * len(names)
        speeds = [1_000.0 / each for each in ms]
        if event.partitions is not None:
            state.slow |= dict.fromkeys(event.partitions, speeds[0])
            return
        state.speed |= dict(zip(names, speeds, strict=True))
        if event.members is None:
            first = event.ms[0] if isinstance(event.ms, tuple) else event.ms
            self._speed[event.group] = 1_000.0 / first

    def _halt(self, group: str, names: list[str]) -> Callable[[], None]:
        speed = self._groups[group].speed
        before = {name: speed[name] for name in names}
        speed |= dict.fromkeys(names, 0.0)

        def go_on() -> None:
            speed.update((name, rate) for name, rate in before.items() if name in speed)

        return go_on

    def _vanish(self, group: str, names: list[str]) -> None:
        self._halt(group, names)
        self._groups[group].vanished |= set(names)
        session = self.case.groups[group].session_seconds
        self._later(session, partial(self._remove_vanished, group, names))

    def _remove_vanished(self, group: str, names: Iterable[str]) -> None:
        gone = self._groups[group].vanished & set(names)
        if gone:
            self._remove(group, gone)

    def _remove(self, group: str, names: Iterable[str]) -> None:
        state = self._groups[group]
        for name in names:
            state.speed.pop(name, None)
            state.vanished.discard(name)
        self._rebalance(group)

    def _add(self, group: str, names: Iterable[str], speed: float | None = None) -> None:
        state = self._groups[group]
        # A rebalance waits for all members, so it removes the vanished ones.
        for name in state.vanished:
            state.speed.pop(name, None)
        state.vanished.clear()
        state.speed |= dict.fromkeys(names, self._speed[group] if speed is None else speed)
        self._rebalance(group)

    def _rebalance(self, group: str) -> None:
        state = self._groups[group]
        state.generation += 1
        state.epoch = None if state.epoch is None else state.epoch + 1
        seconds = self.case.groups[group].rebalance_seconds
        if not seconds:
            return
        state.rebalancing = True
        state.state = "PreparingRebalance" if state.epoch is None else "Reconciling"
        self._stable_at[group] = self.world.now + seconds

        def settle() -> None:
            if self.world.now >= self._stable_at[group]:
                state.rebalancing, state.state = False, "Stable"

        self._later(seconds, settle)

    def _deploy(self, event: on.Deploy) -> None:
        self._speed[event.group] = 1_000.0 / (event.ms or self.case.groups[event.group].ms)
        for place, name in enumerate(self._names(event.group, None)):
            self._later(place * event.every, partial(self._remove, event.group, [name]))
            new = f"{name.partition('.')[0]}.{next(self._restarts)}"
            returns = place * event.every + event.pause
            if event.protocol is not None:
                self._later(returns, partial(self._convert, event.group))
            self._later(returns, partial(self._add, event.group, [new]))

    def _convert(self, group: str) -> None:
        """Moves the group to the consumer protocol, whose coordinator counts its epochs."""
        self._groups[group].epoch = self._groups[group].epoch or 1

    def _flap(self, event: on.Flap, names: list[str], until: float) -> None:
        if self.world.now >= until:
            return
        if event.kill:
            self._vanish(event.group, names)
        else:
            self._remove(event.group, names)
        new = [f"{name.partition('.')[0]}.{next(self._restarts)}" for name in names]
        self._later(event.down, partial(self._add, event.group, new))
        self._later(event.down + event.up, partial(self._flap, event, new, until))

    def _poison(self, group: str, partition: int, then: str) -> None:
        state = self._groups[group]
        state.stuck[partition] = float(state.gather("end")[partition])
        owner = sorted(state.speed)[int(state.owners()[partition])]
        if then == "block":
            self._halt(group, [owner])
        elif then == "crash":
            self._crash(group, partition)

    def _crash(self, group: str, partition: int) -> None:
        """Ends the partition's owner; it returns, and whoever owns the partition then ends too."""
        state = self._groups[group]
        if state.speed:
            name = sorted(state.speed)[int(state.owners()[partition])]
            self._vanish(group, [name])
            new = f"{name.partition('.')[0]}.{next(self._restarts)}"
            self._later(_RESTART, partial(self._add, group, [new]))
        seconds = _RESTART + self.case.groups[group].rebalance_seconds + STEP
        self._later(seconds, partial(self._crash, group, partition))

    def _reset(
        self, state: GroupState, seconds: float | None, partitions: Iterable[int] | None
    ) -> None:
        chosen = list(range(len(state.position)) if partitions is None else partitions)
        back = np.inf if seconds is None else np.floor(seconds * state.gather("usual"))
        target = np.maximum(state.position - back, state.gather("start"))
        state.position[chosen] = target[chosen]
        state.committed = np.floor(state.position)

    def _stop_broker(self, broker: int) -> Callable[[], None]:
        """Stops a broker; returns what starts it, after which it leads again what it led."""
        led = {name: topic.leaders == broker for name, topic in self._topics.items()}
        self.world.down.add(broker)
        for name, topic in self._topics.items():
            if topic.copies == 1:
                topic.has_leader[led[name]] = False
            else:
                topic.leaders[led[name]] = broker % BROKERS + 1

        def start() -> None:
            self.world.down.discard(broker)
            for name, topic in self._topics.items():
                topic.has_leader[led[name]] = True
                topic.leaders[led[name]] = broker

        return start


def _put(values: Mapping[T, V], among: dict[T, V]) -> Callable[[], None]:
    """Adds values; returns what removes them."""
    among |= values

    def remove() -> None:
        for key in values:
            among.pop(key, None)

    return remove


def _make_topic(name: str, topic: Topic) -> TopicState:
    state = TopicState(
        name,
        np.array(topic.rates, float),
        topic.noise,
        first_leader=topic.brokers[0] - 1,
        copies=topic.copies,
        batch_seconds=topic.batch_seconds,
        markers=topic.markers,
    )
    if topic.wave_seconds is not None:
        seconds, usual = topic.wave_seconds, state.usual
        state.plan = lambda now: usual * (1.0 + WAVE_SHARE * math.sin(2 * math.pi * now / seconds))
    return state


def _make_group(name: str, group: Group, topics: Sequence[TopicState]) -> GroupState:
    return GroupState(
        name,
        topics[0],
        {f"{name}-{number:02}": 1_000.0 / group.ms for number in range(group.members)},
        commit_every=max(round(group.commit_seconds / STEP), 1),
        epoch=1 if group.protocol == "consumer" else None,
        workers_each=group.workers == "each",
        signs=group.signs,
        slow_line=group.slow_line,
        waits=round(group.delay_seconds / STEP),
        more_topics=tuple(topics[1:]),
    )
