# SPDX-License-Identifier: Apache-2.0
"""Days with one finding or few, and what is told of them."""

from collections.abc import Mapping
from typing import Any

from kafka_lag_report.summary.cause import Cause
from kafka_lag_report.summary.changes import Kind, changes
from kafka_lag_report.summary.findings import (
    Broker,
    Coverage,
    Findings,
    Group,
    Heat,
    Risk,
    Skew,
    Topic,
)

TOPIC = Topic("demo", "billing", "orders")
GROUP = Group("demo", "billing")
BROKER = Broker("demo", 3, "az-a")
SEEN = {"demo": {"groups": Coverage(1440, 0, 60.0, 60.0)}}
LOST, LOST_MORE = Risk(lost=1, records_lost=1_200), Risk(lost=2, records_lost=1_500)
AT_RISK, SAFE = Risk(at_risk=2, least_seconds_until_loss=18_000.0), Risk()
BY_BROKER = Skew(True, 3.42, Cause("broker", (0, 1), leader=3))
HOT = Heat(True, 0.62, 0.25)


def day(**found: Any) -> Findings:
    """A day of cluster demo that was seen whole."""
    return Findings(**{"coverage": SEEN, **found})


def told_of(today: Findings, before: Findings | None) -> list[tuple[Kind, str]]:
    """Kinds and texts of the changes, in their order."""
    return [(change.kind, change.text) for change in changes(today, before)]


def lone(name: str, key: object, today: object, before: object) -> list[tuple[Kind, str]]:
    """What is told of one finding; null: it was none on that day."""
    days: list[Mapping[Any, Any]] = [{} if v is None else {key: v} for v in (today, before)]
    return told_of(day(**{name: days[0]}), day(**{name: days[1]}))
