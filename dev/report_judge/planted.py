# SPDX-License-Identifier: Apache-2.0
"""Days with planted incidents, as data: what was done to whom, from when to when, at what cost.

What a report must say of them follows from how they were made, and from nothing of the report.
Times are hours of the UTC day; before 0 it is the day before. Of some quantities only limits
follow: what a group lost lies between what was deleted by a whole segment less and a segment more.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dev.days.describe import (
    Absent,
    Day,
    Event,
    Group,
    Hidden,
    Lead,
    Missing,
    Partition,
    Rebalance,
    Rewind,
    Rows,
    Skip,
    Slow,
    Span,
    Surge,
    Topic,
    Unread,
)
from dev.days.scenarios import a_day, a_group, a_topic, merged, some_members
from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName, Rules

HOUR = 3_600.0
DAY_HOURS = 24.0
MINUTE = 1 / 60
# Logs are deleted by segments of ten minutes.
SEGMENT = 600.0
# Runs come once a minute, and what happens between two is seen by the second.
EXACT = 1.0
# Who falls behind bit by bit is behind once the oldest record is as old as the window.
GRADUAL = 11.0

NOBODY = r"no members|no member|nobody owned"
STOOD = r"did not move|stalled|stood still"
BEHIND = r"fell behind|falling behind|behind|too slowly"
NOT_LOST = r"may lose|deletion arrives|(?<!nothing was )\blost\b"
BACK = r"set back|went back|rewound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One incident: `who` is named, `says` is a pattern of words that give what and why.

    `since` None: before the day, and nobody can know when. `until` None: still so at midnight.
    `begin_within` and `end_within` are minutes. `lost` bounds what may be said to be lost.
    `never` is a pattern of what would be false. `moment` marks what is known by its moment alone.
    `unread_hours`: for so long nothing at all was read, up to `until`; None: something was.
    """

    who: str
    says: str
    since: float | None
    until: float | None
    begin_within: float = EXACT
    end_within: float = EXACT
    lost: tuple[float, float] | None = None
    never: str = r"(?!)"
    moment: bool = False
    unread_hours: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedDay:
    """One planted day; days that are `alone` share their cluster with no other."""

    name: str
    day: Day
    incidents: tuple[Planted, ...] = ()
    alone: bool = False

    @property
    def set_aside(self) -> bool:
        """Whether nobody looks at it while the report is written: a third, by name."""
        return zlib.crc32(self.name.encode()) % 3 == 0


def _day(
    name: str,
    topics: Topic | Sequence[Topic],
    groups: Group | Sequence[Group],
    *events: Event,
    tells: Planted | Sequence[Planted] = (),
    alone: bool = False,
    rules: Rules | None = None,
    uneven: bool = False,
) -> PlantedDay:
    topics = [topics] if isinstance(topics, Topic) else topics
    groups = [groups] if isinstance(groups, Group) else groups
    day = a_day(topics, groups, *events, **({"rules": rules} if rules else {}))
    incidents = [tells] if isinstance(tells, Planted) else list(tells)
    if uneven:
        # as uneven keys last all day they are a line of their own
        incidents.append(
            Planted(who=f"{name}-topic", says="unevenly", since=0, until=24, moment=True)
        )
    return PlantedDay(
        name=name, day=day, incidents=add_unread_hours(incidents, events), alone=alone
    )


def add_unread_hours(incidents: Iterable[Planted], events: Sequence[Event]) -> tuple[Planted, ...]:
    """With the hours for which nothing was read before each of them was over."""
    stood = [
        (event.when, event.group if isinstance(event, Absent) else event.rows.group)
        for event in events
        if isinstance(event, Absent) or (isinstance(event, Slow) and not event.share)
    ]

    def begin(group: str, end: float) -> float | None:
        begins = {
            span.begin for span, of in stood if of == group and min(span.end, DAY_HOURS) == end
        }
        if len(begins) != 1:
            return None
        (first,) = begins
        before = begin(group, first)
        return first if before is None else before

    found = []
    for one in incidents:
        end = DAY_HOURS if one.until is None else one.until
        first = begin(one.who, end)
        found.append(one if first is None else replace(one, unread_hours=end - first))
    return tuple(found)


def _topic(name: str, *rates: float, hours: float | None = None, **more: object) -> Topic:
    kept = {} if hours is None else {"retention_seconds": hours * HOUR}
    return a_topic(f"{name}-topic", rates or (2.0, 2.0), **{**kept, **more})


