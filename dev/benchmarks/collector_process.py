# SPDX-License-Identifier: Apache-2.0
"""A collector in a process of its own, as in a Lambda: options on stdin, figures on stdout.

Its CPU seconds, memory, descriptors and threads are the collector's alone. `runs` counts runs one
after another (`collect`), `schedule` makes one an interval for some time (`soak`).
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector, Outcome
from kafka_lag.errors import ReporterError, UnusableError
from kafka_lag.lag.group_settings import Rules
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.store import FolderStore

RUNS, SCHEDULE = "runs", "schedule"
MB = 2**20
_WINDOW_RUNS = 10


class ProcessError(Exception):
    """The collecting process did not run to its end."""


def read_memory(pid: int | str = "self") -> tuple[int, int]:
    """Returns a process's bytes in RAM now, and the most there were; on Linux. Raises OSError."""
    lines = Path("/proc", str(pid), "status").read_text().splitlines()
    values = {name: value for name, _, value in (line.partition(":") for line in lines)}
    now, peak = (int(values[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return now, peak


def read_figures(cluster: KafkaCluster, mode: str, **more: Any) -> Iterator[dict[str, Any]]:
    """Yields the figures that the process writes of a cluster, with `more` options.

    Raises ProcessError if it does not end well.
    """
    user = cluster.users["monitor"]
    options = {
        "bootstrap_servers": cluster.bootstrap("SASL_SSL").split(","),
        "cafile": str(cluster.cafile),
        "username": user.username,
        "password": user.password,
        **more,
    }
    process = [sys.executable, "-m", "dev.benchmarks.collector_process", mode]
    environment = {**os.environ, **contract.MEMORY_SETTINGS, **contract.THREAD_SETTINGS}
    with subprocess.Popen(
        process, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as child:
        if child.stdin is None or child.stdout is None:
            raise ProcessError("the collecting process has no pipes")
        # One that has ended already is named by its exit code, below.
        with suppress(BrokenPipeError), child.stdin:
            json.dump(options, child.stdin)
        for line in child.stdout:
            yield json.loads(line)
    if child.returncode:
        raise ProcessError(f"the collecting process ended with exit code {child.returncode}")


class DiscardingStore:
    """Takes objects and forgets them: what is measured is making them."""

    def keys(self, prefix: str, after: str = "") -> list[str]:  # noqa: ARG002 - a store's signature
        """There never are any."""
        return []

    def read(self, key: str) -> bytes:
        """There is nothing to read. Raises UnusableError."""
        raise UnusableError(f"there is no object {key}")

    def write_once(self, key: str, data: bytes) -> bool:  # noqa: ARG002
        """Always new."""
        return True


class StderrWarnings:
    """Warnings are counted and shown: what was not read would make the figures too good."""

    def __init__(self) -> None:
        self.count = 0

    def warning(self, message: str, /) -> None:
        """One line on stderr."""
        self.count += 1
        sys.stderr.write(f"{message}\n")


def main(argv: Sequence[str]) -> int:
    """Collect as the options on stdin say."""
    quiet_library()
    options: dict[str, Any] = json.load(sys.stdin)
    with tempfile.TemporaryDirectory(prefix="collector-") as folder:
        figures = _counted_runs(options) if argv == [RUNS] else _scheduled(options, Path(folder))
        for line in figures:
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
    return 0


def _collector(
    options: Mapping[str, Any],
    store: FolderStore | DiscardingStore,
    lines: TextIO,
    warnings: StderrWarnings,
) -> Collector:
    access = Access(tuple(options["bootstrap_servers"]), cafile=options["cafile"])
    login = FixedCredentials(Credentials(options["username"], options["password"]))
    interval_ms = options["interval_ms"]
    rules = Rules(interval_ms=interval_ms, window_ms=_WINDOW_RUNS * interval_ms)
    levels = Levels(max_metrics=1_000_000)
    settings = Settings("bench", access, rules, levels, interval_ms=interval_ms)
    sinks = [ConfiguredSink(EmfSink(lines), levels)]
    return Collector(settings, KafkaSource(access, login), store, sinks, warnings)


def _counted_runs(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One line: a cold run, and the median of so many warm ones."""
    interval_ms = options["interval_ms"]
    with Path(os.devnull).open("w") as lines:
        collector = _collector(options, DiscardingStore(), lines, StderrWarnings())
        cold, _, outcome = _timed(collector, interval_ms)
        runs = range(2, options["runs"] + 2)
        warm = [_timed(collector, number * interval_ms)[:2] for number in runs]
    seconds = [wall for wall, _ in warm]
    yield {
        "group_partitions": len(outcome.report.snapshot.group_partitions),
        "cold": cold,
        "warm": statistics.median(seconds),
        "least": min(seconds),
        "most": max(seconds),
        "cpu": statistics.median(cpu for _, cpu in warm),
        "peak_mb": read_memory()[1] / MB,
    }


def _timed(collector: Collector, taken_at: int) -> tuple[float, float, Outcome]:
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = collector.run(taken_at)
    return time.perf_counter() - wall, time.process_time() - cpu, outcome


def _scheduled(options: Mapping[str, Any], folder: Path) -> Iterator[dict[str, Any]]:
    """A line every `sample_seconds`, and one at the end."""
    warnings = StderrWarnings()
    with Path(os.devnull).open("w") as lines:
        collector = _collector(options, FolderStore(folder), lines, warnings)
        interval_ms = options["interval_ms"]
        began, sampled = time.monotonic(), -options["sample_seconds"]
        runs, errors, slowest = 0, 0, 0.0
        taken_at = (int(time.time() * 1000) // interval_ms + 1) * interval_ms
        while (passed := time.monotonic() - began) < options["seconds"]:
            if passed - sampled >= options["sample_seconds"]:
                sampled = passed
                yield _sample(passed, runs, errors, warnings.count, slowest)
                slowest = 0.0
            time.sleep(max(0.0, taken_at / 1000 - time.time()))
            clock = time.monotonic()
            try:
                collector.run(taken_at)
            except ReporterError as error:
                errors += 1
                sys.stderr.write(f"{error}\n")
            runs, slowest = runs + 1, max(slowest, time.monotonic() - clock)
            # What could not be started in time is left out, as a schedule does.
            now = int(time.time() * 1000)
            taken_at = max(taken_at + interval_ms, now // interval_ms * interval_ms)
        yield _sample(time.monotonic() - began, runs, errors, warnings.count, slowest)


def _sample(
    passed: float, runs: int, errors: int, warnings: int, slowest: float
) -> dict[str, float]:
    # Whatever waits for the collector of cycles is no leak.
    gc.collect()
    return {
        "seconds": passed,
        "resident_mb": read_memory()[0] / 1e6,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "runs": runs,
        "errors": errors,
        "warnings": warnings,
        "slowest": slowest,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
