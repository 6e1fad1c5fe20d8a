# SPDX-License-Identifier: Apache-2.0
"""Cases that run in memory and on real brokers: troubles in two sizes, and healthy groups."""

from __future__ import annotations

from dev.sim.events import (
    Case,
    Deploy,
    Event,
    Flap,
    Freeze,
    Group,
    Hang,
    Join,
    Kill,
    Leave,
    MoveLeaders,
    OpenTransaction,
    Poison,
    Produce,
    Recreate,
    Reset,
    Retain,
    Slow,
    SlowBroker,
    StopBroker,
    Topic,
    even,
    skew,
)

_SMALL = Topic(even(6, 60))
_LARGE = Topic(even(16, 400))
_FEW = Group("orders", members=3, ms=20)
_MANY = Group("orders", members=6, ms=8)
_EACH_FEW = Group("orders", members=2, ms=20, workers="each")
_EACH_MANY = Group("orders", members=4, ms=12, workers="each", protocol="consumer")
_BESIDE = Group("orders", members=1, ms=1)


def _pair(
    name: str, small: Event, large: Event, *, few: Group = _FEW, many: Group = _MANY
) -> tuple[Case, Case]:
    """The same in two sizes, the small one beside a healthy group."""
    return (
        Case(
            f"{name}-small", {"orders": _SMALL}, {"billing": few, "audit": _BESIDE}, ((0, small),)
        ),
        Case(f"{name}-large", {"orders": _LARGE}, {"billing": many}, ((0, large),)),
    )


def _alone(name: str, *happens: Event, topic: Topic = _SMALL) -> Case:
    """Events that meet a topic, and its only group."""
    group = _FEW if topic is _SMALL else _MANY
    return Case(name, {"orders": topic}, {"billing": group}, tuple((0, event) for event in happens))


TROUBLES: tuple[Case, ...] = (
    _alone("more-small", Produce("orders", times=3.5)),
    _alone("more-large", Produce("orders", times=2.6), topic=_LARGE),
    _alone("more-by-and-by", Produce("orders", times=4.0, ramp=1_200)),
    _alone("more-little", Produce("orders", times=3.1)),
    *_pair("all-slower", Slow("billing", ms=90), Slow("billing", ms=25)),
    *_pair("slower-release", Deploy("billing", ms=120), Deploy("billing", ms=35)),
    *_pair(
        "scaled-in",
        Leave("billing", (0, 1)),
        Leave("billing", (0, 1, 2, 3)),
        few=Group("orders", members=3, ms=25),
    ),
    *_pair(
        "members-killed",
        Kill("billing", (1, 2)),
        Kill("billing", (0, 2, 3, 5)),
        few=Group("orders", members=3, ms=25),
        many=Group("orders", members=6, ms=8, protocol="consumer"),
    ),
    _alone("keys-skewed-small", Produce("orders", skew(6, {2: 15}, 1.6))),
    _alone("keys-skewed-large", Produce("orders", skew(16, {3: 12})), topic=_LARGE),
    *_pair(
        "slow-partition",
        Slow("billing", ms=180, partitions=(1,)),
        Slow("billing", ms=90, partitions=(5,)),
        few=_EACH_FEW,
        many=_EACH_MANY,
    ),
    *_pair("member-slow", Slow("billing", 120, (1,)), Slow("billing", 30, (4,))),
    *_pair("member-hangs", Hang("billing", (1,)), Hang("billing", (2,))),
    *_pair("poison-skipped", Poison("billing", 3), Poison("billing", 9)),
    *_pair(
        "poison-of-its-worker",
        Poison("billing", 0),
        Poison("billing", 11),
        few=_EACH_FEW,
        many=_EACH_MANY,
    ),
    *_pair("all-left", Leave("billing"), Leave("billing")),
    *_pair("all-killed", Kill("billing"), Freeze("billing")),
    *_pair(
        "comes-and-goes",
        Flap("billing", members=2, up=60, down=60),
        Flap("billing", members=3, up=45, down=30, kill=True),
        few=Group("orders", members=3, ms=35),
        many=Group("orders", members=6, ms=12, session_seconds=90),
    ),
    *_pair(
        "crash-loop",
        Poison("billing", 2, then="crash"),
        Poison("billing", 7, then="crash"),
    ),
    _alone("transaction-small", OpenTransaction("orders", 2)),
    _alone(
        "transaction-large",
        OpenTransaction("orders", 4),
        OpenTransaction("orders", 7),
        topic=_LARGE,
    ),
    _alone("retention-by-time-small", Retain("orders", 240), Slow("billing", 150)),
    _alone("retention-by-time-large", Retain("orders", 360), Slow("billing", 40), topic=_LARGE),
    _alone("retention-by-size-small", Retain("orders", 480, by_size=True), Slow("billing", 150)),
    *_pair("reset-to-start", Reset("billing"), Reset("billing")),
    *_pair(
        "reset-some",
        Reset("billing", seconds=1_800, partitions=(0, 1)),
        Reset("billing", seconds=2_400),
    ),
    _alone("topic-recreated", Recreate("orders")),
    Case(
        "two-at-once-small",
        {"orders": _SMALL, "visits": _SMALL},
        {"billing": _FEW, "stock": Group("visits", members=3, ms=20)},
        ((0, Slow("billing", 120, (0,))), (0, Produce("visits", times=3.5))),
    ),
    Case(
        "two-at-once-large",
        {"orders": _LARGE},
        {"billing": _MANY, "stock": Group("orders", members=4, ms=6)},
        ((0, Leave("billing")), (0, Poison("stock", 3))),
    ),
    Case(
        "no-leader",
        {
            "orders": Topic(even(6, 60), copies=1),
            "visits": Topic(even(12, 240), copies=1),
            "safe": Topic(even(4, 40)),
        },
        {
            "billing": _FEW,
            "stock": Group("visits", members=4, ms=10),
            "audit": Group("safe", members=2, ms=5),
        },
        ((0, StopBroker(2)),),
    ),
    Case(
        "slow-broker",
        {"orders": Topic(even(6, 90)), "visits": Topic(even(12, 240))},
        {
            # Heartbeats are slow as well if the slow broker coordinates the group.
            "billing": Group("orders", members=3, ms=5, slow_line=True, session_seconds=1_800),
            "stock": Group("visits", members=4, ms=5, slow_line=True, session_seconds=1_800),
            "audit": Group("orders", members=2, ms=5),
        },
        ((0, SlowBroker(3, rate=9.5)),),
    ),
    Case(
        "fewer-and-join-again",
        {"orders": _SMALL},
        {"billing": Group("orders", members=3, ms=25)},
        ((0, Leave("billing", (0, 1))), (2_700, Join("billing", 2))),
    ),
)