def _group(name: str, members: int = 2, topic: str | None = None, **more: object) -> Group:
    return a_group(name, f"{topic or name}-topic", members=members, **more)


def promise(name: str, seconds: float) -> Rules:
    return Rules(sla_seconds=ByName.of([(f"^{name}$", seconds)]))


def bound_loss(
    rate: float, hours: float, retention: float, partitions: int = 1
) -> tuple[float, float]:
    """What is deleted of a log that stood unread for so long, by rounding to segments."""
    gone = rate * (hours - retention) * HOUR
    return gone - 2.2 * SEGMENT * rate * partitions, gone + 60 * rate


def _stops() -> Iterable[PlantedDay]:
    name = "stop-morning"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Absent(when=Span(9, 11), group=name),
        tells=Planted(who=name, says=NOBODY, since=9, until=11),
    )
    name = "stop-overnight"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Absent(when=Span(-2.5, 2), group=name),
        tells=Planted(who=name, says=NOBODY, since=-2.5, until=2),
    )
    name = "stop-evening"
    yield _day(
        name,
        _topic(name),
        _group(name, members=3),
        Absent(when=Span(21.5), group=name),
        tells=Planted(who=name, says=NOBODY, since=21.5, until=None),
    )
    name = "stop-for-days"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Absent(when=Span(-40), group=name),
        tells=Planted(who=name, says=NOBODY, since=None, until=None),
    )
    name = "stop-twice"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Absent(when=Span(3, 4), group=name),
        Absent(when=Span(16, 17.5), group=name),
        tells=[
            Planted(who=name, says=NOBODY, since=3, until=4),
            Planted(who=name, says=NOBODY, since=16, until=17.5),
        ],
    )
    name = "deploy-short"
    yield _day(name, _topic(name), _group(name), Absent(when=Span(12, 12.1), group=name))
    name = "empty-and-idle"
    yield _day(name, _topic(name, 0.0, 0.0), _group(name), Absent(when=Span(-3), group=name))
    name = "stop-one-partition"
    yield _day(
        name,
        _topic(name, 5.0),
        _group(name, members=1),
        Absent(when=Span(13.25, 14.75), group=name),
        tells=Planted(who=name, says=NOBODY, since=13.25, until=14.75),
    )
    name = "away-past-midnight"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Absent(when=Span(-0.75, 0.5), group=name),
        tells=Planted(who=name, says=NOBODY, since=-0.75, until=0.5),
    )
    name = "away-late"
    yield _day(
        name,
        _topic(name, 3.0),
        _group(name, members=1),
        Absent(when=Span(23.5), group=name),
        tells=Planted(who=name, says=NOBODY, since=23.5, until=None),
    )
    name = "deploys-of-a-day"
    yield _day(
        name,
        _topic(name),
        _group(name),
        *(Absent(when=Span(hour, hour + 2 * MINUTE), group=name) for hour in (9, 11, 15, 16, 22)),
    )
    name = "away-beside-another"
    yield _day(
        name,
        _topic(name),
        [_group(name), _group(f"{name}-b", topic=name)],
        Absent(when=Span(10, 12.5), group=name),
        tells=Planted(who=name, says=NOBODY, since=10, until=12.5),
    )
    name = "consumer-protocol"
    yield _day(
        name,
        _topic(name),
        _group(name, group_type="consumer"),
        Absent(when=Span(9, 10.5), group=name),
        tells=Planted(who=name, says=NOBODY, since=9, until=10.5),
    )


