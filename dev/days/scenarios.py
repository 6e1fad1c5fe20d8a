# SPDX-License-Identifier: Apache-2.0
"""Days with a known truth, apart and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dev.days.describe import (
    Absent,
    Day,
    Event,
    Group,
    Hidden,
    Lead,
    Member,
    Missing,
    NullColumns,
    Partition,
    Rebalance,
    Rewind,
    Rows,
    Slow,
    Span,
    Topic,
    Unread,
)
from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName, Rules

CLUSTER = "truth"
RACKS = {1: "use1-az1", 2: "use1-az2", 3: "use1-az3"}


def a_topic(name: str, rates: Sequence[float], **more: Any) -> Topic:
    """Its partitions have these rates and are led by brokers 1, 2, 3, 1, 2, …"""
    brokers = sorted(RACKS)
    partitions = tuple(
        Partition(rate=rate, leader=brokers[number % len(brokers)])
        for number, rate in enumerate(rates)
    )
    return Topic(**{"name": name, "topic_id": f"id-{name}", "partitions": partitions, **more})


def a_group(name: str, *topics: str, members: int = 2, **more: Any) -> Group:
    """A group with so many members; several may share a host."""
    return Group(name=name, topics=topics, members=some_members(name, members), **more)


def some_members(group: str, count: int) -> tuple[Member, ...]:
    """Members as clients name themselves."""
    return tuple(
        Member(
            member_id=f"{group}-{number}-6f9619ff-8b86-d011-b42d-{number:012d}",
            client_id=f"{group}-{number}",
            client_host=f"/10.0.{number // 2}.{17 + len(group)}",
        )
        for number in range(count)
    )


def a_day(topics: Sequence[Topic], groups: Sequence[Group], *events: Event, **more: Any) -> Day:
    """A day of the cluster `truth` on three brokers."""
    usual = {"cluster": CLUSTER, "racks": RACKS, **more}
    return Day(topics=tuple(topics), groups=tuple(groups), events=events, **usual)


def merged(*days: Day) -> Day:
    """All of them in one cluster, the first's; topics and groups must have different names."""
    rules = [day.rules for day in days]
    return Day(
        cluster=days[0].cluster,
        racks={broker: rack for day in days for broker, rack in day.racks.items()},
        topics=tuple(topic for day in days for topic in day.topics),
        groups=tuple(group for day in days for group in day.groups),
        events=tuple(event for day in days for event in day.events),
        rules=Rules(
            owners=ByName(tuple(c for rule in rules for c in rule.owners.choices)),
            sla_seconds=ByName(tuple(c for rule in rules for c in rule.sla_seconds.choices)),
            allowed_lag=ByName(tuple(c for rule in rules for c in rule.allowed_lag.choices)),
        ),
    )


MORNING = Span(8, 14)
SLOW_BROKER = 2
SLOW_MEMBER = some_members("slow-member", 4)[1]
UNEXPLAINED = (1, 6, 11)
# Twelve partitions, led in turn by three brokers, so that four ranges of three have each broker.
_EVEN = [2.0] * 12


def production() -> Day:
    """`keys` gets 667, 166 and 167 of 1,000 records, and so does its lag in the morning."""
    return a_day(
        [a_topic("keys", [6.67, 1.66, 1.67])],
        [a_group("keyed", "keys", members=3)],
        Slow(when=MORNING, rows=Rows(group="keyed"), share=0.7),
    )


def broker() -> Day:
    """What SLOW_BROKER leads of two topics lags, whoever owns it."""
    return a_day(
        [a_topic("led-a", _EVEN), a_topic("led-b", _EVEN)],
        [a_group("slow-broker", "led-a", "led-b", members=4)],
        Slow(when=MORNING, rows=Rows(group="slow-broker", leader=SLOW_BROKER), share=0.4),
    )


def consumer() -> Day:
    """What SLOW_MEMBER owns lags, whoever leads it."""
    rows = Rows(group="slow-member", member=SLOW_MEMBER.member_id)
    return a_day(
        [a_topic("owned", _EVEN)],
        [a_group("slow-member", "owned", members=4)],
        Slow(when=MORNING, rows=rows, share=0.4),
    )


def unexplained() -> Day:
    """UNEXPLAINED partitions lag, of three leaders and three members."""
    return a_day(
        [a_topic("odd", _EVEN)],
        [a_group("odd-lag", "odd", members=4)],
        Slow(when=MORNING, rows=Rows(group="odd-lag", partitions=UNEXPLAINED), share=0.4),
    )


