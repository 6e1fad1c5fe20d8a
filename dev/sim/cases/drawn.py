# SPDX-License-Identifier: Apache-2.0
"""Cases whose sizes are drawn by a seed: small and large clusters with a trouble or with none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from dev.sim.events import (
    MINUTE,
    Case,
    Deploy,
    Event,
    Flap,
    Group,
    Hang,
    Join,
    Leave,
    LoseLeaders,
    MoveLeaders,
    OpenTransaction,
    OutOfSync,
    Poison,
    Produce,
    Recreate,
    Reset,
    Retain,
    Slow,
    SlowBroker,
    Topic,
)
from dev.sim.reading import Floats

_WARM_UP, _LONGEST = 30, 130
_STEP = 10.0
Size = Literal["small", "large"]
SIZES: tuple[Size, ...] = ("small", "large")
Happens = tuple[tuple[float, Event], ...]


@dataclass(slots=True)
class Draw:
    """The topics and groups of one case, drawn one after another by its own generator."""

    rng: np.random.Generator
    size: Size
    topics: dict[str, Topic] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    happens: Happens = ()
    minutes: int = _LONGEST

    def between(self, low: float, high: float) -> float:
        """Draws a factor; its logarithm is uniform."""
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))

    def number(self, low: int, high: int) -> int:
        """Draws a whole number, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def coin(self) -> bool:
        """Draws yes or no."""
        return bool(self.rng.integers(2))

    def topic(self, least: int = 1, most: int | None = None) -> str:
        """Adds a topic whose partitions are written evenly, but for a few percent."""
        small = self.size == "small"
        limit = most or (6 if small else 24)
        count = self.number(max(least, 2 if small else 6), max(limit, least))
        rate = self.between(3, 40) if small else self.between(40, 2_000)
        rates = rate * (1.0 + self.rng.uniform(-0.05, 0.05, count))
        noise, leader = float(self.rng.uniform(0.0, 0.15)), self.number(0, 2)
        brokers = tuple((leader + more) % 3 + 1 for more in range(3))
        name = f"topic-{len(self.topics)}"
        self.topics[name] = Topic(tuple(rates.tolist()), noise, brokers=brokers)
        return name

    def group(
        self,
        topic: str,
        members: int | None = None,
        spare: float | None = None,
        commit_every: int | None = None,
    ) -> str:
        """Adds a group that keeps up: its members read `spare` times what the busiest one needs."""
        rates = self.rates(topic)
        members = members or self.number(1, len(rates))
        needed = float(rates.max()) * -(-len(rates) // members)
        speed = needed * (spare or self.between(1.3, 3.0))
        name = f"group-{len(self.groups)}"
        commit_seconds = _STEP * (commit_every or self.number(1, 3))
        is_new = self.number(1, 3) == 1
        if is_new:
            # An epoch, which decides nothing; it keeps what is drawn after it.
            self.number(1, 9)
        self.groups[name] = Group(
            topic,
            members,
            1_000.0 / speed,
            commit_seconds,
            protocol="consumer" if is_new else "classic",
            rebalance_seconds=0.0,
        )
        return name

    def bystanders(self) -> None:
        """Adds healthy groups: on another topic, and perhaps beside the first one on its topic."""
        if self.coin():
            self.group("topic-0")
        self.bystander_elsewhere()

    def bystander_elsewhere(self) -> None:
        """Adds a healthy group on another topic, which may commit rarely."""
        self.group(self.topic(), commit_every=self.number(1, 18))

    def rates(self, topic: str) -> Floats:
        """Returns records/s of each partition."""
        return np.array(self.topics[topic].rates)

    def count(self, topic: str) -> int:
        """Returns the number of partitions."""
        return len(self.topics[topic].rates)

    def speed(self, group: str) -> float:
        """Returns records/s of each member."""
        return 1_000.0 / self.groups[group].ms

    def load(self, group: str, member: int) -> float:
        """Returns records/s that are written to what a member owns."""
        each = self.groups[group]
        return float(self.rates(each.topic)[member :: each.members].sum())

    def adapt(self, group: str, **changes: float | bool) -> None:
        """Changes fields of a group."""
        self.groups[group] = replace(self.groups[group], **changes)  # type: ignore[arg-type]

    def at_once(self, *events: Event) -> None:
        """Lets these events happen as the warm-up is over."""
        self.happens = tuple((0.0, event) for event in events)


def more_produced(draw: Draw) -> None:
    topic = draw.topic()
    spare = draw.between(1.3, 2.5)
    draw.group(topic, spare=spare)
    draw.bystander_elsewhere()
    times = spare * draw.between(1.15, 3.0)
    draw.at_once(Produce(topic, times, ramp=MINUTE * draw.number(1, 25)))


def capacity_fell(draw: Draw) -> None:
    """The member with the least to do is too slow as well."""
    topic = draw.topic()
    spare = draw.between(1.2, 2.5)
    group = draw.group(topic, spare=spare)
    draw.bystanders()
    part = draw.between(0.2, 0.8)
    members = range(draw.groups[group].members)
    loads = [draw.load(group, member) for member in members]
    draw.at_once(Slow(group, tuple(1_000.0 / (part * load) if load else 1e9 for load in loads)))


def too_few_members(draw: Draw) -> None:
    topic = draw.topic(least=2)
    group = draw.group(topic, draw.number(2, draw.count(topic)), spare=1.1)
    draw.bystanders()
    enough = 0.85 * float(draw.rates(topic).sum()) / draw.speed(group)
    members = draw.groups[group].members
    left = draw.number(1, max(1, min(int(enough), members - 1)))
    draw.at_once(Leave(group, tuple(range(left, members))))


def hot_partition(draw: Draw) -> None:
    """Keys go to one partition; it gets more than its member can read, others do not."""
    topic = draw.topic(least=3)
    group = draw.group(topic, spare=draw.between(1.3, 2.0))
    draw.bystander_elsewhere()
    hot = draw.number(0, draw.count(topic) - 1)
    before = draw.rates(topic)
    rate = draw.speed(group) * draw.between(1.2, 2.5)
    rates = before.copy()
    rates[hot] = rate
    if draw.coin():
        rest = max(float(before.sum()) - rate, 0.3 * float(before.sum()))
        others = np.arange(len(rates)) != hot
        rates[others] *= rest / float(rates[others].sum())
    draw.at_once(Produce(topic, tuple((rates / before).tolist())))


def slow_partition(draw: Draw) -> None:
    """Records of one partition take longer; its member reads the others as before."""
    topic = draw.topic(least=4)
    group = draw.group(topic, draw.number(1, draw.count(topic) // 2))
    draw.bystander_elsewhere()
    slow = draw.number(0, draw.count(topic) - 1)
    rate = float(draw.rates(topic)[slow]) * draw.between(0.2, 0.8)
    draw.at_once(Slow(group, 1_000.0 / rate, partitions=(slow,)))


def slow_member(draw: Draw) -> None:
    topic = draw.topic(least=4)
    group = draw.group(topic, draw.number(2, draw.count(topic)))
    draw.bystanders()
    member = int(draw.rng.choice(draw.groups[group].members))
    part = draw.between(0.1, 0.75)
    draw.at_once(Slow(group, 1_000.0 / (part * draw.load(group, member)), (member,)))


def hung_member(draw: Draw) -> None:
    topic = draw.topic(least=4)
    group = draw.group(topic, draw.number(2, draw.count(topic)))
    draw.bystanders()
    draw.at_once(Hang(group, (int(draw.rng.choice(draw.groups[group].members)),)))


def stuck_record(draw: Draw) -> None:
    topic = draw.topic(least=3)
    group = draw.group(topic, draw.number(1, draw.count(topic)))
    draw.bystanders()
    draw.at_once(Poison(group, draw.number(0, draw.count(topic) - 1)))


def stopped(draw: Draw) -> None:
    group = draw.group(draw.topic())
    draw.bystanders()
    draw.at_once(Leave(group))
    if draw.coin():
        draw.happens += ((25 * MINUTE, Join(group, draw.groups[group].members)),)


def rebalances(draw: Draw) -> None:
    """Members come and go in each minute; what is left of it is too little to keep up."""
    topic = draw.topic(least=2)
    members = draw.number(2, draw.count(topic))
    group = draw.group(topic, members, spare=draw.between(1.1, 1.3))
    draw.bystanders()
    pause = _STEP * draw.number(3, 5)
    # Where a run may see the group rebalance, its members come and go out of step with the runs.
    up = 80.0 if draw.coin() else 50.0
    draw.adapt(group, rebalance_seconds=pause - _STEP)
    draw.at_once(Flap(group, up=up, down=_STEP))


def broker(draw: Draw) -> None:
    """One broker lets through less than is written to the partitions it leads."""
    for _ in range(draw.number(2, 4)):
        topic = draw.topic(least=6, most=12)
        group = draw.group(topic, draw.number(2, draw.count(topic)))
        draw.adapt(group, slow_line=True)
    number = draw.number(1, 3)
    slowest = min(min(topic.rates) for topic in draw.topics.values())
    draw.at_once(SlowBroker(number, slowest * draw.between(0.1, 0.7)))


def unavailable(draw: Draw) -> None:
    topic = draw.topic(least=3)
    draw.group(topic)
    draw.group(draw.topic())
    count = draw.count(topic)
    lost = draw.rng.choice(count, draw.number(1, count - 1), replace=False)
    draw.at_once(LoseLeaders(topic, tuple(lost.tolist())))
    draw.minutes = 90


def under_replicated(draw: Draw) -> None:
    """The followers of some partitions are out of step, and these are read slowly."""
    topic = draw.topic(least=4)
    group = draw.group(topic, draw.number(2, draw.count(topic)))
    draw.group(draw.topic())
    count = draw.count(topic)
    ill = draw.rng.choice(count, draw.number(1, count - 2), replace=False).tolist()
    part = draw.between(0.2, 0.8)
    rates = draw.rates(topic)
    slow = [Slow(group, 1_000.0 / (part * rates[each]), partitions=(each,)) for each in ill]
    draw.at_once(OutOfSync(topic, draw.number(1, 2), tuple(ill)), *slow)


def retention_race(draw: Draw) -> None:
    """Retention becomes so short that it deletes what the next commit would have covered."""
    topic = draw.topic()
    every = draw.number(18, 40)
    draw.group(topic, commit_every=every)
    draw.group(draw.topic())
    draw.at_once(Retain(topic, 10 * every * draw.between(0.15, 0.6)))


def reset(draw: Draw) -> None:
    topic = draw.topic()
    group = draw.group(topic, spare=draw.between(1.3, 3.0))
    draw.bystanders()
    part = draw.between(0.3, 1.0)
    chosen = None if draw.coin() else (0,)
    written = _WARM_UP * MINUTE + 1_000.0 / float(draw.rates(topic).mean())
    draw.at_once(Reset(group, part * written, chosen))


def recreated(draw: Draw) -> None:
    """The topic is deleted and created again; the group stays beyond its end."""
    topic = draw.topic()
    draw.group(topic)
    draw.group(draw.topic())
    draw.topics[topic] = replace(draw.topics[topic], first_offset=10_001_000)
    draw.at_once(Recreate(topic))


def two_in_one(draw: Draw) -> None:
    """More is written, and the consumers are slower: either cause is right."""
    topic = draw.topic()
    group = draw.group(topic, spare=1.3)
    draw.bystander_elsewhere()
    times, part = draw.between(1.4, 2.5), draw.between(0.3, 0.6)
    draw.at_once(Produce(topic, times), Slow(group, draw.groups[group].ms / part))


def two_groups(draw: Draw) -> None:
    """Two groups that have nothing to do with each other have a trouble each."""
    first, second = (draw.group(draw.topic(least=4), draw.number(2, 4)) for _ in range(2))
    member = draw.number(0, draw.groups[first].members - 1)
    number = draw.number(0, draw.count("topic-1") - 1)
    slow = Slow(first, 1_000.0 / (0.4 * draw.load(first, member)), (member,))
    draw.at_once(slow, Poison(second, number))


def two_stops(draw: Draw) -> None:
    """One group stops while much more is written to another's topic."""
    first = draw.group(draw.topic())
    draw.group(draw.topic(), spare=1.5)
    draw.at_once(Leave(first), Produce("topic-1", 2.5))


def open_transaction(draw: Draw) -> None:
    topic = draw.topic()
    draw.group(topic)
    draw.group(draw.topic())
    draw.at_once(OpenTransaction(topic, draw.number(0, draw.count(topic) - 1)))
    draw.minutes = 70


# No group suffers from what follows.


def deploy(draw: Draw) -> None:
    """Members are replaced one by one, with a rebalance each."""
    topic = draw.topic(least=2)
    group = draw.group(topic, draw.number(2, draw.count(topic)), spare=2.5)
    draw.bystanders()
    draw.adapt(group, rebalance_seconds=_STEP)
    draw.at_once(Deploy(group, pause=_STEP, every=MINUTE))


def daily_curve(draw: Draw) -> None:
    """The rate rises to three times as much and falls again, in two hours instead of a day."""
    topic = draw.topic()
    draw.group(topic, spare=3.2)
    draw.bystander_elsewhere()
    rates = tuple((2.0 * draw.rates(topic)).tolist())
    draw.topics[topic] = replace(
        draw.topics[topic], rates=rates, wave_seconds=_LONGEST * MINUTE, wave_share=0.5
    )


def batch_job(draw: Draw) -> None:
    """A group commits every few minutes."""
    draw.group(draw.topic(), commit_every=draw.number(18, 54))
    draw.bystanders()


def short_burst(draw: Draw) -> None:
    """Much more is written for some minutes, and worked off at once."""
    topic = draw.topic()
    draw.group(topic, spare=2.5)
    draw.bystander_elsewhere()
    lasts, times = MINUTE * draw.number(2, 5), draw.between(2.0, 4.0)
    draw.at_once(Produce(topic, times, lasts=lasts))


def fewer_members(draw: Draw) -> None:
    """Members leave, and those that stay suffice."""
    topic = draw.topic(least=2)
    group = draw.group(topic, draw.count(topic), spare=4.0)
    draw.bystanders()
    members = draw.groups[group].members
    draw.at_once(Leave(group, tuple(range(-(-members // 2), members))))


def leaders_move(draw: Draw) -> None:
    """Leaders go from broker to broker, as in a rolling restart."""
    topic = draw.topic()
    draw.group(topic)
    draw.bystanders()
    times = range(0, _LONGEST - _WARM_UP, 5)
    moves: Happens = tuple((minute * MINUTE, MoveLeaders(topic)) for minute in times)
    draw.happens = ((0.0, OutOfSync(topic, 2, lasts=15 * MINUTE)), *moves)


def short_stop(draw: Draw) -> None:
    """Nobody reads for some minutes."""
    group = draw.group(draw.topic(), spare=2.5)
    draw.bystanders()
    lasts = MINUTE * draw.number(2, 6)
    draw.happens = ((0.0, Leave(group)), (lasts, Join(group, draw.groups[group].members)))


_KINDS: tuple[Callable[[Draw], None], ...] = (
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
    deploy,
    daily_curve,
    batch_job,
    short_burst,
    fewer_members,
    leaders_move,
    short_stop,
    open_transaction,
)
# Rules were made beside the first seed, with four cases of each kind and size. The second was set
# aside, with two.
SEED, SET_ASIDE = 20_260, 77_431
_EACH = {SEED: 4}


def draw_cases(seed: int) -> list[Case]:
    """Returns cases of all kinds in two sizes; the same seed draws the same."""
    return [
        _draw_case(make, size, (seed, kind, place, number))
        for kind, make in enumerate(_KINDS)
        for place, size in enumerate(SIZES)
        for number in range(_EACH.get(seed, 2))
    ]


def _draw_case(make: Callable[[Draw], None], size: Size, seed: tuple[int, ...]) -> Case:
    draw = Draw(np.random.default_rng(seed), size)
    make(draw)
    return Case(
        f"{make.__name__}-{size}-{seed[-1] + 1}",
        draw.topics,
        draw.groups,
        draw.happens,
        warm_up=_WARM_UP * MINUTE,
        watched=(draw.minutes - _WARM_UP) * MINUTE,
        seed=(*seed, 1),
    )