def _stalls() -> Iterable[PlantedDay]:
    name = "stall-all"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Slow(when=Span(10, 12), rows=Rows(group=name)),
        tells=Planted(who=name, says=STOOD, since=10, until=12, never=NOBODY),
    )
    name = "stall-member"
    member = some_members(name, 4)[1]
    yield _day(
        name,
        [_topic(name, *[2.0] * 8), a_topic("quiet-beside", [2.0] * 8)],
        [a_group(name, f"{name}-topic", members=4), a_group("quiet", "quiet-beside")],
        Slow(when=Span(8, 10.5), rows=Rows(group=name, member=member.member_id)),
        tells=Planted(
            who=name, says=rf"{member.client_id}.*({STOOD})", since=8, until=10.5, never=NOBODY
        ),
    )
    name = "stall-partition"
    yield _day(
        name,
        _topic(name, *[1.0] * 6),
        _group(name, members=2),
        Slow(when=Span(15, 17), rows=Rows(group=name, partitions=(4,))),
        tells=Planted(who=name, says=rf"(?=.*partition 4\b).*({STOOD})", since=15, until=17),
    )
    name = "stall-still"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Slow(when=Span(20), rows=Rows(group=name)),
        tells=Planted(who=name, says=STOOD, since=20, until=None, never=NOBODY),
    )
    name = "stall-overnight"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Slow(when=Span(-1, 5), rows=Rows(group=name)),
        tells=Planted(who=name, says=STOOD, since=-1, until=5, never=NOBODY),
    )
    name = "stall-of-two"
    first, *_, last = some_members(name, 6)
    yield _day(
        name,
        _topic(name, *[1.0] * 12),
        a_group(name, f"{name}-topic", members=6),
        Slow(when=Span(8, 9.5), rows=Rows(group=name, member=first.member_id)),
        Slow(when=Span(8, 9.5), rows=Rows(group=name, member=last.member_id)),
        tells=Planted(who=name, says=STOOD, since=8, until=9.5, never=NOBODY),
    )
    name = "stall-then-away"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Slow(when=Span(6, 6.5), rows=Rows(group=name)),
        Absent(when=Span(6.5, 10), group=name),
        tells=Planted(who=name, says=NOBODY, since=6, until=10, begin_within=31.0),
    )
    name = "stall-of-a-topic"
    yield _day(
        name,
        [_topic(name, 2.0, 2.0), a_topic(f"{name}-beside", [2.0, 2.0])],
        [a_group(name, f"{name}-topic", f"{name}-beside", members=2)],
        Slow(when=Span(17, 19), rows=Rows(group=name, topic=f"{name}-beside")),
        tells=Planted(
            who=name, says=rf"(?=.*{name}-beside).*({STOOD})", since=17, until=19, never=NOBODY
        ),
    )
    name = "stall-then-deleted"
    yield _day(
        name,
        _topic(name),
        _group(name, exists=Span(end=13)),
        Slow(when=Span(10), rows=Rows(group=name)),
        tells=Planted(who=name, says=rf"(?=.*(gone|deleted)).*({STOOD})", since=10, until=13),
    )
    name = "denied-amid-stall"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Slow(when=Span(8, 14), rows=Rows(group=name)),
        Unread(when=Span(10, 10.75), reason=contract.DENIED, group=name),
        tells=Planted(who=name, says=STOOD, since=8, until=14, never=NOBODY),
    )
    name = "new-and-stalls"
    yield _day(
        name,
        _topic(name, 4.0),
        _group(name, members=1, exists=Span(7)),
        Slow(when=Span(12, 14), rows=Rows(group=name)),
        tells=Planted(who=name, says=STOOD, since=12, until=14, never=NOBODY),
    )
    name = "stalls-that-overlap"
    first, _, third = some_members(name, 3)
    yield _day(
        name,
        _topic(name, *[1.5] * 6),
        a_group(name, f"{name}-topic", members=3),
        Slow(when=Span(8, 10), rows=Rows(group=name, member=first.member_id)),
        Slow(when=Span(9, 11), rows=Rows(group=name, member=third.member_id)),
        tells=Planted(who=name, says=STOOD, since=8, until=11, never=NOBODY),
    )


