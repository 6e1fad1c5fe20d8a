# SPDX-License-Identifier: Apache-2.0
"""The measured process of `dev.benchmarks.serve`: requests on stdin, figures on stdout.

It has imported what the deployed function has, so that its memory is the function's.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import kafka_lag.serve_lag  # noqa: F401  # what it weighs is part of the measure
from kafka_lag import contract
from kafka_lag.snapshots.keys import taken_at_of
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.app import answer
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots

_HEADERS = {"host": "lag.example", "accept-encoding": "gzip"}
_OK = 200
_MB = 1024 if sys.platform == "linux" else 1024 * 1024


class Until(FolderStore):
    """A folder as it was at a time: `now_ms` may move on, and later runs are not there yet."""

    now_ms = 0

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """The keys of runs until then."""
        return [
            key for key in super().keys(prefix, after) if (taken_at_of(key) or 0) <= self.now_ms
        ]


def main() -> int:
    """Each path once cold, then the counted warm ones; or, with `polled`, all from run to run."""
    options: dict[str, Any] = json.load(sys.stdin)
    cluster: str = options["cluster"]
    if options["polled"]:
        runs = _polled(Path(options["folder"]), cluster, options["paths"])
        json.dump({"runs": runs, "peak_mb": _peak_mb()}, sys.stdout)
        return 0
    snapshots, now_ms = _snapshots(Path(options["folder"]), cluster)
    requests = [_timed(path, snapshots, now_ms, options["runs"]) for path in options["paths"]]
    newest = snapshots.newest(cluster) or 0
    figures = {
        "requests": requests,
        "peak_mb": _peak_mb(),
        "group_partitions": len(snapshots.frame(cluster, contract.GROUP_PARTITIONS, newest)),
        "groups": len(snapshots.frame(cluster, contract.GROUPS, newest)),
    }
    json.dump(figures, sys.stdout)
    return 0


def _snapshots(folder: Path, cluster: str) -> tuple[Snapshots, int]:
    """As seen half a minute after the newest run; what is listed stays fresh."""
    store = FolderStore(folder)
    newest = Snapshots(store, time.time).newest(cluster)
    if newest is None:
        raise SystemExit(f"there are no snapshots of {cluster} in {folder}")
    now_ms = newest + 30_000
    return Snapshots(store, lambda: now_ms / 1000), now_ms


def _polled(folder: Path, cluster: str, paths: list[str]) -> int:
    """Every path once a run, as scrapers do while a function stays warm; how many runs."""
    store = Until(folder)
    prefix = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/cluster={cluster}/"
    times = sorted(taken_at_of(key) or 0 for key in FolderStore(folder).keys(prefix))
    snapshots = Snapshots(store, lambda: store.now_ms / 1000)
    for taken_at in times:
        store.now_ms = taken_at + 30_000
        for path in paths:
            _timed(path, snapshots, store.now_ms, 1)
    return len(times)


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
        "peak_mb": _peak_mb(),
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MB


if __name__ == "__main__":
    sys.exit(main())
