# SPDX-License-Identifier: Apache-2.0
"""Whether `maintenance` is named of each group that suffers while brokers restart, and never else.

It cannot be known before a second broker is down, so it must not be named before.
"""

from __future__ import annotations

from argparse import Namespace
from multiprocessing import Pool

from dev.sim.cases.drawn import PLANNED, SETS, vary
from dev.sim.events import MINUTE, Case, StopBroker
from dev.sim.run import run_case
from dev.sim.scorers import print_lines
from dev.sim.scorers.causes import read_run
from kafka_lag import contract

# A case in which so many brokers stop is a rolling restart, unless it is among `no-restarts`.
_ROLLING = 3


def score(case: Case, restarts: bool) -> tuple[tuple[object, ...], str]:
    """Returns a line on a case: its name, the groups that suffer, when it was named, the fault."""
    first, named, suffer = round(case.warm_up / MINUTE), dict[str, float](), set[str]()
    for number, snapshot in enumerate(run_case(case)):
        run = read_run(snapshot, number - first)
        suffer |= run.troubled
        for group, cause in run.named.items():
            if cause == contract.MAINTENANCE:
                named.setdefault(group, run.second / MINUTE)
    if not restarts:
        fault = "named" if named else ""
    elif missed := suffer - named.keys():
        fault = f"not named of {', '.join(sorted(missed))}"
    else:
        early = min(named.values(), default=0.0) <= _find_stops(case)[1]
        fault = "no group suffers" if not suffer else "too early" if early else ""
    when = ", ".join(f"{group} {minute:g}" for group, minute in sorted(named.items()))
    return (case.name, ", ".join(sorted(suffer)), when), fault


def _find_stops(case: Case) -> list[float]:
    """Returns the minutes in which brokers stop."""
    return [at / MINUTE for at, event in case.happens if isinstance(event, StopBroker)]


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each case: restarts twice, as written and drawn, and all other cases."""
    aside = options.cases == "restarts-aside"
    seeds = (options.seed + 1, options.seed + 2) if aside else (0, options.seed + 1)
    own = PLANNED["restarts-aside" if aside else "restarts"]
    jobs = [(vary(each, seed) if seed else each, True) for seed in seeds for each in own]
    if not aside:
        others = [*PLANNED["bad"], *PLANNED["good"], *SETS["drawn"](1)]
        jobs += [(each, False) for each in others if len(_find_stops(each)) < _ROLLING]
        jobs += [(each, False) for each in PLANNED["no-restarts"]]
    chosen = [job for job in jobs if job[0].name.startswith(options.only)]
    with Pool(2) as pool:
        lines = pool.starmap(score, chosen)
    columns = "case | groups that suffer | maintenance, minute"
    return print_lines("restarts", columns, [each for each in lines if each[1] or each[0][2]])