def _behind() -> Iterable[PlantedDay]:
    gradual: dict[str, Any] = {"begin_within": GRADUAL, "end_within": GRADUAL}
    name = "half-speed"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Slow(when=Span(6, 9), rows=Rows(group=name), share=0.5),
        tells=Planted(who=name, says=BEHIND, since=6, until=9, never=NOBODY, **gradual),
    )
    name = "third-speed-still"
    yield _day(
        name,
        _topic(name, 3.0, 3.0, 3.0),
        _group(name, members=3),
        Slow(when=Span(19), rows=Rows(group=name), share=0.33),
        tells=Planted(who=name, says=BEHIND, since=19, until=None, begin_within=GRADUAL),
    )
    name = "slow-member-here"
    member = some_members(name, 4)[2]
    yield _day(
        name,
        _topic(name, *[2.0] * 12),
        a_group(name, f"{name}-topic", members=4),
        Slow(when=Span(8, 12), rows=Rows(group=name, member=member.member_id), share=0.4),
        tells=Planted(
            who=name, says=rf"{member.client_id}", since=8, until=12, never=NOBODY, **gradual
        ),
    )
    name = "keys-lopsided"
    yield _day(
        name,
        _topic(name, 6.67, 1.66, 1.67),
        _group(name, members=3),
        Slow(when=Span(8, 12), rows=Rows(group=name), share=0.7),
        tells=Planted(who=name, says=BEHIND, since=8, until=12, **gradual),
        uneven=True,
    )
    name = "slow-broker-two"
    yield _day(
        name,
        [_topic(name, *[2.0] * 6), a_topic("broker-two-b", [2.0] * 6)],
        [
            a_group(f"{name}-x", f"{name}-topic", members=2),
            a_group(f"{name}-y", "broker-two-b", members=3),
        ],
        Slow(when=Span(9, 13), rows=Rows(leader=2), share=0.3),
        tells=[
            Planted(who=f"{name}-x", says=r"broker 2\b", since=9, until=13, **gradual),
            Planted(who=f"{name}-y", says=r"broker 2\b", since=9, until=13, **gradual),
        ],
        alone=True,
    )
    name = "behind-to-midnight"
    yield _day(
        name,
        _topic(name, 3.0, 3.0),
        _group(name),
        Slow(when=Span(13), rows=Rows(group=name), share=0.6),
        tells=Planted(
            who=name, says=BEHIND, since=13, until=None, begin_within=GRADUAL, never=NOBODY
        ),
    )


def _promises() -> Iterable[PlantedDay]:
    name = "sla-stalled"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Slow(when=Span(9, 9.5), rows=Rows(group=name)),
        tells=Planted(who=name, says=rf"(?=.*SLA).*({STOOD})", since=9, until=9.5, end_within=12.0),
        rules=promise(name, 300.0),
    )
    name = "sla-only"
    yield _day(
        name,
        _topic(name),
        _group(name, catch_up=10.0),
        Slow(when=Span(14, 14.15), rows=Rows(group=name)),
        tells=Planted(
            who=name, says="SLA", since=14, until=14.15, begin_within=2.5, end_within=4.0
        ),
        rules=promise(name, 60.0),
    )
    name = "sla-met"
    yield _day(name, _topic(name), _group(name), rules=promise(name, 60.0))
    name = "sla-late-still"
    yield _day(
        name,
        _topic(name, 2.0),
        _group(name, members=1),
        Absent(when=Span(22), group=name),
        tells=Planted(who=name, says=rf"(?=.*SLA).*({NOBODY})", since=22, until=None),
        rules=promise(name, 120.0),
    )
    name = "sla-behind"
    yield _day(
        name,
        _topic(name, 3.0, 3.0),
        _group(name),
        Slow(when=Span(9, 11.5), rows=Rows(group=name), share=0.4),
        tells=Planted(
            who=name,
            says=rf"(?=.*SLA).*({BEHIND})",
            since=9,
            until=11.5,
            begin_within=GRADUAL,
            end_within=GRADUAL,
        ),
        rules=promise(name, 600.0),
    )


