# SPDX-License-Identifier: Apache-2.0
"""Cases as data: topics, groups, and what happens to them, in memory and on real brokers alike.

**Time.** All times are seconds of the simulated world, in which the collector runs once a minute.
On real brokers the world runs `SHORTENED` times as fast: a minute takes two seconds. A case begins
with a warm-up in which nothing happens. `happens` is a tuple of (seconds after the warm-up, event).

**Rates** are records a second of the world in memory, and records a real second on brokers. What is
written and what can be read scale alike, so the same numbers overload a group in both. On brokers
stay below 600 records/s and 8 members a case, and name topics as a team would.

**What is true** is not part of a case. `truth.right_causes` derives it from the events and from the
logs: an event that does a group no harm has no cause.

    Case(
        "one-member-slow-small",
        topics={"orders": Topic(even(6, 60))},
        groups={"billing": Group("orders", members=3, ms=15), "audit": Group("orders")},
        happens=((0, Slow("billing", ms=150, members=(1,))),),
    )

A member spends `ms` on each record, one after another, so it reads 1,000 / ms records/s. A group
must keep up before anything happens to it: what one member is assigned must be below what it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, dataclass_transform

SHORTENED = 30.0
# The rate of a topic with waves swings by this share, and records have so many bytes on brokers.
WAVE_SHARE, RECORD_BYTES = 0.6, 60
MINUTE = 60.0
# A change that is over within so many seconds of the window is no trouble.
WINDOW = 10 * MINUTE


def even(partitions: int, rate: float) -> tuple[float, ...]:
    """Returns the rate of each partition where records are spread evenly."""
    return (rate / partitions,) * partitions


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic whose partitions are written at `rates`, in records/s.

    `noise`: standard deviation of the rate from step to step, as a share, in memory. The rate
    swings by 60 % up and down in each `wave_seconds`. With `batch_seconds` the records that
    are due are written at once, once in so many seconds. With `markers` all that is written at once
    is a transaction, whose last offset holds no record; in memory only. `brokers` hold the replicas
    and lead in turn; with `copies=1` each partition is only on its leader. `settings` are brokers'
    own for the topic, on brokers only.
    """

    rates: tuple[float, ...]
    noise: float = 0.0
    wave_seconds: float | None = None
    batch_seconds: float | None = None
    markers: bool = False
    brokers: tuple[int, ...] = (1, 2, 3)
    copies: int = 3
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """A group whose members read `topic`, spend `ms` on a record and commit every `commit_seconds`.

    It reads `more_topics` as well, in memory only; their partitions are numbered after its own.
    `sla_seconds` is the SLA that the configuration has for it.

    `workers`: "one" processes a member's records one after another; "each" is a member with a
    worker for each partition, so that a slow partition holds up no other. `protocol`: "consumer" is
    that of KIP-848. A vanished member is removed after `session_seconds`. Each change of membership
    stops the group for `rebalance_seconds` in memory; on brokers that is not set.
    `slow_line`: members use the connections that `SlowBroker` slows down. `delay_seconds`: they
    read a record once it is so old, as of a retry topic; in memory only.
    """

    topic: str
    members: int = 2
    ms: float = 5.0
    commit_seconds: float = 30.0
    workers: Literal["one", "each"] = "one"
    protocol: Literal["classic", "consumer"] = "classic"
    session_seconds: float = 180.0
    # A rebalance of the classic protocol took about two real seconds on brokers.
    rebalance_seconds: float = 60.0
    slow_line: bool = False
    # Members write the leader epoch into their commits; in memory only.
    signs: bool = False
    more_topics: tuple[str, ...] = ()
    sla_seconds: float | None = None
    delay_seconds: float = 0.0

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics that it reads."""
        return (self.topic, *self.more_topics)


@dataclass_transform(frozen_default=True)
class Event:
    """Something that happens; each event is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        """Makes an event of the class."""
        dataclass(frozen=True)(cls)


class _Members(Event):
    group: str
    members: tuple[int, ...] | None = None
    lasts: float | None = None


class Produce(Event):
    """The topic is written at `times` its first rate, of all partitions or of each one.

    The rate changes within `ramp` seconds, and returns to the first one after `lasts` seconds.
    """

    topic: str
    times: float | tuple[float, ...]
    ramp: float = 0.0
    lasts: float | None = None


def skew(partitions: int, weights: Mapping[int, float], times: float = 1.0) -> tuple[float, ...]:
    """Returns `times` for `Produce`: partitions get so many times as much as others.

    The whole topic gets `times` as much as before, spread evenly until now.
    """
    shares = [weights.get(number, 1.0) for number in range(partitions)]
    return tuple(times * partitions * share / sum(shares) for share in shares)


class Slow(Event):
    """A record takes `ms` from now on: for all members, or those with these numbers (0, 1, ...).

    With `partitions` only their records take so long, which needs workers for each partition. A
    tuple of `ms` has one for each member. In memory it may last for some seconds only.
    """

    group: str
    ms: float | tuple[float, ...]
    members: tuple[int, ...] | None = None
    partitions: tuple[int, ...] | None = None
    lasts: float | None = None


class Hang(_Members):
    """The members process nothing and stay in the group, because they still send heartbeats."""


class Freeze(_Members):
    """The members' processes stand still, so they are removed when their session ends."""


class Kill(_Members):
    """The members' processes end at once, and are removed when their session ends."""