_HOUR = 3_600.0
LOST_FROM, LOST_UNTIL = 8.0, 15.0
STOPPED_FOR_RISK = 17.0
SLA_SECONDS, SLA_OWNER = 300.0, "payments team"
SLA_MISSED = Span(9, 11)


def retention() -> Day:
    """`lost` is away from 6 to 15 with two hours of retention, and so loses records from 8 on;
    `would-lose` stops at 17 with twelve hours, of which five are left at midnight; `safe` is safe.
    """
    return a_day(
        [
            a_topic("short", [3.0, 1.0], retention_seconds=2 * _HOUR),
            a_topic("half-day", [3.0, 1.0], retention_seconds=12 * _HOUR),
            a_topic("week", [3.0, 1.0]),
        ],
        [a_group("lost", "short"), a_group("would-lose", "half-day"), a_group("safe", "week")],
        Slow(when=Span(6, LOST_UNTIL), rows=Rows(group="lost")),
        Slow(when=Span(STOPPED_FOR_RISK), rows=Rows(group="would-lose")),
    )


def service_level() -> Day:
    """`promised` has an owner and an SLA, which it misses for a part of the day, unlike usual."""
    return a_day(
        [a_topic("payments", [2.0, 2.0])],
        [a_group("promised", "payments", usual=(40.0, 10.0))],
        Slow(when=SLA_MISSED, rows=Rows(group="promised", partitions=(0,))),
        rules=Rules(
            owners=ByName.of([("^promised$", SLA_OWNER)]),
            sla_seconds=ByName.of([("^promised$", SLA_SECONDS)]),
        ),
    )


def statuses() -> Day:
    """Groups that fall behind, stop, are away all day, and go back an hour."""
    names = ("falls-behind", "stops", "away", "goes-back")
    return a_day(
        [a_topic(f"of-{name}", [1.5]) for name in names],
        [a_group(name, f"of-{name}", members=1) for name in names],
        Slow(when=Span(5, 12), rows=Rows(group="falls-behind"), share=0.5),
        Absent(when=Span(10, 13), group="stops"),
        Absent(when=Span(-40), group="away"),
        Rewind(when=Span(18, 19), rows=Rows(group="goes-back"), seconds=_HOUR),
    )


NOON = 12.0
VISIT = Span(9, 10)
GONE_AT = 15.0


def partition_added() -> Day:
    """`grown` has two partitions until noon, then three."""
    topic = a_topic("grown", [1.0, 1.0])
    more = Partition(rate=4.0, leader=3, since=NOON)
    return a_day(
        [replace(topic, partitions=(*topic.partitions, more))], [a_group("of-grown", "grown")]
    )


def topic_recreated() -> Day:
    """`again` is deleted and made anew at noon: another id, offsets from 0."""
    old = a_topic("again", [2.0, 3.0], exists=Span(end=NOON))
    new: Topic = a_topic("again", [1.0, 5.0], exists=Span(NOON), topic_id="id-again-2")
    return a_day([old, new], [a_group("of-again", "again")])


def visitors() -> Day:
    """`visits` is there for an hour; `goes` lags and is deleted at 15:00."""
    return a_day(
        [a_topic("open", [1.0, 2.0])],
        [
            a_group("visits", "open", exists=VISIT),
            a_group("goes", "open", exists=Span(end=GONE_AT)),
        ],
        Slow(when=Span(14), rows=Rows(group="goes"), share=0.2),
    )


def rebalances() -> Day:
    """`restless` is rebalanced twice; each time partitions get other owners."""
    return a_day(
        [a_topic("dealt", [1.0] * 4)],
        [a_group("restless", "dealt", members=4)],
        Rebalance(when=Span(7, 7.5), group="restless"),
        Rebalance(when=Span(16, 16.5), group="restless", state="CompletingRebalance"),
    )


def leaders_moved() -> Day:
    """From 10 to 13 broker 3 leads what broker 1 leads of `moved`."""
    return a_day(
        [a_topic("moved", [1.0, 2.0, 3.0])],
        [a_group("of-moved", "moved")],
        Lead(when=Span(10, 13), broker=1, by=3, topic="moved"),
    )


MISSING = Span(4, 5)
SCRIPT = "<script>alert(1)</script>"
NAMES = (SCRIPT, 'it\'s "quoted", \\ and 100%', "grüße-日本語-🦄", "a,b;c\td=e&f?g#h")
ODD_CLUSTER = "blå & 1/2"
# Every row has these; the others may be null.
_KEYS = {"taken_at", "topic", "partition_id", "consumer_group"}