def _losses() -> Iterable[PlantedDay]:
    name = "lost-away"
    yield _day(
        name,
        _topic(name, 4.0, hours=2),
        _group(name, members=1),
        Absent(when=Span(4, 13), group=name),
        tells=Planted(
            who=name, says=rf"(?=.*lost).*({NOBODY})", since=4, until=13, lost=bound_loss(4, 9, 2)
        ),
    )
    name = "lost-stalled"
    yield _day(
        name,
        _topic(name, 3.0, 1.0, hours=2),
        _group(name),
        Slow(when=Span(6, 15), rows=Rows(group=name)),
        tells=Planted(
            who=name,
            says=rf"(?=.*lost).*({STOOD})",
            since=6,
            until=15,
            lost=bound_loss(4, 9, 2),
            never=NOBODY,
        ),
        uneven=True,
    )
    name = "lost-twice"
    yield _day(
        name,
        _topic(name, 2.0, hours=2),
        _group(name, members=1),
        Slow(when=Span(2, 5), rows=Rows(group=name)),
        Slow(when=Span(14, 18), rows=Rows(group=name)),
        tells=[
            Planted(
                who=name, says=rf"(?=.*lost).*({STOOD})", since=2, until=5, lost=bound_loss(2, 3, 2)
            ),
            Planted(
                who=name,
                says=rf"(?=.*lost).*({STOOD})",
                since=14,
                until=18,
                lost=bound_loss(2, 4, 2),
            ),
        ],
    )
    name = "lost-still"
    yield _day(
        name,
        _topic(name, 2.0, hours=2),
        _group(name, members=1),
        Absent(when=Span(18), group=name),
        tells=Planted(
            who=name,
            says=rf"(?=.*lost).*({NOBODY})",
            since=18,
            until=None,
            lost=bound_loss(2, 6, 2),
        ),
    )
    name = "lost-overnight"
    yield _day(
        name,
        _topic(name, 2.0, hours=2),
        _group(name, members=1),
        Absent(when=Span(-2.75, 3), group=name),
        tells=Planted(
            who=name,
            says=rf"(?=.*lost).*({NOBODY})",
            since=-2.75,
            until=3,
            lost=bound_loss(2, 5.75, 2),
        ),
    )
    name = "lost-behind"
    yield _day(
        name,
        _topic(name, 4.0, hours=1),
        _group(name, members=1, catch_up=1.5),
        Slow(when=Span(6, 12), rows=Rows(group=name), share=0.3),
        # It goes on at the log's beginning within the minute, so that no run sees a loss.
        tells=Planted(
            who=name,
            says="deletion",
            since=6,
            until=12,
            begin_within=GRADUAL,
            end_within=GRADUAL,
            never=rf"nothing was lost|{NOBODY}",
        ),
    )
    name = "lost-of-one"
    yield _day(
        name,
        _topic(name, *[2.0] * 4, hours=3),
        _group(name, members=4),
        Slow(when=Span(5, 12), rows=Rows(group=name, partitions=(2,))),
        tells=Planted(
            who=name,
            says=rf"(?=.*partition 2\b)(?=.*lost).*({STOOD})",
            since=5,
            until=12,
            lost=bound_loss(2, 7, 3),
            never=NOBODY,
        ),
    )
    name = "lost-of-two-topics"
    yield _day(
        name,
        [
            _topic(name, 3.0, hours=2),
            a_topic(f"{name}-more", [2.0, 2.0], retention_seconds=2 * HOUR),
        ],
        [a_group(name, f"{name}-topic", f"{name}-more", members=2)],
        Absent(when=Span(5, 10), group=name),
        tells=Planted(
            who=name, says=rf"(?=.*lost).*({NOBODY})", since=5, until=10, lost=bound_loss(7, 5, 2)
        ),
    )
    name = "lost-by-one-of-two"
    yield _day(
        name,
        _topic(name, 3.0, hours=3),
        [_group(name, members=1), _group(f"{name}-b", members=1, topic=name)],
        Slow(when=Span(6, 13), rows=Rows(group=name)),
        tells=Planted(
            who=name,
            says=rf"(?=.*lost).*({STOOD})",
            since=6,
            until=13,
            lost=bound_loss(3, 7, 3),
            never=NOBODY,
        ),
    )


def _risks() -> Iterable[PlantedDay]:
    name = "risk-past"
    yield _day(
        name,
        _topic(name, 3.0, 1.0, hours=12),
        _group(name),
        Slow(when=Span(8, 18), rows=Rows(group=name)),
        tells=Planted(
            who=name,
            says=rf"(?=.*({STOOD})).*(1 h 5\d min|2 h).*",
            since=8,
            until=18,
            never=NOT_LOST,
        ),
        uneven=True,
    )
    name = "risk-still"
    yield _day(
        name,
        _topic(name, 3.0, 1.0, hours=12),
        _group(name),
        Slow(when=Span(17), rows=Rows(group=name)),
        tells=Planted(
            who=name,
            says=rf"(?=.*({STOOD})).*(4 h 5\d min|5 h).*",
            since=17,
            until=None,
            never=NOT_LOST,
        ),
        uneven=True,
    )
    name = "risk-absent"
    yield _day(
        name,
        _topic(name, 2.0, hours=6),
        _group(name, members=1),
        Absent(when=Span(5, 9), group=name),
        tells=Planted(who=name, says=NOBODY, since=5, until=9, never=NOT_LOST),
    )
    name = "risk-of-size-none"
    yield _day(
        name,
        _topic(name, 2.0, hours=8),
        _group(name, members=1),
        Absent(when=Span(12, 18), group=name),
        tells=Planted(who=name, says=NOBODY, since=12, until=18, never=NOT_LOST),
    )
    name = "kept-forever"
    yield _day(
        name,
        _topic(name, 2.0, retention_seconds=None),
        _group(name, members=1),
        Absent(when=Span(3, 9), group=name),
        tells=Planted(who=name, says=NOBODY, since=3, until=9, never=rf"{NOT_LOST}|deletion"),
    )


