# SPDX-License-Identifier: Apache-2.0
"""Whole days of groups for the daily report: what happens to them, at which hour.

Most days have a topic `t` and a group `g`, which get the day's name where days share a cluster.
Hours before 0 are of the day before, of which the collector saw the last four.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from dev.sim.events import (
    Case,
    Create,
    Delete,
    Event,
    Group,
    Grow,
    Hang,
    Hide,
    Join,
    Leave,
    LoseLeaders,
    MissRuns,
    MoveLeaders,
    Poison,
    Produce,
    Recreate,
    Reset,
    Retain,
    Skip,
    Slow,
    SlowBroker,
    Topic,
    Unread,
)
from kafka_lag import contract

Happens: TypeAlias = tuple[tuple[float, Event], ...]

HOUR, MINUTE = 3_600.0, 1 / 60
# The world begins so many hours before midnight, and the collector's first run is later.
BEGIN, DEPLOYED = -6.0, -4.0
DAY = 24.0
_ALWAYS = BEGIN


def day(name: str, *happens: Happens, rates: Sequence[float] = (2.0, 2.0), **more: Any) -> Case:
    """Returns a day of one topic, whose members read so many times as much as is written.

    `more` has other groups and topics by name, `pace`, and fields of the group and of the topic.
    `kept`: hours for which records are kept.
    """
    members = min(more.pop("members", 2), len(rates))
    pace, kept = more.pop("pace", 3.0), more.pop("kept", None)
    groups, topics = more.pop("groups", {}), more.pop("topics", {})
    of_topic = {each: more.pop(each) for each in ("noise", "wave_seconds") if each in more}
    load = max(sum(rates[member::members]) for member in range(members)) or 1.0
    group = Group("t", members, 1_000.0 / (pace * load), 10.0, rebalance_seconds=0.0)
    found = [(hour * HOUR, event) for each in happens for hour, event in each]
    topics = {"t": Topic(tuple(rates), **of_topic), **topics}
    found += [(BEGIN * HOUR, Retain(topic, kept * HOUR)) for topic in topics if kept]
    return Case(
        name,
        topics,
        {"g": replace(group, **more), **groups},
        tuple(found),
        warm_up=-BEGIN * HOUR,
        watched=DAY * HOUR,
    )


def away(begin: float, end: float | None = None, members: int = 2) -> Happens:
    """Nobody is in the group."""
    back = () if end is None else ((end, Join("g", members)),)
    return ((begin, Leave("g")), *back)


def hang(begin: float, end: float | None = None, *members: int, group: str = "g") -> Happens:
    """Members are there and read nothing: all, or some."""
    return ((begin, Hang(group, members or None, _seconds(begin, end))),)


def stick(begin: float, end: float, *partitions: int) -> Happens:
    """Partitions are not read, and others are."""
    lasts = _seconds(begin, end)
    return tuple((begin, Poison("g", number, lasts=lasts)) for number in partitions)


def slow(
    begin: float, end: float | None, share: float, *members: int, load: float | Sequence[float] = 2
) -> Happens:
    """Members read a share of what is written to what they own, in records/s."""
    loads = (load,) if isinstance(load, int | float) else tuple(load)
    ms = tuple(1_000.0 / (share * each) for each in loads)
    lasts = _seconds(begin, end)
    event = Slow("g", ms[0] if len(ms) == 1 else ms, members or None, lasts=lasts)
    return ((begin, event),)


def unread(begin: float, end: float | None, reason: str, **what: Any) -> Happens:
    """The group is not answered, or what is named instead."""
    what = what or {"group": "g"}
    return ((begin, Unread(reason, **what, lasts=_seconds(begin, end))),)


def replaced(hours: Iterable[float]) -> Happens:
    """The last member of four is replaced, again and again."""
    return tuple(each for hour in hours for each in ((hour, Leave("g", (3,))), (hour, Join("g"))))


def _seconds(begin: float, end: float | None) -> float | None:
    return None if end is None else (end - begin) * HOUR


_BESIDE = Group("t", 2, 100.0, 10.0, rebalance_seconds=0.0)
_EIGHT, _TWELVE = (2.0,) * 8, (2.0,) * 12

STOPS = (
    day("stop-morning", away(9, 11)),
    day("stop-overnight", away(-2.5, 2)),
    day("stop-evening", away(21.5)),
    day("stop-for-days", away(_ALWAYS)),
    day("stop-twice", away(3, 4), away(16, 17.5)),
    day("deploy-short", away(12, 12.1)),
    day("empty-and-idle", away(-3), rates=(0.0, 0.0)),
    day("stop-one-partition", away(13.25, 14.75, 1), rates=(5.0,)),
    day("away-past-midnight", away(-0.75, 0.5)),
    day("away-late", away(23.5), rates=(3.0,)),
    day("deploys-of-a-day", *(away(hour, hour + 2 * MINUTE) for hour in (9, 11, 15, 16, 22))),
    day("away-beside-another", away(10, 12.5), groups={"h": _BESIDE}),
    day("consumer-protocol", away(9, 10.5), protocol="consumer"),
)

STALLS = (
    day("stall-all", hang(10, 12)),
    day("stall-member", hang(8, 10.5, 1), rates=_EIGHT, members=4),
    day("stall-partition", stick(15, 17, 4), rates=(1.0,) * 6),
    day("stall-still", hang(20)),
    day("stall-overnight", hang(-1, 5)),
    day("stall-of-two", hang(8, 9.5, 0, 5), rates=(1.0,) * 12, members=6),
    day("stall-then-away", hang(6, 6.5), away(6.5, 10)),
    day(
        "stall-of-a-topic",
        stick(17, 19, 2, 3),
        topics={"u": Topic((2.0, 2.0))},
        more_topics=("u",),
        pace=6.0,
    ),
    day("stall-then-deleted", hang(10), ((13, Delete("g")),)),
    day("denied-amid-stall", hang(8, 14), unread(10, 10.75, contract.DENIED)),
    day("new-and-stalls", ((7, Create("g")),), hang(12, 14), rates=(4.0,)),
    day("stalls-that-overlap", hang(8, 10, 0), hang(9, 11, 2), rates=(1.5,) * 6, members=3),
)

BEHIND = (
    day("half-speed", slow(6, 9, 0.5)),
    day("third-speed-still", slow(19, None, 0.33, load=3), rates=(3.0,) * 3, members=3),
    day("slow-member-here", slow(8, 12, 0.4, 2, load=6), rates=_TWELVE, members=4),
    day(
        "keys-lopsided",
        slow(8, 12, 0.7, load=(6.67, 1.66, 1.67)),
        rates=(6.67, 1.66, 1.67),
        members=3,
    ),
    day("behind-to-midnight", slow(13, None, 0.6, load=3), rates=(3.0, 3.0)),
)

PROMISES = (
    day("sla-stalled", hang(9, 9.5), sla_seconds=300.0),
    day("sla-only", hang(14, 14.15), sla_seconds=60.0, pace=10.0),
    day("sla-met", sla_seconds=60.0),
    day("sla-late-still", away(22), rates=(2.0,), sla_seconds=120.0),
    day("sla-behind", slow(9, 11.5, 0.4, load=3), rates=(3.0, 3.0), sla_seconds=600.0),
)

LOSSES = (
    day("lost-away", away(4, 13, 1), rates=(4.0,), kept=2),
    day("lost-stalled", hang(6, 15), rates=(3.2, 0.8), kept=2),
    day("lost-twice", hang(2, 5), hang(14, 18), rates=(2.0,), kept=2),
    day("lost-still", away(18), rates=(2.0,), kept=2),
    day("lost-overnight", away(-2.75, 3, 1), rates=(2.0,), kept=2),
    day("lost-behind", slow(6, 12, 0.3, load=4), rates=(4.0,), kept=1, pace=1.5),
    day("lost-of-one", stick(5, 12, 2), rates=(2.0,) * 4, members=4, kept=3),
    day(
        "lost-of-two-topics",
        away(5, 10),
        rates=(3.0,),
        topics={"u": Topic((2.0, 2.0))},
        more_topics=("u",),
        members=1,
        pace=9.0,
        kept=2,
    ),
    day("lost-by-one-of-two", hang(6, 13), rates=(3.0,), kept=3, groups={"h": _BESIDE}),
)

RISKS = (
    day("risk-past", hang(8, 18), rates=(3.2, 0.8), kept=12),
    day("risk-still", hang(17), rates=(3.2, 0.8), kept=12),
    day("risk-absent", away(5, 9, 1), rates=(2.0,), kept=6),
    day("risk-of-size-none", away(12, 18, 1), rates=(2.0,), kept=8),
    day("kept-forever", away(3, 9, 1), rates=(2.0,), kept=np.inf),
)

OPERATORS = (
    day("rewound-hour", ((18, Reset("g", HOUR)),)),
    day("rewound-little", ((11, Reset("g", 900.0)),), rates=(10.0,)),
    day("skipped-ahead", hang(8, 11), ((11, Skip("g")),), rates=(150.0,)),
    day("skipped-six-hours", hang(5, 11), ((11, Skip("g")),), rates=(150.0,)),
    day(
        "storm",
        replaced(10 + number * 4 * MINUTE for number in range(30)),
        rates=(1.0,) * 4,
        members=4,
        rebalance_seconds=120.0,
    ),
    day("rebalanced-once", replaced([13]), rates=(1.0,) * 4, members=4, rebalance_seconds=180.0),
    day("group-deleted", slow(14, None, 0.2), ((15, Delete("g")),)),
    day("rewound-late", ((23, Reset("g", 4 * HOUR)),), rates=(5.0,)),
    day(
        "storm-of-an-hour",
        replaced(20 + number * 3 * MINUTE for number in range(20)),
        rates=(1.0,) * 4,
        members=4,
        rebalance_seconds=60.0,
    ),
    day("rebalance-without-end", ((10, Join("g")),), rebalance_seconds=1.5 * HOUR),
)

UNREAD = (
    day("denied-from-22", unread(22, None, contract.DENIED)),
    day("denied-all-day", unread(_ALWAYS, None, contract.DENIED)),
    day("denied-for-hours", unread(2, 5, contract.DENIED)),
    day("coordinator-slow", unread(3, 4.5, contract.NO_COORDINATOR)),
    day("topic-hidden", ((10, Hide("t", 2 * HOUR)),)),
    day("blip-unread", unread(7, 7.1, contract.TIMEOUT)),
    day("topic-recreated", ((12, Recreate("t")), (12, Reset("g"))), rates=(2.0, 3.0)),
    day("denied-until-six", unread(_ALWAYS, 6, contract.DENIED)),
    day("coordinator-away", unread(22.5, None, contract.NO_COORDINATOR)),
    day(
        "unread-one-of-six",
        unread(9, 11, contract.ERROR, topic="t", partitions=(3,)),
        rates=(2.0,) * 6,
    ),
    day(
        "commits-denied",
        unread(4, 6, contract.DENIED, group="g", topic="t"),
        groups={"h": _BESIDE},
    ),
    day("denied-twice", unread(3, 4, contract.DENIED), unread(15, 16, contract.DENIED)),
)

# Brokers lead partitions in turn, so that partition 1 is led by broker 2. What meets one broker
# at one time is one incident, whatever the topic.
BROKERS = (
    day("no-leader", ((11, LoseLeaders("t", (1, 4), HOUR / 3)),), rates=(2.0,) * 6),
    day("failover", ((2, MoveLeaders("t", 1, 3 * HOUR)),), rates=(2.0,) * 6),
    day("failover-for-good", ((16.5, MoveLeaders("t", 3)),), rates=(2.0,) * 9),
    day("leaderless-late", ((22.5, LoseLeaders("t", (0, 3))),), rates=(2.0,) * 6),
    day(
        "failover-in-part",
        ((10, MoveLeaders("t", 1, 3 * HOUR)), (10, MoveLeaders("u", 1))),
        rates=(2.0,) * 6,
        topics={"u": Topic((2.0,) * 3)},
        groups={"h": replace(_BESIDE, topic="u")},
    ),
    day(
        "leaderless-topic",
        ((7, LoseLeaders("t", (1,), HOUR)),),
        rates=(2.0,) * 3,
        topics={"u": Topic((2.0,) * 3)},
        groups={"h": replace(_BESIDE, topic="u")},
    ),
)

CALM = (
    day("calm-steady", wave_seconds=DAY * HOUR),
    day("calm-bursty", rates=(5.0, 5.0), noise=1.0),
    day("calm-batches", rates=(2.0,), commit_seconds=240.0),
    day("surge-kept-up", ((15, Produce("t", 5.0, lasts=HOUR)),), rates=(4.0, 4.0), pace=20.0),
    day("calm-by-day", rates=(3.0, 3.0), wave_seconds=DAY * HOUR),
    day("topic-grown", ((12, Grow("t", (2,))),), rates=(2.0, 2.0, 2.0)),
)

NAMES = tuple(
    day(name, hang(9, 10, 1))
    for name in (
        "<script>alert(1)</script>",
        'it\'s "quoted", \\ and 100%',
        "grüße-日本語-🦄",
        "a,b;c\td=e&f?g#h",
    )
)

# Of a broker that is slow for everybody.
SLOW_BROKER = (
    day(
        "slow-broker-two",
        ((9, SlowBroker(2, 0.6, 4 * HOUR)),),
        rates=(2.0,) * 6,
        slow_line=True,
        topics={"u": Topic((2.0,) * 6)},
        groups={"h": Group("u", 3, 80.0, 10.0, rebalance_seconds=0.0, slow_line=True)},
    ),
)

# Days on which the collector does not run for a time share a cluster.
GAPS = (
    day("runs-missing", ((4, MissRuns(HOUR)),)),
    day("stalled-before-a-gap", hang(2, 3), ((15, MissRuns(HOUR / 2)),)),
    # It comes back while nobody looks.
    day("back-amid-a-gap", away(6, 9), ((8.75, MissRuns(HOUR / 2)),)),
    day("collector-died", ((20, MissRuns(4 * HOUR)),)),
)


def merge(name: str, days: Iterable[Case]) -> Case:
    """Returns one cluster of many days, of which the collector sees nothing before it is deployed.

    A group `g` is named after its day, and everything else has the day's name before its own.
    """
    topics: dict[str, Topic] = {}
    groups: dict[str, Group] = {}
    happens: Happens = ((BEGIN * HOUR, MissRuns((DEPLOYED - BEGIN) * HOUR)),)
    for each in days:
        names = {other: f"{each.name}-{other}" for other in (*each.topics, *each.groups)}
        names["g"] = each.name
        topics |= {names[topic]: value for topic, value in each.topics.items()}
        for group, value in each.groups.items():
            more = tuple(names[topic] for topic in value.more_topics)
            groups[names[group]] = replace(value, topic=names[value.topic], more_topics=more)
        happens += tuple((second, _rename(event, names)) for second, event in each.happens)
    first = next(iter(days))
    return replace(first, name=name, topics=topics, groups=groups, happens=happens)


def _rename(event: Any, names: Mapping[str, str]) -> Any:
    fields = {each: getattr(event, each, None) for each in ("group", "topic")}
    return replace(event, **{each: names[name] for each, name in fields.items() if name})


# Days that share a cluster; two clusters are simulated at once.
FIRST = (*STOPS, *BEHIND, *LOSSES, *OPERATORS)
SECOND = (*STALLS, *PROMISES, *RISKS, *UNREAD, *BROKERS, *CALM, *NAMES)


def make_everything() -> Case:
    """Returns one cluster in which all goes wrong that a report knows."""
    few = (*STOPS[:5], *STALLS[:3], *STALLS[8:], *BEHIND[2:], *PROMISES[:2], *LOSSES[:3])
    days = (*few, *RISKS[:3], *OPERATORS, *UNREAD, *BROKERS, *CALM, *NAMES, GAPS[0])
    return merge("everything", days)
