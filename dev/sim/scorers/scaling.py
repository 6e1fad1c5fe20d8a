# SPDX-License-Identifier: Apache-2.0
"""Counts how often services change that run the tasks they need, and checks that they keep up.

Services run in a closed loop: loads of ten seconds, the collector each minute, models of
CloudWatch's alarms and of Application Auto Scaling, and tasks that take their time to start. A full
store that all tasks share must be known as full, and other stores must not. With a constant load
the number of tasks may change twice a day, with noise six times.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dev.sim.autoscaling import CLUSTER, Service, series_of_group
from dev.sim.cases.services import (
    HOUR,
    PROMISE,
    SLOWER_FROM,
    Case,
    constant_cases,
    store_cases,
)
from dev.sim.cloudwatch import Metrics
from dev.sim.reading import FIRST, MINUTE_MS
from dev.sim.run import run as run_collector
from dev.sim.scorers import print_lines
from dev.sim.services import Services, group_name
from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName, NameFilter, Rules, TaskSettings
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import lag_sets
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import rules_of

# Minutes until a value is seen by an alarm.
_DELAY = 1

_LEVELS = Levels(max_metrics=1_000_000, topics=False, scaling=NameFilter(), members=True)


@dataclass(frozen=True, slots=True)
class Trace:
    """A case minute by minute: tasks `wanted`, `age` in s.

    `held`: the number at which they were held because more of them read no more.
    """

    case: Case
    wanted: list[int] = field(default_factory=list)
    age: list[float] = field(default_factory=list)
    held: list[int | None] = field(default_factory=list)

    def changes(self) -> int:
        """Returns how often another number was wanted."""
        return int((np.diff(np.array([START, *self.wanted])) != 0).sum())

    def minutes_over(self) -> int:
        """Returns the number of minutes in which the SLA was broken, from the second hour on."""
        return int((np.array(self.age[HOUR:]) > PROMISE).sum())


START = 1


def deploy(case: Case, group: str, metrics: Metrics) -> tuple[Service, set[str]]:
    """Returns a service that is set to the tasks it needs, and the metrics that its alarms read."""
    keys = {"group": group, "ecs_cluster": "services", "service": group, "tasks": {}}
    bounds = {"min": 1, "max": case.most, "partitions": case.partitions}
    scaling = Scaling.model_validate({**keys, **bounds})
    rules = rules_of(scaling)
    names = {metric.name for rule in rules for metric in rule.metrics.values()}
    return Service(rules, scaling, metrics, START), names


def run(cases: Sequence[Case]) -> list[Trace]:
    """Runs each case from one task on."""
    plant = Services(cases, [START] * len(cases))
    groups, metrics = [group_name(at) for at in range(len(cases))], Metrics(delay=_DELAY)
    deployed = [deploy(case, group, metrics) for case, group in zip(cases, groups, strict=True)]
    tasks = ByName.of([("", TaskSettings(catch_up_seconds=PROMISE))])
    rules = Rules(lookup_budget=0, tasks=tasks)
    traces = [Trace(case) for case in cases]
    minutes = max(case.minutes for case in cases)
    for minute, report in enumerate(run_collector(plant, minutes, rules, FIRST + MINUTE_MS)):
        held = report.snapshot.groups.numbers("shared_limit_members").to_list()
        chosen = plan(report, report.snapshot, _LEVELS)
        published = {
            dict(one.dimensions)[contract.DIMENSION_GROUP]: dict(one.values)
            for one in lag_sets(report, chosen, _LEVELS, CLUSTER)
        }
        ages = plant.ages()
        for at, (trace, (service, names)) in enumerate(zip(traces, deployed, strict=True)):
            if minute >= trace.case.minutes:
                continue
            values = published.get(groups[at], {})
            for name in names & set(values):
                metrics.put(series_of_group(name, groups[at]), minute, values[name])
            if service.minute(minute):
                plant.change(at, service.tasks)
            trace.wanted.append(service.tasks)
            trace.age.append(float(ages[at]))
            trace.held.append(held[at])
    return traces


_MOST_CHANGES = {0.0: 2, 0.1: 6}


def print_verdicts(options: Namespace) -> bool:
    """Prints the parts whose names begin as wanted; returns whether limits were kept."""
    right = True
    if "constant".startswith(options.only):
        for noise, most in _MOST_CHANGES.items():
            lines = [
                ((each.case.name, each.changes(), each.minutes_over()), _judge_constant(each, most))
                for each in run([*constant_cases(noise)])
            ]
            columns = "case | changes | minutes over the promise"
            right &= print_lines(f"Constant loads, noise {noise:.0%}", columns, lines)
    if "stores".startswith(options.only):
        cases, full = zip(*store_cases(), strict=True)
        judged = map(_judge_store, run(cases), full)
        columns = "case | fewest that read as much | most in the end | minutes held"
        right &= print_lines("Stores", columns, judged)
    return right


def _judge_constant(trace: Trace, most: int) -> str:
    return "too many changes or too late" if trace.changes() > most or trace.minutes_over() else ""


def _judge_store(trace: Trace, full: bool) -> tuple[tuple[object, ...], str]:
    """Judges whether a full store is distinguished from too few tasks.

    The number may end at twice the fewest that read as much as the most, or at the number before a
    store became slower.
    """
    case, ends = trace.case, trace.wanted[-trace.case.minutes // 4 :]
    enough = case.fewest_that_read_as_much(case.minutes - 1)
    held = sum(number is not None for number in trace.held)
    before = trace.wanted[SLOWER_FROM - 1] if case.gets_slower else 0
    right = enough <= min(ends) <= max(ends) <= max(2 * enough, before) if full else not held
    return (case.name, enough if full else "-", max(ends), held), "" if right else "no"