def _operators() -> Iterable[PlantedDay]:
    name = "rewound-hour"
    yield _day(
        name,
        _topic(name),
        _group(name, members=1),
        Rewind(when=Span(18, 19), rows=Rows(group=name), seconds=HOUR),
        # four records a second were read for an hour, and are again at three times that
        tells=Planted(
            who=name, says=BACK, since=18, until=18 + 20 * MINUTE, end_within=3.0, never=NOBODY
        ),
    )
    name = "rewound-little"
    yield _day(
        name,
        _topic(name, 10.0),
        _group(name, members=1),
        Rewind(when=Span(11, 12), rows=Rows(group=name), seconds=900.0),
        tells=Planted(who=name, says=BACK, since=11, until=11 + 5 * MINUTE, end_within=3.0),
    )
    name = "skipped-ahead"
    yield _day(
        name,
        _topic(name, 150.0),
        _group(name, members=1),
        Slow(when=Span(8, 11), rows=Rows(group=name)),
        Skip(when=Span(11, 12), rows=Rows(group=name)),
        tells=Planted(who=name, says=rf"(?=.*records were skipped).*({STOOD})", since=8, until=11),
    )
    name = "skipped-six-hours"
    yield _day(
        name,
        _topic(name, 150.0),
        _group(name, members=1),
        Slow(when=Span(5, 11), rows=Rows(group=name)),
        Skip(when=Span(11, 12), rows=Rows(group=name)),
        tells=Planted(who=name, says=rf"(?=.*records were skipped).*({STOOD})", since=5, until=11),
    )
    name = "storm"
    yield _day(
        name,
        _topic(name, *[1.0] * 4),
        a_group(name, f"{name}-topic", members=4),
        *(
            Rebalance(when=Span(10 + n * 4 * MINUTE, 10 + (n * 4 + 2) * MINUTE), group=name)
            for n in range(30)
        ),
        # the last begins at 11:56 and lasts two minutes
        tells=Planted(
            who=name,
            says="rebalanc",
            since=10,
            until=10 + 118 * MINUTE,
            begin_within=4,
            end_within=4,
        ),
    )
    name = "rebalanced-once"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Rebalance(when=Span(13, 13.05), group=name),
    )
    name = "group-deleted"
    yield _day(
        name,
        _topic(name),
        _group(name, exists=Span(end=15)),
        Slow(when=Span(14), rows=Rows(group=name), share=0.2),
        tells=Planted(
            who=name, says="gone|deleted", since=14, until=15, begin_within=61, moment=True
        ),
    )
    name = "rewound-late"
    yield _day(
        name,
        _topic(name, 5.0),
        _group(name, members=1),
        Rewind(when=Span(23, 24), rows=Rows(group=name), seconds=4 * HOUR),
        tells=Planted(who=name, says=BACK, since=23, until=None, never=NOBODY),
    )
    name = "storm-of-an-hour"
    yield _day(
        name,
        _topic(name, *[1.0] * 4),
        a_group(name, f"{name}-topic", members=4),
        *(
            Rebalance(when=Span(20 + n * 3 * MINUTE, 20 + (n * 3 + 1) * MINUTE), group=name)
            for n in range(20)
        ),
        # the last begins at 20:57 and lasts a minute
        tells=Planted(
            who=name,
            says="rebalanc",
            since=20,
            until=20 + 58 * MINUTE,
            begin_within=4,
            end_within=4,
        ),
    )
    name = "rebalance-without-end"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Rebalance(when=Span(10, 11.5), group=name),
        tells=Planted(who=name, says=rf"{NOBODY}|rebalanc", since=10, until=11.5),
    )


