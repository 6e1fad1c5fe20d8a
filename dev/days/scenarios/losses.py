# SPDX-License-Identifier: Apache-2.0
"""Groups that lost records, may lose some soon, and are safe; and how their lag does."""

from __future__ import annotations

from dev.days.describe import Day
from dev.days.events import Absent, Rewind, Rows, Slow, Span
from dev.days.scenarios.build import a_day, a_group, a_topic
from kafka_lag.lag.group_settings import ByName, Rules

_HOUR = 3_600.0
LOST_FROM, LOST_UNTIL = 8.0, 15.0
STOPPED_FOR_RISK = 17.0
SLA_SECONDS, SLA_OWNER = 300.0, "payments team"
SLA_MISSED = Span(9, 11)


def retention() -> Day:
    """`lost` is away from 6 to 15 with two hours of retention, and so loses records from 8 on;
    `would-lose` stops at 17 with twelve hours, of which five are left at midnight; `safe` is safe.
    """
    return a_day(
        [
            a_topic("short", [3.0, 1.0], retention_seconds=2 * _HOUR),
            a_topic("half-day", [3.0, 1.0], retention_seconds=12 * _HOUR),
            a_topic("week", [3.0, 1.0]),
        ],
        [a_group("lost", "short"), a_group("would-lose", "half-day"), a_group("safe", "week")],
        Slow(when=Span(6, LOST_UNTIL), rows=Rows(group="lost")),
        Slow(when=Span(STOPPED_FOR_RISK), rows=Rows(group="would-lose")),
    )


def service_level() -> Day:
    """`promised` has an owner and an SLA, which it misses for a part of the day, unlike usual."""
    return a_day(
        [a_topic("payments", [2.0, 2.0])],
        [a_group("promised", "payments", usual=(40.0, 10.0))],
        Slow(when=SLA_MISSED, rows=Rows(group="promised", partitions=(0,))),
        rules=Rules(
            owners=ByName.of([("^promised$", SLA_OWNER)]),
            sla_seconds=ByName.of([("^promised$", SLA_SECONDS)]),
        ),
    )


def statuses() -> Day:
    """Groups that fall behind, stop, are away all day, and go back an hour."""
    names = ("falls-behind", "stops", "away", "goes-back")
    return a_day(
        [a_topic(f"of-{name}", [1.5]) for name in names],
        [a_group(name, f"of-{name}", members=1) for name in names],
        Slow(when=Span(5, 12), rows=Rows(group="falls-behind"), share=0.5),
        Absent(when=Span(10, 13), group="stops"),
        Absent(when=Span(-40), group="away"),
        Rewind(when=Span(18, 19), rows=Rows(group="goes-back"), seconds=_HOUR),
    )
