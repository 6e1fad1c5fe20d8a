# SPDX-License-Identifier: Apache-2.0
"""Planted days drawn by a seed, so that nobody has seen them who wrote the report.

Each is one thing that happens to one group of its own, at a time, for as long and at such rates as
are drawn. What is true of it follows from what was drawn, as in `planted`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from dev.days.describe import (
    Absent,
    Event,
    Group,
    Hidden,
    Lead,
    Missing,
    Rebalance,
    Rewind,
    Rows,
    Skip,
    Slow,
    Span,
    Topic,
    Unread,
)
from dev.days.scenarios import a_day, a_group, a_topic
from dev.report_judge.planted import (
    BACK,
    BEHIND,
    DAY_HOURS,
    GRADUAL,
    HOUR,
    MINUTE,
    NOBODY,
    NOT_LOST,
    STOOD,
    Planted,
    PlantedDay,
    add_unread_hours,
    bound_loss,
    promise,
)
from kafka_lag import contract

# What ends later may not be seen to be over.
_LATEST = 23.5
# The least times the usual speed at which a group catches up.
_LEAST_PACE = 2.5
_UNREAD = r"could not be read|unknown"
_REASONS = {
    contract.DENIED: "denied",
    contract.NO_COORDINATOR: "coordinator",
    contract.TIMEOUT: "no answer|timeout",
}


class _Draw:
    """What one day is made of."""

    def __init__(self, name: str, random: Random) -> None:
        self.name, self.random = name, random
        self.topic_name = f"{name}-topic"

    def minutes(self, least: float, most: float) -> float:
        """Hours between both, in whole minutes."""
        return self.random.randint(round(least * 60), round(most * 60)) / 60

    def span(self, least: float, most: float, first: float = -3.0, last: float = 23.0) -> Span:
        """So many hours long, begun between two; beyond the day it lasts for good."""
        begin = self.minutes(first, last)
        # within the day's first hour it would be over before much of it was seen
        return self.ending(begin, max(begin + self.minutes(least, most), 1.0))

    def ending(self, begin: float, end: float, backlog: float | None = None) -> Span:
        """For good, unless the backlog of so many hours is worked off within the day."""
        hours = end - begin if backlog is None else backlog
        return Span(begin, end) if end + hours / (_LEAST_PACE - 1) < _LATEST else Span(begin)

    def topic(self, partitions: int | None = None, **more: Any) -> Topic:
        """Evenly produced, as uneven keys are a line of their own."""
        count = partitions or self.random.randint(1, 8)
        rate = round(self.random.uniform(1.0, 6.0), 2)
        return a_topic(self.topic_name, [rate] * count, **more)

    def group(self, topic: Topic, members: int | None = None, **more: Any) -> Group:
        """At most as many members as partitions, so that each owns some."""
        count = members or self.random.randint(1, len(topic.partitions))
        more = {"catch_up": self.random.choice([_LEAST_PACE, 3.0, 4.0, 6.0]), **more}
        return a_group(self.name, topic.name, members=count, **more)

    def day(
        self,
        topic: Topic,
        group: Group,
        *events: Event,
        tells: Sequence[Planted] = (),
        **more: Any,
    ) -> PlantedDay:
        """A day of this topic and group."""
        alone = bool(more.pop("alone", False))
        day = a_day([topic], [group], *events, **more)
        return PlantedDay(
            name=self.name, day=day, incidents=add_unread_hours(tells, events), alone=alone
        )

    def tell(self, when: Span, says: str, **more: Any) -> Planted:
        """The incident of a span."""
        until = when.end if when.end < DAY_HOURS else None
        return Planted(
            **{"who": self.name, "says": says, "since": when.begin, "until": until, **more}
        )


def _away(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(), draw.span(0.4, 6.0)
    events = Absent(when=when, group=draw.name)
    return draw.day(topic, draw.group(topic), events, tells=[draw.tell(when, NOBODY)])


def _away_twice(draw: _Draw) -> PlantedDay:
    topic = draw.topic()
    first, second = draw.span(0.4, 2.0, 1.0, 6.0), draw.span(0.4, 2.0, 13.0, 19.0)
    events = [Absent(when=when, group=draw.name) for when in (first, second)]
    tells = [draw.tell(when, NOBODY) for when in (first, second)]
    return draw.day(topic, draw.group(topic), *events, tells=tells)


def _away_for_minutes(draw: _Draw) -> PlantedDay:
    topic, begin = draw.topic(), draw.minutes(1, 22)
    events = Absent(when=Span(begin, begin + draw.minutes(2 / 60, 7 / 60)), group=draw.name)
    return draw.day(topic, draw.group(topic), events)


def _stall(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(), draw.span(0.5, 6.0)
    event = Slow(when=when, rows=Rows(group=draw.name))
    tells = [draw.tell(when, STOOD, never=NOBODY)]
    return draw.day(topic, draw.group(topic), event, tells=tells)


def _stall_of_member(draw: _Draw) -> PlantedDay:
    members = draw.random.randint(3, 6)
    topic = draw.topic(members * draw.random.randint(1, 3))
    group = draw.group(topic, members)
    member, when = draw.random.choice(group.members), draw.span(0.5, 5.0)
    event = Slow(when=when, rows=Rows(group=draw.name, member=member.member_id))
    says = rf"(?=.*{member.client_id}\b).*({STOOD})"
    return draw.day(topic, group, event, tells=[draw.tell(when, says, never=NOBODY)])


def _stall_of_partition(draw: _Draw) -> PlantedDay:
    topic = draw.topic(draw.random.randint(4, 9))
    hit, when = draw.random.randrange(len(topic.partitions)), draw.span(0.5, 5.0)
    event = Slow(when=when, rows=Rows(group=draw.name, partitions=(hit,)))
    says = rf"(?=.*partition {hit}\b).*({STOOD})"
    group = draw.group(topic, draw.random.randint(1, 3))
    return draw.day(topic, group, event, tells=[draw.tell(when, says, never=NOBODY)])


def _slow(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(), draw.span(2.0, 6.0, 1.0, 20.0)
    share = round(draw.random.uniform(0.2, 0.6), 2)
    event = Slow(when=when, rows=Rows(group=draw.name), share=share)
    within = {"begin_within": GRADUAL, "end_within": GRADUAL}
    tells = [draw.tell(when, BEHIND, never=NOBODY, **within)]
    return draw.day(topic, draw.group(topic), event, tells=tells)


def _lost(draw: _Draw) -> PlantedDay:
    hours = draw.random.randint(1, 4)
    topic = draw.topic(draw.random.randint(1, 3), retention_seconds=hours * HOUR)
    begin = draw.minutes(-2.0, 15.0)
    end = begin + hours + draw.minutes(1.5, 5.0)
    when = draw.ending(begin, end, hours)
    rate = sum(one.rate for one in topic.partitions)
    lost = bound_loss(rate, min(when.end, DAY_HOURS) - begin, hours)
    if draw.random.choice([True, False]):
        event: Event = Absent(when=when, group=draw.name)
        says, never = NOBODY, r"(?!)"
    else:
        event = Slow(when=when, rows=Rows(group=draw.name))
        says, never = STOOD, NOBODY
    tells = [draw.tell(when, rf"(?=.*lost).*({says})", lost=lost, never=never)]
    return draw.day(topic, draw.group(topic), event, tells=tells)


def _at_risk(draw: _Draw) -> PlantedDay:
    hours = draw.random.randint(6, 12)
    topic = draw.topic(draw.random.randint(1, 3), retention_seconds=hours * HOUR)
    begin = draw.minutes(0.5, 10.0)
    when = Span(begin, begin + hours * draw.random.uniform(0.6, 0.85) // MINUTE * MINUTE)
    event = Slow(when=when, rows=Rows(group=draw.name))
    tells = [draw.tell(when, STOOD, never=NOT_LOST)]
    return draw.day(topic, draw.group(topic), event, tells=tells)


def _rewound(draw: _Draw) -> PlantedDay:
    topic, begin = draw.topic(1), draw.minutes(1.0, 20.0)
    pace, seconds = draw.random.choice([3.0, 4.0]), draw.random.randint(20, 120) * 60.0
    when = Span(begin, begin + seconds / pace / HOUR)
    event = Rewind(when=Span(begin, begin + 1), rows=Rows(group=draw.name), seconds=seconds)
    tells = [draw.tell(when, BACK, end_within=3.0, never=NOBODY)]
    return draw.day(topic, draw.group(topic, 1, catch_up=pace), event, tells=tells)


def _skipped(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(draw.random.randint(1, 3)), draw.span(1.0, 4.0, 1.0, 18.0)
    events: list[Event] = [
        Slow(when=when, rows=Rows(group=draw.name)),
        Skip(when=Span(when.end, when.end + 1), rows=Rows(group=draw.name)),
    ]
    tells = [draw.tell(when, STOOD, never=NOBODY)]
    return draw.day(topic, draw.group(topic), *events, tells=tells)


def _storm(draw: _Draw) -> PlantedDay:
    topic, begin = draw.topic(4), draw.minutes(1.0, 19.0)
    pause, times = draw.random.randint(2, 4), draw.random.randint(16, 40)
    spans = [
        Span(begin + n * pause * MINUTE, begin + (n * pause + 1) * MINUTE) for n in range(times)
    ]
    events = [Rebalance(when=span, group=draw.name) for span in spans]
    when = Span(begin, spans[-1].end)
    tells = [draw.tell(when, "rebalanc", begin_within=4.0, end_within=4.0)]
    return draw.day(topic, draw.group(topic, 4), *events, tells=tells)


def _unread(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(), draw.span(0.3, 5.0, 0.5)
    reason = draw.random.choice(list(_REASONS))
    event = Unread(when=when, reason=reason, group=draw.name)
    says = rf"(?=.*({_REASONS[reason]})).*({_UNREAD})"
    return draw.day(topic, draw.group(topic), event, tells=[draw.tell(when, says)])


def _hidden(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(), draw.span(0.3, 5.0, 0.5)
    event = Hidden(when=when, topic=topic.name)
    says = rf"(?=.*denied).*({_UNREAD})"
    return draw.day(topic, draw.group(topic), event, tells=[draw.tell(when, says)])


def _partition_unread(draw: _Draw) -> PlantedDay:
    topic = draw.topic(draw.random.randint(3, 8))
    hit, when = draw.random.randrange(len(topic.partitions)), draw.span(0.3, 5.0, 0.5)
    reason = draw.random.choice([contract.TIMEOUT, contract.ERROR])
    event = Unread(when=when, reason=reason, topic=topic.name, partitions=(hit,))
    says = rf"(?=.*partition {hit}\b).*({_UNREAD})"
    tells = [draw.tell(when, says, never=rf"topic {topic.name} could not")]
    return draw.day(topic, draw.group(topic), event, tells=tells)


def _deleted(draw: _Draw) -> PlantedDay:
    topic, end = draw.topic(), draw.minutes(3.0, 22.0)
    group = draw.group(topic, exists=Span(end=end))
    tells = [
        Planted(who=draw.name, says="gone|deleted", since=end, until=end + MINUTE, moment=True)
    ]
    return draw.day(topic, group, tells=tells)


def _sla_missed(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(), draw.span(0.5, 3.0, 1.0, 18.0)
    limit = float(draw.random.randint(2, 10) * 60)
    event = Slow(when=when, rows=Rows(group=draw.name))
    tells = [draw.tell(when, rf"(?=.*SLA).*({STOOD})", never=NOBODY, end_within=12.0)]
    rules = promise(draw.name, limit)
    return draw.day(topic, draw.group(topic), event, tells=tells, rules=rules)


def _calm(draw: _Draw) -> PlantedDay:
    swing, bursts = round(draw.random.uniform(0, 0.7), 2), round(draw.random.uniform(0, 0.7), 2)
    topic = draw.topic(swing=swing, bursts=bursts, peak_hour=draw.random.randint(0, 23))
    return draw.day(topic, draw.group(topic, delay_seconds=draw.random.choice([5.0, 30.0, 120.0])))


def _moved(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(draw.random.randint(3, 9)), draw.span(0.3, 5.0, 0.5)
    broker, by = draw.random.sample([1, 2, 3], 2)
    event = Lead(when=when, broker=broker, by=by)
    says = rf"broker {by}\b|other brokers"
    tells = [draw.tell(when, says, who=f"broker {broker}")]
    return draw.day(topic, draw.group(topic), event, tells=tells, alone=True)


def _leaderless(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(draw.random.randint(3, 9)), draw.span(0.3, 3.0, 0.5)
    broker = draw.random.randint(1, 3)
    event = Lead(when=when, broker=broker, by=None)
    tells = [draw.tell(when, "no leader", who=f"broker {broker}")]
    return draw.day(topic, draw.group(topic), event, tells=tells, alone=True)


def _no_runs(draw: _Draw) -> PlantedDay:
    topic, when = draw.topic(), draw.span(0.4, 4.0, 1.5)
    event = Missing(when=when)
    tells = [draw.tell(when, "runs", who="")]
    return draw.day(topic, draw.group(topic), event, tells=tells, alone=True)


_Maker = Callable[[_Draw], PlantedDay]
_TOGETHER: tuple[_Maker, ...] = (
    _away,
    _away_twice,
    _away_for_minutes,
    _stall,
    _stall_of_member,
    _stall_of_partition,
    _slow,
    _lost,
    _lost,
    _at_risk,
    _rewound,
    _skipped,
    _storm,
    _unread,
    _hidden,
    _partition_unread,
    _deleted,
    _sla_missed,
    _calm,
)
_ALONE: tuple[_Maker, ...] = (_moved, _leaderless, _no_runs)


def drawn(seed: int, copies: int = 1) -> tuple[PlantedDay, ...]:
    """So many days of each kind that can share a cluster, and one of each that cannot."""
    random = Random(seed)  # noqa: S311
    makers = [*_TOGETHER * copies, *_ALONE]
    return tuple(
        maker(_Draw(f"drawn-{number}-{maker.__name__.strip('_').replace('_', '-')}", random))
        for number, maker in enumerate(makers)
    )