class Leave(_Members):
    """The members leave the group in good order; in memory they may return after some seconds."""


class Join(Event):
    """So many members join that work as the first ones did."""

    group: str
    members: int = 1


class Deploy(Event):
    """Members are replaced one by one: each leaves and returns after `pause`, with another `ms`.

    In memory `every` so many seconds, or with another `protocol`; on brokers always each 15.
    """

    group: str
    pause: float = 15.0
    every: float = 15.0
    ms: float | None = None
    protocol: Literal["consumer"] | None = None


class Flap(Event):
    """The last `members` are there for `up` seconds, and away for `down` seconds, again and again.

    `kill`: without leaving first. In memory it may last for some seconds only.
    """

    group: str
    members: int = 1
    up: float = 60.0
    down: float = 30.0
    kill: bool = False
    lasts: float | None = None


class Move(Event):
    """Members stop reading the group's topic and read another one from its end; commits stay.

    The other topic is one of `more_topics`, which the group does not read until then.
    """

    group: str
    to: str


class Poison(Event):
    """The next record of the partition cannot be processed.

    `then`: "skip" pauses the partition and goes on with the others; "block" retries for ever and
    does nothing else; "crash" ends the member's process, which returns and meets the record again.
    In memory "skip" may last for some seconds only.
    """

    group: str
    partition: int
    then: Literal["skip", "block", "crash"] = "skip"
    lasts: float | None = None


class Reset(Event):
    """An operator sets commits back by what is written in `seconds`, or to the logs' start."""

    group: str
    seconds: float | None = None
    partitions: tuple[int, ...] | None = None


class Skip(Event):
    """An operator sets commits to the logs' ends. In memory only."""

    group: str


class Create(Event):
    """The group exists from now on, and reads what comes from now on. In memory only."""

    group: str


class Delete(Event):
    """The group is deleted. In memory only."""

    group: str


class Grow(Event):
    """The topic gets these partitions. `seen`: members read them as well. In memory only."""

    topic: str
    partitions: tuple[int, ...]
    seen: bool = True


class Reassign(Event):
    """Replicas of the topic move to other brokers, and groups read at most `rate` records/s of each
    partition. In memory only."""

    topic: str
    rate: float


class Recreate(Event):
    """The topic is deleted and created again; its producers and consumers go on."""

    topic: str


class Retain(Event):
    """Records older than `seconds` are deleted from now on; by size: what comes in `seconds`.

    Infinity: nothing is deleted. In memory it may last for some seconds only.
    """

    topic: str
    seconds: float
    by_size: bool = False
    lasts: float | None = None


class OpenTransaction(Event):
    """A producer writes one record in a transaction and does not end it before `lasts` seconds."""

    topic: str
    partition: int
    lasts: float | None = None


class MoveLeaders(Event):
    """The next replica leads each partition; in memory each that `broker` leads, for a time."""

    topic: str
    broker: int | None = None
    lasts: float | None = None


class LoseLeaders(Event):
    """The partitions have no leader, so they are neither written nor read. In memory only."""

    topic: str
    partitions: tuple[int, ...]
    lasts: float | None = None


class OutOfSync(Event):
    """Only `in_sync` replicas of the partitions (or of all) are up to date. In memory only."""

    topic: str
    in_sync: int
    partitions: tuple[int, ...] | None = None
    lasts: float | None = None


class StopBroker(Event):
    """The broker ends; partitions that are only there have no leader.

    In memory it leads again what it led once it is back.
    """

    broker: int
    lasts: float | None = None


class SlowBroker(Event):
    """Groups with `slow_line` read at most `rate` records/s of each partition the broker leads."""

    broker: int
    rate: float
    lasts: float | None = None


class Unread(Event):
    """Brokers do not answer, for this reason. In memory only.

    Not about a group, about partitions of a topic (or all), or about a group's commits of a topic.
    """

    reason: str
    group: str | None = None
    topic: str | None = None
    partitions: tuple[int, ...] | None = None
    lasts: float | None = None


class Hide(Event):
    """An ACL hides the topic from the collector. In memory only."""

    topic: str
    lasts: float | None = None


class MissRuns(Event):
    """The collector does not run for so many seconds. In memory only."""

    seconds: float


def end_of(at: float, event: Event) -> float:
    """Returns the second at which an event is over; one without an end is so at once."""
    lasts: float | None = getattr(event, "lasts", None)
    return at + (lasts or 0.0)


@dataclass(frozen=True, slots=True)
class Case:
    """What there is and what happens to it; `warm_up` and `watched` are in seconds.

    Statuses are judged from `learnt` on, in seconds after the warm-up. A commit that stands for up
    to `pause` seconds is usual from then on, and a pause that is more than twice as long is not.
    `seed` decides the noise of the world.
    """

    name: str
    topics: Mapping[str, Topic]
    groups: Mapping[str, Group]
    happens: tuple[tuple[float, Event], ...] = ()
    warm_up: float = 40 * MINUTE
    watched: float = 60 * MINUTE
    learnt: float = 0.0
    pause: float = 0.0
    seed: tuple[int, ...] = (1,)

    @property
    def runs(self) -> int:
        """Number of runs, its warm-up included."""
        return round((self.warm_up + self.watched) / MINUTE)

    @property
    def alone(self) -> bool:
        """Whether an event meets other cases on the same brokers."""
        return any(isinstance(event, StopBroker | SlowBroker) for _, event in self.happens)