def unread() -> Day:
    """One group and topic for each `unread_reason`, each unread at another hour."""
    events: list[Event] = [
        Unread(when=Span(2, 3), reason=contract.DENIED, group="mute-group"),
        Unread(when=Span(13, 13.5), reason=contract.NO_COORDINATOR, group="mute-group"),
        Unread(when=Span(3, 4), reason=contract.TIMEOUT, group="mute-commits", topic="unread-a"),
        Unread(when=Span(6, 7), reason=contract.ERROR, topic="unread-a", partitions=(1,)),
        Lead(when=Span(8, 9), broker=2, by=None, topic="unread-a"),
        Hidden(when=Span(10, 11), topic="unread-b"),
        # Behind while it is unread, so that what is carried is not 0.
        Slow(when=Span(1, 12), rows=Rows(group="mute-commits"), share=0.6),
    ]
    return a_day(
        [a_topic("unread-a", [1.0, 2.0]), a_topic("unread-b", [1.0])],
        [a_group("mute-group", "unread-a"), a_group("mute-commits", "unread-a", "unread-b")],
        *events,
    )


def uncommitted() -> Day:
    """`shy` owns partitions that it never commits to; one of them is empty."""
    return a_day(
        [a_topic("half-read", [2.0, 2.0, 0.0])],
        [a_group("shy", "half-read", uncommitted=(("half-read", 1), ("half-read", 2)))],
    )


def unknown_settings() -> Day:
    """Configuration, topic id and leader unknown; unlimited and compacted; groups without lag."""
    compacted = a_topic(
        "compacted", [1.0], cleanup_policy="compact", timestamp_type="LogAppendTime"
    )
    nobody = Topic(name="leaderless", topic_id=None, partitions=(Partition(rate=1.0, leader=None),))
    names = ("secret", "forever", "compacted", "leaderless")
    return a_day(
        [
            a_topic("secret", [1.0], settings_known=False, topic_id=None),
            a_topic("forever", [1.0], retention_seconds=None),
            compacted,
            nobody,
        ],
        [
            a_group("of-unknown-settings", *names, group_type="consumer"),
            a_group("empty-handed", members=0, protocol=None),
            a_group("sharing", members=1, group_type=contract.UNSUPPORTED_GROUP_TYPES[0]),
        ],
        Slow(when=Span(3, 6), rows=Rows(group="of-unknown-settings")),
    )


def nulls() -> Day:
    """For an hour every column that may be null is null in the rows of `blank` and its group."""
    events = [
        NullColumns(when=Span(5, 6), dataset=dataset, columns=tuple(set(kinds) - _KEYS), name=name)
        for dataset, kinds in contract.COLUMNS.items()
        for name in ("blank", "of-blank")
    ]
    return a_day([a_topic("blank", [1.0, 2.0])], [a_group("of-blank", "blank")], *events)


def missing() -> Day:
    """An hour without runs, for all that is in the cluster."""
    return a_day([], [], Missing(when=MISSING))


def names() -> Day:
    """Each of NAMES is a topic and its group."""
    return a_day(
        [a_topic(name, [1.0, 3.0]) for name in NAMES],
        [a_group(name, name) for name in NAMES],
        *(Slow(when=Span(9, 10), rows=Rows(group=name, partitions=(1,))) for name in NAMES),
    )


# Every scenario that can be looked at alone.
SCENARIOS = {
    scenario.__name__: scenario
    for scenario in (
        production,
        broker,
        consumer,
        unexplained,
        retention,
        service_level,
        statuses,
        partition_added,
        topic_recreated,
        visitors,
        rebalances,
        leaders_moved,
        unread,
        uncommitted,
        unknown_settings,
        nulls,
        missing,
        names,
    )
}


def truth() -> Day:
    """All of them in one cluster."""
    return merged(*(scenario() for scenario in SCENARIOS.values()))


def odd_cluster() -> Day:
    """A cluster whose name is no folder's, with topics and groups of the other one."""
    return replace(merged(production(), names()), cluster=ODD_CLUSTER)


def older_version() -> Day:
    """Snapshots of schema version 1."""
    return replace(service_level(), cluster="older", schema_version="1")


def calm() -> Day:
    """A day on which nothing happens."""
    return a_day(
        [a_topic("calm", [1.0, 1.0, 1.0], swing=0.3)], [a_group("reads", "calm")], cluster="calm"
    )
