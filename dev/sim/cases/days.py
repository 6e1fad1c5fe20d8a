# SPDX-License-Identifier: Apache-2.0
"""Whole days of groups for the daily report, with events at given hours.

Most days have a topic `t` and a group `g`, which get the day's name if days share a cluster. Hours
before 0 belong to the day before; the collector saw its last four. The days are in `days.txt`, as
`text` reads it, with fields of the group and of the topic as named values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from dev.sim import events
from dev.sim.cases.text import read_events, read_options, read_sections, read_step
from dev.sim.events import Case, Event, Group, Topic

Happens: TypeAlias = tuple[tuple[float, Event], ...]

HOUR = 3_600.0
# The world begins so many hours before midnight, and the collector's first run is later.
BEGIN, DEPLOYED = -6.0, -4.0
DAY = 24.0


def day(name: str, text: str) -> Case:
    """Returns a day of one topic, whose members read so many times as much as is written.

    The text may set `rates`, `pace`, and fields of the group and of the topic. `kept`: hours for
    which records are kept.
    """
    found, more = list[tuple[float, Event]](), dict[str, Any]()
    groups, topics = dict[str, Group](), dict[str, Topic]()
    for statement in filter(None, text.split("; ")):
        verb, arguments, options = read_step(statement)
        if verb == "group":
            groups[arguments[0]] = Group(*arguments[1:], **options)
        elif verb == "topic":
            topics[arguments[0]] = Topic(*arguments[1:], **options)
        elif "=" in verb:
            more |= read_options(statement)
        else:
            found += read_events(statement)
    rates, kept = more.pop("rates", (2.0, 2.0)), more.pop("kept", None)
    members = min(more.pop("members", 2), len(rates))
    of_topic = {each: more.pop(each) for each in ("noise", "wave_seconds") if each in more}
    load = max(sum(rates[member::members]) for member in range(members)) or 1.0
    ms = 1_000.0 / (more.pop("pace", 3.0) * load)
    group = replace(Group("t", members, ms, 10.0, rebalance_seconds=0.0), **more)
    topics = {"t": Topic(tuple(rates), **of_topic), **topics}
    found += [(BEGIN * HOUR, events.Retain(topic, kept * HOUR)) for topic in topics if kept]
    groups = {"g": group, **groups}
    return Case(name, topics, groups, tuple(found), -BEGIN * HOUR, DAY * HOUR)


_ODD = (
    "<script>alert(1)</script>",
    'it\'s "quoted", \\ and 100%',
    "grüße-日本語-🦄",
    "a,b;c\td=e&f?g#h",
)
DAYS: Mapping[str, tuple[Case, ...]] = {
    **{
        section: tuple(day(name, "; ".join(statements)) for name, statements in found)
        for section, found in read_sections("days.txt").items()
    },
    "NAMES": tuple(day(name, "9h Hang g 1, lasts=1h") for name in _ODD),
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
    fields = {each: getattr(event, each, None) for each in ("group", "topic", "to")}
    return replace(event, **{each: names[name] for each, name in fields.items() if name})


def _gather(*sections: str) -> tuple[Case, ...]:
    return tuple(case for section in sections for case in DAYS[section])


# Days that share a cluster; two clusters are simulated at once.
CLUSTERS = (
    _gather("STOPS", "BEHIND", "LOSSES", "OPERATORS"),
    _gather("STALLS", "PROMISES", "RISKS", "UNREAD", "BROKERS", "CALM", "NAMES"),
    DAYS["GAPS"],
    DAYS["SLOW_BROKER"],
    DAYS["UNSEEN"],
    *((each,) for each in DAYS["UNSEEN_GAPS"]),
)


def make_everything() -> Case:
    """Returns one cluster in which all goes wrong that a report knows."""
    stalls = (*DAYS["STALLS"][:3], *DAYS["STALLS"][8:], *DAYS["BEHIND"][2:])
    few = (*DAYS["STOPS"][:5], *stalls, *DAYS["PROMISES"][:2], *DAYS["LOSSES"][:3])
    rest = _gather("OPERATORS", "UNREAD", "BROKERS", "CALM", "NAMES")
    return merge("everything", (*few, *DAYS["RISKS"][:3], *rest, DAYS["GAPS"][0]))
