# SPDX-License-Identifier: Apache-2.0
"""How long the views take to answer, on snapshots of 60,000 group-partitions of 1,000 groups.

Writes half an hour of runs of a generated cluster into a folder. A process of its own, which has
imported what the deployed function has, answers each request once cold and then warm; then it is
polled from run to run. Ends with 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Column, Table

from dev.benchmarks.fleet import make_uniform
from dev.benchmarks.memory import peak_mb
from dev.sim.days import write_day
from kafka_lag import contract
from kafka_lag.snapshots.keys import taken_at_of
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.app import answer
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots

CLUSTER = "bench"
MOST_MB = 512.0
_WIDTH = 130
_HEADERS = {"host": "lag.example", "accept-encoding": "gzip"}
_OK, _COMPLETE_MS = 200, 30_000
_SECONDS = 1_800.0


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """One path, and in how many milliseconds it must be answered warm; None without a limit."""

    path: str
    most_ms: float | None = None


REQUESTS = (
    TimedRequest(f"/v3/kafka/{CLUSTER}/consumer/group-0500/lag", 100.0),
    TimedRequest(f"/v3/kafka/{CLUSTER}/consumer/group-0500/status"),
    TimedRequest("/metrics", 300.0),
    TimedRequest("/", 300.0),
    TimedRequest(f"/v3/kafka/{CLUSTER}/consumer"),
    TimedRequest(f"/v3/kafka/{CLUSTER}/topic/topic-001/consumers"),
    TimedRequest(f"/cluster/{CLUSTER}/group/group-0500"),
    TimedRequest(f"/v3/kafka/{CLUSTER}/consumer/group-0500"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line a request, and the process's peak memory."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.serve", description=__doc__)
    parser.add_argument("--runs", type=int, default=21, help="counted warm requests (21)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="write there, or use what is there"
    )
    options = parser.parse_args(argv)
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    with TemporaryDirectory(prefix="bench-serve-") as temporary:
        folder = options.keep or Path(temporary)
        if not (folder / "snapshots").is_dir():
            console.print("writing half an hour of snapshots …", style="dim")
            write_day(folder, CLUSTER, make_uniform(), watched=_SECONDS)
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            figures = pool.apply(measure, (folder, options.runs))
    return _show(console, figures, options.runs)


class Until(FolderStore):
    """A folder as it was at a time: `now_ms` may move on, and later runs are not there yet."""

    now_ms = 0

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """The keys of runs until then."""
        return [
            key for key in super().keys(prefix, after) if (taken_at_of(key) or 0) <= self.now_ms
        ]


def measure(folder: Path, runs: int) -> dict[str, Any]:
    """Each path once cold, then the counted warm ones, then all of them from run to run."""
    import kafka_lag.serve_lag  # noqa: F401, PLC0415 - what it weighs is part of the measure

    store = Until(folder)
    prefix = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/cluster={CLUSTER}/"
    times = sorted(taken_at_of(key) or 0 for key in FolderStore(folder).keys(prefix))
    store.now_ms = times[-1] + _COMPLETE_MS
    snapshots = Snapshots(store, lambda: store.now_ms / 1000)
    figures = {
        "requests": [_timed(each.path, snapshots, store.now_ms, runs) for each in REQUESTS],
        "peak_mb": peak_mb(),
        "group_partitions": len(snapshots.frame(CLUSTER, contract.GROUP_PARTITIONS, times[-1])),
        "groups": len(snapshots.frame(CLUSTER, contract.GROUPS, times[-1])),
    }
    snapshots = Snapshots(store, lambda: store.now_ms / 1000)
    for taken_at in times:
        store.now_ms = taken_at + _COMPLETE_MS
        for each in REQUESTS:
            _timed(each.path, snapshots, store.now_ms, 1)
    return {**figures, "polled": len(times), "polled_mb": peak_mb()}


def _timed(path: str, snapshots: Snapshots, now_ms: int, runs: int) -> dict[str, float]:
    request = Request.of("GET", path, "", _HEADERS)
    times: list[float] = []
    busy: list[float] = []
    size = 0
    for _ in range(runs + 1):
        began, at_work = time.perf_counter(), time.process_time()
        response = answer(request, snapshots, now_ms)
        times.append((time.perf_counter() - began) * 1000)
        busy.append((time.process_time() - at_work) * 1000)
        if response.status != _OK:
            raise SystemExit(f"{path} was answered {response.status}")
        size = len(response.body)
    cold, *warm = times
    return {
        "cold_ms": cold,
        "warm_ms": statistics.median(warm),
        "cpu_ms": statistics.median(busy[1:]),
        "most_ms": max(warm),
        "bytes": size,
        "peak_mb": peak_mb(),
    }


def _show(console: Console, figures: dict[str, Any], runs: int) -> int:
    columns = ("cold ms", "warm ms", "most", "CPU ms", "limit", "KB packed", "MB so far")
    table = Table("request", *(Column(name, justify="right", no_wrap=True) for name in columns))
    missed = figures["polled_mb"] > MOST_MB
    for request, found in zip(REQUESTS, figures["requests"], strict=True):
        late = request.most_ms is not None and found["warm_ms"] > request.most_ms
        missed = missed or late
        times = (f"{found[name]:.1f}" for name in ("cold_ms", "warm_ms", "most_ms", "cpu_ms"))
        limit = "" if request.most_ms is None else f"{request.most_ms:.0f}"
        sizes = (f"{found['bytes'] / 1024:.1f}", f"{found['peak_mb']:.0f}")
        table.add_row(request.path, *times, limit, *sizes, style="red" if late else None)
    console.print(f"{figures['group_partitions']:,} group-partitions, {figures['groups']:,} groups")
    console.print(table)
    console.print(
        f"Medians of {runs} warm requests, packed; cold is the first of its path, in the order "
        f"above. Peak memory {figures['peak_mb']:.0f} MB, {figures['polled_mb']:.0f} once each of "
        f"{figures['polled']} runs was polled; limit {MOST_MB:.0f}."
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
