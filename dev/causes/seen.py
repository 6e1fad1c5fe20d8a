# SPDX-License-Identifier: Apache-2.0
"""Faults beside which the rules were made, each in two sizes."""

from __future__ import annotations

from dev.causes.faults import (
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
    Skew,
    Slow,
    SlowBroker,
    StopBroker,
    Topic,
)
from kafka_lag import contract

_SMALL = Topic(partitions=6, rate=60)
_LARGE = Topic(partitions=16, rate=400)
_FEW = Group("orders", members=3, ms=20)
_MANY = Group("orders", members=6, ms=8)
_BESIDE = Group("orders", members=1, ms=1)


def _pair(
    name: str,
    cause: str,
    small: Event,
    large: Event,
    *,
    few: Group = _FEW,
    many: Group = _MANY,
    small_topic: Topic = _SMALL,
    large_topic: Topic = _LARGE,
    also: frozenset[str] = frozenset(),
) -> tuple[Case, Case]:
    """The same in two sizes, the small one with a group beside that is well."""
    right = {"billing": {cause} | also}
    return (
        Case(
            f"{name}-small",
            {"orders": small_topic},
            {"billing": few, "audit": _BESIDE},
            ((0, small),),
            right,
        ),
        Case(f"{name}-large", {"orders": large_topic}, {"billing": many}, ((0, large),), right),
    )


def _alone(name: str, cause: str, *happens: Event, topic: Topic = _SMALL) -> Case:
    """Something that meets a topic, and its only group."""
    return Case(
        name,
        {"orders": topic},
        {"billing": _FEW if topic.partitions < _LARGE.partitions else _MANY},
        tuple((0, each) for each in happens),
        {"billing": {cause}},
    )


_EACH_FEW = Group("orders", members=2, ms=20, workers="each")
_EACH_MANY = Group("orders", members=4, ms=12, workers="each", protocol="consumer")

