# SPDX-License-Identifier: Apache-2.0
"""Groups that are well for an hour, with deploys, daily curves and batch jobs: nothing to name."""

from __future__ import annotations

from dev.causes.faults import (
    Case,
    Deploy,
    Event,
    Group,
    Join,
    Leave,
    MoveLeaders,
    Produce,
    Topic,
)

_HOUR = 3_600.0


def _every(seconds: float, *events: Event, first: float = 0.0) -> tuple[tuple[float, Event], ...]:
    times = range(int((_HOUR - first) / seconds))
    return tuple((first + seconds * turn, event) for turn in times for event in events)


def _one_group(name: str, topic: Topic, group: Group, *happens: tuple[float, Event]) -> Case:
    return Case(name, {group.topic: topic}, {"service": group}, happens, watched=_HOUR)


CASES = (
    Case(
        "deploys",
        {"orders": Topic(partitions=6, rate=60)},
        {
            "billing": Group("orders", members=3, ms=10),
            "stock": Group("orders", members=2, ms=8, protocol="consumer"),
        },
        (*_every(240, Deploy("billing")), *_every(300, Deploy("stock", pause=1.0), first=60)),
        watched=_HOUR,
    ),
    Case(
        "daily-curve",
        {"visits": Topic(partitions=8, rate=120, wave_seconds=720)},
        {
            "stock": Group("visits", members=3, ms=10),
            "audit": Group("visits", members=1, ms=2, commit_seconds=5),
        },
        watched=_HOUR,
    ),
    _one_group(
        "batch-job",
        Topic(partitions=4, rate=30, batch_seconds=120),
        Group("invoices", members=2, ms=4),
    ),
    _one_group(
        "bursts",
        Topic(partitions=6, rate=40),
        Group("clicks", members=2, ms=10),
        *_every(300, Produce("clicks", times=4.0, lasts=6.0)),
    ),
    _one_group(
        "scaling",
        Topic(partitions=6, rate=60),
        Group("events", members=3, ms=8),
        *_every(400, Leave("service", (2,))),
        *_every(400, Join("service", 1), first=150),
    ),
    _one_group(
        "leaders-move",
        Topic(partitions=6, rate=30),
        Group("alerts", members=2, ms=10),
        *_every(600, MoveLeaders("alerts")),
    ),
)
