# SPDX-License-Identifier: Apache-2.0
"""A collector with fakes, and the cluster that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_lag.brokers.access import Access
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import ConfiguredSink
from tests.builders import NOON, Groups, Topics, a_reading
from tests.fakes import FakeSource, MemoryStore, RecordingLogger, RecordingSink

GROUPS: Groups = {"g": {"orders": [5, 9]}}
TOPICS: Topics = {"orders": [(0, 10), (0, 10)]}
CLUSTER, GROUP, TOPIC = ("shop",), ("shop", "g"), ("shop", "g", "orders")


class Run:
    """One collector and its fakes; `again` makes a cold one over the same store.

    Sinks get what the cluster's levels choose, but for those with levels of their `own`, by index.
    """

    def __init__(
        self,
        *readings: ClusterReading | ReporterError,
        store: MemoryStore | None = None,
        sinks: Sequence[RecordingSink] = (),
        own: Mapping[int, Levels] | None = None,
        clock: Callable[[], float] = lambda: 0.0,
        answers: LookUp = no_look_up,
        **settings: Any,
    ) -> None:
        self.source = FakeSource(*(readings or (a_reading(GROUPS, TOPICS),)), answers=answers)
        self.store = store or MemoryStore()
        self.sinks = list(sinks) or [RecordingSink()]
        self.sink = self.sinks[0]
        self.logger = RecordingLogger()
        access = Access(("b:9096",))
        values = {"rules": Rules(), "levels": Levels(), "deadline": 45.0, **settings}
        configured = [ConfiguredSink(sink, values["levels"]) for sink in self.sinks]
        for at, levels in (own or {}).items():
            configured[at] = ConfiguredSink(self.sinks[at], levels, f"sinks.{at}.otlp.levels")
        self.collector = Collector(
            Settings(cluster="shop", access=access, **values),
            self.source,
            self.store,
            configured,
            self.logger,
            clock,
        )

    def __call__(self, taken_at: int = NOON, seconds_left: float | None = None) -> int:
        return self.collector.run(taken_at, seconds_left).objects_written

    def again(self, *readings: ClusterReading | ReporterError) -> Run:
        return Run(*readings, store=self.store)
