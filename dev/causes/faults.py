# SPDX-License-Identifier: Apache-2.0
"""Cases on real brokers as data: topics, groups, what happens to them, and what causes are true.

Write cases without reading how causes are found: what is true follows from what you let happen. A
module with a tuple `CASES` is all that `python -m dev.causes brokers --cases MODULE` needs.

**Time.** The collector runs every 2 s, and all its times are shortened alike: 2 s stand for a
minute, so 1 s for half a minute and 20 s for ten minutes. First everything runs undisturbed for
WARM_UP seconds. Then comes the moment of the case: `happens` is a tuple of (seconds after that
moment, what happens). A case is watched until its groups have been in trouble for ten runs, at most
for `watched` seconds after that moment.

**Machine.** Everything shares two processors. Stay below about 600 records/s and 8 members a case;
small cases (a few partitions, 20 to 100 records/s, 1 to 3 members) are as good. Names of topics and
groups are made unique by the harness: call them what a team would call them, never by the fault.

    Case(
        "one-member-slow-small",
        topics={"orders": Topic(partitions=6, rate=60)},
        groups={"billing": Group("orders", members=3, ms=15), "audit": Group("orders")},
        happens=((0, Slow("billing", ms=150, members=(1,))),),
        right={"billing": {"slow_member"}},
    )

A group reads one topic. Its members are processes with librdkafka's consumer, and spend `ms` on
each record, one after another: a member can read 1,000 / ms records/s. See that a group keeps up
before the moment: members x 1,000 / ms must be well above the topic's rate, and what one member is
assigned must be below what one can read.

**What may be right.** `right` names for a group each cause that a person who knows what happened
would accept, usually one. A group that is not in `right` is well, or suffers nothing to speak of:
no cause at all may be named of it.

- `more_produced`: more is written than before, all over, and the group as it is cannot read it.
- `capacity_fell`: the group reads less than before, all over, with as many members.
- `too_few_members`: members have left, and those that stay work as fast as ever.
- `hot_partition`: few partitions get (or need) more than the member that has them can read; others
  are fine.
- `slow_member`: one member works slowly, or not at all, others as ever.
- `stuck_record`: one record is not got past in one partition; the member lives, others move.
- `stopped`: no member is there.
- `rebalances`: the group spends its time rebalancing, again and again.
- `slow_broker`: one broker serves slowly; several groups that read from it suffer there.
- `unavailable`: partitions without a leader, or behind because replicas are missing.
- `open_transaction`: records cannot be read as a transaction before them is not ended.
- `retention_race`: the group reads, and records are deleted before it gets to them.
- `offsets_reset`: somebody set commits back, or the topic was made anew under the group.

**What happens.** See the classes below, each with its arguments. Broker events (StopBroker,
SlowBroker) meet every case that runs at the time, so the harness gives such a case the cluster for
itself: put several groups and topics into it. A test that a case does what it says is its
recording: look at the table's `lag` and `first trouble`.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

WARM_UP = 80.0
WATCHED_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Topic:
    """`rate`: records/s over all partitions, at random moments. `brokers` hold its replicas, and
    lead its partitions in turn; with `copies=1` each partition is on its leader alone.

    Of `wave_seconds` the rate swings by 60 % up and down in each such period. With `batch_seconds`
    all that is due is written at once, so often. `keep_seconds`: retention. `record_bytes`: the
    length of a record.
    """

    partitions: int = 6
    rate: float = 60.0
    brokers: tuple[int, ...] = (1, 2, 3)
    copies: int = 3
    wave_seconds: float | None = None
    batch_seconds: float | None = None
    keep_seconds: float | None = None
    record_bytes: int = 60


@dataclass(frozen=True, slots=True)
class Group:
    """Reads `topic` with so many `members`, which spend `ms` on a record and commit every
    `commit_seconds`.

    `workers`: "one" does a member's records one after another; "each" is a member with a worker for
    each of its partitions, so that a slow partition holds up no other (a member then reads 1,000 /
    ms records/s of each). `protocol`: the group protocol, "consumer" is KIP-848's. A classic member
    that sends nothing for `session_seconds` is put out of its group. `slow_line`: its members
    connect in the way that SlowBroker slows down.
    """

    topic: str
    members: int = 2
    ms: float = 5.0
    commit_seconds: float = 1.0
    workers: Literal["one", "each"] = "one"
    protocol: Literal["classic", "consumer"] = "classic"
    session_seconds: float = 6.0
    poll_seconds: float = 600.0
    slow_line: bool = False


@dataclass(frozen=True, slots=True)
class Produce:
    """From now on `times` as much as at first is written to the topic; grows to that within `ramp`
    seconds, and ends after `lasts` seconds."""

    topic: str
    times: float
    ramp: float = 0.0
    lasts: float | None = None


@dataclass(frozen=True, slots=True)
class Skew:
    """Partitions get so many times as much as others, by number. The topic's rate stays as it is,
    unless `times` says otherwise."""

    topic: str
    weights: Mapping[int, float]
    times: float = 1.0


@dataclass(frozen=True, slots=True)
class Slow:
    """Records take `ms` from now on: of all members or those with these numbers (0, 1, ...), of all
    partitions or of these."""

    group: str
    ms: float
    members: tuple[int, ...] | None = None
    partitions: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Hang:
    """The members do nothing more and stay in the group: their client goes on to send heartbeats.
    With `lasts` they go on after so many seconds."""

    group: str
    members: tuple[int, ...] | None = None
    lasts: float | None = None


@dataclass(frozen=True, slots=True)
class Freeze:
    """The members' processes are stopped (SIGSTOP), heartbeats and all: they are put out of the
    group after its session. With `lasts` they go on after so many seconds."""

    group: str
    members: tuple[int, ...] | None = None
    lasts: float | None = None


@dataclass(frozen=True, slots=True)
class Kill:
    """The members' processes end at once (SIGKILL), without a word to the group."""

    group: str
    members: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """The members leave in good order, as a service does that is scaled in."""

    group: str
    members: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """So many new members join, like those at first."""

    group: str
    members: int = 1


