# SPDX-License-Identifier: Apache-2.0
"""Runs the collector's arithmetic on a simulated cluster, run by run, warm or cold.

Whole days go as snapshots into a folder, as a collector would have written them, for their report.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import pyarrow.parquet as pq

from dev.sim.cases.days import DEPLOYED, HOUR
from dev.sim.events import MINUTE, Case
from dev.sim.reading import MINUTE_MS, Layout, Sight, read_sight
from dev.sim.truth import KEEP_EVERY, Planted, find_planted
from dev.sim.world import Change, Staged, World
from kafka_lag import contract
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.snapshots.previous import Memory, load_memory
from kafka_lag.snapshots.store import FolderStore, write_snapshot

# A case on brokers has shown enough once a group was in trouble for so many runs.
WATCHED = 10
BEGIN = 1_769_860_800_000  # 2026-01-31T12:00:00Z
DATE = date(2026, 1, 31)


class Simulated(Protocol):
    """A cluster that lives minute by minute, and what brokers would know of it."""

    def layout(self) -> Layout:
        """Returns the rows of all readings."""

    def live_a_minute(self) -> None:
        """Lets a minute pass."""

    def sight(self) -> Sight | None:
        """Returns the present state of the cluster, or None if no run takes place."""


class Warnings:
    """Keeps what a collector warns of."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def warning(self, message: str, /) -> None:
        """Keeps one line."""
        self.lines.append(message)


@dataclass(frozen=True, slots=True)
class Kept:
    """The place of snapshots. If the collector is `cold`, each run starts only from them."""

    store: FolderStore
    cluster: str
    cold: bool = False


def run(
    cluster: Simulated,
    minutes: int,
    rules: Rules | None = None,
    first: int = BEGIN,
    look_up: LookUp = no_look_up,
    kept: Kept | None = None,
    every: int = 1,
) -> Iterator[LagReport]:
    """Yields the report of each run, `every` minute; the first minute is at `first`, in ms."""
    rules = rules or Rules(lookup_budget=0)
    memory, layout = Memory.empty(), cluster.layout()
    for minute in range(every - 1, minutes, every):
        for _ in range(every):
            cluster.live_a_minute()
        sight = cluster.sight()
        if sight is None:
            continue
        at = first + minute * MINUTE_MS
        if kept and kept.cold:
            memory = load_memory(kept.store, kept.cluster, at, rules.interval_ms).value
        reading = read_sight(layout, sight, at)
        report = evaluate(reading, memory.previous_runs(), rules, at, look_up)
        memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)
        if kept:
            write_snapshot(kept.store, kept.cluster, report.snapshot)
        yield report


def run_minutes(
    world: World,
    minutes: int,
    change: Change,
    rules: Rules | None = None,
    unseen: Sequence[int] = (),
) -> Iterator[Snapshot]:
    """Yields the snapshot of each minute except the `unseen` ones, in which no run takes place.

    `change` is called as a minute begins. It may return a function that is called before each of
    the minute's steps.
    """
    world.change, world.unseen = change, unseen
    return (each.snapshot for each in run(world, minutes, rules))


def run_case(case: Case, kept: Kept | None = None) -> Iterator[Snapshot]:
    """Yields the snapshots of a case from its warm-up to its end."""
    reports = run(Staged(case).world, case.runs, make_rules(case), kept=kept)
    return (each.snapshot for each in reports)


def find_troubled(snapshot: Snapshot) -> frozenset[str]:
    """Returns groups in WARN or ERR, without a leader, late, or held up by a transaction."""
    groups, rows = snapshot.groups, snapshot.group_partitions
    bad = groups.strings("status").is_in([contract.WARN, contract.ERR])
    bad |= groups.numbers("held_up_records").known | groups.numbers(contract.HELD_SLA_BROKEN).known
    leaderless = rows.strings("unread_reason").is_in([contract.NO_LEADER])
    names = groups.strings("consumer_group").only(bad).to_list()
    names += rows.strings("consumer_group").only(leaderless).to_list()
    return frozenset(name for name in names if name is not None)


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
