# SPDX-License-Identifier: Apache-2.0
"""Hours of a cluster, a run a minute: the collector's own code writes its log.

Each group reads a topic of its own, into which 600 records come a minute. No time is looked up, so
ages come from the ends of the log in earlier runs.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from dev.sim.cloudwatch import Metrics
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import MetricSet, health_set, lag_sets, success_set
from kafka_lag.snapshots.previous import Memory
from tests.builders import MINUTE, NOON, a_reading

CLUSTER = "shop"
MINUTES = range(140)

STEADY, STOPS, DELETED, REBALANCES, AT_RISK = (
    "steady",
    "stops",
    "deleted",
    "rebalances",
    "at risk",
)
STOPPED, STARTED = 30, 70
# Seconds that are promised.
REBALANCES_SLA = 300
GONE = 60
REBALANCE = range(100, 110)
HELD_UP, WORKING = 30, 90

_RATE, _BEHIND, _FASTER = 600, 150, 3
_RETENTION_MS = 60 * MINUTE

# Records that a group has read by the end of a minute, None once there is no such group.
_Commits = Callable[[int], int | None]


def written(minutes: Iterable[int]) -> dict[int, list[str]]:
    """The log's lines by minute of runs that all succeed; a run that reads nothing writes none."""
    memory, lines = Memory.empty(), {}
    rules = Rules(sla_seconds=ByName.of([(f"^{REBALANCES}$", float(REBALANCES_SLA))]))
    for minute in minutes:
        taken_at = NOON + minute * MINUTE
        report = evaluate(reading(minute), memory.previous_runs(), rules, taken_at)
        chosen = plan(report, memory.newest, Levels())
        lines[minute] = _lines(
            [
                *lag_sets(report, chosen, Levels(), CLUSTER),
                health_set(report, chosen.omitted, CLUSTER, seconds=1.5),
                success_set(CLUSTER),
            ],
            taken_at,
        )
        rows = report.snapshot.group_partitions.with_columns(published=chosen.published)
        snapshot = replace(report.snapshot, group_partitions=rows)
        memory = memory.add_run(snapshot, MINUTE, stored=True)
    return lines


def _lines(sets: list[MetricSet], taken_at: int) -> list[str]:
    stream = io.StringIO()
    EmfSink(stream).publish(sets, taken_at)
    return stream.getvalue().splitlines()


def metrics_of(lines: Mapping[int, list[str]]) -> Metrics:
    """What CloudWatch makes of them."""
    metrics = Metrics(NOON)
    for minute in lines:
        metrics.feed(lines[minute])
    return metrics


def reading(minute: int) -> ClusterReading:
    """What the brokers say at the end of a minute."""
    commits = {group: at(minute) for group, at in _GROUPS.items()}
    known = {group: read for group, read in commits.items() if read is not None}
    found = a_reading(
        {group: {group: [read]} for group, read in known.items()},
        {group: [(0, _end(minute))] for group in _GROUPS},
        at=NOON + minute * MINUTE,
        owners={(group, group, 0): _member(group, minute) for group in known},
        gone_groups=[group for group in commits if group not in known],
    )
    topics, groups = found.topic_partitions, found.groups
    retained = [_RETENTION_MS if group == AT_RISK else 7 * 24 * 60 * MINUTE for group in _GROUPS]
    return replace(
        found,
        topic_partitions=topics.with_columns(
            cleanup_policy=Strings.constant("delete", len(topics)),
            retention_ms=Column.optional(retained),
            retention_bytes=Column.optional([-1] * len(topics)),
        ),
        groups=groups.with_columns(
            group_state=Strings.of(_state(group, minute) for group in known)
        ),
    )


def _end(minute: int) -> int:
    return _RATE * (minute + 100)


def _keeping_up(minute: int) -> int:
    return _end(minute) - _BEHIND


def _still(since: int, until: int) -> _Commits:
    """Stands still between two minutes, then reads three times as fast as records come."""

    def commits(minute: int) -> int:
        behind = _keeping_up(since) + _FASTER * _RATE * max(minute - until, 0)
        return _keeping_up(minute) if minute <= since else min(_keeping_up(minute), behind)

    return commits


def _deleted(minute: int) -> int | None:
    return None if minute >= GONE else _still(STOPPED, MINUTES.stop)(minute)


_GROUPS: dict[str, _Commits] = {
    STEADY: _keeping_up,
    STOPS: _still(STOPPED, STARTED),
    DELETED: _deleted,
    REBALANCES: _still(REBALANCE.start, REBALANCE.stop),
    AT_RISK: _still(HELD_UP, WORKING),
}
_AWAY: dict[str, range] = {
    STOPS: range(STOPPED, STARTED),
    DELETED: range(STOPPED, MINUTES.stop),
    REBALANCES: REBALANCE,
}


def _member(group: str, minute: int) -> str | None:
    return None if minute in _AWAY.get(group, ()) else f"member-of-{group}"


def _state(group: str, minute: int) -> str:
    if group == REBALANCES and minute in REBALANCE:
        return "PreparingRebalance"
    return "Stable" if _member(group, minute) else "Empty"