@dataclass(frozen=True, slots=True)
class Deploy:
    """All members are replaced one after another: each leaves, and comes back after `pause`
    seconds. With `ms` the new ones need so long for a record."""

    group: str
    pause: float = 0.5
    ms: float | None = None


@dataclass(frozen=True, slots=True)
class Flap:
    """So many of the members end and come back again and again: `up` seconds there, `down` seconds
    away. `kill`: without a word."""

    group: str
    members: int = 1
    up: float = 2.0
    down: float = 1.0
    kill: bool = False


@dataclass(frozen=True, slots=True)
class Poison:
    """The next record of the partition is never got past. `then`: "skip" leaves the partition
    standing and goes on with others, as a member that tries it again later; "block" tries it for
    ever and does nothing else; "crash" ends the member's process, which comes back after a second
    and meets the record again, as do other members that are assigned the partition."""

    group: str
    partition: int
    then: Literal["skip", "block", "crash"] = "skip"


@dataclass(frozen=True, slots=True)
class Reset:
    """An operator stops the group, sets its commits with Kafka's admin API, and starts it again:
    each partition (or these) `back` so many records, or to the log's start where that is None."""

    group: str
    back: int | None = None
    partitions: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Recreate:
    """The topic is deleted and made anew at once, with its producers and consumers going on."""

    topic: str


@dataclass(frozen=True, slots=True)
class Retain:
    """Retention of the topic becomes so many seconds, or bytes of a partition."""

    topic: str
    seconds: float | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A producer writes one record in a transaction to the partition and does not end it, or does
    so after `lasts` seconds."""

    topic: str
    partition: int
    lasts: float | None = None


@dataclass(frozen=True, slots=True)
class MoveLeaders:
    """Other replicas lead: each partition's next one in turn."""

    topic: str


@dataclass(frozen=True, slots=True)
class StopBroker:
    """The broker ends, in good order or with `kill`, and comes back after `lasts` seconds, if it
    does within the case."""

    broker: int
    lasts: float | None = None
    kill: bool = False


@dataclass(frozen=True, slots=True)
class SlowBroker:
    """Each answer of the broker to groups with `slow_line` comes late by so many seconds (see there
    how much it holds; a record takes about 10 bytes more than it is long, a batch 60)."""

    broker: int
    delay: float


Event: TypeAlias = (
    Produce
    | Skew
    | Slow
    | Hang
    | Freeze
    | Kill
    | Leave
    | Join
    | Deploy
    | Flap
    | Poison
    | Reset
    | Recreate
    | Retain
    | OpenTransaction
    | MoveLeaders
    | StopBroker
    | SlowBroker
)


@dataclass(frozen=True, slots=True)
class Case:
    """What is there, what happens when, and which causes may be named by group (see above)."""

    name: str
    topics: Mapping[str, Topic]
    groups: Mapping[str, Group]
    happens: tuple[tuple[float, Event], ...] = ()
    right: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    watched: float = WATCHED_SECONDS

    @property
    def alone(self) -> bool:
        """Whether what happens meets other cases as well."""
        return any(isinstance(event, StopBroker | SlowBroker) for _, event in self.happens)
