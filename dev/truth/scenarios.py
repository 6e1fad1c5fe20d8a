# SPDX-License-Identifier: Apache-2.0
"""The scenarios: what is planted, what goes on, and when programs are judged by it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from dev.kafka.readiness import wait_until
from dev.truth.planted import Range
from dev.truth.planter import HOUR, Planter, evenly

PREFIX = "truth-"
# The broker that hangs at the end, and one that does not.
HUNG, WELL = 3, 1


class Phase(Enum):
    """When the looks that count are taken."""

    FIRST = "in the first answer that has the group"
    SETTLED = "after the programs have run for a while"
    CHANGED = "after the change"
    HUNG = "while a broker hangs"


@dataclass(frozen=True, slots=True)
class Scenario:
    """`plant` makes it and `act` keeps it going in a thread, until the planter stops; `change` is
    made once, while the programs run. All are given its name as prefix of topics and groups.
    `limit`: why ours is not right, where that is known.
    """

    title: str
    planted: str
    plant: Callable[[Planter, str], None]
    act: Callable[[Planter, str], None] | None = None
    change: Callable[[Planter, str], None] | None = None
    phase: Phase = Phase.SETTLED
    limit: str = ""

    @property
    def name(self) -> str:
        """Prefix of its topics and groups."""
        return PREFIX + "-".join(
            "".join(each if each.isalnum() else " " for each in self.title.lower()).split()
        )


RATE, PACE = 20, 0.5


def _produce_on(planter: Planter, topic: str) -> int:
    now = time.time()
    count = round(RATE * PACE)
    return planter.append(topic, [now - PACE * (1 - n / count) for n in range(count)])


def _seed_steady(planter: Planter, name: str, count: int = 2_000) -> int:
    planter.topic(name)
    return planter.append(name, evenly(count, count / RATE, 0))


def plant_steady(planter: Planter, name: str) -> None:
    """A minute behind."""
    end = _seed_steady(planter, name)
    planter.commit(name, name, {0: end - 60 * RATE})


def act_steady(planter: Planter, name: str) -> None:
    """Commit each second, always a minute behind."""
    ticks = 0
    while not planter.stop.wait(PACE):
        end = _produce_on(planter, name)
        ticks += 1
        if ticks % 2 == 0:
            planter.commit(name, name, {0: end - 60 * RATE})


def plant_bursty(planter: Planter, name: str) -> None:
    """Two bursts that are read."""
    planter.topic(name)
    end = planter.append(name, [*evenly(400, 40, 39.5), *evenly(400, 20, 19.5)])
    planter.commit(name, name, {0: end})


def act_bursty(planter: Planter, name: str) -> None:
    """A burst each 20 seconds, read ten seconds later."""
    while not planter.stop.wait(10):
        end = planter.append(name, evenly(400, 0.5, 0))
        if planter.stop.wait(10):
            return
        planter.commit(name, name, {0: end})


def plant_history(
    commit: int, since: float, until: float, count: int = 100
) -> Callable[[Planter, str], None]:
    """Records spread over hours, and one commit."""

    def plant(planter: Planter, name: str) -> None:
        planter.topic(name)
        planter.append(name, evenly(count, since, until))
        planter.commit(name, name, {0: commit})

    return plant


def act_slowly(planter: Planter, name: str) -> None:
    """A record a second."""
    while not planter.stop.wait(1):
        planter.append(name, [time.time()])


def act_producing(planter: Planter, name: str) -> None:
    """Nobody reads."""
    while not planter.stop.wait(PACE):
        _produce_on(planter, name)


def plant_uneven(planter: Planter, name: str) -> None:
    """Little for five hours, much in the last."""
    planter.topic(name)
    planter.append(name, [*evenly(100, 6 * HOUR, HOUR), *evenly(5_000, HOUR, 60)])
    planter.commit(name, name, {0: 40})


def plant_markers(planter: Planter, name: str) -> None:
    """All records are read; the marker behind them is not committed."""
    planter.topic(name)
    planter.transaction(name, evenly(10, 3 * HOUR, 2 * HOUR), ends="commits")
    planter.commit(name, name, {0: 10})
    planter.planted.also_lags[name, name, 0].append(Range(0, 0, "markers not counted"))


def plant_open(planter: Planter, name: str) -> None:
    """Half an hour of records that a transaction keeps from their readers."""
    planter.topic(name)
    planter.append(name, evenly(50, 2 * HOUR, HOUR))
    planter.transaction(name, evenly(100, HOUR / 2, HOUR / 3), ends="open")
    planter.commit(name, name, {0: 50})
    planter.planted.also_lags[name, name, 0].append(Range(0, 0, "to the last stable offset"))
    planter.planted.also_stamps[name, name, 0].append((None, "to the last stable offset"))


def plant_aborted(planter: Planter, name: str) -> None:
    """Aborted records, then ten that are not read."""
    planter.topic(name)
    planter.append(name, evenly(50, 6 * HOUR, 5 * HOUR))
    planter.transaction(name, evenly(100, 4 * HOUR, 3 * HOUR), ends="aborts")
    planter.append(name, evenly(10, HOUR, HOUR / 2))
    planter.commit(name, name, {0: 50})
    planter.planted.also_lags[name, name, 0].append(Range(10, 10, "aborted ones not counted"))
    # A consumer that reads uncommitted records is given the aborted ones.
    first = planter.planted.logs[name, 0].stamps[50]
    planter.planted.also_stamps[name, name, 0].append((first, "aborted records counted"))


def plant_below_start(commit: int, before: int) -> Callable[[Planter, str], None]:
    """Records deleted before they were read."""

    def plant(planter: Planter, name: str) -> None:
        plant_history(commit, 10 * HOUR, HOUR)(planter, name)
        planter.delete_records(name, 0, before)

    return plant


def plant_beyond_end(planter: Planter, name: str) -> None:
    """A commit that no log has."""
    plant_history(500, 3 * HOUR, 2 * HOUR)(planter, name)
    log = planter.planted.logs[name, 0]
    again = "all of it, after a reset to the start"
    planter.planted.also_lags[name, name, 0].append(Range(100, 100, again))
    planter.planted.also_stamps[name, name, 0].append((log.stamps[0], again))


def plant_members(settings: Mapping[str, str] | None = None) -> Callable[[Planter, str], None]:
    """A member that commits nothing more."""

    def plant(planter: Planter, name: str) -> None:
        _plant_two(planter, name)
        planter.member(name, name, settings=settings)

    return plant


def _plant_two(planter: Planter, name: str) -> None:
    planter.topic(name, 2)
    for partition in (0, 1):
        planter.append(name, evenly(100, 3 * HOUR, HOUR), partition)
    planter.commit(name, name, {0: 50, 1: 60})


BRIEF = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "2000"}
STATIC = {
    "group.instance.id": "one",
    "session.timeout.ms": "1200000",
    "max.poll.interval.ms": "1200000",
}


def act_rebalancing(planter: Planter, name: str) -> None:
    """One member stays, another joins and leaves without an end."""
    steady = planter.member(name, name, settings=BRIEF)
    while not planter.stop.wait(0.1):
        fickle = planter.member(name, name, joined=False, settings=BRIEF)
        for _ in range(30):
            steady.poll(0.05)
            fickle.poll(0.05)
        planter.left(fickle)
        for _ in range(10):
            steady.poll(0.05)


def plant_static(planter: Planter, name: str) -> None:
    """A static member that was shut down: its place in the group is kept."""
    _plant_two(planter, name)
    member = planter.member(name, name, settings=STATIC)
    planter.left(member)


def plant_empty(planter: Planter, name: str) -> None:
    """A group whose member has left."""
    _plant_two(planter, name)
    planter.left(planter.member(name, name))


def plant_uncommitted(planter: Planter, name: str) -> None:
    """One of three partitions was never committed."""
    planter.topic(name, 3)
    for partition in range(3):
        planter.append(name, evenly(100, 3 * HOUR, HOUR), partition)
    planter.commit(name, name, {0: 50, 1: 60})
    planter.planted.commits[name, name, 2] = []


def plant_no_commit(planter: Planter, name: str) -> None:
    """A member, and no commit."""
    planter.topic(name)
    planter.append(name, evenly(100, 3 * HOUR, HOUR))
    planter.member(name, name)
    planter.planted.commits[name, name, 0] = []


GROUPS = 150


def plant_groups(planter: Planter, name: str) -> None:
    """Each group at an offset of its own."""
    planter.topic(name)
    planter.append(name, evenly(1_000, 5 * HOUR, HOUR))
    for number in range(GROUPS):
        planter.commit(f"{name}-{number:03}", name, {0: number * 6})


def plant_partitions(planter: Planter, name: str) -> None:
    """Sixty partitions."""
    planter.topic(name, 60)
    for partition in range(60):
        planter.append(name, evenly(20, 4 * HOUR, HOUR), partition)
    planter.commit(name, name, {partition: partition % 20 for partition in range(60)})


def plant_steady_at_end(planter: Planter, name: str) -> None:
    """Caught up."""
    end = _seed_steady(planter, name)
    planter.commit(name, name, {0: end})


def act_committing_rarely(planter: Planter, name: str) -> None:
    """All is read at once, and committed once a minute."""
    ticks = 0
    while not planter.stop.wait(PACE):
        end = _produce_on(planter, name)
        ticks += 1
        if ticks % round(60 / PACE) == 0:
            planter.commit(name, name, {0: end})


# The records that others of their keys replace.
COMPACTED = 100


def plant_compacted(planter: Planter, name: str) -> None:
    """The record of the commit and many behind it were replaced by newer ones of their keys."""
    config = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": "1000",
        "max.compaction.lag.ms": "1000",
    }
    planter.topic(name, config=config)
    planter.append(name, evenly(COMPACTED, 10 * HOUR, 9 * HOUR), key=str)
    planter.append(name, evenly(COMPACTED, HOUR, HOUR / 2), key=str)
    planter.commit(name, name, {0: 50})
    time.sleep(1.5)
    # Rolls the segment, which lets the brokers compact what is before.
    planter.append(name, evenly(10, 60, 30), key=lambda number: f"other-{number}")
    wait_until(lambda: planter.first_record(name) == COMPACTED, what="the topic compacted")
    log = planter.planted.logs[name, 0]
    replaced = (log.stamps[50], "compacted records counted")
    planter.planted.also_stamps[name, name, 0].append(replaced)
    log.unreadable.update(range(COMPACTED))


def plant_back_filled(planter: Planter, name: str) -> None:
    """Records of last week were written behind newer ones; one group is among them."""
    planter.topic(name)
    planter.append(name, evenly(100, 2 * HOUR, HOUR))
    planter.append(name, evenly(100, 168 * HOUR, 144 * HOUR))
    planter.append(name, evenly(50, 60, 30))
    planter.commit(f"{name}-before", name, {0: 50})
    planter.commit(f"{name}-among", name, {0: 120})
    at = (f"{name}-among", name, 0)
    planter.planted.also_stamps[at].append((time.time(), "since it was written"))


def plant_append_time(planter: Planter, name: str) -> None:
    """Brokers overwrite the timestamps by the time of writing."""
    planter.topic(name, config={"message.timestamp.type": "LogAppendTime"})
    planter.append(name, evenly(100, 5 * HOUR, HOUR))
    log = planter.planted.logs[name, 0]
    log.stamps = [time.time()] * len(log.stamps)
    planter.commit(name, name, {0: 50})


def plant_after_silence(planter: Planter, name: str) -> None:
    """One record after five hours without any."""
    planter.topic(name)
    planter.append(name, [*evenly(100, 10 * HOUR, 5 * HOUR), time.time() - 20])
    planter.commit(name, name, {0: 100})


ODD = 'orders: für \\ "x" {y}=1, z'


def plant_odd_name(planter: Planter, name: str) -> None:
    """A name with quotes, spaces, a colon and a letter beyond ASCII."""
    planter.topic(name)
    planter.append(name, evenly(100, 3 * HOUR, HOUR))
    planter.commit(f"{name} {ODD}", name, {0: 50})


def plant_abandoned(planter: Planter, name: str) -> None:
    """A topic that the group left a day ago, beside the one that it reads."""
    for topic, since in ((f"{name}-old", 30 * HOUR), (f"{name}-new", 3 * HOUR)):
        planter.topic(topic)
        planter.append(topic, evenly(100, since, since - HOUR))
    planter.commit(name, f"{name}-old", {0: 60})
    planter.commit(name, f"{name}-new", {0: 100})


def plant_empty_topic(planter: Planter, name: str) -> None:
    """Nothing was ever written."""
    planter.topic(name)
    planter.commit(name, name, {0: 0})


def plant_one_stuck(planter: Planter, name: str) -> None:
    """One of three partitions stands."""
    planter.topic(name, 3)
    for partition in range(3):
        planter.append(name, evenly(100, 3 * HOUR, HOUR), partition)
    planter.commit(name, name, {0: 20, 1: 100, 2: 100})


def change_recreated(planter: Planter, name: str) -> None:
    """The same name with fewer records, and a new commit."""
    planter.delete_topic(name)
    planter.topic(name)
    planter.append(name, evenly(40, 2 * HOUR, HOUR))
    planter.commit(name, name, {0: 30})


def change_to(offset: int) -> Callable[[Planter, str], None]:
    """A reset of the group."""

    def change(planter: Planter, name: str) -> None:
        planter.commit(name, name, {0: offset})

    return change


def change_partitions(planter: Planter, name: str) -> None:
    """Two more partitions, with records and commits."""
    planter.add_partitions(name, 3)
    for partition in (1, 2):
        planter.append(name, evenly(50, HOUR, HOUR / 2), partition)
    planter.commit(name, name, {1: 10, 2: 20})


def plant_nothing(planter: Planter, name: str) -> None:
    """Comes later."""
    planter.topic(name)
    planter.append(name, evenly(100, 3 * HOUR, HOUR))


def plant_on(broker: int) -> Callable[[Planter, str], None]:
    """A topic on one broker, and a group that another one than the hung looks after."""

    def plant(planter: Planter, name: str) -> None:
        planter.topic(name, brokers=[broker])
        planter.append(name, evenly(100, 3 * HOUR, HOUR))
        number = 0
        while planter.coordinator(f"{name}-{number}") == HUNG:
            number += 1
        planter.commit(f"{name}-{number}", name, {0: 50})
        if broker == HUNG:
            planter.planted.unknowable.add((f"{name}-{number}", name, 0))

    return plant


def _delete_topic(planter: Planter, name: str) -> None:
    planter.delete_topic(name)


def _delete_group(planter: Planter, name: str) -> None:
    planter.delete_group(name)


def _overtake(planter: Planter, name: str) -> None:
    planter.delete_records(name, 0, 80)


SCENARIOS: Sequence[Scenario] = (
    Scenario("steady", "20 records a second, always a minute behind", plant_steady, act_steady),
    Scenario(
        "idle, caught up",
        "the last record 3 h ago, all read",
        plant_history(100, 5 * HOUR, 3 * HOUR),
    ),
    Scenario(
        "stuck for hours",
        "a record each 10 s for 6 h and on, none read for 4 h",
        plant_history(720, 6 * HOUR, 0, 2_160),
        act_slowly,
    ),
    Scenario(
        "transactions",
        "all records of a transaction read and committed; the marker behind them is not",
        plant_markers,
        limit="Brokers show which offsets are markers only to who may read records. They are taken "
        "for markers after two rests before one, or with `allowed_lag`; until then the marker's "
        "age is shown.",
    ),
    Scenario(
        "below log start",
        "10 of 100 read, the first 50 deleted",
        plant_below_start(10, 50),
    ),
    Scenario("beyond end", "commit 500 where the log ends at 100", plant_beyond_end),
    Scenario("bursty", "400 records each 20 s, read 10 s later", plant_bursty, act_bursty),
    Scenario(
        "idle, one unread",
        "the last record, of 3 h ago, unread; the group has commits and never had a member",
        plant_history(99, 5 * HOUR, 3 * HOUR),
    ),
    Scenario(
        "cold start",
        "stuck 6 h ago; judged by the first answer of a new process",
        plant_history(250, 8 * HOUR, 60, 1_000),
        phase=Phase.FIRST,
    ),
    Scenario(
        "stuck, then more was written",
        "100 records in 5 h, 5,000 in the sixth; stuck at the 40th",
        plant_uneven,
    ),
    Scenario(
        "consumer gone",
        "20 records a second, none read since the start",
        plant_steady_at_end,
        act_producing,
    ),
    Scenario("open transaction", "100 records of half an hour in one", plant_open),
    Scenario("aborted transaction", "100 aborted records, then 10 unread", plant_aborted),
    Scenario("all deleted unread", "10 of 100 read, all deleted", plant_below_start(10, 100)),
    Scenario("compacted", "the next 50 records were compacted away", plant_compacted),
    Scenario("rebalancing", "a member joins and leaves all the time", _plant_two, act_rebalancing),
    Scenario(
        "KIP-848", "a member of the new protocol", plant_members({"group.protocol": "consumer"})
    ),
    Scenario("classic member", "a member that is stuck", plant_members()),
    Scenario("static member gone", "its session lasts 20 min", plant_static),
    Scenario("empty group", "its only member has left", plant_empty),
    Scenario("partition without commit", "two of three were committed", plant_uncommitted),
    Scenario("group without commit", "a member that never commits", plant_no_commit),
    Scenario("one partition stuck", "one of three", plant_one_stuck),
    Scenario("many groups", f"{GROUPS} groups on one topic", plant_groups),
    Scenario("many partitions", "60 of one topic", plant_partitions),
    Scenario(
        "rare commits",
        "20 records a second, committed once a minute",
        plant_steady_at_end,
        act_committing_rarely,
    ),
    Scenario(
        "back-filled timestamps",
        "records of last week behind newer ones; one group among them, one before",
        plant_back_filled,
        limit="Brokers name the first offset with a timestamp of a time or later: what is older "
        "than records before it cannot be found so. The age of the newest of these is shown.",
    ),
    Scenario("log append time", "brokers overwrite old timestamps", plant_append_time),
    Scenario(
        "first record after silence",
        "one unread record, minutes old, after 5 h without any",
        plant_after_silence,
    ),
    Scenario("odd name", f"a group called `... {ODD}`", plant_odd_name),
    Scenario("abandoned topic", "left a day ago, beside one that is read", plant_abandoned),
    Scenario("empty topic", "commit 0, nothing ever written", plant_empty_topic),
    Scenario(
        "deleted topic",
        "with unread records, while the programs run",
        plant_history(50, 3 * HOUR, HOUR),
        change=_delete_topic,
        phase=Phase.CHANGED,
    ),
    Scenario(
        "recreated topic",
        "the same name with 40 records, 30 read",
        plant_history(80, 5 * HOUR, 3 * HOUR),
        change=change_recreated,
        phase=Phase.CHANGED,
    ),
    Scenario(
        "deleted group",
        "with lag, while the programs run",
        plant_history(50, 3 * HOUR, HOUR),
        change=_delete_group,
        phase=Phase.CHANGED,
    ),
    Scenario(
        "reset to latest",
        "a group that was stuck skips its lag",
        plant_history(20, 5 * HOUR, HOUR),
        change=change_to(100),
        phase=Phase.CHANGED,
    ),
    Scenario(
        "rewind",
        "a group that had read all goes back 5 h",
        plant_history(100, 5 * HOUR, HOUR),
        change=change_to(0),
        phase=Phase.CHANGED,
    ),
    Scenario(
        "new partitions",
        "1, then 3, with records and commits",
        plant_history(50, 3 * HOUR, HOUR),
        change=change_partitions,
        phase=Phase.CHANGED,
    ),
    Scenario(
        "retention overtakes",
        "the log start passes the commit while the programs run",
        plant_history(50, 10 * HOUR, HOUR),
        change=_overtake,
        phase=Phase.CHANGED,
    ),
    Scenario(
        "new group",
        "its first commit, 70 behind, while the programs run",
        plant_nothing,
        change=change_to(30),
        phase=Phase.CHANGED,
    ),
    Scenario(
        "hung broker: a topic beside it",
        "the topic's only replica and the group's coordinator are on others",
        plant_on(WELL),
        phase=Phase.HUNG,
    ),
    Scenario(
        "hung broker: a topic on it",
        "the topic's only replica hangs; nothing is written or read",
        plant_on(HUNG),
        phase=Phase.HUNG,
    ),
)
