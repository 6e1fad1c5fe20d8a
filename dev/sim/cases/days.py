# SPDX-License-Identifier: Apache-2.0
"""Whole days of groups for the daily report, with events at given hours.

Most days have a topic `t` and a group `g`, which get the day's name if days share a cluster. Hours
before 0 belong to the day before; the collector saw its last four. The days are in `days.txt`:
verbs are functions of this module, and other statements are events or fields of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from dev.sim import events
from dev.sim.cases.text import read_sections, read_step, value_of
from dev.sim.events import Case, Event, Group, Topic

Happens: TypeAlias = tuple[tuple[float, Event], ...]

HOUR, MINUTE = 3_600.0, 1 / 60
# The world begins so many hours before midnight, and the collector's first run is later.
BEGIN, DEPLOYED = -6.0, -4.0
DAY = 24.0


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
    found += [(BEGIN * HOUR, events.Retain(topic, kept * HOUR)) for topic in topics if kept]
    groups = {"g": replace(group, **more), **groups}
    return Case(name, topics, groups, tuple(found), -BEGIN * HOUR, DAY * HOUR)


def away(begin: float, end: float | None = None, members: int = 2) -> Happens:
    """Returns events in which all members leave the group."""
    back = () if end is None else ((end, events.Join("g", members)),)
    return ((begin, events.Leave("g")), *back)


def hang(begin: float, end: float | None = None, *members: int, group: str = "g") -> Happens:
    """Returns an event in which all members, or some, stay and read nothing."""
    return ((begin, events.Hang(group, members or None, _seconds(begin, end))),)


def stick(begin: float, end: float, *partitions: int) -> Happens:
    """Returns events in which these partitions are not read, and others are."""
    lasts = _seconds(begin, end)
    return tuple((begin, events.Poison("g", number, lasts=lasts)) for number in partitions)


def slow(
    begin: float, end: float | None, share: float, *members: int, load: float | Sequence[float] = 2
) -> Happens:
    """Returns an event in which members read a share of the load of their partitions."""
    loads = (load,) if isinstance(load, int | float) else tuple(load)
    ms = tuple(1_000.0 / (share * each) for each in loads)
    lasts = _seconds(begin, end)
    return ((begin, events.Slow("g", ms[0] if len(ms) == 1 else ms, members or None, lasts=lasts)),)


def unread(begin: float, end: float | None, reason: str, **what: Any) -> Happens:
    """Returns an event in which brokers do not answer about the group, or about the named items."""
    what = what or {"group": "g"}
    return ((begin, events.Unread(reason, **what, lasts=_seconds(begin, end))),)


def replaced(first: float, every: float, times: int) -> Happens:
    """Returns events in which the last of four members is replaced every so often, in minutes."""
    hours = [first + turn * every * MINUTE for turn in range(times)]
    change = (events.Leave("g", (3,)), events.Join("g"))
    return tuple((hour, event) for hour in hours for event in change)


def _seconds(begin: float, end: float | None) -> float | None:
    return None if end is None else (end - begin) * HOUR


_VERBS: Mapping[str, Callable[..., Happens]] = {
    each.__name__: each for each in (away, hang, stick, slow, unread, replaced)
}


def _read(name: str, statements: Iterable[str]) -> Case:
    happens, more = list[Happens](), dict[str, Any]()
    for statement in statements:
        verb, arguments, options = read_step(statement)
        if verb in _VERBS:
            happens.append(_VERBS[verb](*arguments, **options))
        elif verb in ("group", "topic"):
            made = (Group if verb == "group" else Topic)(*arguments[1:], **options)
            more.setdefault(f"{verb}s", {})[arguments[0]] = made
        elif "=" in verb:
            more |= options
        else:
            event = getattr(events, arguments[0])(*arguments[1:], **options)
            happens.append(((value_of(verb), event),))
    return day(name, *happens, **more)


_ODD = (
    "<script>alert(1)</script>",
    'it\'s "quoted", \\ and 100%',
    "grüße-日本語-🦄",
    "a,b;c\td=e&f?g#h",
)
DAYS: Mapping[str, tuple[Case, ...]] = {
    **{
        section: tuple(_read(*one) for one in found)
        for section, found in read_sections("days.txt").items()
    },
    "NAMES": tuple(day(name, hang(9, 10, 1)) for name in _ODD),
}


def merge(name: str, days: Iterable[Case]) -> Case:
    """Returns one cluster of many days; the collector sees no run before it is deployed.

    A group `g` is named after its day, and everything else has the day's name before its own.
    """
    topics: dict[str, Topic] = {}
    groups: dict[str, Group] = {}
    happens: Happens = ((BEGIN * HOUR, events.MissRuns((DEPLOYED - BEGIN) * HOUR)),)
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


def _gather(*sections: str) -> tuple[Case, ...]:
    return tuple(case for section in sections for case in DAYS[section])


# Days that share a cluster; two clusters are simulated at once.
CLUSTERS = (
    _gather("STOPS", "BEHIND", "LOSSES", "OPERATORS"),
    _gather("STALLS", "PROMISES", "RISKS", "UNREAD", "BROKERS", "CALM", "NAMES"),
    DAYS["GAPS"],
    DAYS["SLOW_BROKER"],
)


def make_everything() -> Case:
    """Returns one cluster in which all goes wrong that a report knows."""
    stalls = (*DAYS["STALLS"][:3], *DAYS["STALLS"][8:], *DAYS["BEHIND"][2:])
    few = (*DAYS["STOPS"][:5], *stalls, *DAYS["PROMISES"][:2], *DAYS["LOSSES"][:3])
    rest = _gather("OPERATORS", "UNREAD", "BROKERS", "CALM", "NAMES")
    return merge("everything", (*few, *DAYS["RISKS"][:3], *rest, DAYS["GAPS"][0]))
