# SPDX-License-Identifier: Apache-2.0
"""Runs the collector once a second for an hour, on brokers with traffic.

Prints memory, file descriptors, threads, errors and the slowest run over time. Exits with 1 if
memory grew by 1 MB or more after the warm-up, if descriptors or threads grew, if a run failed, or
if less than half of the scheduled runs were made.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dev.benchmarks.collector import (
    Reached,
    Warnings,
    make_collector,
    read_access,
    read_memory,
    run_in_process,
)
from dev.kafka import KafkaCluster
from dev.traffic import Traffic
from kafka_lag.errors import ReporterError

INTERVAL_MS = 1_000
GROWTH_MB = 1.0
# The least share of scheduled runs. With fewer runs the soak did not test one run a second.
LEAST_RUNS = 0.5
_SAMPLES = 60
_WARM_UP_SHARE, _WARM_UP_SECONDS = 0.25, 600.0
# Memory goes up and down by less than a run needs, so the beginning and the end are compared by
# medians of this many samples.
_COMPARED = 5


class Sample(NamedTuple):
    """The figures of the collecting process since its beginning, at one time."""

    minute: float
    resident_mb: float
    descriptors: int
    threads: int
    runs: int
    errors: int
    warnings: int
    slowest: float


def collect(seconds: float, reached: Reached) -> list[Sample]:
    """Collects each second, for so long; prints a line from time to time and returns them."""
    warnings, samples = Warnings(), list[Sample]()
    runs, errors, slowest, began = 0, 0, 0.0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        collector = make_collector(reached, INTERVAL_MS, Path(folder), warnings)
        taken_at = (int(time.time() * 1000) // INTERVAL_MS + 1) * INTERVAL_MS
        while len(samples) <= _SAMPLES:
            passed = time.monotonic() - began
            if passed >= len(samples) * seconds / _SAMPLES:
                # Objects that wait for Python's garbage collector are not a leak.
                gc.collect()
                descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
                process = read_memory()[0] / 1e6, descriptors, threads
                samples.append(Sample(passed / 60, *process, runs, errors, warnings.count, slowest))
                print("".join(f"{each:>13.2f}" for each in samples[-1]), flush=True)
                slowest = 0.0
            time.sleep(max(0.0, taken_at / 1000 - time.time()))
            clock = time.monotonic()
            try:
                collector.run(taken_at)
            except ReporterError as error:
                errors += 1
                sys.stderr.write(f"{error}\n")
            runs, slowest = runs + 1, max(slowest, time.monotonic() - clock)
            # A run that could not be started in time is left out, as by a schedule.
            now = int(time.time() * 1000)
            taken_at = max(taken_at + INTERVAL_MS, now // INTERVAL_MS * INTERVAL_MS)
    return samples


def find_faults(samples: Sequence[Sample], seconds: float) -> list[str]:
    """Returns what makes a soak of so many seconds fail, a sentence each."""
    warm_up = min(_WARM_UP_SECONDS, _WARM_UP_SHARE * seconds)
    warm = [each for each in samples if each.minute * 60 >= warm_up]
    few = min(_COMPARED, max(1, len(warm) // 3))
    found = []
    for name, most in (("resident_mb", GROWTH_MB), ("descriptors", 1), ("threads", 1)):
        values = [getattr(each, name) for each in warm]
        more = statistics.median(values[-few:]) - statistics.median(values[:few])
        print(f"growth of {name} after {warm_up / 60:.1f} minutes: {more:+.2f}")
        if more >= most:
            found.append(f"{name} grew by {more:.2f} after the warm-up")
    share = samples[-1].runs * INTERVAL_MS / 1_000 / seconds
    if share < LEAST_RUNS:
        found.append(f"only {share:.0%} of the scheduled runs were made")
    if samples[-1].errors:
        found.append(f"{samples[-1].errors} runs failed")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Soaks; returns 1 if something grew or failed."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default: 60)")
    seconds = parser.parse_args(arguments).minutes * 60
    with KafkaCluster() as cluster, Traffic(cluster) as traffic:
        traffic.wait_until_ready()
        print("".join(f"{name:>13}" for name in Sample._fields), flush=True)
        samples = run_in_process(collect, seconds, read_access(cluster))
    found = find_faults(samples, seconds)
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
