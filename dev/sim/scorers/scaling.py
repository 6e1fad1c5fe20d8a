# SPDX-License-Identifier: Apache-2.0
"""How often scaled services change, and whether they keep their promise, under each policy.

Services in a closed loop: loads ten seconds at a time, the collector each minute, models of
CloudWatch's alarms and of Application Auto Scaling, tasks that take their time to start. Against
steps by lag, an ideal KEDA, and the best schedule for a known load. Stores that all tasks share
must be known as full, others never. A constant load may change twice a day, with noise six times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from rich.console import Console
from rich.table import Table

from dev.sim.cases.services import (
    HOUR,
    SLOWER_FROM,
    Case,
    changing_cases,
    constant_cases,
    drawn_store_cases,
    store_cases,
)
from dev.sim.cloudwatch.autoscaling import ScalingAssumptions
from dev.sim.policies import CLUSTER, Policy, Scheduled, make_policy
from dev.sim.reading import FIRST, MINUTE_MS
from dev.sim.run import run as run_collector
from dev.sim.schedule import Search
from dev.sim.services import STEP_SECONDS, Conditions, Services, group_name
from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName, NameFilter, Rules, TaskSettings
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import lag_sets

_LEVELS = Levels(max_metrics=1_000_000, topics=False, scaling=NameFilter(), members=True)


@dataclass(frozen=True, slots=True)
class Trace:
    """A case under a policy, minute by minute.

    Tasks `wanted` and `running`, `age` in s, tasks `needed` as published, and the number at which
    they were `held` because more of them read no more.
    """

    case: Case
    policy: str
    wanted: list[int] = field(default_factory=list)
    running: list[int] = field(default_factory=list)
    age: list[float] = field(default_factory=list)
    needed: list[float | None] = field(default_factory=list)
    held: list[int | None] = field(default_factory=list)

    def changes(self, since: int = 0) -> int:
        """Returns how often another number was wanted, from a minute on."""
        wanted = np.array(self.wanted)
        return int((np.diff(wanted[since:]) != 0).sum()) + int(since == 0 and wanted[0] != START)

    def minutes_over(self, since: int = HOUR) -> int:
        """Returns minutes in which the promise was broken, from the second hour on."""
        return int((np.array(self.age[since:]) > self.case.promise).sum())

    @property
    def task_hours(self) -> float:
        """Hours of the tasks that were wanted, which are those that are paid."""
        return sum(self.wanted) / HOUR


START = 1
_CONDITIONS, _ASSUMED = Conditions(), ScalingAssumptions()


def run(
    pairs: Sequence[tuple[Case, str]],
    make: Callable[[str, Case, str, int, ScalingAssumptions], Policy] = make_policy,
    read: bool = True,
) -> list[Trace]:
    """Runs each case under a policy from one task on; without `read` nothing is published."""
    cases = [case for case, _ in pairs]
    plant = Services(cases, _CONDITIONS, [START] * len(cases))
    groups = [group_name(at) for at in range(len(cases))]
    policies = [
        make(name, case, group, START, _ASSUMED)
        for (case, name), group in zip(pairs, groups, strict=True)
    ]
    for at, policy in enumerate(policies):
        if policy.tasks != START:
            plant.change(at, policy.tasks)
    settings = [
        (f"^{group}$", TaskSettings(catch_up_seconds=case.promise))
        for case, group in zip(cases, groups, strict=True)
    ]
    rules = Rules(lookup_budget=0, tasks=ByName.of(settings))
    traces = [Trace(case, name) for case, name in pairs]
    published, held = {}, [None] * len(cases)
    minutes = max(case.minutes for case in cases)
    reports = run_collector(plant, minutes, rules, FIRST + MINUTE_MS) if read else repeat(None)
    for minute, report in zip(range(minutes), reports, strict=False):
        if report is None:
            plant.live_a_minute()
        else:
            held = report.snapshot.groups.numbers("shared_limit_members").to_list()
            chosen = plan(report, report.snapshot, _LEVELS)
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
) -> list[Trace]:
    """Runs each case under the best schedule that keeps the promise here as well.

    The search knows a simpler world; if the promise is broken, it is made shorter. With
    `most_changes` a schedule may change no more often.
    """
    found: list[Trace | None] = [None] * len(cases)
    for share in _SHARES_OF_PROMISE:
        wanted = [at for at, trace in enumerate(found) if trace is None or trace.minutes_over()]
        schedules = {}
        for at in wanted:
            search = Search(cases[at], _CONDITIONS, _promise(cases[at]) * share)
            most = most_changes[at] if most_changes else None
            schedules[at] = _cheapest(search, most)
        if not wanted:
            break
        made = iter(schedules[at] for at in wanted)
        traces = run(
            [(cases[at], "best") for at in wanted],
            lambda *_: Scheduled(next(made)),  # noqa: B023 - used at once
            read=False,
        )
        for at, trace in zip(wanted, traces, strict=True):
            best = found[at]
            if best is None or _rank(trace) < _rank(best):
                found[at] = trace
    return [trace for trace in found if trace is not None]


def _cheapest(search: Search, most_changes: int | None) -> list[int]:
    """Returns the schedule with the fewest task hours, or with no more changes than so many."""
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
    """Returns the promise less the time between polls of a consumer that polls rarely."""
    return case.promise - (case.poll_seconds if case.poll_seconds > STEP_SECONDS else 0)


_PER_RUN = 60
_MOST_CHANGES = {0.0: 2, 0.1: 6}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The cases and policies that are run, and for how many hours at most."""

    hours: int
    held_out: bool
    policies: tuple[str, ...]

    def of(self, cases: Iterable[Case]) -> list[Case]:
        """Returns those that are held out, or the others."""
        chosen = [case for case in cases if case.held_out is self.held_out]
        return [case.first(self.hours * HOUR) for case in chosen]


