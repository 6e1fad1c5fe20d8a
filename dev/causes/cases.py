# SPDX-License-Identifier: Apache-2.0
"""Planted cases: what is done to a cluster, and which cause that makes right for each group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from dev.causes.cluster import Cluster, Group, Topic
from kafka_lag import contract

# Everything is well until then, in minutes; and how long a case lasts at the most.
BEGIN = 30
LONGEST = 130

Step = Callable[[int], None]
Change = Callable[[Cluster, int], Step | None]

SMALL, LARGE = "small", "large"
SIZES = (SMALL, LARGE)


@dataclass(slots=True)
class Case:
    """`right` are the causes that may be named, by group; of a group that is not in it none is."""

    name: str
    cluster: Cluster
    change: Change
    right: Mapping[str, frozenset[str]]
    begin: int = BEGIN
    minutes: int = LONGEST


@dataclass(slots=True)
class Draw:
    """What a case is made of, drawn by a seed: each case has a generator of its own."""

    rng: np.random.Generator
    size: str
    topics: list[Topic] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    def between(self, low: float, high: float) -> float:
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def coin(self) -> bool:
        return bool(self.rng.integers(2))

    def topic(self, least: int = 1, most: int | None = None) -> Topic:
        """A topic whose partitions are written to alike, but for a few percent."""
        limit = most or (6 if self.size == SMALL else 24)
        count = self.number(max(least, 2 if self.size == SMALL else 6), max(limit, least))
        rate = self.between(3, 40) if self.size == SMALL else self.between(40, 2_000)
        rates = rate * (1.0 + self.rng.uniform(-0.05, 0.05, count))
        name = f"topic-{len(self.topics)}"
        topic = Topic(name, rates, self.rng.uniform(0.0, 0.15), self.number(0, 2))
        self.topics.append(topic)
        return topic

    def group(
        self,
        topic: Topic,
        members: int | None = None,
        spare: float | None = None,
        commit_every: int | None = None,
    ) -> Group:
        """A group that keeps up, with so many times the speed that its busiest member needs."""
        members = members or self.number(1, topic.partitions)
        needed = float(topic.rates.max()) * -(-topic.partitions // members)
        speed = needed * (spare or self.between(1.3, 3.0))
        number = len(self.groups)
        group = Group(
            f"group-{number}",
            topic,
            {f"member-{number}-{each}": speed for each in range(members)},
            commit_every=commit_every or self.number(1, 3),
            epoch=self.number(1, 9) if self.number(1, 3) == 1 else None,
        )
        self.groups.append(group)
        return group

    def bystanders(self) -> None:
        """Groups that are well all the time: beside the first on its topic, and on another."""
        if self.coin():
            self.group(self.topics[0])
        self.bystanders_elsewhere()

    def bystanders_elsewhere(self) -> None:
        """A group on another topic, which is well all the time."""
        self.group(self.topic(), commit_every=self.number(1, 18))

    def case(
        self, name: str, change: Change, right: Mapping[str, set[str]], minutes: int = LONGEST
    ) -> Case:
        cluster = Cluster(self.topics, self.groups, self.rng)
        accepted = {group: frozenset(causes) for group, causes in right.items()}
        return Case(name, cluster, change, accepted, minutes=minutes)


def at_begin(act: Callable[[], None]) -> Change:
    """Once, in the minute in which it begins."""

    def change(_: Cluster, minute: int) -> None:
        if minute == BEGIN:
            act()

    return change


def more_produced(draw: Draw) -> Case:
    topic = draw.topic()
    spare = draw.between(1.3, 2.5)
    group = draw.group(topic, spare=spare)
    draw.bystanders_elsewhere()
    times, rates = spare * draw.between(1.15, 3.0), topic.rates.copy()
    ramp = draw.number(1, 25)

    def change(_: Cluster, minute: int) -> None:
        share = min(max(minute - BEGIN + 1, 0) / ramp, 1.0)
        topic.rates = rates * (1.0 + (times - 1.0) * share)

    return draw.case("more_produced", change, {group.name: {contract.MORE_PRODUCED}})


def capacity_fell(draw: Draw) -> Case:
    topic = draw.topic()
    spare = draw.between(1.2, 2.5)
    group = draw.group(topic, spare=spare)
    draw.bystanders()
    part = draw.between(0.2, 0.8) / spare

    def slow_down() -> None:
        # Whichever member has least to do must be too slow as well.
        for member in group.speed:
            group.speed[member] = part * _load(group, member) * spare

    return draw.case("capacity_fell", at_begin(slow_down), {group.name: {contract.CAPACITY_FELL}})


def _load(group: Group, member: str) -> float:
    own = [owner == member for owner in group.owners()]
    return float(group.topic.rates[np.array(own, bool)].sum())


def too_few_members(draw: Draw) -> Case:
    topic = draw.topic(least=2)
    group = draw.group(topic, draw.number(2, topic.partitions), spare=1.1)
    draw.bystanders()
    speed = next(iter(group.speed.values()))
    enough = 0.85 * float(topic.rates.sum()) / speed
    left = draw.number(1, max(1, min(int(enough), len(group.speed) - 1)))

    def leave() -> None:
        for member in sorted(group.speed)[left:]:
            del group.speed[member]
        group.generation += 1
        group.epoch = None if group.epoch is None else group.epoch + 1

    return draw.case("too_few_members", at_begin(leave), {group.name: {contract.TOO_FEW_MEMBERS}})


def hot_partition(draw: Draw) -> Case:
    """Keys that go to one partition; it gets more than its member can read, others do not."""
    topic = draw.topic(least=3)
    group = draw.group(topic, spare=draw.between(1.3, 2.0))
    draw.bystanders_elsewhere()
    hot = draw.number(0, topic.partitions - 1)
    owner = group.owners()[hot] or ""
    rate = group.speed[owner] * draw.between(1.2, 2.5)
    rates = topic.rates.copy()
    keeps_total = draw.coin()

    def skew() -> None:
        topic.rates = rates.copy()
        topic.rates[hot] = rate
        if keeps_total:
            rest = max(float(rates.sum()) - rate, 0.3 * float(rates.sum()))
            others = np.arange(topic.partitions) != hot
            topic.rates[others] *= rest / float(topic.rates[others].sum())

    return draw.case("hot_partition", at_begin(skew), {group.name: {contract.HOT_PARTITION}})


def slow_partition(draw: Draw) -> Case:
    """Records of one partition that take longer each; its member reads the others as before."""
    topic = draw.topic(least=4)
    members = draw.number(1, topic.partitions // 2)
    group = draw.group(topic, members)
    draw.bystanders_elsewhere()
    slow = draw.number(0, topic.partitions - 1)
    rate = float(topic.rates[slow]) * draw.between(0.2, 0.8)

    def slow_down() -> None:
        group.slow[slow] = rate

    return draw.case("slow_partition", at_begin(slow_down), {group.name: {contract.HOT_PARTITION}})


def slow_member(draw: Draw) -> Case:
    topic = draw.topic(least=4)
    group = draw.group(topic, draw.number(2, topic.partitions))
    draw.bystanders()
    member = str(draw.rng.choice(sorted(group.speed)))
    part = draw.between(0.1, 0.75)

    def slow_down() -> None:
        group.speed[member] = part * _load(group, member)

    return draw.case("slow_member", at_begin(slow_down), {group.name: {contract.SLOW_MEMBER}})


def hung_member(draw: Draw) -> Case:
    """A member that stays in its group and reads nothing; of one partition it may be a record."""
    topic = draw.topic(least=4)
    group = draw.group(topic, draw.number(2, topic.partitions))
    draw.bystanders()
    member = str(draw.rng.choice(sorted(group.speed)))
    right = {contract.SLOW_MEMBER}
    if group.owners().count(member) == 1:
        right.add(contract.STUCK_RECORD)

    def hang() -> None:
        group.speed[member] = 0.0

    return draw.case("hung_member", at_begin(hang), {group.name: right})


def stuck_record(draw: Draw) -> Case:
    topic = draw.topic(least=3)
    group = draw.group(topic, draw.number(1, topic.partitions))
    draw.bystanders()
    number = draw.number(0, topic.partitions - 1)

    def fail() -> None:
        group.stuck[number] = float(topic.end[number])

    return draw.case("stuck_record", at_begin(fail), {group.name: {contract.STUCK_RECORD}})


def stopped(draw: Draw) -> Case:
    group = draw.group(draw.topic())
    draw.bystanders()
    comes_back = draw.coin()
    speed = dict(group.speed)

    def change(_: Cluster, minute: int) -> None:
        if minute == BEGIN:
            group.speed = {}
        if comes_back and minute == BEGIN + 25:
            group.speed = speed

    return draw.case("stopped", change, {group.name: {contract.STOPPED}})


def rebalances(draw: Draw) -> Case:
    """Members that come and go in each minute; what is left of it is too little to keep up."""
    topic = draw.topic(least=2)
    group = draw.group(topic, draw.number(2, topic.partitions), spare=draw.between(1.1, 1.3))
    draw.bystanders()
    pauses = draw.number(3, 5)
    # Each time under another name, as clients do that are started anew.
    flapping = sorted(group.speed)[-1]
    shown = draw.coin()

    def change(_: Cluster, minute: int) -> Step | None:
        if minute < BEGIN:
            return None
        group.generation += 1
        if group.epoch is not None:
            group.epoch += draw.number(1, 3)
        name = sorted(group.speed)[-1]
        group.speed[f"{flapping}-{minute}"] = group.speed.pop(name)
        is_waiting = shown and minute % 2 == 0
        group.state = "PreparingRebalance" if is_waiting else "Stable"

        def step(number: int) -> None:
            group.rebalancing = number < pauses

        return step

    return draw.case("rebalances", change, {group.name: {contract.REBALANCES}})


def broker(draw: Draw) -> Case:
    """One broker lets through less than is written to the partitions it leads."""
    groups = []
    for _ in range(draw.number(2, 4)):
        topic = draw.topic(least=6, most=12)
        groups.append(draw.group(topic, draw.number(2, topic.partitions)))
    number = draw.number(1, 3)
    slowest = min(float(topic.rates.min()) for topic in draw.topics)
    limit = slowest * draw.between(0.1, 0.7)

    def slow_down() -> None:
        cluster.broker_limit[number] = limit

    case = draw.case(
        "broker", at_begin(slow_down), {group.name: {contract.SLOW_BROKER} for group in groups}
    )
    cluster = case.cluster
    return case


def unavailable(draw: Draw) -> Case:
    topic = draw.topic(least=3)
    group = draw.group(topic)
    draw.topic()
    draw.group(draw.topics[1])
    lost = draw.rng.choice(topic.partitions, draw.number(1, topic.partitions - 1), replace=False)

    def lose() -> None:
        topic.has_leader[lost] = False

    return draw.case(
        "unavailable", at_begin(lose), {group.name: {contract.UNAVAILABLE}}, minutes=90
    )


def under_replicated(draw: Draw) -> Case:
    """Partitions whose followers are out of step, and that are read slowly."""
    topic = draw.topic(least=4)
    group = draw.group(topic, draw.number(2, topic.partitions))
    draw.topic()
    draw.group(draw.topics[1])
    number = draw.number(1, topic.partitions - 2)
    ill = draw.rng.choice(topic.partitions, number, replace=False)
    part = draw.between(0.2, 0.8)

    def slow_down() -> None:
        topic.in_sync[ill] = draw.number(1, 2)
        for each in ill:
            group.slow[int(each)] = part * float(topic.rates[each])

    return draw.case("under_replicated", at_begin(slow_down), {group.name: {contract.UNAVAILABLE}})


def retention_race(draw: Draw) -> Case:
    """Retention is set so short that it deletes what the next commit would have covered."""
    topic = draw.topic()
    every = draw.number(18, 40)
    group = draw.group(topic, commit_every=every)
    draw.topic()
    draw.group(draw.topics[1])

    def shorten() -> None:
        topic.kept_seconds = 10 * every * draw.between(0.15, 0.6)
        topic.retention_ms = int(topic.kept_seconds * 1_000)

    return draw.case("retention_race", at_begin(shorten), {group.name: {contract.RETENTION_RACE}})


def reset(draw: Draw) -> Case:
    """Offsets set back by somebody."""
    topic = draw.topic()
    group = draw.group(topic, spare=draw.between(1.3, 3.0))
    draw.bystanders()
    part = draw.between(0.3, 1.0)
    every = draw.coin()

    def set_back() -> None:
        back = np.floor(part * (topic.end - topic.start))
        if not every:
            back[1:] = 0
        group.position = np.maximum(group.position - back, topic.start)
        group.committed = np.floor(group.position)

    return draw.case("reset", at_begin(set_back), {group.name: {contract.OFFSETS_RESET}})


def recreated(draw: Draw) -> Case:
    """A topic that is deleted and made anew; the group stays where it was, beyond its end."""
    topic = draw.topic()
    group = draw.group(topic)
    draw.topic()
    draw.group(draw.topics[1])
    topic.end += 1e7
    group.position += 1e7
    group.committed += 1e7

    return draw.case("recreated", at_begin(topic.recreate), {group.name: {contract.OFFSETS_RESET}})


def two_in_one(draw: Draw) -> Case:
    """More is written, and its consumers are slower: either is right."""
    topic = draw.topic()
    group = draw.group(topic, spare=1.3)
    draw.bystanders_elsewhere()
    times, part = draw.between(1.4, 2.5), draw.between(0.3, 0.6)
    rates, speed = topic.rates.copy(), dict(group.speed)

    def both() -> None:
        topic.rates = rates * times
        group.speed = {member: each * part for member, each in speed.items()}

    right = {contract.MORE_PRODUCED, contract.CAPACITY_FELL}
    return draw.case("two_in_one", at_begin(both), {group.name: right})


def two_groups(draw: Draw) -> Case:
    """Two groups with a trouble each, which have nothing to do with each other."""
    first, second = (draw.group(draw.topic(least=4), draw.number(2, 4)) for _ in range(2))
    member = sorted(first.speed)[draw.number(0, len(first.speed) - 1)]
    number = draw.number(0, second.topic.partitions - 1)

    def both() -> None:
        first.speed[member] = 0.4 * _load(first, member)
        second.stuck[number] = float(second.topic.end[number])

    right = {first.name: {contract.SLOW_MEMBER}, second.name: {contract.STUCK_RECORD}}
    return draw.case("two_groups", at_begin(both), right)


def two_stops(draw: Draw) -> Case:
    """One group stops while much more is written to another's topic."""
    first, second = draw.group(draw.topic()), draw.group(draw.topic(), spare=1.5)
    rates = second.topic.rates.copy()

    def both() -> None:
        first.speed = {}
        second.topic.rates = rates * 2.5

    right = {first.name: {contract.STOPPED}, second.name: {contract.MORE_PRODUCED}}
    return draw.case("two_stops", at_begin(both), right)


