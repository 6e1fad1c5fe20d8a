# SPDX-License-Identifier: Apache-2.0
"""Measures how long the views take to answer, on 60,000 group-partitions of 1,000 groups.

Writes half an hour of runs of a generated cluster into a folder. A process of its own imports the
modules of the deployed function, and answers each request once cold and then warm. Then it is
polled from run to run. Exits with 1 if it missed a limit.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from dev.benchmarks.collector import MB, read_memory, run_in_process
from dev.benchmarks.fleet import make_fleet
from dev.sim.run import write_day
from kafka_lag import contract
from kafka_lag.snapshots.keys import taken_at_of
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.app import answer
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots

CLUSTER = "bench"
MOST_MB = 512.0
_RUNS, _COMPLETE_MS, _SECONDS, _OK = 21, 30_000, 1_800.0, 200
_HEADERS = {"host": "lag.example", "accept-encoding": "gzip"}
# In how many milliseconds a path must be answered warm; infinity without a limit.
_PATHS = {
    f"/v3/kafka/{CLUSTER}/consumer/group-0500/lag": 100.0,
    f"/v3/kafka/{CLUSTER}/consumer/group-0500/status": float("inf"),
    "/metrics": 300.0,
    "/": 300.0,
    f"/v3/kafka/{CLUSTER}/consumer": float("inf"),
    f"/v3/kafka/{CLUSTER}/topic/topic-001/consumers": float("inf"),
    f"/cluster/{CLUSTER}/group/group-0500": float("inf"),
    f"/v3/kafka/{CLUSTER}/consumer/group-0500": float("inf"),
}


def main() -> int:
    """Prints a line a request, and the process's peak memory."""
    console = Console(highlight=False, width=130)
    with TemporaryDirectory(prefix="bench-serve-") as folder:
        console.print("writing half an hour of snapshots …", style="dim")
        write_day(Path(folder), CLUSTER, make_fleet(1_000), watched=_SECONDS)
        lines, polled, polled_mb = run_in_process(measure, Path(folder))
    table, missed = Table("request", "cold ms", "warm ms", "most", "KB packed"), polled_mb > MOST_MB
    for path, figures in lines:
        late = figures[1] > _PATHS[path]
        missed = missed or late
        table.add_row(path, *(f"{each:.1f}" for each in figures), style="red" if late else None)
    console.print(table)
    console.print(
        f"Medians of {_RUNS} warm requests, packed; cold is the first of its path, in the order "
        f"above. Peak memory {polled_mb:.0f} MB once each of {polled} runs was polled; limit "
        f"{MOST_MB:.0f}."
    )
    return 1 if missed else 0


class Until(FolderStore):
    """A folder as it was at `now_ms`, which may move on: later runs are not there yet."""

    now_ms = 0

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """Returns the keys of runs until then."""
        found = super().keys(prefix, after)
        return [key for key in found if (taken_at_of(key) or 0) <= self.now_ms]


def measure(folder: Path) -> tuple[list[tuple[str, list[float]]], int, float]:
    """Returns a line for each path, and then the memory once all were asked in each run."""
    import kafka_lag.serve_lag  # noqa: F401, PLC0415 - what it weighs is part of the measure

    store = Until(folder)
    prefix = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/cluster={CLUSTER}/"
    times = sorted(taken_at_of(key) or 0 for key in FolderStore(folder).keys(prefix))
    store.now_ms = times[-1] + _COMPLETE_MS
    snapshots = Snapshots(store, lambda: store.now_ms / 1000)
    lines = list[tuple[str, list[float]]]()
    for path in _PATHS:
        cold, *warm = (_time(path, snapshots, store.now_ms) for _ in range(_RUNS + 1))
        ms = [each for each, _ in warm]
        lines.append((path, [cold[0], statistics.median(ms), max(ms), cold[1] / 1024]))
    snapshots = Snapshots(store, lambda: store.now_ms / 1000)
    for taken_at in times:
        store.now_ms = taken_at + _COMPLETE_MS
        for path in _PATHS:
            _time(path, snapshots, store.now_ms)
    return lines, len(times), read_memory()[1] / MB


def _time(path: str, snapshots: Snapshots, now_ms: int) -> tuple[float, int]:
    """Returns the milliseconds of an answer, and its size."""
    began = time.perf_counter()
    response = answer(Request.of("GET", path, "", _HEADERS), snapshots, now_ms)
    wall = time.perf_counter() - began
    if response.status != _OK:
        raise SystemExit(f"{path} was answered {response.status}")
    return wall * 1000, len(response.body)


if __name__ == "__main__":
    sys.exit(main())