def _unread() -> Iterable[PlantedDay]:
    said = r"(?=.*denied).*(could not be read|unknown)"
    name = "denied-from-22"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Unread(when=Span(22), reason=contract.DENIED, group=name),
        tells=Planted(who=name, says=said, since=22, until=None),
    )
    name = "denied-all-day"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Unread(when=Span(-100), reason=contract.DENIED, group=name),
        tells=Planted(who=name, says=said, since=None, until=None),
    )
    name = "denied-for-hours"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Unread(when=Span(2, 5), reason=contract.DENIED, group=name),
        tells=Planted(who=name, says=said, since=2, until=5),
    )
    name = "coordinator-slow"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Unread(when=Span(3, 4.5), reason=contract.NO_COORDINATOR, group=name),
        tells=Planted(
            who=name, says=r"(?=.*coordinator).*(could not be read|unknown)", since=3, until=4.5
        ),
    )
    name = "topic-hidden"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Hidden(when=Span(10, 12), topic=f"{name}-topic"),
        tells=Planted(who=name, says=said, since=10, until=12),
    )
    name = "blip-unread"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Unread(when=Span(7, 7.1), reason=contract.TIMEOUT, group=name),
    )
    name = "topic-recreated"
    yield _day(
        name,
        [
            _topic(name, 2.0, 3.0, exists=Span(end=12)),
            replace(_topic(name, 1.0, 1.5, exists=Span(12)), topic_id="id-another"),
        ],
        _group(name),
        tells=Planted(
            who=f"{name}-topic", says="recreated|made anew|another id", since=12, until=12,
            moment=True,
        ),
    )  # fmt: skip
    name = "denied-until-six"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Unread(when=Span(-100, 6), reason=contract.DENIED, group=name),
        tells=Planted(
            who=name, says=r"(?=.*denied).*(could not be read|unknown)", since=None, until=6
        ),
    )
    name = "coordinator-away"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Unread(when=Span(22.5), reason=contract.NO_COORDINATOR, group=name),
        tells=Planted(
            who=name, says=r"(?=.*coordinator).*(could not be read|unknown)", since=22.5, until=None
        ),
    )
    name = "unread-one-of-six"
    yield _day(
        name,
        _topic(name, *[2.0] * 6),
        _group(name),
        Unread(when=Span(9, 11), reason=contract.ERROR, topic=f"{name}-topic", partitions=(3,)),
        tells=Planted(
            who=name,
            says=r"(?=.*partition 3\b).*could not be read",
            since=9,
            until=11,
            never=rf"topic {name}-topic could not",
        ),
    )
    name = "commits-denied"
    yield _day(
        name,
        _topic(name),
        [_group(name), _group(f"{name}-b", topic=name)],
        Unread(when=Span(4, 6), reason=contract.DENIED, group=name, topic=f"{name}-topic"),
        tells=Planted(
            who=name,
            says=r"(?=.*denied).*could not be read",
            since=4,
            until=6,
            never=rf"{name}-b|^topic ",
        ),
    )
    name = "denied-twice"
    yield _day(
        name,
        _topic(name),
        _group(name),
        *(
            Unread(when=Span(hour, hour + 1), reason=contract.DENIED, group=name)
            for hour in (3, 15)
        ),
        tells=[
            Planted(who=name, says=r"(?=.*denied).*could not", since=hour, until=hour + 1)
            for hour in (3, 15)
        ],
    )


