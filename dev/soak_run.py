# SPDX-License-Identifier: Apache-2.0
"""The measured process of `dev.soak`: options on stdin, figures line by line on stdout."""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.lag.group_settings import Rules
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.store import FolderStore

_WINDOW = 10


class WarningCount:
    """Counts the warnings of runs."""

    def __init__(self) -> None:
        self.count = 0

    def warning(self, _: str, /) -> None:
        """One more."""
        self.count += 1


def resident_mb() -> float:
    """Memory of this process that is in RAM now."""
    with Path("/proc/self/statm").open() as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Run once an interval for as long as the options say."""
    quiet_library()
    options: dict[str, Any] = json.load(sys.stdin)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        _soak(options, Path(folder))
    return 0


def _soak(options: dict[str, Any], folder: Path) -> None:
    warnings = WarningCount()
    collector = _collector(options, folder, warnings)
    interval_ms = options["interval_ms"]
    began, sampled = time.monotonic(), -options["sample_seconds"]
    runs, errors, seconds = 0, 0, 0.0
    taken_at = (int(time.time() * 1000) // interval_ms + 1) * interval_ms
    while (passed := time.monotonic() - began) < options["seconds"]:
        if passed - sampled >= options["sample_seconds"]:
            sampled = passed
            _sample(passed, runs, errors, warnings.count, seconds)
            seconds = 0.0
        time.sleep(max(0.0, taken_at / 1000 - time.time()))
        clock = time.monotonic()
        try:
            collector.run(taken_at)
        except ReporterError as error:
            errors += 1
            sys.stderr.write(f"{error}\n")
        runs, seconds = runs + 1, max(seconds, time.monotonic() - clock)
        # What could not be started in time is left out, as a schedule does.
        now = int(time.time() * 1000)
        taken_at = max(taken_at + interval_ms, now // interval_ms * interval_ms)
    _sample(time.monotonic() - began, runs, errors, warnings.count, seconds)


def _sample(passed: float, runs: int, errors: int, warnings: int, slowest: float) -> None:
    # Whatever waits for the collector of cycles is no leak.
    gc.collect()
    figures = {
        "seconds": passed,
        "resident_mb": resident_mb(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "runs": runs,
        "errors": errors,
        "warnings": warnings,
        "slowest": slowest,
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


def _collector(options: dict[str, Any], folder: Path, warnings: WarningCount) -> Collector:
    access = Access(tuple(options["bootstrap_servers"]), cafile=options["cafile"])
    login = FixedCredentials(Credentials(options["username"], options["password"]))
    interval_ms = options["interval_ms"]
    rules = Rules(interval_ms=interval_ms, window_ms=_WINDOW * interval_ms)
    settings = Settings(
        "soak", access, rules, Levels(max_metrics=1_000_000), interval_ms=interval_ms
    )
    return Collector(
        settings,
        KafkaSource(access, login),
        FolderStore(folder),
        [ConfiguredSink(EmfSink(Path(os.devnull).open("w")), settings.levels)],
        warnings,
    )


if __name__ == "__main__":
    raise SystemExit(main())
