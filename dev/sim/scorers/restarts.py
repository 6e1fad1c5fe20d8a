# SPDX-License-Identifier: Apache-2.0
"""Whether `maintenance` is named of each group that suffers while brokers restart, and never else.

It cannot be known before a second broker is down, so it must not be named before. Rolling restarts
take place in a mute window, and the same runs tell whether its pages are right.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from dev.sim.cases.drawn import PLANNED, SETS, vary
from dev.sim.events import MINUTE, Case, StopBroker, end_of
from dev.sim.live.waves import INTERVAL_MS, Watched, run_live
from dev.sim.reading import MINUTE_MS
from dev.sim.run import BEGIN, run_case
from dev.sim.scorers import Line, print_lines, score_chosen, windows
from dev.sim.scorers.causes import read_run
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot

# A case in which so many brokers stop is a rolling restart, unless it is among `no-restarts`.
_ROLLING = 3

# The minutes after the warm-up in which a broker was down, and the broker.
Down: TypeAlias = tuple[float, float, int]


def score(case: Case, restarts: bool) -> Line:
    """Returns a line on a case: brokers, groups that suffer, when it was named, the fault.

    On rolling restarts the line also has what `windows` finds.
    """
    planned = windows.plan(case) if restarts else None
    whole = planned.case if planned else case
    return judge(whole, run_case(whole), list(_find_downs(whole)), planned)


def judge(
    case: Case,
    snapshots: Iterable[Snapshot],
    downs: Sequence[Down],
    planned: windows.Plan | None = None,
) -> Line:
    """Returns the line of these runs, in which these brokers really were down, in order."""
    named, suffer = dict[str, float](), set[str]()
    kept, before = list(snapshots), round(case.warm_up / MINUTE)
    for snapshot in kept:
        minute = (snapshot.taken_at - BEGIN) // MINUTE_MS - before
        run = read_run(snapshot, minute)
        if planned is None or downs[0][0] <= minute < planned.end - before:
            suffer |= run.troubled
        for group, cause in run.named.items():
            if cause == contract.MAINTENANCE:
                named.setdefault(group, minute + 1)
    when = ", ".join(f"{group} {minute:g}" for group, minute in sorted(named.items()))
    down = ", ".join(f"{broker}: {since:.0f}-{back:.0f}" for since, back, broker in downs)
    cells = (case.name, down, ", ".join(sorted(suffer)), when)
    if planned is None:
        return cells, "named" if named else ""
    pages, fault = windows.score(planned, kept)
    return (*cells, *pages), find_fault(suffer, named, downs) or fault


def find_fault(suffer: set[str], named: Mapping[str, float], downs: Sequence[Down]) -> str:
    """Returns what is wrong in a rolling restart, by the minutes in which groups were named."""
    if len(downs) < _ROLLING or any(one[1] > after[0] for one, after in pairwise(downs)):
        return "not one after another"
    if not suffer:
        return "no group suffers"
    if missed := suffer - named.keys():
        return f"not named of {', '.join(sorted(missed))}"
    return "too early" if min(named.values()) <= downs[1][0] else ""


def _find_downs(case: Case) -> Iterator[Down]:
    """Yields the brokers that the case stops."""
    for at, event in case.happens:
        if isinstance(event, StopBroker):
            yield at / MINUTE, end_of(at, event) / MINUTE, event.broker


def _score_live(options: Namespace) -> Iterator[Line]:
    """Yields the lines of the chosen cases, each on brokers that nobody else uses."""
    plans = {each.name: windows.plan(each) for each in PLANNED["restarts-live"]}
    cases = [*(each.case for each in plans.values()), *PLANNED["no-restarts-live"]]
    chosen = [each for each in cases if each.name.startswith(options.only)]
    for each in run_live(chosen, options.folder):
        yield judge_live(each, plans.get(each.case.name))


def judge_live(watched: Watched, planned: windows.Plan | None) -> Line:
    """Returns the line of a case on brokers, by the times at which they really were down."""
    began = watched.began_ms
    downs = sorted(
        ((since - began) / INTERVAL_MS, (back - began) / INTERVAL_MS, broker)
        for since, back, broker in watched.stage.downs
    )
    return judge(watched.case, watched.as_in_memory(), downs, planned)


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each case: restarts twice, as written and drawn, and all other cases.

    On brokers there are fewer cases, with longer times: a broker takes a while to start.
    """
    columns = f"case | down, minutes | groups that suffer | maintenance, minute | {windows.COLUMNS}"
    if options.live:
        return print_lines("restarts on brokers", columns, _score_live(options))
    seeds = (0, options.seed + 1)
    own, others = PLANNED[options.cases], PLANNED[f"no-{options.cases}"]
    jobs = [(vary(each, seed), True) for seed in seeds for each in own]
    jobs += [(vary(each, seed), False) for seed in seeds for each in others]
    if options.cases == "restarts":
        more = [*PLANNED["bad"], *PLANNED["good"], *SETS["drawn"](1)]
        jobs += [(each, False) for each in more if len([*_find_downs(each)]) < _ROLLING]
    lines = score_chosen(score, jobs, options)
    return print_lines("restarts", columns, [each for each in lines if each[1] or each[0][3]])
