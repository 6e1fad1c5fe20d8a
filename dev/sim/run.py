# SPDX-License-Identifier: Apache-2.0
"""Runs the collector's arithmetic on a simulated cluster, run by run, warm or cold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from dev.sim.events import Case
from dev.sim.reading import MINUTE_MS, Layout, Sight, read_sight
from dev.sim.world import Change, Staged, World
from kafka_lag import contract
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.snapshots.previous import Memory, load_memory
from kafka_lag.snapshots.store import FolderStore, write_snapshot

# A case on brokers has shown enough once a group was in trouble for so many runs.
WATCHED = 10
BEGIN = 1_769_860_800_000  # 2026-01-31T12:00:00Z


class Simulated(Protocol):
    """A cluster that lives minute by minute, and what brokers would know of it."""

    def layout(self) -> Layout:
        """Returns the rows of all readings."""

    def live_a_minute(self) -> None:
        """Lets a minute pass."""

    def sight(self) -> Sight | None:
        """Returns the present state of the cluster, or None if no run takes place."""


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
    return (each.snapshot for each in run(Staged(case).world, case.runs, kept=kept))


def find_troubled(snapshot: Snapshot) -> frozenset[str]:
    """Returns groups in WARN or ERR, without a leader, or held up by a transaction."""
    groups, rows = snapshot.groups, snapshot.group_partitions
    bad = groups.strings("status").is_in([contract.WARN, contract.ERR])
    bad |= groups.numbers("held_up_records").known
    leaderless = rows.strings("unread_reason").is_in([contract.NO_LEADER])
    names = groups.strings("consumer_group").only(bad).to_list()
    names += rows.strings("consumer_group").only(leaderless).to_list()
    return frozenset(name for name in names if name is not None)
