# SPDX-License-Identifier: Apache-2.0
"""Whether `maintenance` is named of each group that suffers while brokers restart, and never else.

It cannot be known before a second broker is down, so it must not be named before.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from tempfile import mkdtemp

from dev.sim.cases.drawn import PLANNED, SETS, vary
from dev.sim.events import MINUTE, Case, StopBroker
from dev.sim.live.waves import run_live
from dev.sim.run import run_case
from dev.sim.scorers import Line, print_lines
from dev.sim.scorers.causes import read_run
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot

# A case in which so many brokers stop is a rolling restart, unless it is among `no-restarts`.
_ROLLING = 3


def score(case: Case, restarts: bool) -> Line:
    """Returns a line on a case: its name, the groups that suffer, when it was named, the fault."""
    return _judge(case, run_case(case), round(case.warm_up / MINUTE), restarts=restarts)


def _judge(case: Case, snapshots: Iterable[Snapshot], first: int, *, restarts: bool) -> Line:
    """Returns the line of these runs; run `first` saw the first event."""
    named, suffer = dict[str, float](), set[str]()
    for number, snapshot in enumerate(snapshots):
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


def _score_live(cases: Sequence[Case], folder: Path) -> Iterator[Line]:
    """Yields the lines of cases, each on three brokers of its own."""
    for case in cases:
        for each in run_live([case], folder / case.name, partial(print, file=sys.stderr)):
            yield _judge(case, each.snapshots, each.first, restarts=True)


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each case: restarts twice, as written and drawn, and all other cases.

    On brokers there are only restarts, with longer times: a broker takes a while to start.
    """
    columns = "case | groups that suffer | maintenance, minute"
    if options.live:
        cases = [each for each in PLANNED["restarts-live"] if each.name.startswith(options.only)]
        folder = options.folder or Path(mkdtemp(prefix="sim-"))
        return print_lines("restarts on brokers", columns, list(_score_live(cases, folder)))
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
    return print_lines("restarts", columns, [each for each in lines if each[1] or each[0][2]])
