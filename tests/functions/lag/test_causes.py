# SPDX-License-Identifier: Apache-2.0
"""The cause of a group's trouble, by the way it was planted, and the values that decide it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
import pytest

from dev.sim.reading import MINUTE_MS as MINUTE
from dev.sim.run import BEGIN, run_minutes
from dev.sim.world import GroupState, TopicState, World
from kafka_lag import contract
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import Snapshot

# The minute in which the trouble begins.
TROUBLE = 6
MINUTES = 26
# An event that happens to a cluster, and events by minute.
Act: TypeAlias = Callable[[World], None]
Acts: TypeAlias = Mapping[int, Act]


def run(cluster: World, acts: Acts, minutes: int = MINUTES, **more: Any) -> list[Snapshot]:
    """All runs of a cluster to which these happen."""

    def change(_: World, minute: int) -> None:
        if minute in acts:
            acts[minute](cluster)

    return list(run_minutes(cluster, minutes, change, **more))


def two_members(partitions: int = 6, **more: Any) -> World:
    """A topic with 10 records/s a partition, and two members that could read 45 each."""
    topic = TopicState("orders", np.full(partitions, 10.0), noise=0.0)
    group = GroupState("billing", topic, {"m-0": 45.0, "m-1": 45.0}, **more)
    return World([topic], [group], np.random.default_rng(7))


def two_topics() -> World:
    """Two topics of three partitions, and two members that read both."""
    topics = [TopicState(name, np.full(3, 10.0), noise=0.0) for name in ("orders", "invoices")]
    speed = {"m-0": 45.0, "m-1": 45.0}
    group = GroupState("billing", topics[0], speed, more_topics=(topics[1],))
    return World(topics, [group], np.random.default_rng(7))


def two_partitions_later() -> World:
    """Two members, and two partitions that do not exist yet, which they will not read."""
    cluster = two_members(8)
    cluster.topics[0].there[6:], cluster.groups[0].blind = False, {6, 7}
    return cluster


def several_groups(count: int, partitions: int = 6) -> World:
    """Groups with topics of their own, whose partitions lie under three brokers in turn."""
    topics = [
        TopicState(f"t-{each}", np.full(partitions, 10.0), noise=0.0) for each in range(count)
    ]
    groups = [
        GroupState(f"g-{number}", topic, {f"{number}-{each}": 60.0 for each in range(2)})
        for number, topic in enumerate(topics)
    ]
    return World(topics, groups, np.random.default_rng(3))


def row(snapshot: Snapshot, group: str = "billing") -> Mapping[str, Any]:
    """The columns of the group's cause."""
    groups = snapshot.groups
    at = groups.strings("consumer_group").to_list().index(group)
    of_cause = ("cause", "cause_since", "cause_evidence", "incident_since")
    names = (*of_cause, "status", "taken_at", "worst_status", "worst_status_since")
    return {name: groups.columns[name].to_list()[at] for name in names}


def evidence(snapshot: Snapshot) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(row(snapshot)["cause_evidence"])
    return found


def causes_of(snapshots: Sequence[Snapshot], group: str = "billing") -> set[str | None]:
    return {row(each, group)["cause"] for each in snapshots}


# What may happen to the first group and its topic.


def writes(*rates: float) -> Act:
    """Records/s of each partition, or of all."""

    def act(cluster: World) -> None:
        cluster.topics[0].rates[:] = rates

    return act


def reads(*speeds: float) -> Act:
    """Records/s of each member that is left."""
    speed = {f"m-{number}": each for number, each in enumerate(speeds)}
    return lambda cluster: setattr(cluster.groups[0], "speed", dict(speed))


def moves(records: float) -> Act:
    """Somebody sets all commits ahead, or back."""

    def act(cluster: World) -> None:
        cluster.groups[0].position += records
        cluster.groups[0].committed += records

    return act


def slows(**partitions: float) -> Act:
    """Partitions whose records take long, by number after a p."""
    slow = {int(name[1:]): rate for name, rate in partitions.items()}
    return lambda cluster: cluster.groups[0].slow.update(slow)


def sticks(cluster: World) -> None:
    """A record of partition 2 is not processed."""
    cluster.groups[0].stuck[2] = float(cluster.topics[0].end[2])


def opens(cluster: World) -> None:
    """A transaction."""
    cluster.topics[0].stable[2] = float(cluster.topics[0].end[2])


def has_more(cluster: World) -> None:
    """Fifty thousand records."""
    cluster.topics[0].end += 50_000


def is_cut(cluster: World) -> None:
    """The log loses all its records."""
    cluster.topics[0].end[:] = 0.0


def deletes(cluster: World) -> None:
    """What is older than 90 seconds, as retention by size would."""
    cluster.topics[0].kept_seconds = 90.0


