# SPDX-License-Identifier: Apache-2.0
"""Cases in memory with two troubles at once, with a part of a group, or that end before the end.

The rules were made beside `TRIED`; `ASIDE` was set aside until they were finished.
"""

from __future__ import annotations

from dataclasses import replace

from dev.sim.events import (
    Case,
    Event,
    Flap,
    Group,
    Grow,
    Hang,
    Leave,
    LoseLeaders,
    OpenTransaction,
    OutOfSync,
    Poison,
    Produce,
    Reassign,
    Reset,
    Retain,
    Slow,
    SlowBroker,
    Topic,
    even,
    skew,
)

_NOISE = 0.1
_SMALL = Topic(even(6, 60), noise=_NOISE)
_LARGE = Topic(even(12, 600), noise=_NOISE)
# Three members read 150 records/s, six members 960.
_FEW = Group("orders", members=3, ms=20)
_MANY = Group("orders", members=6, ms=6.25)
_EACH = Group("orders", members=6, ms=6.25, workers="each")
_MINUTES = 60.0
Happens = tuple[float, Event]


def _case(
    name: str, *happens: Happens, topic: Topic = _LARGE, group: Group = _MANY, hours: float = 1.5
) -> Case:
    """Events at minutes after the warm-up that meet a topic and its group, beside a healthy one."""
    return Case(
        name,
        {"orders": topic, "visits": Topic(even(4, 40), noise=_NOISE)},
        {"billing": group, "audit": Group("visits", members=2, ms=10)},
        tuple((minute * _MINUTES, event) for minute, event in happens),
        watched=hours * 3_600,
    )


def _two_topics(name: str, orders: Topic, invoices: Topic, group: Group, event: Event) -> Case:
    """An event that meets one of two topics of a group."""
    group = replace(group, more_topics=("invoices",))
    return Case(name, {"orders": orders, "invoices": invoices}, {"billing": group}, ((0, event),))


