# SPDX-License-Identifier: Apache-2.0
"""A cluster that the collector's own code reports, run after run, so that sizes are real."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, PreviousRuns, Snapshot
from kafka_lag.snapshots.previous import select_log_ends
from tests.builders import MINUTE, NOON, a_reading

_RULES = Rules()
_ENDS_KEPT = 8


@dataclass(frozen=True, slots=True)
class Size:
    """How many groups, topics of each, and partitions of each topic."""

    groups: int
    topics: int
    partitions: int

    @property
    def rows(self) -> int:
        return self.groups * self.topics * self.partitions


def reports(size: Size, runs: int) -> Iterator[LagReport]:
    """A report a minute: topics grow, half of the partitions lag by something that changes."""
    chance = random.Random(1)  # noqa: S311 - the same cluster in every test run
    names = [f"orders.topic-{number:03}.v1" for number in range(size.topics * 4)]
    ends = {
        name: [chance.randrange(10**6, 10**9) for _ in range(size.partitions)] for name in names
    }
    read = {
        f"payments-service-{number:03}": [
            names[(number + step) % len(names)] for step in range(size.topics)
        ]
        for number in range(size.groups)
    }
    owners = {
        (group, topic, part): f"consumer-{group}-{part % 4}-3f2b8c1e-77aa-4c0d-9d2e-{part % 4:012}"
        for group, topics in read.items()
        for topic in topics
        for part in range(size.partitions)
    }
    past = PreviousRuns(Snapshot.empty())
    for run in range(runs):
        at = NOON + run * MINUTE
        for name in names:
            ends[name] = [end + chance.randrange(3000) for end in ends[name]]
        commits = {
            group: {topic: [end - _lag(chance) for end in ends[topic]] for topic in topics}
            for group, topics in read.items()
        }
        logs = {name: [(end - 10**6, end) for end in ends[name]] for name in names}
        report = evaluate(a_reading(commits, logs, at=at, owners=owners), past, _RULES, at)
        newest = report.snapshot
        past = PreviousRuns(
            newest, (*past.ends, select_log_ends(newest.topic_partitions))[-_ENDS_KEPT:]
        )
        yield report


def _lag(chance: random.Random) -> int:
    return chance.randrange(chance.choice((1, 1, 50, 5000)))