def keeps_briefly(cluster: World) -> None:
    """A lower retention."""
    deletes(cluster)
    cluster.topics[0].retention_ms = 90_000


def moves_replicas(cluster: World) -> None:
    """Replicas of all partitions move, and leaders let little through."""
    cluster.topics[0].moved, cluster.topics[0].limit = True, 3.0


def limits(cluster: World) -> None:
    """The broker of the second partition lets little through."""
    cluster.broker_limit[int(cluster.topics[0].leaders[1])] = 2.0


def loses_leader(*partitions: int) -> Act:
    def act(cluster: World) -> None:
        cluster.topics[0].has_leader[list(partitions)] = False

    return act


def both(*acts: Act) -> Act:
    def act(cluster: World) -> None:
        for each in acts:
            each(cluster)

    return act


def out_of_step(healthy: int) -> Act:
    """Two slow partitions have one replica in sync, the others so many."""

    def act(cluster: World) -> None:
        cluster.topics[0].in_sync[:] = healthy
        cluster.topics[0].in_sync[[0, 3]] = 1

    return both(act, slows(p0=3.0, p3=3.0))


SKEWED = writes(4, 4, 4, 80, 4, 4)
SINCE = BEGIN + (TROUBLE - 1) * MINUTE


@dataclass(frozen=True, slots=True)
class Case:
    """What happens, the cause that the last run names, and what must stand in its evidence."""

    act: Act
    cause: str | None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    minutes: int = MINUTES
    before: Act = lambda _: None
    made: Callable[[], World] = two_members
    # An event twenty minutes later, and the cause that is named from a window after it on.
    end: Act | None = None
    later: str | None = None

    @property
    def acts(self) -> Acts:
        return {TROUBLE: self.act} | ({TROUBLE + 20: self.end} if self.end else {})


