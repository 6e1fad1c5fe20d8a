# SPDX-License-Identifier: Apache-2.0
"""Whole days as snapshots in a folder, as a collector would have written them, and their report."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq

from dev.sim.cases.days import DEPLOYED, HOUR
from dev.sim.day_truth import KEEP_EVERY, Planted, find_planted
from dev.sim.events import MINUTE, Case
from dev.sim.reading import MINUTE_MS
from dev.sim.run import Simulated, run
from dev.sim.world import Staged
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.snapshots.store import FolderStore, write_snapshot

DATE = date(2026, 1, 31)


def find_midnight(day: date = DATE) -> int:
    """Returns the beginning of a UTC day in ms."""
    return round(datetime.combine(day, time(), UTC).timestamp() * 1_000)


def write_day(
    root: Path,
    name: str,
    cluster: Simulated,
    rules: Rules | None = None,
    *,
    day: date = DATE,
    warm_up: float = HOUR,
    watched: float = 24 * HOUR,
    every: int = 1,
) -> int:
    """Writes the runs of a day, each so many minutes; returns their number.

    Runs of the warm-up, which ends at midnight, are not written. A run sees what happened before
    its time.
    """
    midnight, store, count = find_midnight(day), FolderStore(root), 0
    minutes = round((warm_up + watched) / MINUTE) - 1
    first = midnight - round(warm_up * 1_000) + MINUTE_MS
    for report in run(cluster, minutes, rules, first, every=every):
        if report.snapshot.taken_at >= midnight:
            write_snapshot(store, quote(name, safe=""), report.snapshot)
            count += 1
    return count


def write_case(root: Path, case: Case, *, day: date = DATE, every: int = 1) -> list[Planted]:
    """Writes the day of a case, which follows its warm-up; returns its incidents."""
    world = Staged(case).world
    world.keep_every = KEEP_EVERY
    write_day(
        root,
        case.name,
        world,
        make_rules(case, every),
        day=day,
        warm_up=case.warm_up,
        watched=case.watched,
        every=every,
    )
    return find_planted(case, world, case.warm_up + DEPLOYED * HOUR)


def make_rules(case: Case, every: int = 1) -> Rules:
    """Returns the settings of the groups, as a configuration would have them."""
    sla = [(f"^{name}$", each.sla_seconds) for name, each in case.groups.items()]
    return Rules(
        lookup_budget=0,
        interval_ms=every * MINUTE_MS,
        window_ms=10 * every * MINUTE_MS,
        sla_seconds=ByName.of([(pattern, seconds) for pattern, seconds in sla if seconds]),
    )


def run_report(root: Path, day: date = DATE) -> None:
    """Runs the daily report over all clusters in a folder; it writes there, too."""
    command = [sys.executable, "-m", "kafka_lag_report.daily_report", "--date", str(day)]
    places = ["--input", str(root), "--output", str(root)]
    subprocess.run([*command, *places], check=True, stdout=subprocess.DEVNULL)


def read_incidents(root: Path, cluster: str, day: date = DATE) -> list[dict[str, Any]]:
    """Returns the rows of the report's incidents."""
    folder = root / f"reports/incidents/cluster={quote(cluster, safe='')}/dt={day}"
    files = sorted(folder.glob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
