# SPDX-License-Identifier: Apache-2.0
"""A group that is as fast as it has tasks, watched by the real collector, minute by minute."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_lag.brokers.access import Access
from kafka_lag.collector import Collector
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import emf_line
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag_cdk.simulation.autoscaling import ScalingAssumptions, Service
from kafka_lag_cdk.simulation.metrics import Metrics
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import FakeSource, MemoryStore, RecordingLogger, RecordingSink

# Records that one task works off in a minute.
SPEED = 1200
PARTITIONS = 12
# Of each three partitions in a row one is led by each broker.
BROKERS = 3

_ASSUMED = ScalingAssumptions()


class Topic:
    """A topic, the group that reads it, and the brokers that do not answer."""

    def __init__(self, behind: int = 0) -> None:
        self.ends = [behind // PARTITIONS] * PARTITIONS
        self.commits = [0] * PARTITIONS

    def lag(self) -> int:
        return sum(self.ends) - sum(self.commits)

    def minute(self, produced: int, tasks: int) -> None:
        """Records come to all partitions alike; tasks share the partitions evenly."""
        each, speed = produced // PARTITIONS, tasks * SPEED // PARTITIONS
        self.ends = [end + each for end in self.ends]
        self.commits = [
            min(commit + speed, end) for commit, end in zip(self.commits, self.ends, strict=True)
        ]

    def reading(self, at: int, silent: Collection[int], tasks: int) -> ClusterReading:
        logs = [
            "timeout" if number % BROKERS in silent else (0, end)
            for number, end in enumerate(self.ends)
        ]
        owners = {
            ("billing", "orders", number): f"m{number % tasks}" if tasks else None
            for number in range(PARTITIONS)
        }
        return a_reading(
            {"billing": {"orders": self.commits}}, {"orders": logs}, at=at, owners=owners
        )


class _Live(FakeSource):
    """A cluster that is read as it is at that moment."""

    def __init__(self, now: Callable[[], ClusterReading]) -> None:
        super().__init__()
        self._now = now

    def read(self, question: Any, deadline: float) -> ClusterReading:
        del question, deadline
        return self._now()


@dataclass(frozen=True, slots=True)
class Story:
    """What happens: records produced in each minute, minutes without a run, silent brokers.

    `behind` is the lag to begin with, `copies` how often each line of metrics is delivered,
    `delay` after how many minutes.
    """

    produced: Callable[[int], int]
    minutes: int
    without_run: Collection[int] = ()
    silent: Mapping[int, Collection[int]] = field(default_factory=dict)
    copies: int = 1
    delay: int = 0
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Simulation:
    """The changes by minute, and tasks and lag at the end of each."""

    changes: list[tuple[int, int]]
    tasks: list[int]
    lags: list[int]


def simulate(
    story: Story,
    resources: Mapping[str, dict[str, Any]],
    tasks: int,
    assumed: ScalingAssumptions = _ASSUMED,
) -> Simulation:
    """The story from its first minute to its last."""
    topic, metrics, sink = Topic(story.behind), Metrics(epoch=NOON), RecordingSink()
    service = Service(resources, metrics, tasks, assumed)
    clock = [0]
    collector = _collector(
        _Live(
            lambda: topic.reading(
                NOON + clock[0] * MINUTE, story.silent.get(clock[0], ()), service.tasks
            )
        ),
        sink,
    )
    simulation = Simulation([], [], [])
    for minute in range(story.minutes):
        clock[0] = minute
        topic.minute(story.produced(minute), service.tasks)
        if minute not in story.without_run:
            collector.run(NOON + minute * MINUTE, None)
            lines = [
                emf_line(one, NOON + minute * MINUTE, "KafkaLag")
                for sets in sink.published
                for one in sets
            ]
            sink.published.clear()
            metrics.feed(lines * story.copies, story.delay)
        change = service.minute(minute)
        if change:
            simulation.changes.append((minute, change))
        simulation.tasks.append(service.tasks)
        simulation.lags.append(topic.lag())
    return simulation


def _collector(source: FakeSource, sink: RecordingSink) -> Collector:
    levels = Levels(scaling=NameFilter(), named=frozenset({"billing"}))
    settings = Settings(
        cluster="orders", access=Access(("b:9096",)), rules=Rules(), levels=levels, deadline=45.0
    )
    outlets = [ConfiguredSink(sink, levels)]
    return Collector(settings, source, MemoryStore(), outlets, RecordingLogger(), lambda: 0.0)
