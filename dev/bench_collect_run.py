# SPDX-License-Identifier: Apache-2.0
"""The measured process of `dev.bench_collect`: told on stdin where, tells figures on stdout."""

from __future__ import annotations

import io
import json
import resource
import statistics
import sys
import time
from typing import Any

from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector, Outcome
from kafka_lag.lag.group_settings import Rules
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink

_INTERVAL_MS = 60_000
_MB = 1024 if sys.platform == "linux" else 1024 * 1024


class DiscardingStore:
    """Takes objects and forgets them: what is measured is making them."""

    def keys(self, prefix: str, after: str = "") -> list[str]:  # noqa: ARG002 - a store's signature
        """There never are any."""
        return []

    def read(self, key: str) -> bytes:
        """Never called, as there are no keys."""
        raise KeyError(key)

    def write_once(self, key: str, data: bytes) -> bool:  # noqa: ARG002
        """Always new."""
        return True


class StderrJournal:
    """What was not read is told, as it would make the figures too good."""

    def warning(self, message: str, /) -> None:
        """One line on stderr."""
        sys.stderr.write(f"{message}\n")


def main() -> int:
    """One cold run, then the counted warm ones."""
    quiet_library()
    told: dict[str, Any] = json.load(sys.stdin)
    collector = _collector(told)
    cold, _, outcome = _timed(collector, 0)
    warm = [_timed(collector, run)[:2] for run in range(1, told["runs"] + 1)]
    seconds = [wall for wall, _ in warm]
    figures = {
        "group_partitions": len(outcome.report.snapshot.group_partitions),
        "cold": cold,
        "warm": statistics.median(seconds),
        "least": min(seconds),
        "most": max(seconds),
        "cpu": statistics.median(cpu for _, cpu in warm),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MB,
    }
    json.dump(figures, sys.stdout)
    return 0


def _collector(told: dict[str, Any]) -> Collector:
    access = Access(tuple(told["bootstrap_servers"]), cafile=told["cafile"])
    login = FixedCredentials(Credentials(told["username"], told["password"]))
    settings = Settings("bench", access, Rules(), Levels(max_metrics=1_000_000))
    return Collector(
        settings,
        KafkaSource(access, login),
        DiscardingStore(),
        [ConfiguredSink(EmfSink(io.StringIO()), settings.levels)],
        StderrJournal(),
    )


def _timed(collector: Collector, run: int) -> tuple[float, float, Outcome]:
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = collector.run(run * _INTERVAL_MS + _INTERVAL_MS)
    return time.perf_counter() - wall, time.process_time() - cpu, outcome


if __name__ == "__main__":
    raise SystemExit(main())
