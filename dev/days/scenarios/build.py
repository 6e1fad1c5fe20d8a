# SPDX-License-Identifier: Apache-2.0
"""Topics, groups and whole days in a line each, with what is usual left unsaid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dev.days.describe import Day, Group, Member, Partition, Topic
from dev.days.events import Event
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
    told = {"cluster": CLUSTER, "racks": RACKS, **more}
    return Day(topics=tuple(topics), groups=tuple(groups), events=events, **told)


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
