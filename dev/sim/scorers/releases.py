# SPDX-License-Identifier: Apache-2.0
"""Whether deployment alarms roll bad releases back within five runs, and no good one.

A deployment is watched as by ECS: an alarm that is in ALARM when it begins is not looked at.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from multiprocessing import Pool

from dev.sim.autoscaling import NAMESPACE, series_of_group
from dev.sim.cases.drawn import PLANNED, vary
from dev.sim.cloudwatch import Metrics, states
from dev.sim.events import MINUTE, Case, Deploy, Leave
from dev.sim.run import run_case
from dev.sim.scorers import print_lines
from kafka_lag import contract
from kafka_lag_config.alarm_rules import RELEASE
from kafka_lag_config.simulation.evaluation import ALARM

_GROUP, _RUNS = "billing", 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """When a release was rolled back, in runs since its fault, or since it began if it is good.

    None: never. `before`: the alarm was in ALARM when the release began.
    """

    case: str
    is_bad: bool
    after: int | None
    before: bool

    @property
    def fault(self) -> str:
        """What is wrong with the verdict, nothing if it is right."""
        if not self.is_bad:
            return "" if self.after is None else "rolled back"
        return "" if self.after is not None and self.after <= _RUNS else "not caught"


def score(case: Case, is_bad: bool) -> Verdict:
    """Returns the verdict on a release."""
    began, fault = find_times(case)
    observed = states(_properties(), _publish(case), range(case.runs))
    # A run sees what happened in the minute before it.
    first = round(case.warm_up / MINUTE) + int((fault if is_bad else began) // MINUTE)
    before = observed[round(case.warm_up / MINUTE) + int(began // MINUTE) - 1] == ALARM
    found = [] if before else [at for at, state in enumerate(observed) if state == ALARM]
    after = next((at - first + 1 for at in found if at >= first or not is_bad), None)
    return Verdict(case.name, is_bad, after, before)


def find_times(case: Case) -> tuple[float, float]:
    """Returns when the release began, and when its fault, if it has one, was there.

    A slow release is there once the last member is replaced: until then each rollout stops groups.
    """
    own = [each for each in case.happens if getattr(each[1], "group", None) == _GROUP]
    began = next(at for at, event in own if isinstance(event, Deploy | Leave))
    at, last = own[-1]
    if isinstance(last, Deploy):
        at += last.every * (case.groups[_GROUP].members - 1) + last.pause
    return began, at


def _publish(case: Case) -> Metrics:
    metrics, series = Metrics(), series_of_group(contract.RELEASE_RISK, _GROUP)
    for minute, snapshot in enumerate(run_case(case)):
        groups = snapshot.groups
        names, values = groups.strings("consumer_group"), groups.numbers("release_risk")
        value = dict(zip(names.to_list(), values.to_list(), strict=True))[_GROUP]
        if value is not None:
            metrics.put(series, minute, value)
    return metrics


def _properties() -> dict[str, object]:
    series = series_of_group(contract.RELEASE_RISK, _GROUP)
    return {
        "Namespace": NAMESPACE,
        "MetricName": RELEASE.metric,
        "Dimensions": [{"Name": name, "Value": value} for name, value in series.dimensions],
        "Statistic": "Maximum",
        "Period": 60,
        "Threshold": RELEASE.threshold,
        "ComparisonOperator": RELEASE.operator.word,
        "DatapointsToAlarm": RELEASE.datapoints,
        "EvaluationPeriods": RELEASE.periods,
        "TreatMissingData": RELEASE.missing.value,
    }


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each release; those set aside with sizes that the seed draws."""
    aside = options.cases == "releases-aside"
    jobs = [
        (vary(case, options.seed) if options.seed else case, section.startswith("bad"))
        for section, cases in PLANNED.items()
        if section in (("bad-aside", "good-aside") if aside else ("bad", "good"))
        for case in cases
        if case.name.startswith(options.only)
    ]
    with Pool(2) as pool:
        verdicts = pool.starmap(score, jobs)
    lines = (
        ((each.case, "bad" if each.is_bad else "good", each.after, each.before), each.fault)
        for each in verdicts
    )
    return print_lines("releases", "case | release | rolled back after runs | bad before", lines)