CASES = {
    "nothing": Case(lambda _: None, None),
    "six times as much is written": Case(
        writes(60.0),
        contract.MORE_PRODUCED,
        {"produce_rate_before": pytest.approx(60, rel=0.1)},
    ),
    "a little more is written, and read": Case(writes(14.5), None, minutes=40),
    "all read less": Case(reads(12.0, 12.0), contract.CAPACITY_FELL),
    "one of two has left": Case(
        reads(33.0),
        contract.TOO_FEW_MEMBERS,
        {"members": 1, "members_before": pytest.approx(2, abs=0.4)},
        minutes=32,
        before=reads(33.0, 33.0),
    ),
    "all have left": Case(reads(), contract.STOPPED, {"members": 0}),
    "all hang": Case(reads(0.0, 0.0), contract.HUNG, {"partitions": 6, "stands_since": SINCE}),
    "most keys go to one partition": Case(
        SKEWED,
        contract.HOT_PARTITION,
        {"topic": "orders", "partition": 3, "member": "m-1", "key_skew": True},
    ),
    "the same, and another waits for it": Case(
        both(SKEWED, slows(p1=2.0)), contract.HOT_PARTITION, {"partition": 3}
    ),
    "one partition is slow beside a busier one": Case(
        slows(p3=3.0),
        contract.HOT_PARTITION,
        {"partition": 3, "key_skew": False},
        before=writes(30, 4, 4, 20, 4, 4),
    ),
    "one partition is slow": Case(
        slows(p2=3.0), contract.HOT_PARTITION, {"partition": 2, "key_skew": False}
    ),
    "one of two is slow": Case(
        reads(45.0, 12.0), contract.SLOW_MEMBER, {"member": "m-1", "partitions": 3}
    ),
    "one of two hangs": Case(
        reads(45.0, 0.0),
        contract.SLOW_MEMBER,
        {"member": "m-1", "consume_rate": 0.0, "stands_since": SINCE},
    ),
    "one cannot read what the other can, of more": Case(
        both(writes(15.0), reads(60.0, 32.0)),
        contract.SLOW_MEMBER,
        {"member": "m-1"},
        minutes=60,
    ),
    "a record is stuck": Case(
        sticks, contract.STUCK_RECORD, {"topic": "orders", "partition": 2, "partitions_moving": 5}
    ),
    "two partitions are out of step": Case(out_of_step(3), contract.UNAVAILABLE),
    "retention deletes what is read a little later": Case(
        deletes,
        contract.RETENTION_RACE,
        minutes=12,
        made=partial(two_members, commit_every=24),
    ),
    "the same, of one that was never read, too": Case(
        deletes,
        contract.UNEXPLAINED,
        minutes=12,
        before=sticks,
        made=partial(two_members, commit_every=24),
    ),
    "a transaction is open": Case(
        opens, contract.OPEN_TRANSACTION, {"topic": "orders", "partition": 2}, TROUBLE + 5
    ),
    "a transaction is open beside a slow partition": Case(
        both(opens, slows(p3=3.0)), contract.OPEN_TRANSACTION, {"partition": 2}, TROUBLE + 20
    ),
    "offsets are set back": Case(moves(-4_000), contract.OFFSETS_RESET, {}, TROUBLE + 3),
    "two of four are slow": Case(
        reads(45.0, 5.0, 45.0, 5.0),
        contract.SLOW_MEMBERS,
        {"members_behind": 2, "members_read": 4, "hosts": "m-1, m-3"},
        before=reads(45.0, 45.0, 45.0, 45.0),
        made=partial(two_members, 8),
    ),
    "one of two is slow beside a hot partition": Case(
        both(writes(8, 8, 40, 8, 8, 8), reads(30.0, 10.0)),
        contract.HOT_PARTITION,
        {"partition": 2, "key_skew": True},
        before=writes(8, 8, 8, 8, 8, 8),
    ),
    "a record is stuck while all read less": Case(
        both(sticks, reads(20.0, 20.0)),
        contract.CAPACITY_FELL,
        {},
        40,
        made=partial(two_members, 8),
    ),
    "a broker slows one group alone": Case(limits, contract.UNEXPLAINED, {}),
    "one of two topics grows": Case(
        lambda cluster: cluster.topics[1].rates.fill(40.0),
        contract.MORE_PRODUCED,
        {"topic": "invoices", "topic_rate_before": pytest.approx(30, rel=0.1)},
        made=two_topics,
    ),
    "retention is lowered": Case(
        keeps_briefly,
        contract.SETTINGS_CHANGED,
        {"topic": "orders", "was": 7 * 86_400_000, "now": 90_000, "setting": "retention_ms"},
        minutes=12,
        made=partial(two_members, commit_every=24),
    ),
    "partitions are added": Case(
        lambda cluster: cluster.topics[0].there.fill(True),
        contract.SETTINGS_CHANGED,
        {"was": 6, "now": 8, "setting": "partitions"},
        made=two_partitions_later,
    ),
    "partitions are added while one of two is slow": Case(
        both(lambda cluster: cluster.topics[0].there.fill(True), reads(45.0, 8.0)),
        contract.SETTINGS_CHANGED,
        {"now": 8, "partitions_behind": 2},
        made=two_partitions_later,
    ),
    "replicas move": Case(
        moves_replicas, contract.SETTINGS_CHANGED, {"was": [1, 2, 3], "setting": "replicas"}
    ),
    "the topic is recreated": Case(
        lambda cluster: cluster.topics[0].recreate(),
        contract.OFFSETS_RESET,
        {"topic_was": contract.MADE_ANEW},
        TROUBLE + 3,
    ),
    "the log is cut": Case(
        is_cut, contract.OFFSETS_RESET, {"topic_was": contract.CUT}, TROUBLE + 3
    ),
    "it has read too slowly from the first run on": Case(
        lambda _: None,
        contract.UNEXPLAINED,
        before=both(reads(9.0), has_more),
        made=partial(two_members, 1),
    ),
}


LASTS: dict[str, Any] = {"minutes": TROUBLE + 40, "later": contract.CATCHING_UP}
# A cause, what brings it about, and what ends it.
ENDS = {
    "all read less, for a time": Case(
        reads(5.0, 5.0), contract.CAPACITY_FELL, end=reads(36.0, 36.0), **LASTS
    ),
    "more is written, for a time": Case(
        writes(30.0), contract.MORE_PRODUCED, end=writes(10.0), **LASTS
    ),
    "one of two is slow, for a time": Case(
        reads(45.0, 5.0), contract.SLOW_MEMBER, end=reads(45.0, 40.0), **LASTS
    ),
    "all hang, for a time": Case(reads(0.0, 0.0), contract.HUNG, end=reads(36.0, 36.0), **LASTS),
    "one has left, for a time": Case(
        reads(26.0), contract.TOO_FEW_MEMBERS, end=reads(45.0, 45.0), **LASTS
    ),
    "a leader is missing, for a time": Case(
        loses_leader(2),
        contract.UNAVAILABLE,
        end=lambda cluster: cluster.topics[0].has_leader.fill(True),
        minutes=TROUBLE + 40,
    ),
    "a transaction is open, for a time": Case(
        opens,
        contract.OPEN_TRANSACTION,
        end=lambda cluster: cluster.topics[0].stable.fill(np.inf),
        **LASTS,
    ),
    "records are deleted, for a time": Case(
        both(deletes, lambda cluster: setattr(cluster.groups[0], "commit_every", 24)),
        contract.RETENTION_RACE,
        end=both(
            lambda cluster: setattr(cluster.topics[0], "kept_seconds", None),
            lambda cluster: setattr(cluster.groups[0], "commit_every", 1),
        ),
        minutes=TROUBLE + 40,
    ),
}


