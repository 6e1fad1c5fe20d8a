# SPDX-License-Identifier: Apache-2.0
"""Days that a seed draws, so that nobody has seen them who wrote the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dev.sim.cases import days
from dev.sim.cases.days import HOUR, MINUTE
from dev.sim.events import Case, Delete, Hide, LoseLeaders, MoveLeaders, Reset, Skip
from kafka_lag import contract


def plan_clusters(seed: int, only: Callable[[str], bool] = bool) -> list[Case]:
    """Returns clusters of the planted days; with a seed, of days that it draws."""
    sets = [draw_days(seed)] if seed else [days.FIRST, days.SECOND, days.GAPS, days.SLOW_BROKER]
    chosen = [[each for each in each_set if only(each.name)] for each_set in sets]
    return [days.merge(f"days-{place}", each) for place, each in enumerate(chosen) if each]


def draw_days(seed: int) -> list[Case]:
    """Returns a day of each kind, at times and rates that nobody has chosen."""
    rng = np.random.default_rng(seed)
    return [_draw_day(rng, kind, f"drawn-{kind}") for kind in _KINDS]


_KINDS = (
    *("away", "away-twice", "away-for-minutes", "stall", "stall-of-member", "stall-of-partition"),
    *("slow", "lost-away", "lost-stalled", "at-risk", "rewound", "skipped", "storm", "unread"),
    *("hidden", "partition-unread", "deleted", "sla", "calm", "leaders-moved", "leaderless"),
)


def _draw_day(rng: np.random.Generator, kind: str, name: str) -> Case:
    def hours(least: float, most: float) -> float:
        return int(rng.integers(round(least * 60), round(most * 60) + 1)) / 60

    partitions = int(rng.integers(3, 9))
    members, rate = int(rng.integers(2, partitions + 1)), round(float(rng.uniform(1, 6)), 2)
    begin, number = hours(1, 18), int(rng.integers(partitions))
    end = begin + hours(0.5, 5)
    kept = int(rng.integers(1, 5)) if kind.startswith("lost") else None
    more: dict[str, Any] = {}
    match kind:
        case "away":
            happens = days.away(begin - 2.5, end, members)
        case "away-twice":
            happens = (*days.away(hours(1, 6), 8, members), *days.away(hours(13, 16), 18, members))
        case "away-for-minutes":
            happens = days.away(begin, begin + hours(2 / 60, 7 / 60), members)
        case "stall":
            happens = days.hang(begin, end)
        case "stall-of-member":
            happens = days.hang(begin, end, int(rng.integers(members)))
        case "stall-of-partition":
            happens = days.stick(begin, end, number)
        case "slow":
            load = [rate * len(range(each, partitions, members)) for each in range(members)]
            happens = days.slow(begin, begin + hours(2, 5), float(rng.uniform(0.2, 0.6)), load=load)
        case "lost-away" | "lost-stalled":
            until = hours(1, 10) + (kept or 0) + hours(1.5, 5)
            begin = until - hours(1.5, 5) - (kept or 0)
            stops = kind == "lost-away"
            happens = days.away(begin, until, members) if stops else days.hang(begin, until)
        case "at-risk":
            kept = int(rng.integers(6, 13))
            happens = days.hang(begin / 2, begin / 2 + round(kept * 0.75))
        case "rewound":
            happens = ((begin, Reset("g", 60.0 * int(rng.integers(20, 121)))),)
        case "skipped":
            happens = (*days.hang(begin, end), (end, Skip("g")))
        case "storm":
            pause, times = int(rng.integers(2, 5)), int(rng.integers(16, 41))
            happens = days.replaced(begin + each * pause * MINUTE for each in range(times))
            partitions, members, more = 4, 4, {"rebalance_seconds": 60.0}
        case "unread":
            reasons = (contract.DENIED, contract.NO_COORDINATOR, contract.TIMEOUT)
            happens = days.unread(begin, end, reasons[int(rng.integers(3))])
        case "hidden":
            happens = ((begin, Hide("t", (end - begin) * HOUR)),)
        case "partition-unread":
            happens = days.unread(begin, end, contract.TIMEOUT, topic="t", partitions=(number,))
        case "deleted":
            happens = ((begin, Delete("g")),)
        case "sla":
            happens = days.hang(begin, begin + hours(0.5, 3))
            more = {"sla_seconds": 60.0 * int(rng.integers(2, 11))}
        case "leaders-moved":
            happens = ((begin, MoveLeaders("t", 1 + number % 3, (end - begin) * HOUR)),)
        case "leaderless":
            happens = ((begin, LoseLeaders("t", (number,), (end - begin) * HOUR)),)
        case _:
            happens, more = (), {"wave_seconds": days.DAY * HOUR}
    pace = float(rng.choice([2.5, 3.0, 4.0, 6.0]))
    rates = (rate,) * partitions
    return days.day(name, happens, rates=rates, members=members, pace=pace, kept=kept, **more)
