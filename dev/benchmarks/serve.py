# SPDX-License-Identifier: Apache-2.0
"""How long the views take to answer, on snapshots of 60,000 group-partitions of 1,000 groups.

Writes half an hour of runs of a generated cluster into a folder; then a process of its own, as a
Lambda would be, answers each request once cold and then warm; another is polled from run to run.
Ends with 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Column, Table

from dev.days import write_day
from dev.days.describe import Span
from dev.days.large import uniform

DATE = date(2026, 1, 31)
CLUSTER = "bench"
MOST_MB = 512.0
_WIDTH = 130
# From half past eleven to noon.
HOURS = Span(11.5, 12.0)


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
            write_day(folder, uniform(CLUSTER), date=DATE, hours=HOURS)
        figures = _measured(folder, options.runs, polled=False)
        polled = _measured(folder, options.runs, polled=True)
    return max(_show(console, figures, options.runs), _show_polled(console, polled))


def _measured(folder: Path, runs: int, *, polled: bool) -> dict[str, Any]:
    paths = [each.path for each in REQUESTS]
    options = {"folder": str(folder), "cluster": CLUSTER, "paths": paths, "polled": polled}
    options["runs"] = runs
    command = [sys.executable, "-m", "dev.benchmarks.serve_process"]
    child = subprocess.run(
        command, input=json.dumps(options), stdout=subprocess.PIPE, text=True, check=True
    )
    figures: dict[str, Any] = json.loads(child.stdout)
    return figures


def _show(console: Console, figures: dict[str, Any], runs: int) -> int:
    columns = ("cold ms", "warm ms", "most", "CPU ms", "limit", "KB packed", "MB so far")
    table = Table("request", *(Column(name, justify="right", no_wrap=True) for name in columns))
    missed = figures["peak_mb"] > MOST_MB
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
        f"above. Peak memory {figures['peak_mb']:.0f} MB, limit {MOST_MB:.0f}."
    )
    return 1 if missed else 0


def _show_polled(console: Console, figures: dict[str, Any]) -> int:
    console.print(
        f"The same requests at each of {figures['runs']} runs in turn: peak memory "
        f"{figures['peak_mb']:.0f} MB, limit {MOST_MB:.0f}."
    )
    return 1 if figures["peak_mb"] > MOST_MB else 0


if __name__ == "__main__":
    sys.exit(main())