def falls_short(speed: float) -> Acts:
    """One of two leaves as a little more is written."""
    return {0: reads(speed, speed), TROUBLE: both(writes(11.8), reads(speed))}


def is_set_back(cluster: World) -> None:
    """Partitions to which nothing is written are not read again."""
    cluster.groups[0].position[4:] = 100.0
    cluster.groups[0].stuck.update({4: 100.0, 5: 100.0})


# Events that happen to two members, by minute, and the number of runs.
SERIES: Mapping[str, tuple[Acts, int]] = {
    "out of step, and others too": ({TROUBLE: out_of_step(1)}, MINUTES),
    "set ahead": ({TROUBLE: moves(10_000)}, TROUBLE + 4),
    "away, then back": ({TROUBLE: reads(), TROUBLE + 14: reads(135.0, 135.0)}, 40),
    "away, then too slow": ({TROUBLE: reads(), TROUBLE + 14: reads(5.0, 5.0)}, 40),
    "slow, away, and slow again": (
        {TROUBLE: reads(12.0, 12.0), TROUBLE + 20: reads(), TROUBLE + 32: reads(12.0, 12.0)},
        TROUBLE + 50,
    ),
    "slow, then more is written": (
        {TROUBLE: reads(12.0, 12.0), TROUBLE + 20: writes(15.0)},
        40,
    ),
    "slow, then away": ({TROUBLE: reads(12.0, 12.0), TROUBLE + 20: reads()}, 40),
    "deleted before a commit": (
        {TROUBLE: both(deletes, lambda cluster: setattr(cluster.groups[0], "commit_every", 24))},
        20,
    ),
    "all hang, and two have no owner": (
        {TROUBLE: both(reads(0.0, 0.0), lambda cluster: cluster.groups[0].blind.update({4, 5}))},
        MINUTES,
    ),
    "a flood, then slow": (
        {
            0: reads(400.0, 400.0),
            TROUBLE: writes(60.0),
            TROUBLE + 5: writes(10.0),
            TROUBLE + 25: reads(12.0, 12.0),
        },
        TROUBLE + 50,
    ),
    "idle and set back": (
        {0: writes(10, 10, 10, 10, 0, 0), TROUBLE: is_set_back},
        MINUTES,
    ),
    "as many as before would do": (falls_short(42.0), 60),
    "as many as before would not do": (falls_short(33.0), 60),
    "much at first": ({0: both(writes(100.0), reads(900.0, 900.0)), 2: writes(10.0)}, 40),
    "much, kept up with, then slow": (
        {0: reads(200.0, 200.0), TROUBLE: writes(50.0), TROUBLE + 14: reads(60.0, 60.0)},
        46,
    ),
}


def act_in(part: World, act: Act) -> None:
    """Members have names of their own in the whole cluster."""
    act(part)
    (group,) = part.groups
    speeds = group.speed.items()
    group.speed = {f"{name.partition(' ')[0]} of {group.name}": speed for name, speed in speeds}


@cache
def together() -> list[Snapshot]:
    """All runs of a cluster in which all cases happen, to a group, topics and brokers of its own.

    Each run costs as much as one with a single group.
    """
    parts, limits = dict[str, World](), dict[int, float]()
    acts = {name: each.acts for name, each in {**CASES, **ENDS}.items()}
    acts |= {name: each for name, (each, _) in SERIES.items()}
    for number, name in enumerate(acts):
        case = {**CASES, **ENDS}.get(name)
        parts[name] = part = case.made() if case else two_members()
        part.groups[0].name, part.broker_limit = name, limits
        act_in(part, case.before if case else lambda _: None)
        for topic in part.topics:
            topic.name, topic.leaders = f"{topic.name} of {name}", topic.leaders + 10 * number
    whole = World(
        [topic for part in parts.values() for topic in part.topics],
        [part.groups[0] for part in parts.values()],
        np.random.default_rng(7),
        limits,
    )

    def change(_: World, minute: int) -> None:
        for name, part in parts.items():
            act_in(part, acts[name].get(minute, lambda _: None))

    return list(run_minutes(whole, 60, change))


def minutes_of(name: str) -> int:
    return {**CASES, **ENDS}[name].minutes