def open_transaction(draw: Draw) -> Case:
    """A transaction that nobody ends; a reader of committed records gets no further."""
    topic = draw.topic()
    group = draw.group(topic)
    draw.topic()
    draw.group(draw.topics[1])
    number = draw.number(0, topic.partitions - 1)

    def begin() -> None:
        topic.stable[number] = float(topic.end[number])

    right: dict[str, set[str]] = {group.name: {contract.OPEN_TRANSACTION}}
    return draw.case("open_transaction", at_begin(begin), right, minutes=70)


# Nothing of these is a trouble.


def deploy(draw: Draw) -> Case:
    """Members that are replaced one by one, a rebalance each."""
    topic = draw.topic(least=2)
    group = draw.group(topic, draw.number(2, topic.partitions), spare=2.5)
    draw.bystanders()

    def change(_: Cluster, minute: int) -> Step | None:
        group.state = "Stable"
        number = minute - BEGIN
        if not 0 <= number < len(group.speed):
            group.rebalancing = False
            return None
        name = sorted(group.speed)[0]
        group.speed[f"new-{number:02}"] = group.speed.pop(name)
        group.generation += 1
        group.epoch = None if group.epoch is None else group.epoch + 1

        def step(at: int) -> None:
            group.rebalancing = at <= 1

        return step

    return draw.case("deploy", change, {})


