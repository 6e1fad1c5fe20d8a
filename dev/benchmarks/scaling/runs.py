# SPDX-License-Identifier: Apache-2.0
"""The closed loop: plant, collector's arithmetic, metrics, alarms, tasks; and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dev.benchmarks.scaling.cases import HOUR, Case
from dev.benchmarks.scaling.plant import (
    FIRST,
    MINUTE_MS,
    STEP_SECONDS,
    Conditions,
    Plant,
    group_name,
)
from dev.benchmarks.scaling.policies import CLUSTER, Policy, Scheduled, make_policy
from dev.benchmarks.scaling.schedule import Search
from kafka_lag import contract
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, NameFilter, Rules, TaskSettings
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import lag_sets
from kafka_lag.snapshots.previous import Memory
from kafka_lag_cdk.simulation.autoscaling import ScalingAssumptions

_LEVELS = Levels(max_metrics=1_000_000, topics=False, scaling=NameFilter(), members=True)


@dataclass(frozen=True, slots=True)
class Trace:
    """A case under a policy, minute by minute: tasks wanted and running, age in s, published,
    and at what it was held, as more read no more."""

    case: Case
    policy: str
    wanted: list[int] = field(default_factory=list)
    running: list[int] = field(default_factory=list)
    age: list[float] = field(default_factory=list)
    needed: list[float | None] = field(default_factory=list)
    held: list[int | None] = field(default_factory=list)

    def changes(self, since: int = 0) -> int:
        """How often another number was wanted, from a minute on."""
        wanted = np.array(self.wanted)
        return int((np.diff(wanted[since:]) != 0).sum()) + int(since == 0 and wanted[0] != START)

    def minutes_over(self, since: int = HOUR) -> int:
        """Minutes in which the promise was broken, from the second hour on."""
        return int((np.array(self.age[since:]) > self.case.promise).sum())

    @property
    def task_hours(self) -> float:
        """Of the tasks that were wanted, which are those that are paid."""
        return sum(self.wanted) / HOUR


START = 1


def run(
    pairs: Sequence[tuple[Case, str]],
    make: Callable[[str, Case, str, int, ScalingAssumptions], Policy] = make_policy,
    conditions: Conditions = Conditions(),  # noqa: B008 - frozen
    assumed: ScalingAssumptions = ScalingAssumptions(),  # noqa: B008 - frozen
    start: int = START,
    read: bool = True,
) -> list[Trace]:
    """Each case under a policy, from `start` tasks on; `read` False: nothing is published."""
    cases = [case for case, _ in pairs]
    plant = Plant(cases, conditions, [start] * len(cases))
    groups = [group_name(at) for at in range(len(cases))]
    policies = [
        make(name, case, group, start, assumed)
        for (case, name), group in zip(pairs, groups, strict=True)
    ]
    for at, policy in enumerate(policies):
        if policy.tasks != start:
            plant.change(at, policy.tasks)
    settings = [
        (f"^{group}$", TaskSettings(catch_up_seconds=case.promise))
        for case, group in zip(cases, groups, strict=True)
    ]
    rules = Rules(lookup_budget=0, tasks=ByName.of(settings))
    traces = [Trace(case, name) for case, name in pairs]
    memory, published, held = Memory.empty(), {}, [None] * len(cases)
    for minute in range(max(case.minutes for case in cases)):
        plant.minute()
        if read:
            taken_at = FIRST + (minute + 1) * MINUTE_MS
            report = evaluate(plant.reading(), memory.previous_runs(), rules, taken_at)
            memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)
            held = report.snapshot.groups.numbers("shared_limit_members").to_list()
            chosen = plan(report, memory.newest, _LEVELS)
            published = {
                dict(one.dimensions)[contract.DIMENSION_GROUP]: dict(one.values)
                for one in lag_sets(report, chosen, _LEVELS, CLUSTER)
            }
        ages, lags = plant.ages(), plant.lags()
        for at, (trace, policy) in enumerate(zip(traces, policies, strict=True)):
            if minute >= trace.case.minutes:
                continue
            values: Mapping[str, float] = published.get(groups[at], {})
            old = policy.tasks
            policy.minute(minute, values, float(lags[at]))
            if policy.tasks != old:
                plant.change(at, policy.tasks)
            trace.wanted.append(policy.tasks)
            trace.running.append(int(plant.running[at]))
            trace.age.append(float(ages[at]))
            trace.held.append(held[at])
            trace.needed.append(values.get(contract.TASKS_NEEDED))
    return traces


def run_best(
    cases: Sequence[Case],
    most_changes: Sequence[int] | None = None,
    conditions: Conditions = Conditions(),  # noqa: B008 - frozen
) -> list[Trace]:
    """Each case under the best schedule that holds in the plant as well.

    The search knows a simpler world; where the plant breaks the promise more often, a shorter one
    is searched for. With `most_changes` only schedules with no more of them are looked at.
    """
    found: list[Trace | None] = [None] * len(cases)
    for share in _SHARES_OF_PROMISE:
        wanted = [at for at, trace in enumerate(found) if trace is None or trace.minutes_over()]
        schedules = {}
        for at in wanted:
            search = Search(cases[at], conditions, _promise(cases[at]) * share)
            most = most_changes[at] if most_changes else None
            schedules[at] = _cheapest(search, most)
        if not wanted:
            break
        made = iter(schedules[at] for at in wanted)
        traces = run(
            [(cases[at], "best") for at in wanted],
            lambda *_: Scheduled(next(made)),  # noqa: B023 - used at once
            conditions,
            read=False,
        )
        for at, trace in zip(wanted, traces, strict=True):
            best = found[at]
            if best is None or _rank(trace) < _rank(best):
                found[at] = trace
    return [trace for trace in found if trace is not None]


def _cheapest(search: Search, most_changes: int | None) -> list[int]:
    """The schedule with the fewest task hours, or with no more changes than so many."""
    low, high = 0.0, 64.0
    schedule = search.best(low)
    if most_changes is None or _count_changes(schedule) <= most_changes:
        return schedule
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tried = search.best(middle)
        if _count_changes(tried) <= most_changes:
            high, schedule = middle, tried
        else:
            low = middle
    return search.best(high)


def _count_changes(schedule: Sequence[int]) -> int:
    return int((np.diff(schedule) != 0).sum())


_SHARES_OF_PROMISE = (1.0, 0.8, 0.6, 0.4)
_HALVINGS = 12


def _rank(trace: Trace) -> tuple[int, float]:
    return trace.minutes_over(), trace.task_hours


def _promise(case: Case) -> float:
    """What is left of it once a consumer that polls seldom has polled."""
    return case.promise - (case.poll_seconds if case.poll_seconds > STEP_SECONDS else 0)