@cache
def planted(name: str) -> list[Snapshot]:
    """All runs of a case, as if it had been alone."""
    own = f" of {name}"

    def rename(word: Any) -> Any:
        return "billing" if word == name else _without(own, word)

    def cut(frame: Frame, key: str) -> Frame:
        words = frame.strings(key)
        mine = frame.where(words.is_in(w for w in words.categories if w == name or own in w))
        texts = {k: each for k, each in mine.columns.items() if isinstance(each, Strings)}
        renamed = {k: tuple(map(rename, each.categories)) for k, each in texts.items()}
        return mine.with_columns(**{k: Strings(texts[k].codes, renamed[k]) for k in texts})

    return [
        Snapshot(
            each.taken_at,
            cut(each.topic_partitions, "topic"),
            cut(each.group_partitions, "consumer_group"),
            cut(each.groups, "consumer_group"),
        )
        for each in together()[: SERIES[name][1] if name in SERIES else minutes_of(name)]
    ]


def _without(own: str, word: Any) -> Any:
    return word.replace(own, "") if isinstance(word, str) else word


def named(name: str) -> Snapshot:
    """The first run that names the cause of a case."""
    return next(each for each in planted(name) if row(each)["cause"] is not None)


@pytest.mark.parametrize("name", CASES)
def test_what_was_planted_is_named_with_its_evidence(name: str) -> None:
    case, last = CASES[name], planted(name)[-1]
    assert row(last)["cause"] == case.cause
    if case.cause is not None:
        found = evidence(last)
        assert {each: found.get(each) for each in case.evidence} == case.evidence


def test_the_numbers_of_the_evidence_are_those_of_the_trouble() -> None:
    more, less = (
        evidence(named(name)) for name in ("six times as much is written", "all read less")
    )
    hot, back, both = (
        evidence(planted(name)[-1])
        for name in (
            "most keys go to one partition",
            "offsets are set back",
            "a record is stuck while all read less",
        )
    )
    slow = evidence(planted("one of two is slow beside a hot partition")[-1])["also"]
    recreated = evidence(planted("the topic is recreated")[-1])
    last = planted("a record is stuck")[-1]
    commits = last.group_partitions.numbers("committed_offset").to_list()

    assert more["produce_rate"] == pytest.approx(360, rel=0.25)
    assert less["consume_rate"] < less["consume_rate_before"]
    assert hot["produce_rate"] > 10 * hot["produce_rate_of_others"]
    assert back["rewound_from"] > back["committed_offset"]
    assert recreated["committed_offset"] > recreated["end_offset"]
    assert evidence(last)["offset"] == commits[2]
    assert (both["also"]["cause"], both["also"]["partition"]) == (contract.STUCK_RECORD, 2)
    assert (slow["cause"], slow["member"]) == (contract.SLOW_MEMBER, "m-1")
    assert evidence(named("retention deletes what is read a little later"))["records_lost"] > 0


def test_a_cause_has_the_beginning_of_the_trouble() -> None:
    written = row(planted("six times as much is written")[-1])["cause_since"]

    assert written == pytest.approx(BEGIN + TROUBLE * MINUTE, abs=3 * MINUTE)
    # Status, cause and incident have one beginning.
    last = planted("a record is stuck")[-1]
    stuck = row(last)
    assert stuck["cause_since"] == stuck["incident_since"] == stuck["worst_status_since"]
    assert evidence(last)["stuck_since"] == SINCE


def test_what_a_group_is_compared_with_is_not_learnt_while_it_is_behind() -> None:
    groups = planted("six times as much is written")[-1].groups

    assert groups.numbers("kept_up_produce_rate").to_list() == [pytest.approx(60, rel=0.15)]
    assert groups.numbers("kept_up_at").to_list()[0] < BEGIN + (TROUBLE + 4) * MINUTE


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("out of step, and others too", contract.UNAVAILABLE),
        ("set ahead", None),
        ("all hang, and two have no owner", contract.HUNG),
    ],
)
def test_what_does_not_explain_it_is_not_named(name: str, cause: str | None) -> None:
    last = planted(name)[-1]

    assert row(last)["cause"] != cause
    assert "topic_was" not in evidence(last)


def test_new_partitions_that_are_read_slowly_are_not_without_a_reader() -> None:
    def adds(cluster: World) -> None:
        cluster.topics[0].there.fill(True)
        cluster.groups[0].blind = set()

    def waits(cluster: World) -> None:
        cluster.groups[0].state = "PreparingRebalance"

    acts = {TROUBLE: both(adds, reads(10.0, 10.0)), TROUBLE + 26: waits}
    runs = run(two_partitions_later(), acts, TROUBLE + 30)

    assert row(runs[-1])["status"] == contract.WARN
    assert contract.SETTINGS_CHANGED not in causes_of(runs)


def test_a_group_without_members_is_stopped_until_it_has_worked_off_its_backlog() -> None:
    runs = planted("away, then back")

    assert causes_of(runs) == {None, contract.STOPPED, contract.CATCHING_UP}
    assert row(runs[-1])["cause"] is None
    # An average would cover the time in which it read nothing.
    back = evidence(runs[TROUBLE + 16])
    assert back["consume_rate"] > 3 * back["produce_rate"]


