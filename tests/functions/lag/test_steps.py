# SPDX-License-Identifier: Apache-2.0
"""The steps of an evaluation: what each adds, and which earlier ones it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from dev.sim.cases.drawn import TROUBLES
from dev.sim.events import (
    MINUTE,
    Case,
    Group,
    Leave,
    LoseLeaders,
    OpenTransaction,
    Retain,
    Skip,
    Topic,
    even,
)
from dev.sim.reading import MINUTE_MS, read_sight
from dev.sim.world import Staged
from kafka_lag import contract
from kafka_lag.lag.evaluate import begin, evaluate
from kafka_lag.lag.evaluation import Evaluation, Table
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.run import Run
from kafka_lag.lag.steps import STEPS
from kafka_lag.lag.time_index import no_look_up
from kafka_lag.snapshots.previous import Memory
from tests.builders import NOON
from tests.golden import Golden

DATASETS = {
    Table.TOPICS: contract.TOPIC_PARTITIONS,
    Table.ROWS: contract.GROUP_PARTITIONS,
    Table.GROUPS: contract.GROUPS,
}
# Columns that brokers report, the time of the run, and what sinks note afterwards.
OTHER = {
    Table.TOPICS: (
        "taken_at asked_at read_at unread_reason topic topic_id partition_id leader leader_rack "
        "replicas in_sync_replicas start_offset end_offset stable_offset local_start_offset "
        "retention_ms retention_bytes cleanup_policy timestamp_type"
    ),
    Table.ROWS: (
        "read_at unread_reason consumer_group topic partition_id client_id client_host member_id "
        "committed_offset commit_epoch published"
    ),
    Table.GROUPS: (
        "taken_at read_at unread_reason consumer_group group_state group_type protocol members"
    ),
}


class Recorded(Evaluation):
    """An evaluation that notes each value beside the tables that a step reads or sets."""

    def __getattribute__(self, name: str) -> Any:
        if name in VALUES:
            USED.add(name)
        return super().__getattribute__(name)


class Columns(dict[str, Any]):
    """Columns of a table that note which of them are read."""

    def __init__(self, table: Table, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self.table = table

    def __getitem__(self, name: str) -> Any:
        USED.add((self.table, name))
        return super().__getitem__(name)


VALUES = {each.name for each in fields(Evaluation)} - {"run", "look_up", "previous_runs", "reading"}
VALUES -= {*Table, "look_ups", "contradicted"}
USED: set[Any] = set()


# Much at once: a skip, deleted records, no leader, an open transaction.
MUCH = Case(
    "much",
    {"orders": Topic(even(4, 40)), "visits": Topic(even(2, 20))},
    {
        "billing": Group("orders", ms=1.0, signs=True),
        "slow": Group("visits", members=1, ms=500.0, sla_seconds=30.0),
        "audit": Group("orders", members=1, ms=1.0),
    },
    (
        (0, Retain("visits", 60)),
        (0, LoseLeaders("orders", (3,))),
        (60, OpenTransaction("orders", 0)),
        (300, Leave("billing")),
        (570, Skip("billing")),
    ),
)


def evaluations() -> Iterator[Evaluation]:
    """Runs of a few troubles, each once before and once after it began."""
    for case in (MUCH, *TROUBLES[::4]):
        yield from run_shortened(replace(case, warm_up=5 * MINUTE))


def run_shortened(case: Case) -> Iterator[Evaluation]:
    world, memory, rules = Staged(case).world, Memory.empty(), Rules(lookup_budget=0)
    layout = world.layout()
    for minute in range(16):
        world.live_a_minute()
        at, sight = NOON + minute * MINUTE_MS, world.sight()
        if sight is None:
            continue
        reading, previous = read_sight(layout, sight, at), memory.previous_runs()
        if minute in (4, 15):
            # One row ends.
            rows = reading.group_partitions
            fewer = replace(reading, group_partitions=rows.take(np.arange(1, len(rows))))
            yield begin(fewer, previous, Run(at, rules), no_look_up)
        report = evaluate(reading, previous, rules, at)
        memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)


@pytest.fixture(name="found", scope="module")
def _found() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The columns that each step added, and the steps whose columns or values it read."""
    adds: dict[str, set[str]] = {step.name: set() for step in STEPS}
    needs: dict[str, set[str]] = {step.name: set() for step in STEPS}
    for begun in evaluations():
        evaluation = Recorded(*(getattr(begun, each.name) for each in fields(begun)[:7]))
        source: dict[Any, str] = {}
        for step in STEPS:
            for table in Table:
                frame = getattr(evaluation, table)
                setattr(evaluation, table, Frame(Columns(table, frame.columns), len(frame)))
            before = dict(getattr(evaluation, step.of).columns)
            set_before = {name for name in VALUES if hasattr(evaluation, name)}
            USED.clear()
            step.take(evaluation)
            used = set(USED)
            after = dict(getattr(evaluation, step.of).columns)
            changed = {name for name in after if after[name] is not before.get(name)}
            adds[step.name] |= changed
            needs[step.name] |= {source[each] for each in used if each in source}
            new = {name for name in VALUES if hasattr(evaluation, name)} - set_before
            source |= dict.fromkeys([*new, *((step.of, name) for name in changed)], step.name)
    return adds, needs


@pytest.mark.golden
def test_what_a_step_adds_and_which_steps_it_needs_are_reviewed(
    found: tuple[dict[str, set[str]], dict[str, set[str]]], golden: Golden
) -> None:
    """A step that moves before one that it needs no longer needs it here."""
    adds, needs = found
    lines = [
        f"{step.of}: {step.name}\n  adds {' '.join(sorted(adds[step.name]))}\n"
        f"  needs {' '.join(each.name for each in STEPS if each.name in needs[step.name])}"
        for step in STEPS
    ]
    golden.holds("steps.txt", "\n".join(line.replace("  needs \n", "").rstrip() for line in lines))


@pytest.mark.parametrize("table", Table)
def test_each_column_comes_from_the_brokers_or_from_a_step(
    table: Table, found: tuple[dict[str, set[str]], dict[str, set[str]]]
) -> None:
    adds, _ = found
    added = {name for step in STEPS if step.of is table for name in adds[step.name]}
    assert added | set(OTHER[table].split()) == set(contract.COLUMNS[DATASETS[table]])
