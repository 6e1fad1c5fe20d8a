# SPDX-License-Identifier: Apache-2.0
"""Fakes around the collector: a cluster, a store, a sink, a logger."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.errors import ReporterError, SinkError, StoreError, UnusableError
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading, Problem, Throttled
from kafka_lag.lag.time_index import LookUp, LookupResults, no_look_up
from kafka_lag.sinks.metric_sets import MetricSet


class FakeSource:
    """Gives its readings in turn, the last again and again; an error among them is raised.

    `answers` is its time index, without an answer unless one is given.
    """

    def __init__(
        self, *readings: ClusterReading | ReporterError, answers: LookUp = no_look_up
    ) -> None:
        self._readings = list(readings)
        self._answers = answers
        self.requests: list[ReadRequest] = []
        self.deadlines: list[float] = []
        self.look_ups: list[tuple[Frame, Rows]] = []
        self.time_deadlines: list[float] = []
        self.hung: tuple[Problem, ...] = ()

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        self.requests.append(request)
        self.deadlines.append(deadline)
        reading = self._readings.pop(0) if len(self._readings) > 1 else self._readings[0]
        if isinstance(reading, ReporterError):
            raise reading
        return reading

    def look_up(self, partitions: Frame, times: Rows, deadline: float) -> LookupResults:
        self.look_ups.append((partitions, times))
        self.time_deadlines.append(deadline)
        return self._answers(partitions, times)

    def not_responding(self) -> tuple[Problem, ...]:
        return self.hung

    def throttled(self) -> Throttled | None:
        return None


class MemoryStore:
    """Objects in a dict; verbs in `down` (keys, read, write_once) raise StoreError, or `error`."""

    def __init__(self, down: Iterable[str] = (), error: BaseException | None = None) -> None:
        self.objects: dict[str, bytes] = {}
        self.down = set(down)
        self.error = error
        self.calls: list[str] = []

    def keys(self, prefix: str, after: str = "") -> list[str]:
        self._called("keys")
        return sorted(key for key in self.objects if key.startswith(prefix) and key > after)

    def folders(self, prefix: str) -> list[str]:
        self._called("folders")
        below = (key.removeprefix(prefix) for key in self.objects if key.startswith(prefix))
        return sorted({name.split("/")[0] for name in below if "/" in name})

    def read(self, key: str) -> bytes:
        self._called("read")
        if key not in self.objects:
            raise UnusableError(f"there is no {key}")
        return self.objects[key]

    def write_once(self, key: str, data: bytes) -> bool:
        self._called("write_once")
        if key in self.objects:
            return False
        self.objects[key] = data
        return True

    def _called(self, verb: str) -> None:
        self.calls.append(verb)
        if verb in self.down:
            raise self.error or StoreError(f"the store cannot {verb}")


class RecordingSink:
    """Keeps what is published; calls numbered in `fail_at` (from 0) raise SinkError, or `error`."""

    def __init__(self, fail_at: Iterable[int] = (), error: BaseException | None = None) -> None:
        self.published: list[list[MetricSet]] = []
        self.times: list[int] = []
        self.seconds: list[float] = []
        self._fail_at = set(fail_at)
        self._error = error
        self._calls = 0

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
        number, self._calls = self._calls, self._calls + 1
        self.seconds.append(seconds)
        if number in self._fail_at:
            raise self._error or SinkError("the sink is full")
        self.published.append(sets)
        self.times.append(taken_at)

    def values(self) -> dict[tuple[tuple[str, ...], str], float]:
        """Every value published, by dimension values and metric name."""
        return {
            (tuple(value for _, value in one.dimensions), name): value
            for sets in self.published
            for one in sets
            for name, value in one.values
        }


class RecordingLogger:
    """Keeps the warnings, and what was done."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.done: list[str] = []

    def info(self, message: str, /) -> None:
        self.done.append(message)

    def warning(self, message: str, /) -> None:
        self.warnings.append(message)