TRIED: tuple[Case, ...] = (
    _case(
        "hot-and-slow-member",
        (0, Produce("orders", skew(12, {2: 5}, 1.3))),
        (0, Slow("billing", ms=20, members=(4,))),
    ),
    _case(
        "one-reader-of-a-slow-broker",
        (0, SlowBroker(3, rate=20)),
        group=Group("orders", members=6, ms=6.25, slow_line=True),
    ),
    _case(
        "flood-before-slower",
        (0, Produce("orders", times=2.2, lasts=420)),
        (45, Slow("billing", ms=13)),
        hours=2,
    ),
    _two_topics(
        "one-of-two-topics-grows",
        Topic(even(6, 500), noise=_NOISE),
        Topic(even(6, 100), noise=_NOISE),
        Group("orders", members=6, ms=7.5),
        Produce("invoices", 4.0),
    ),
    _case(
        "outage-and-return",
        (0, Leave("billing", lasts=3_000)),
        group=Group("orders", members=6, ms=8.5),
        hours=3,
    ),
    _case("all-hang-and-return", (0, Hang("billing", lasts=2_400)), topic=_SMALL, group=_FEW),
    _case(
        "the-only-member-hangs",
        (0, Hang("billing")),
        topic=Topic((20.0,), noise=_NOISE),
        group=Group("orders", members=1, ms=20),
    ),
    _case("half-are-slow", (0, Slow("billing", ms=20, members=(0, 2, 5)))),
    _case(
        "stuck-beside-slowness",
        (0, Slow("billing", ms=13)),
        (0, Poison("billing", 3)),
    ),
    _case("retention-lowered", (0, Retain("orders", 500)), (0, Slow("billing", ms=13))),
    _case(
        "partitions-added",
        (0, Grow("orders", (6, 7, 8), seen=False)),
        topic=Topic(even(9, 360), noise=_NOISE),
    ),
    _case("replicas-moved", (0, Reassign("orders", rate=25))),
    _case(
        "replicas-out-of-sync",
        (0, OutOfSync("orders", 2, (1, 4, 7))),
        (0, Slow("billing", ms=60, partitions=(1, 4, 7))),
        group=_EACH,
    ),
    _case(
        "leader-back-and-backlog",
        (0, LoseLeaders("orders", (1, 5), lasts=1_500)),
        (0, Slow("billing", ms=13, lasts=1_500)),
        hours=2,
    ),
    _case(
        "slow-stopped-and-slow-again",
        (0, Slow("billing", ms=14)),
        (40, Leave("billing", lasts=1_500)),
        hours=2.5,
    ),
    _case("slow-until-noon", (0, Slow("billing", ms=14, lasts=3_000)), hours=2),
    _case("growth-until-noon", (0, Produce("orders", times=2.2, lasts=3_000)), hours=2),
    _case(
        "restless-until-noon",
        (0, Flap("billing", members=3, up=60, down=60, lasts=2_400)),
        group=Group("orders", members=6, ms=8.5),
        hours=2,
    ),
    _case("transaction-until-noon", (0, OpenTransaction("orders", 4, lasts=2_400)), hours=1.2),
    Case(
        "slow-broker-until-noon",
        {"orders": _LARGE, "visits": Topic(even(12, 240), noise=_NOISE)},
        {
            "billing": Group("orders", members=6, ms=6.25, slow_line=True),
            "stock": Group("visits", members=4, ms=8, slow_line=True),
            "audit": Group("orders", members=4, ms=4),
        },
        ((0, SlowBroker(2, rate=9.5, lasts=2_400)),),
        watched=7_200,
    ),
)
ASIDE: tuple[Case, ...] = (
    _case(
        "slow-member-and-stuck-record",
        (0, Slow("billing", ms=24, members=(1,))),
        (0, Poison("billing", 4)),
    ),
    _case(
        "hot-and-hung-member",
        (0, Produce("orders", skew(6, {0: 8}, 1.4))),
        (0, Hang("billing", (2,))),
        topic=_SMALL,
        group=_FEW,
    ),
    _two_topics(
        "small-topic-of-two-grows",
        Topic(even(8, 80), noise=_NOISE),
        Topic(even(2, 4), noise=_NOISE),
        Group("orders", members=2, ms=20),
        Produce("invoices", 12.0, ramp=600),
    ),
    _case(
        "slow-unavailable-and-slow-again",
        (0, Slow("billing", ms=14)),
        (45, LoseLeaders("orders", (0, 3, 7), lasts=1_200)),
        hours=2.2,
    ),
    _case(
        "a-third-is-slow-small",
        (0, Slow("billing", ms=80, members=(1, 3))),
        topic=Topic(even(12, 90), noise=_NOISE),
        group=Group("orders", members=6, ms=30, protocol="consumer"),
    ),
    _case(
        "flood-before-members-leave",
        (0, Produce("orders", times=3.0, lasts=300)),
        (50, Leave("billing", (0, 1, 2, 3))),
        hours=2,
    ),
    _case(
        "hung-and-back-slower",
        (0, Hang("billing", lasts=1_800)),
        (31, Slow("billing", ms=65)),
        topic=_SMALL,
        group=_FEW,
        hours=2.5,
    ),
    _case(
        "reset-then-slow",
        (0, Reset("billing", seconds=1_800)),
        (0, Slow("billing", ms=12)),
    ),
    _case(
        "retention-lowered-for-a-while",
        (0, Retain("orders", 420, lasts=2_400)),
        (0, Slow("billing", ms=60, lasts=2_400)),
        topic=_SMALL,
        group=_FEW,
        hours=2,
    ),
    _case(
        "slow-partition-and-slow-member",
        (0, Slow("billing", ms=60, partitions=(2,))),
        (0, Slow("billing", ms=30, members=(5,))),
        group=_EACH,
    ),
)
