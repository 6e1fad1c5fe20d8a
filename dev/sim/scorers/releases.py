# SPDX-License-Identifier: Apache-2.0
"""Whether deployment alarms roll bad releases back within five runs, and no good one.

A deployment is watched as by ECS: an alarm that is in ALARM when it begins is not looked at.
"""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from dev.documents import make_cluster
from dev.sim.cases.drawn import PLANNED, vary
from dev.sim.events import MINUTE, Case, Deploy, Leave
from dev.sim.run import run_case
from dev.sim.scorers import Line, print_lines, score_chosen
from kafka_lag_cli.replay.alarms import condition_of
from kafka_lag_config.alarm_rules import RELEASE
from kafka_lag_config.simulation.grid import ALARM, find_states

_GROUP, _RUNS = "billing", 5


def score(case: Case, is_bad: bool) -> Line:
    """Returns a line on a release: when it was rolled back, whether it was bad before, the fault.

    When: runs since its fault, or since it began if it is good; None: never.
    """
    began, fault = find_times(case)
    in_alarm = _find_alarms(case)
    # A run sees what happened in the minute before it.
    first = round(case.warm_up / MINUTE) + int((fault if is_bad else began) // MINUTE)
    before = in_alarm[round(case.warm_up / MINUTE) + int(began // MINUTE) - 1]
    found = [] if before else [at for at, is_on in enumerate(in_alarm) if is_on]
    after = next((at - first + 1 for at in found if at >= first), None)
    cells = case.name, "bad" if is_bad else "good", after, before
    if is_bad:
        return cells, "" if after is not None and after <= _RUNS else "not caught"
    return cells, "" if after is None else "rolled back"


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


def _find_alarms(case: Case) -> list[bool]:
    """Returns for each minute whether the deployment alarm of the group is in ALARM."""
    values = np.full((case.runs, 1), np.nan)
    for minute, snapshot in enumerate(run_case(case)):
        groups = snapshot.groups
        names, risks = groups.strings("consumer_group"), groups.numbers("release_risk")
        risk = dict(zip(names.to_list(), risks.to_list(), strict=True))[_GROUP]
        values[minute] = np.nan if risk is None else risk
    condition = condition_of(make_cluster("shop"), RELEASE, float(RELEASE.threshold or 0))
    in_alarm: list[bool] = (find_states(values, condition)[:, 0] == ALARM).tolist()
    return in_alarm


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each release, with sizes that the seed draws."""
    which = options.cases.removeprefix("releases")
    jobs = [
        (vary(case, options.seed), section.startswith("bad"))
        for section, cases in PLANNED.items()
        if section in (f"bad{which}", f"good{which}")
        for case in cases
    ]
    columns = "case | release | rolled back after runs | bad before"
    return print_lines("releases", columns, score_chosen(score, jobs, options))
