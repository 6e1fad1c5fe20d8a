# SPDX-License-Identifier: Apache-2.0
"""What is told of each case: a line a run, with what it missed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from dev.time_lag_bench.answers.figures import Figures, figures
from dev.time_lag_bench.answers.others import Told, told_by_rivals
from dev.time_lag_bench.answers.ours import Run, ours
from dev.time_lag_bench.answers.past import an_hour_before
from dev.time_lag_bench.brokers.prepared import Prepared
from dev.time_lag_bench.cases.catalog import MOVING, WIDE
from dev.time_lag_bench.logs import Floats
from kafka_lag import contract
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import PreviousRuns
from kafka_lag.snapshots.previous import Memory

# Nothing known before; the run after that (on a compacted topic all of the next hour); with an
# hour of log ends known and nothing dated; the same, and every commit has moved since the last run.
RunName: TypeAlias = Literal["cold", "again", "warm", "moved"]
_WITH_PAST: tuple[RunName, ...] = ("warm", "moved")

_RUNS_AN_HOUR = 60
_MOST_PER_POSITION, _MOST_SECONDS = 5.0, 3.0
_SUFFICIENT = 50
_DATED = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED, contract.METHOD_NONE)
_MOST_WHILE_MOVING = 3.0  # look-ups a position, of a tenth of the budget at most


@dataclass(frozen=True, slots=True)
class Line:
    """One run of a case, or several; the rivals only beside the warm one, which knows as much."""

    case: str
    run: RunName
    figures: Figures
    look_ups: int
    rounds: int
    reading_seconds: float
    seconds: float
    missed: list[str]
    rivals: Mapping[str, Told] = field(default_factory=dict)


def lines(source: KafkaSource, prepared: Prepared, rules: Rules) -> Iterator[Line]:
    """The four lines of a case; where look-ups are counted, the budget is no bound to them."""
    if prepared.case.name == WIDE:
        enough = _SUFFICIENT * len(prepared.groups)
        rules = replace(rules, lookup_budget=max(rules.lookup_budget, enough))
    taken_at = int(time.time() * 1000)
    cold = ours(source, prepared, PreviousRuns.empty(), rules, taken_at)
    yield _line(prepared, "cold", cold, cold.look_ups)
    yield _again(source, prepared, rules, cold)
    for name in _WITH_PAST:
        taken_at = int(time.time() * 1000)
        past = _an_hour_before(cold, prepared, taken_at, moved=name == "moved")
        run = ours(source, prepared, past, rules, taken_at)
        rivals = told_by_rivals(prepared, run.answers.now) if name == "warm" else None
        yield _line(prepared, name, run, run.look_ups, rivals)


def _an_hour_before(cold: Run, prepared: Prepared, taken_at: int, *, moved: bool) -> PreviousRuns:
    snapshot = cold.report.snapshot
    topics, numbers = (snapshot.topic_partitions.columns[n] for n in ("topic", "partition_id"))
    places = zip(topics.to_list(), numbers.to_list(), strict=True)
    logs = [prepared.logs[place] for place in places]
    return an_hour_before(snapshot, logs, taken_at, moved=moved)


def _again(source: KafkaSource, prepared: Prepared, rules: Rules, cold: Run) -> Line:
    """The next run; on a compacted topic all of the next hour, in which it is looked at again."""
    memory, run, look_ups = Memory.empty(), cold, 0
    for _ in range(1 if prepared.case.kept is None else _RUNS_AN_HOUR):
        snapshot = run.report.snapshot
        memory = memory.add_run(snapshot, rules.interval_ms, stored=True)
        taken_at = snapshot.taken_at + rules.interval_ms
        run = ours(source, prepared, memory.previous_runs(), rules, taken_at)
        look_ups += run.look_ups
    line = _line(prepared, "again", run, look_ups)
    if look_ups > (_for_undated(run) if prepared.case.kept is None else cold.look_ups):
        line.missed.append(f"{look_ups} look-ups for commits that stand still")
    return line


def _for_undated(run: Run) -> int:
    """Two look-ups a partition that holds a record ahead of now, which time may yet date."""
    rows = run.report.snapshot.group_partitions
    undated = rows.where(~rows.strings("time_lag_method").is_in(_DATED))
    return 2 * len(set(undated.numbers("partition_id").to_list()))


def _line(
    prepared: Prepared,
    name: RunName,
    run: Run,
    look_ups: int,
    rivals: Mapping[str, Told] | None = None,
) -> Line:
    told = figures(_truth(prepared, run, name in _WITH_PAST), prepared.appended, run.answers)
    case, each = prepared.case.name, look_ups / max(1, told.rows)
    asked = f"{each:.2f} look-ups a position"
    missed = told.faults
    if case == WIDE and name == "cold":
        missed += [asked] if each > _MOST_PER_POSITION else []
        missed += [f"{run.seconds:.1f} s"] if run.seconds > _MOST_SECONDS else []
    if case == MOVING and name == "moved" and each > _MOST_WHILE_MOVING:
        missed += [asked]
    return Line(
        case,
        name,
        told,
        look_ups,
        run.rounds,
        run.reading_seconds,
        run.seconds,
        missed,
        rivals or {},
    )


def _truth(prepared: Prepared, run: Run, with_past: bool) -> Floats:
    """When the next record came if that is since the oldest known end, else its time in the log.

    Log ends prove the one whatever clocks producers have; of the other only these tell.
    """
    seen = prepared.appended >= run.answers.now - _RUNS_AN_HOUR * 60_000
    believed = prepared.reached <= run.answers.now
    return np.where(with_past & seen & believed, prepared.appended, prepared.reached)
