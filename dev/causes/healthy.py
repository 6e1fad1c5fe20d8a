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
    Case(
        "batch-job",
        {"invoices": Topic(partitions=4, rate=30, batch_seconds=120)},
        {"ledger": Group("invoices", members=2, ms=4)},
        watched=_HOUR,
    ),
    Case(
        "bursts",
        {"clicks": Topic(partitions=6, rate=40)},
        {"counts": Group("clicks", members=2, ms=10)},
        _every(300, Produce("clicks", times=4.0, lasts=6.0)),
        watched=_HOUR,
    ),
    Case(
        "scaling",
        {"events": Topic(partitions=6, rate=60)},
        {"index": Group("events", members=3, ms=8)},
        (
            *_every(400, Leave("index", (2,))),
            *_every(400, Join("index", 1), first=150),
        ),
        watched=_HOUR,
    ),
    Case(
        "leaders-move",
        {"alerts": Topic(partitions=6, rate=30)},
        {"mails": Group("alerts", members=2, ms=10)},
        _every(600, MoveLeaders("alerts")),
        watched=_HOUR,
    ),
)