CASES: tuple[Case, ...] = (
    _alone("more-small", contract.MORE_PRODUCED, Produce("orders", times=3.5)),
    _alone("more-large", contract.MORE_PRODUCED, Produce("orders", times=2.6), topic=_LARGE),
    _alone("more-by-and-by", contract.MORE_PRODUCED, Produce("orders", times=4.0, ramp=40)),
    _alone("more-little", contract.MORE_PRODUCED, Produce("orders", times=2.8)),
    *_pair("all-slower", contract.CAPACITY_FELL, Slow("billing", ms=90), Slow("billing", ms=25)),
    *_pair(
        "slower-release",
        contract.CAPACITY_FELL,
        Deploy("billing", ms=120),
        Deploy("billing", ms=35),
    ),
    *_pair(
        "scaled-in",
        contract.TOO_FEW_MEMBERS,
        Leave("billing", (0, 1)),
        Leave("billing", (0, 1, 2, 3)),
        few=Group("orders", members=3, ms=25),
    ),
    *_pair(
        "members-killed",
        contract.TOO_FEW_MEMBERS,
        Kill("billing", (1, 2)),
        Kill("billing", (0, 2, 3, 5)),
        few=Group("orders", members=3, ms=25),
        many=Group("orders", members=6, ms=8, protocol="consumer"),
    ),
    _alone("keys-skewed-small", contract.HOT_PARTITION, Skew("orders", {2: 15}, times=1.6)),
    _alone("keys-skewed-large", contract.HOT_PARTITION, Skew("orders", {3: 12}), topic=_LARGE),
    *_pair(
        "slow-partition",
        contract.HOT_PARTITION,
        Slow("billing", ms=180, partitions=(1,)),
        Slow("billing", ms=90, partitions=(5,)),
        few=_EACH_FEW,
        many=_EACH_MANY,
    ),
    *_pair(
        "member-slow",
        contract.SLOW_MEMBER,
        Slow("billing", ms=120, members=(1,)),
        Slow("billing", ms=30, members=(4,)),
    ),
    *_pair(
        "member-hangs",
        contract.SLOW_MEMBER,
        Hang("billing", (1,)),
        Hang("billing", (2,)),
    ),
    *_pair(
        "poison-skipped",
        contract.STUCK_RECORD,
        Poison("billing", 3),
        Poison("billing", 9),
    ),
    *_pair(
        "poison-of-its-worker",
        contract.STUCK_RECORD,
        Poison("billing", 0),
        Poison("billing", 11),
        few=_EACH_FEW,
        many=_EACH_MANY,
    ),
    *_pair("all-left", contract.STOPPED, Leave("billing"), Leave("billing")),
    *_pair("all-killed", contract.STOPPED, Kill("billing"), Freeze("billing")),
    *_pair(
        "comes-and-goes",
        contract.REBALANCES,
        Flap("billing", members=2, up=2.0, down=2.0),
        Flap("billing", members=3, up=1.5, down=1.0, kill=True),
        few=Group("orders", members=3, ms=35),
        many=Group("orders", members=6, ms=12, session_seconds=3.0),
    ),
    *_pair(
        "crash-loop",
        contract.REBALANCES,
        Poison("billing", 2, then="crash"),
        Poison("billing", 7, then="crash"),
        also=frozenset({contract.STUCK_RECORD}),
    ),
    _alone("transaction-small", contract.OPEN_TRANSACTION, OpenTransaction("orders", 2)),
    _alone(
        "transaction-large",
        contract.OPEN_TRANSACTION,
        OpenTransaction("orders", 4),
        OpenTransaction("orders", 7),
        topic=_LARGE,
    ),
    *(
        Case(
            f"retention-{size}",
            {"orders": topic},
            {"billing": group},
            ((0, Retain("orders", **kept)), (0, Slow("billing", ms=slow))),
            {"billing": {contract.RETENTION_RACE}},
        )
        for size, topic, group, kept, slow in (
            ("by-time-small", _SMALL, _FEW, {"seconds": 8.0}, 150.0),
            ("by-time-large", _LARGE, _MANY, {"seconds": 12.0}, 40.0),
            ("by-size-small", _SMALL, _FEW, {"bytes": 12_000}, 150.0),
        )
    ),
    *_pair("reset-to-start", contract.OFFSETS_RESET, Reset("billing"), Reset("billing")),
    *_pair(
        "reset-some",
        contract.OFFSETS_RESET,
        Reset("billing", back=600, partitions=(0, 1)),
        Reset("billing", back=2_000),
    ),
    _alone("topic-recreated", contract.OFFSETS_RESET, Recreate("orders")),
    Case(
        "burst-and-leaders-move",
        {"orders": _SMALL},
        {"billing": Group("orders", members=2, ms=6), "audit": _BESIDE},
        ((2, Produce("orders", times=2, lasts=10)), (30, MoveLeaders("orders"))),
    ),
    Case(
        "two-at-once-small",
        {"orders": _SMALL, "visits": _SMALL},
        {"billing": _FEW, "stock": Group("visits", members=3, ms=20)},
        ((0, Slow("billing", ms=120, members=(0,))), (0, Produce("visits", times=3.5))),
        {"billing": {contract.SLOW_MEMBER}, "stock": {contract.MORE_PRODUCED}},
    ),
    Case(
        "two-at-once-large",
        {"orders": _LARGE},
        {"billing": _MANY, "stock": Group("orders", members=4, ms=6)},
        ((0, Leave("billing")), (0, Poison("stock", 3))),
        {"billing": {contract.STOPPED}, "stock": {contract.STUCK_RECORD}},
    ),
    Case(
        "no-leader",
        {
            "orders": Topic(partitions=6, rate=60, copies=1),
            "visits": Topic(partitions=12, rate=240, copies=1),
            "safe": Topic(partitions=4, rate=40),
        },
        {
            "billing": _FEW,
            "stock": Group("visits", members=4, ms=10),
            "audit": Group("safe", members=2, ms=5),
        },
        ((0, StopBroker(2)),),
        {"billing": {contract.UNAVAILABLE}, "stock": {contract.UNAVAILABLE}},
    ),
    Case(
        "slow-broker",
        {"orders": Topic(partitions=6, rate=90), "visits": Topic(partitions=12, rate=240)},
        {
            "billing": Group("orders", members=3, ms=5, slow_line=True),
            "stock": Group("visits", members=4, ms=5, slow_line=True),
            "audit": Group("orders", members=2, ms=5),
        },
        ((0, SlowBroker(3, delay=3.0)),),
        {"billing": {contract.SLOW_BROKER}, "stock": {contract.SLOW_BROKER}},
    ),
    Case(
        "fewer-and-join-again",
        {"orders": _SMALL},
        {"billing": Group("orders", members=3, ms=25)},
        ((0, Leave("billing", (0, 1))), (45, Join("billing", 2))),
        {"billing": {contract.TOO_FEW_MEMBERS}},
    ),
)