def _brokers() -> Iterable[PlantedDay]:
    name = "no-leader"
    yield _day(
        name,
        _topic(name, *[2.0] * 6),
        _group(name),
        Lead(when=Span(10, 10 + 20 * MINUTE), broker=2, by=None),
        tells=Planted(who="broker 2", says="no leader", since=10, until=10 + 20 * MINUTE),
        alone=True,
    )
    name = "failover"
    yield _day(
        name,
        _topic(name, *[2.0] * 6),
        _group(name),
        Lead(when=Span(10, 13), broker=1, by=3),
        tells=Planted(who="broker 1", says=r"broker 3\b|other brokers", since=10, until=13),
        alone=True,
    )
    name = "failover-for-good"
    yield _day(
        name,
        _topic(name, *[2.0] * 9),
        _group(name),
        Lead(when=Span(16.5), broker=3, by=1),
        tells=Planted(who="broker 3", says=r"broker 1\b|other brokers", since=16.5, until=None),
        alone=True,
    )
    name = "runs-missing"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Missing(when=Span(4, 5)),
        tells=Planted(who="", says="runs", since=4, until=5),
        alone=True,
    )
    name = "collector-died"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Missing(when=Span(20)),
        tells=Planted(who="", says="runs", since=20, until=None),
        alone=True,
    )
    name = "stalled-before-a-gap"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Slow(when=Span(2, 3), rows=Rows(group=name)),
        Missing(when=Span(8, 9.5)),
        tells=[
            Planted(who=name, says=STOOD, since=2, until=3),
            Planted(who="", says="runs", since=8, until=9.5),
        ],
        alone=True,
    )
    name = "leaderless-late"
    yield _day(
        name,
        _topic(name, *[2.0] * 6),
        _group(name),
        Lead(when=Span(22.5), broker=1, by=None),
        tells=Planted(who="broker 1", says="no leader", since=22.5, until=None),
        alone=True,
    )
    name = "runs-missing-twice"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Missing(when=Span(3, 4)),
        Missing(when=Span(15, 15.5)),
        tells=[
            Planted(who="", says="runs", since=3, until=4),
            Planted(who="", says="runs", since=15, until=15.5),
        ],
        alone=True,
    )
    name = "failover-in-part"
    yield _day(
        name,
        [_topic(name, *[2.0] * 6), a_topic("stays-away", [2.0] * 3)],
        [a_group(name, f"{name}-topic", "stays-away")],
        Lead(when=Span(10, 13), broker=1, by=3, topic=f"{name}-topic"),
        Lead(when=Span(10), broker=1, by=3, topic="stays-away"),
        tells=Planted(who="broker 1", says=r"(?=.*13:0[01]).*broker 3\b", since=10, until=None),
        alone=True,
    )
    name = "leaderless-topic"
    yield _day(
        name,
        [_topic(name, *[2.0] * 3), a_topic("led-on", [2.0] * 3)],
        [a_group(name, f"{name}-topic", "led-on")],
        Lead(when=Span(7, 8), broker=2, by=None, topic=f"{name}-topic"),
        tells=Planted(who="broker 2", says="no leader", since=7, until=8),
        alone=True,
    )
    name = "back-amid-a-gap"
    yield _day(
        name,
        _topic(name),
        _group(name),
        Absent(when=Span(6, 9), group=name),
        Missing(when=Span(8.75, 9.25)),
        # it came back while nobody looked
        tells=[
            Planted(who=name, says=NOBODY, since=6, until=8.75, end_within=31),
            Planted(who="", says="runs", since=8.75, until=9.25),
        ],
        alone=True,
    )


def _calm() -> Iterable[PlantedDay]:
    name = "calm-steady"
    yield _day(name, _topic(name, swing=0.3), _group(name), alone=True)
    name = "calm-bursty"
    yield _day(name, _topic(name, 5.0, 5.0, bursts=0.8), _group(name))
    name = "calm-batches"
    yield _day(name, _topic(name, 2.0), _group(name, members=1, delay_seconds=240.0))
    name = "surge-kept-up"
    yield _day(
        name,
        _topic(name, 4.0, 4.0),
        _group(name, catch_up=20.0),
        Surge(when=Span(15, 16), topic=f"{name}-topic", factor=5.0),
    )
    name = "calm-by-day"
    yield _day(name, _topic(name, 3.0, 3.0, swing=0.7), _group(name))
    name = "topic-grown"
    grown = _topic(name)
    more = Partition(rate=2.0, leader=3, since=12.0)
    yield _day(name, replace(grown, partitions=(*grown.partitions, more)), _group(name))


PLANTED: tuple[PlantedDay, ...] = (
    *_stops(),
    *_stalls(),
    *_behind(),
    *_promises(),
    *_losses(),
    *_risks(),
    *_operators(),
    *_unread(),
    *_brokers(),
    *_calm(),
)

# So many planted days share a cluster.
_TOGETHER = 20
WARM_UP_HOURS = 4.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """Planted days that share a cluster."""

    name: str
    days: tuple[PlantedDay, ...] = field(default_factory=tuple)

    @property
    def day(self) -> Day:
        """All of them in one, deployed hours before."""
        whole = merged(*(each.day for each in self.days))
        return replace(whole, cluster=self.name, warm_up_hours=WARM_UP_HOURS, whole_warm_up=True)

    @property
    def incidents(self) -> tuple[Planted, ...]:
        """All that is planted in it."""
        return tuple(one for day in self.days for one in day.incidents)


def clusters(days: Sequence[PlantedDay], prefix: str) -> tuple[Cluster, ...]:
    """The days, those that may share a cluster together."""
    alone = [Cluster(f"{prefix}-{day.name}", (day,)) for day in days if day.alone]
    others = [day for day in days if not day.alone]
    shared = [
        Cluster(f"{prefix}-{number // _TOGETHER}", tuple(others[number : number + _TOGETHER]))
        for number in range(0, len(others), _TOGETHER)
    ]
    return (*shared, *alone)