def daily_curve(draw: Draw) -> Case:
    """What is written rises to three times as much and falls again, in hours instead of a day."""
    topic = draw.topic()
    draw.group(topic, spare=3.2)
    draw.bystanders_elsewhere()
    rates = topic.rates.copy()

    def change(_: Cluster, minute: int) -> None:
        topic.rates = rates * (2.0 - np.cos(2 * np.pi * minute / LONGEST))

    return draw.case("daily_curve", change, {})


def batch_job(draw: Draw) -> Case:
    """A group that commits every few minutes."""
    draw.group(draw.topic(), commit_every=draw.number(18, 54))
    draw.bystanders()
    return draw.case("batch_job", lambda *_: None, {})


def short_burst(draw: Draw) -> Case:
    """Much more is written for some minutes, and worked off at once."""
    topic = draw.topic()
    draw.group(topic, spare=2.5)
    draw.bystanders_elsewhere()
    rates = topic.rates.copy()
    lasts, times = draw.number(2, 5), draw.between(2.0, 4.0)

    def change(_: Cluster, minute: int) -> None:
        topic.rates = rates * (times if BEGIN <= minute < BEGIN + lasts else 1.0)

    return draw.case("short_burst", change, {})


def fewer_members(draw: Draw) -> Case:
    """Members that are taken away where those that are left suffice."""
    topic = draw.topic(least=2)
    group = draw.group(topic, topic.partitions, spare=4.0)
    draw.bystanders()

    def leave() -> None:
        for member in sorted(group.speed)[-(-len(group.speed) // 2) :]:
            del group.speed[member]
        group.generation += 1

    return draw.case("fewer_members", at_begin(leave), {})


def leaders_move(draw: Draw) -> Case:
    """Leaders go from broker to broker, as in a rolling restart."""
    topic = draw.topic()
    draw.group(topic)
    draw.bystanders()

    def change(_: Cluster, minute: int) -> None:
        if minute >= BEGIN and minute % 5 == 0:
            topic.first_leader += 1
        topic.in_sync[:] = 2 if BEGIN <= minute < BEGIN + 15 else 3

    return draw.case("leaders_move", change, {})


def short_stop(draw: Draw) -> Case:
    """Nobody reads for some minutes."""
    group = draw.group(draw.topic(), spare=2.5)
    draw.bystanders()
    speed, lasts = dict(group.speed), draw.number(2, 6)

    def change(_: Cluster, minute: int) -> None:
        group.speed = {} if BEGIN <= minute < BEGIN + lasts else speed

    return draw.case("short_stop", change, {})


TROUBLES: tuple[Callable[[Draw], Case], ...] = (
    more_produced,
    capacity_fell,
    too_few_members,
    hot_partition,
    slow_partition,
    slow_member,
    hung_member,
    stuck_record,
    stopped,
    rebalances,
    broker,
    unavailable,
    under_replicated,
    retention_race,
    reset,
    recreated,
    two_in_one,
    two_groups,
    two_stops,
)
HEALTHY: tuple[Callable[[Draw], Case], ...] = (
    deploy,
    daily_curve,
    batch_job,
    short_burst,
    fewer_members,
    leaders_move,
    short_stop,
)
# Kinds that were added later, so that the others are drawn as before.
LATER: tuple[Callable[[Draw], Case], ...] = (open_transaction,)
# Of each kind of case four a size are looked at while rules are made, two are set aside.
SEEN, SET_ASIDE = 4, 2
_SEEN_SEED, _SET_ASIDE_SEED = 20_260, 77_431


def list_cases(*, set_aside: bool = False) -> Iterator[tuple[str, Callable[[], Case]]]:
    """The kind of each case and what makes it, the same each time."""
    seed, times = (_SET_ASIDE_SEED, SET_ASIDE) if set_aside else (_SEEN_SEED, SEEN)
    for kind, make in enumerate((*TROUBLES, *HEALTHY, *LATER)):
        for number, size in enumerate(SIZES):
            for each in range(times):
                rng = np.random.default_rng([seed, kind, number, each])
                yield make.__name__, partial(_make, make, rng, size, each)


def _make(make: Callable[[Draw], Case], rng: np.random.Generator, size: str, number: int) -> Case:
    case = make(Draw(rng, size))
    case.name = f"{case.name}-{size}-{number + 1}"
    return case
