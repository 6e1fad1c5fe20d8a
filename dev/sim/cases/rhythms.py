# SPDX-License-Identifier: Apache-2.0
"""Groups that pause again and again, and topics written in transactions, over hours.

A job that pauses is called stalled until three pauses were alike. A reader of transactions commits
after the last record, below a marker, and is called stalled until it rested twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dev.sim.events import Case, Event, Group, Hang, Join, Leave, OpenTransaction, Poison, Topic

_HOUR, _MINUTE = 3_600.0, 60.0
_EVEN = (20.0, 20.0)


@dataclass(frozen=True, slots=True)
class Watched:
    """A case whose statuses are judged from `learnt` on, in seconds after its warm-up.

    A commit that stands for up to `pause` seconds is usual from then on. A pause that is more than
    twice as long is not.
    """

    case: Case
    learnt: float = 0.0
    pause: float = 0.0


def _case(
    name: str, *happens: tuple[float, Event], topic: Topic, hours: float, ms: float = 1.0
) -> Case:
    groups = {"job": Group("orders", members=2, ms=ms), "audit": Group("visits", members=1)}
    topics = {"orders": topic, "visits": Topic((5.0, 5.0), noise=0.1)}
    return Case(name, topics, groups, happens, warm_up=_HOUR, watched=hours * _HOUR)


def _pause(every: float, work: float, until: float) -> Iterator[tuple[float, Event]]:
    """Yields pauses that begin after each so many seconds of work, until a time."""
    for turn in range(int(until // every)):
        yield turn * every + work, Hang("job", lasts=every - work)


def _job(name: str, every: float, work: float, hours: float, *, dies: float) -> Watched:
    """A job that works for a part of each period; the last pause does not end."""
    happens = (*_pause(every, work, dies), (dies, Hang("job")))
    case = _case(name, *happens, topic=Topic(_EVEN, noise=0.1), hours=hours)
    return Watched(case, 3 * every + 10 * _MINUTE, every - work)


def _read(name: str, batch: float, *happens: tuple[float, Event]) -> Watched:
    """A topic to which a transaction is written once in so many seconds."""
    topic = Topic(_EVEN, batch_seconds=batch, markers=True)
    # Offsets count as markers only if a run has seen an open transaction of the topic.
    seen = (-0.9 * _HOUR, OpenTransaction("orders", 0, lasts=2 * _MINUTE))
    return Watched(_case(name, seen, *happens, topic=topic, hours=6), 2 * _HOUR)


RHYTHMS = (
    _job("every-half-hour", 30 * _MINUTE, 10 * _MINUTE, 6, dies=4 * _HOUR),
    _job("hourly", _HOUR, 20 * _MINUTE, 11, dies=8 * _HOUR),
    _job("every-two-hours", 2 * _HOUR, 80 * _MINUTE, 16, dies=12 * _HOUR),
    Watched(
        _case(
            "two-outages-and-stuck",
            (0.0, Hang("job", lasts=40 * _MINUTE)),
            (2 * _HOUR, Leave("job")),
            (2.6 * _HOUR, Join("job", 2)),
            (4 * _HOUR, Hang("job")),
            topic=Topic(_EVEN, noise=0.1),
            hours=6,
        )
    ),
    Watched(_case("falls-behind", topic=Topic(_EVEN, wave_seconds=_HOUR), hours=4, ms=60.0)),
    _read("transactions", 900.0),
    _read("transactions-often", 120.0),
    _read("transactions-and-stuck", 900.0, (4.1 * _HOUR, Poison("job", 1))),
    _read("transactions-and-stopped", 900.0, (4.1 * _HOUR, Leave("job"))),
)
