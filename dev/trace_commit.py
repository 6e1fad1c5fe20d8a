# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.trace_commit`: the modules that a committed offset passes in one warm run.

Commits an offset to real brokers, runs the collector twice and lists, for the second run, each
module of `kafka_lag` with a function that takes or returns that offset or the lag computed from it,
in the order in which they first do. What only holds such a value (a reading, a frame) counts too.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import FrameType
from typing import Any

import numpy as np
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from dev.benchmarks.collector_process import DiscardingStore, StderrWarnings
from dev.kafka import KafkaCluster
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector
from kafka_lag.lag.group_settings import Rules
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink

_TOPIC = "traced"
# Values that nothing else of the run is likely to have.
_RECORDS, _COMMITTED = 5_977, 1_613
_TRACED = (_COMMITTED, _RECORDS - _COMMITTED)
# A reading holds frames, these columns, and these arrays.
_DEEPEST = 8
_INTERVAL_MS = 60_000


class Trace:
    """Modules by the first function of theirs that took or returned one of the values."""

    def __init__(self, package: str, values: Sequence[int]) -> None:
        self._package, self._values = package, values
        self.found: dict[str, str] = {}

    def __enter__(self) -> Trace:
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, value: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event not in ("call", "return") or not module.startswith(self._package):
            return
        if module in self.found:
            return
        sys.setprofile(None)
        seen = [*frame.f_locals.values()] if event == "call" else [value]
        if any(holds(each, self._values, _DEEPEST) for each in seen):
            self.found[module] = frame.f_code.co_qualname
        sys.setprofile(self._see)


def holds(value: Any, wanted: Sequence[int], deep: int) -> bool:
    """Whether one of these numbers stands in a value, an array, a field or an item of it."""
    if isinstance(value, bool) or value is None or deep == 0:
        return False
    if isinstance(value, int | np.integer):
        return int(value) in wanted
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu" and bool(np.isin(value, wanted).any())
    if isinstance(value, str):
        return any(str(number) in value for number in wanted)
    return any(holds(part, wanted, deep - 1) for part in _parts(value))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        # One that is being made lacks the fields that are still to come.
        return [getattr(value, each.name, None) for each in fields(value)]
    return ()


def main(arguments: Sequence[str] | None = None) -> int:
    """Trace the second of two runs and print the modules."""
    argparse.ArgumentParser(prog="python -m dev.trace_commit", description=__doc__).parse_args(
        arguments
    )
    quiet_library()
    with KafkaCluster() as cluster:
        _prepare(cluster)
        collector = _collector(cluster)
        start = int(time.time() * 1_000) // _INTERVAL_MS * _INTERVAL_MS
        collector.run(start)
        with Trace("kafka_lag.", _TRACED) as trace:
            collector.run(start + _INTERVAL_MS)
    for number, (module, function) in enumerate(trace.found.items(), 1):
        sys.stdout.write(f"{number:3} {module.removeprefix('kafka_lag.')}: {function}\n")
    return 0


def _prepare(cluster: KafkaCluster) -> None:
    """A topic with records, of which a group has read some."""
    for future in cluster.admin().create_topics([NewTopic(_TOPIC, 1, 3)]).values():
        future.result(20)
    own = {"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0}
    producer = Producer(own)
    for _ in range(_RECORDS):
        producer.produce(_TOPIC, b"record", partition=0)
    producer.flush(20)
    consumer = Consumer({**own, "group.id": "reader"})
    _retry(
        lambda: consumer.commit(offsets=[TopicPartition(_TOPIC, 0, _COMMITTED)], asynchronous=False)
    )
    consumer.close()


def _retry(call: Callable[[], Any], attempts: int = 20) -> None:
    """A coordinator may have to be elected first."""
    for left in range(attempts, 0, -1):
        try:
            call()
            return
        except Exception:
            if left == 1:
                raise
            time.sleep(0.5)


def _collector(cluster: KafkaCluster) -> Collector:
    account = cluster.users["monitor"]
    access = Access(tuple(cluster.bootstrap("SASL_SSL").split(",")), cafile=str(cluster.cafile))
    source = KafkaSource(access, FixedCredentials(Credentials(account.username, account.password)))
    settings = Settings("traced", access, Rules(), Levels())
    sinks = [ConfiguredSink(EmfSink(io.StringIO()), settings.levels)]
    return Collector(settings, source, DiscardingStore(), sinks, StderrWarnings())


if __name__ == "__main__":
    raise SystemExit(main())