def _every(seconds: float, *events: Event, first: float = 0.0) -> tuple[tuple[float, Event], ...]:
    times = range(int((3_600 - first) / seconds))
    return tuple((first + seconds * turn, event) for turn in times for event in events)


HEALTHY: tuple[Case, ...] = (
    Case(
        "burst-and-leaders-move",
        {"orders": _SMALL},
        {"billing": Group("orders", members=2, ms=6), "audit": _BESIDE},
        ((60, Produce("orders", times=2, lasts=300)), (900, MoveLeaders("orders"))),
    ),
    Case(
        "deploys",
        {"orders": _SMALL},
        {
            "billing": Group("orders", members=3, ms=10),
            "stock": Group("orders", members=2, ms=8, protocol="consumer"),
        },
        (
            *_every(1_200, Deploy("billing")),
            *_every(1_500, Deploy("stock", pause=30), first=600),
        ),
    ),
    Case(
        "daily-curve",
        {"visits": Topic(even(8, 120), wave_seconds=3_600)},
        {
            "stock": Group("visits", members=3, ms=5),
            "audit": Group("visits", members=1, ms=2, commit_seconds=150),
        },
    ),
    Case(
        "batch-written",
        {"invoices": Topic(even(4, 30), batch_seconds=900)},
        {"service": Group("invoices", members=2, ms=4)},
    ),
    Case(
        "bursts",
        {"clicks": Topic(even(6, 40))},
        {"service": Group("clicks", members=2, ms=10)},
        _every(1_200, Produce("clicks", times=4.0, lasts=180)),
    ),
    Case(
        "scaling",
        {"events": _SMALL},
        {"service": Group("events", members=3, ms=8)},
        (
            *_every(1_800, Leave("service", (2,))),
            *_every(1_800, Join("service", 1), first=900),
        ),
    ),
    Case(
        "short-stop",
        {"orders": _SMALL},
        {"billing": Group("orders", members=2, ms=6), "audit": _BESIDE},
        ((0, Leave("billing")), (240, Join("billing", 2))),
    ),
    Case(
        "seldom-commits",
        {"orders": _SMALL},
        {"billing": Group("orders", members=2, ms=6, commit_seconds=480)},
    ),
)