def test_a_group_that_reads_again_and_too_slowly_is_not_said_to_have_stopped() -> None:
    runs = planted("away, then too slow")
    stopped = [each for each in runs if row(each)["worst_status"] == contract.STOPPED]
    slow = [each for each in runs[TROUBLE + 14 :] if row(each)["status"] == contract.WARN]

    assert causes_of(stopped) == {contract.STOPPED}
    assert contract.STOPPED not in causes_of(slow)
    # Nor to have been slow before it stopped.
    assert {row(each)["worst_status_since"] for each in slow} == {row(slow[0])["taken_at"]}


@pytest.mark.parametrize("is_read", [True, False])
def test_rebalances_without_end_are_the_cause_though_something_is_read_between_them(
    is_read: bool,
) -> None:
    cluster = two_members()
    group = cluster.groups[0]

    def change(_: World, minute: int) -> Callable[[int], None] | None:
        if minute < TROUBLE:
            return None
        group.generation += 1

        def step(number: int) -> None:
            group.rebalancing = number < 5 or not is_read

        return step

    last = list(run_minutes(cluster, MINUTES, change))[-1]

    assert row(last)["cause"] == contract.REBALANCES
    assert (evidence(last)["consume_rate"] > 0) is is_read


@pytest.mark.parametrize(
    ("every", "cause"),
    [(2, contract.REBALANCES), (3, contract.UNEXPLAINED), (4, contract.CAPACITY_FELL)],
)
def test_rebalances_are_a_cause_or_hide_one_by_how_many_readings_see_them(
    every: int, cause: str
) -> None:
    cluster = two_members()

    def change(_: World, minute: int) -> None:
        if minute == TROUBLE:
            reads(12.0, 12.0)(cluster)
        cluster.groups[0].generation += minute >= TROUBLE and minute % every == 0

    assert row(list(run_minutes(cluster, 36, change))[-1])["cause"] == cause


@pytest.mark.parametrize(("epochs", "is_named"), [(1, True), (0, False)])
def test_a_rebalance_that_members_read_on_in_is_not_one_after_another(
    epochs: int, is_named: bool
) -> None:
    cluster = two_members()
    group = cluster.groups[0]
    group.epoch = 3

    def change(_: World, minute: int) -> None:
        if minute >= TROUBLE:
            group.state = "Reconciling"
            group.epoch = (group.epoch or 0) + epochs
            reads(12.0, 12.0)(cluster)

    last = list(run_minutes(cluster, MINUTES, change))[-1]

    assert row(last)["status"] == contract.WARN
    assert (row(last)["cause"] == contract.REBALANCES) is is_named