def print_score(chosen: Chosen, only: Sequence[str], seed: int, console: Console) -> bool:
    """Prints the tables of the parts that are named; returns whether all limits were kept.

    Seed 0 takes stores that are written down, others draw them.
    """
    broken = 0

    if "constant".startswith(tuple(only)):
        for noise, most in _MOST_CHANGES.items():
            traces = _run_each([(case, "tasks") for case in chosen.of(constant_cases(noise))])
            late = [t for t in traces if t.changes() > most or t.minutes_over()]
            broken += len(late)
            console.print(_counts(f"Constant loads, noise {noise:.0%}", traces))
            for trace in late:
                console.print(f"[red]missed[/] {trace.case.name}: {trace.changes()} changes")
    if "changing".startswith(tuple(only)):
        cases = chosen.of(changing_cases())
        by_name = {name: _run_each([(case, name) for case in cases]) for name in chosen.policies}
        changes = [trace.changes() for trace in by_name[chosen.policies[0]]]
        best = {"best": run_best(cases), "best, as many changes": run_best(cases, changes)}
        console.print(_comparison(by_name, best))
    if "stores".startswith(tuple(only)):
        broken += _print_stores(console, seed or None)
    return not broken


def _print_stores(console: Console, seed: int | None) -> int:
    """Prints whether a full store is distinguished from too few tasks; returns the wrong answers.

    The number may end at twice the fewest that read as much as the most, or at the number before a
    store became slower.
    """
    pairs = [*(store_cases() if seed is None else drawn_store_cases(seed))]
    columns = ("case", "fewest that read as much", "most in the end", "minutes held", "right")
    table = Table(*columns, title="Stores")
    wrong = 0
    for trace, (case, full) in zip(_run_each([(c, "tasks") for c, _ in pairs]), pairs, strict=True):
        enough = case.fewest_that_read_as_much(case.minutes - 1)
        ends = trace.wanted[-case.minutes // 4 :]
        held = sum(number is not None for number in trace.held)
        before = trace.wanted[SLOWER_FROM - 1] if case.gets_slower else 0
        right = enough <= min(ends) <= max(ends) <= max(2 * enough, before) if full else not held
        wrong += not right
        cells = (str(enough) if full else "-", str(max(ends)), str(held), "yes" if right else "no")
        table.add_row(case.name, *cells)
    console.print(table)
    return wrong


def _run_each(pairs: Sequence[tuple[Case, str]]) -> list[Trace]:
    parts = (pairs[at : at + _PER_RUN] for at in range(0, len(pairs), _PER_RUN))
    return [trace for part in parts for trace in run(part)]


def _counts(title: str, traces: Sequence[Trace]) -> Table:
    table = Table("changes in all", "after an hour", "cases", title=title)
    found = sorted((trace.changes(), trace.changes(HOUR)) for trace in traces)
    for pair in dict.fromkeys(found):
        table.add_row(str(pair[0]), str(pair[1]), str(found.count(pair)))
    return table


def _comparison(by_name: dict[str, list[Trace]], best: dict[str, list[Trace]]) -> Table:
    """Returns changes, minutes over the promise and task hours; hours also over the best ones."""
    columns = [*by_name, *best]
    table = Table(
        "case", *columns, "hours / best", "hours / as many changes", title="Loads that change"
    )
    every = {**by_name, **best}
    for at, trace in enumerate(next(iter(by_name.values()))):
        cells = [
            f"{one[at].changes():4} {one[at].minutes_over():5} {one[at].task_hours:7.1f}"
            for one in every.values()
        ]
        shares = [f"{trace.task_hours / one[at].task_hours:.2f}" for one in best.values()]
        table.add_row(trace.case.name, *cells, *shares)
    return table
