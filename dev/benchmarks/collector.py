# SPDX-License-Identifier: Apache-2.0
"""A collector in a process of its own, as in a Lambda.

The process's CPU seconds, memory, descriptors and threads are then the collector's alone.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector
from kafka_lag.lag.group_settings import Rules
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.store import FolderStore

T = TypeVar("T")
Reached: TypeAlias = tuple[Access, Credentials]
MB = 2**20
_WINDOW_RUNS = 10


class Warnings:
    """Counts and shows warnings, because unread partitions would make the figures too good."""

    def __init__(self) -> None:
        self.count = 0

    def warning(self, message: str, /) -> None:
        """Prints one line on stderr."""
        self.count += 1
        sys.stderr.write(f"{message}\n")


def run_in_process(function: Callable[..., T], *arguments: Any) -> T:
    """Runs the function in a new process with the Lambda's settings, and returns its result."""
    os.environ |= {**contract.MEMORY_SETTINGS, **contract.THREAD_SETTINGS}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def read_access(cluster: KafkaCluster) -> Reached:
    """Returns how the collector reaches a cluster, and its login."""
    user = cluster.users["monitor"]
    servers = tuple(cluster.bootstrap("SASL_SSL").split(","))
    access = Access(servers, cafile=str(cluster.cafile))
    return access, Credentials(user.username, user.password)


def make_collector(
    reached: Reached, interval_ms: int, folder: Path, warnings: Warnings
) -> Collector:
    """Returns a collector that stores its snapshots in the folder, and discards its metrics."""
    quiet_library()
    access, login = reached
    rules = Rules(interval_ms=interval_ms, window_ms=_WINDOW_RUNS * interval_ms)
    levels = Levels(max_metrics=1_000_000)
    settings = Settings("bench", access, rules, levels, interval_ms=interval_ms)
    nowhere = Path(os.devnull).open("w")  # noqa: SIM115 - it is open as long as the process lives
    sinks = [ConfiguredSink(EmfSink(nowhere), levels)]
    source = KafkaSource(access, FixedCredentials(login))
    return Collector(settings, source, FolderStore(folder), sinks, warnings)


def read_memory() -> tuple[int, int]:
    """Returns this process's bytes in RAM now, and the most there were; on Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    values = {name: value for name, _, value in (line.partition(":") for line in lines)}
    now, peak = (int(values[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return now, peak