@pytest.mark.parametrize(
    ("restarts", "name"),
    [
        pytest.param((1, 2), contract.MAINTENANCE, id="one after another"),
        pytest.param((2, 2), contract.REBALANCES, id="one broker alone"),
    ],
)
def test_a_reset_is_named_though_the_group_rebalances_while_brokers_restart(
    restarts: tuple[int, int], name: str
) -> None:
    cluster = two_members()
    group, (first, second) = cluster.groups[0], restarts

    def change(_: World, minute: int) -> None:
        down = {TROUBLE: {first}, TROUBLE + 4: {second}}
        cluster.down = down.get(minute // 2 * 2, set())
        group.generation += minute >= TROUBLE
        if minute == TROUBLE:
            reads(12.0, 12.0)(cluster)
        if minute == TROUBLE + 20:
            moves(-20_000)(cluster)

    runs = list(run_minutes(cluster, TROUBLE + 24, change))

    assert row(runs[TROUBLE + 19])["cause"] == name
    assert row(runs[TROUBLE + 22])["cause"] == contract.OFFSETS_RESET


@pytest.mark.parametrize(
    ("slow_at", "members_change", "name"),
    [
        pytest.param(21, False, contract.MAINTENANCE, id="while brokers restart"),
        pytest.param(21, True, contract.CAPACITY_FELL, id="after a release"),
        pytest.param(32, False, contract.CAPACITY_FELL, id="after the last restart"),
    ],
)
def test_a_group_is_slow_because_brokers_restart(
    slow_at: int, members_change: bool, name: str
) -> None:
    cluster = two_members()

    def change(_: World, minute: int) -> None:
        cluster.down = {1} if minute == 20 else {2} if minute == 29 else set()
        cluster.groups[0].generation += minute == slow_at and members_change
        if minute == slow_at:
            reads(8.0, 8.0)(cluster)

    causes = [row(each)["cause"] for each in run_minutes(cluster, slow_at + 16, change)]

    assert next(each for each in causes if each) == name


def test_maintenance_is_over_once_nothing_points_at_brokers() -> None:
    cluster = two_members()

    def change(_: World, minute: int) -> None:
        is_second = TROUBLE + 14 <= minute < TROUBLE + 20
        cluster.down = {1} if minute == TROUBLE else {2} if is_second else set()
        cluster.topics[0].has_leader[[1, 4]] = not is_second
        if minute == TROUBLE:
            reads(8.0, 8.0)(cluster)

    runs = list(run_minutes(cluster, TROUBLE + 38, change))

    assert row(runs[TROUBLE + 19])["cause"] == contract.MAINTENANCE
    assert row(runs[-1])["cause"] == contract.CAPACITY_FELL


def test_a_group_that_has_read_nothing_since_it_was_first_seen_did_not_read_more_before() -> None:
    cluster = two_members()
    runs = run(cluster, {0: writes(0.2), 1: reads(0.0, 0.0)})

    assert row(runs[-1])["status"] == contract.ERR
    assert causes_of(runs) <= {None, contract.UNEXPLAINED, contract.HUNG}


@pytest.mark.parametrize(("first", "second"), [(0, 4), (4, 0)])
def test_of_partitions_without_a_leader_the_first_to_lose_it_is_named(
    first: int, second: int
) -> None:
    acts = {TROUBLE: loses_leader(first), TROUBLE + 4: loses_leader(second)}
    runs = run(two_members(), acts, TROUBLE + 10)

    assert [row(each)["cause"] for each in runs[TROUBLE : TROUBLE + 2]] == [
        None,
        contract.UNAVAILABLE,
    ]
    assert row(runs[-1])["cause"] == contract.UNAVAILABLE
    assert evidence(runs[-1])["partitions_without_leader"] == 2
    assert evidence(runs[-1])["partition"] == first
    assert evidence(runs[-1])["last_read_at"] == pytest.approx(
        BEGIN + TROUBLE * MINUTE, abs=2 * MINUTE
    )


@pytest.mark.parametrize(
    ("groups", "partitions", "is_named"),
    [(2, 6, True), (1, 6, False), (2, 3, False)],
    ids=["two", "one", "on-two-partitions"],
)
def test_a_broker_is_blamed_by_two_groups_on_three_partitions(
    groups: int, partitions: int, is_named: bool
) -> None:
    last = run(several_groups(groups, partitions), {TROUBLE: limits})[-1]

    causes = {row(last, f"g-{each}")["cause"] for each in range(groups)}
    assert (causes == {contract.SLOW_BROKER}) is is_named


@pytest.mark.parametrize(
    ("groups", "minute", "is_named"),
    [(3, TROUBLE + 6, True), (2, TROUBLE + 6, True), (3, TROUBLE, False)],
)
def test_a_group_that_hangs_after_it_was_behind_under_a_slow_broker_owes_it_to_that(
    groups: int, minute: int, is_named: bool
) -> None:
    def hangs(cluster: World) -> None:
        cluster.groups[0].speed = dict.fromkeys(cluster.groups[0].speed, 0.0)

    acts = {TROUBLE: limits, minute: both(limits, hangs)}
    last = run(several_groups(groups), acts)[-1]

    assert row(last, "g-1")["cause"] == contract.SLOW_BROKER
    assert (row(last, "g-0")["cause"] == contract.SLOW_BROKER) is is_named


def test_what_is_deleted_of_a_group_that_commits_nothing_is_no_race() -> None:
    runs = run(two_members(commit_every=100_000), {0: keeps_briefly}, 8)

    assert row(runs[-1])["status"] == contract.ERR
    assert contract.RETENTION_RACE not in causes_of(runs)


@pytest.mark.parametrize("name", ENDS)
def test_a_cause_ends_with_its_own_proof(name: str) -> None:
    cause, later, runs = ENDS[name].cause, ENDS[name].later, planted(name)
    after = runs[TROUBLE + 21 :]

    assert cause in causes_of(runs[: TROUBLE + 20])
    assert causes_of(after[9:]) <= {None, later}
    assert later in causes_of(after)
    if later == contract.CATCHING_UP:
        found = next(evidence(each) for each in after if row(each)["cause"] == later)
        assert found["after"] == cause
        assert found["over_at"] == pytest.approx(BEGIN + (TROUBLE + 20) * MINUTE, abs=10 * MINUTE)


def test_a_cause_that_was_there_before_another_one_comes_back() -> None:
    runs = planted("slow, away, and slow again")
    first, last = runs[TROUBLE + 19], runs[-1]

    assert row(runs[TROUBLE + 31])["cause"] == contract.STOPPED
    assert row(first)["cause"] == row(last)["cause"] == contract.CAPACITY_FELL
    assert row(first)["cause_since"] <= row(last)["cause_since"]
    assert row(last)["cause_since"] <= row(last)["incident_since"]


def test_the_numbers_of_a_cause_are_of_now_or_have_their_time() -> None:
    grown = planted("slow, then more is written")[-14:]
    rates = [evidence(each)["produce_rate"] for each in grown]
    runs = [each for each in planted("deleted before a commit") if row(each)["cause"] is not None]
    found = [(evidence(each), row(each)["taken_at"]) for each in runs]

    assert (rates[0], rates[-1]) == (pytest.approx(60, rel=0.1), pytest.approx(90, rel=0.1))
    assert {numbers.get("as_of", at) <= at for numbers, at in found} == {True}
    assert {"as_of" in numbers for numbers, _ in found} == {True, False}


def test_a_flood_is_not_what_a_group_is_compared_with() -> None:
    last = planted("a flood, then slow")[-1]

    assert row(last)["cause"] == contract.CAPACITY_FELL
    assert evidence(last)["consume_rate_before"] == pytest.approx(60, rel=0.15)


def test_a_cause_by_rates_gives_way_to_one_that_is_proven_later() -> None:
    runs = planted("slow, then away")

    assert row(runs[TROUBLE + 19])["cause"] == contract.CAPACITY_FELL
    assert row(runs[-1])["cause"] == contract.STOPPED


def test_names_in_the_evidence_are_cut() -> None:
    cluster, long = two_members(), "m-1" + "x" * 1_000
    cluster.groups[0].speed = {"m-0": 45.0, long: 45.0}
    acts: Acts = {TROUBLE: lambda _: cluster.groups[0].speed.update({long: 8.0})}

    assert len(evidence(run(cluster, acts)[-1])["member"]) == 200


@pytest.mark.parametrize(
    ("name", "is_named"),
    [("as many as before would do", True), ("as many as before would not do", False)],
)
def test_members_are_missing_though_more_is_written_where_as_many_as_before_would_do(
    name: str, is_named: bool
) -> None:
    assert (contract.TOO_FEW_MEMBERS in causes_of(planted(name))) is is_named


def test_the_first_rate_that_is_seen_of_a_group_does_not_count_for_hours() -> None:
    last = planted("much at first")[-1]

    assert last.groups.numbers("kept_up_produce_rate").to_list()[0] < 400


@pytest.mark.parametrize(
    ("epoch", "back", "is_named"),
    [
        pytest.param(0, 1_500, False, id="read-again"),
        pytest.param(None, 1_500, True, id="set-without-an-epoch"),
        pytest.param(0, 9_000, True, id="far"),
    ],
)
def test_what_new_owners_read_again_after_a_rebalance_was_set_back_by_nobody(
    epoch: int | None, back: int, is_named: bool
) -> None:
    def rebalances(cluster: World) -> None:
        cluster.groups[0].generation += 1
        cluster.groups[0].commit_epoch = epoch

    acts = {TROUBLE: both(moves(-back), rebalances)}
    runs = run(two_members(commit_epoch=0), acts, TROUBLE + 6)

    assert (contract.OFFSETS_RESET in causes_of(runs)) is is_named


def test_what_changed_while_nobody_looked_is_not_known_by_rates() -> None:
    away = range(TROUBLE, TROUBLE + 6)
    runs = run(two_members(), {TROUBLE: reads(12.0, 12.0)}, unseen=away)

    assert row(runs[-1])["status"] == contract.WARN
    assert causes_of(runs) == {None, contract.UNEXPLAINED}


def test_nothing_is_named_in_the_first_run_after_a_long_time_without_one() -> None:
    cluster = two_members()
    cluster.topics[0].end += 100_000
    cluster.groups[0].position += 100_000

    def act(_: World) -> None:
        cluster.groups[0].position -= 50_000

    away = range(TROUBLE, TROUBLE + 20)
    first, second, *_ = run(cluster, {TROUBLE: act}, 30, unseen=away)[TROUBLE:]

    assert (row(first)["status"], row(first)["cause"]) == (contract.ERR, None)
    assert row(second)["cause"] == contract.OFFSETS_RESET


def test_a_group_that_kept_up_with_many_times_as_much_is_compared_with_that() -> None:
    last = planted("much, kept up with, then slow")[-1]

    assert row(last)["cause"] == contract.CAPACITY_FELL


def test_the_only_leader_of_what_is_behind_is_named_while_it_is_known() -> None:
    """Two partitions lose their leader in minute 20; one run later they are unavailable."""
    runs = run(two_members(), {TROUBLE: limits, 20: loses_leader(1, 4)}, 21)
    assert [row(each)["cause"] for each in runs[-2:]] == [contract.UNEXPLAINED] * 2
    assert [evidence(each).get("broker") for each in runs[-2:]] == [2, None]
