# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.sim score CASES --by SCORER`: what the collector says, against the truth."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from rich.console import Console

from dev.sim.cases import SETS
from dev.sim.cases.drawn import SEED, plan_days
from dev.sim.cases.logs import CASES
from dev.sim.cases.rhythms import RHYTHMS, Watched
from dev.sim.cases.tasks import KINDS
from dev.sim.events import Case
from dev.sim.live.waves import run_live
from dev.sim.scorers import ages, alarms, causes, incidents, scaling, statuses, tasks

_JUDGED_BY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(SETS, ("causes", "statuses")),
    "rhythms": ("statuses",),
    "services": ("scaling",),
    "tasks": ("tasks",),
    "logs": ("ages",),
    "days": ("incidents",),
    "alarms": ("alarms",),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints verdicts; returns 1 if one is not right."""
    parser = ArgumentParser(prog="python -m dev.sim", description=__doc__)
    commands = parser.add_subparsers(required=True)
    score = commands.add_parser("score", help="judge the collector's answers")
    score.add_argument("cases", choices=_JUDGED_BY)
    score.add_argument("--by", choices=_SCORERS, help="which of its answers")
    score.add_argument("--seed", type=int, help="of cases that are drawn; of days: draw them")
    score.add_argument("--days", type=int, default=60, help="of services")
    score.add_argument(
        "--only",
        type=lambda text: tuple(text.split(",")),
        default=("",),
        metavar="NAME,...",
        help="cases whose name begins with one of these",
    )
    score.add_argument("--live", action="store_true", help="on real brokers, beside memory")
    score.add_argument("--folder", type=Path, help="for snapshots of --live and of days")
    options = parser.parse_args(argv)
    judged_by = _JUDGED_BY[options.cases]
    options.by = options.by or judged_by[0]
    if options.by not in judged_by:
        parser.error(f"{options.cases} cases are judged by {' or '.join(judged_by)}")
    if options.seed is None:
        options.seed = SEED if options.cases == "drawn" else 0
    return 0 if _SCORERS[options.by](options) else 1


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _choose(options: Namespace) -> list[Case]:
    every = SETS[options.cases](options.seed)
    return [case for case in every if case.name.startswith(options.only)]


def _score_causes(options: Namespace) -> bool:
    chosen = _choose(options)
    if options.live:
        found = list(_score_live(chosen, options.folder or Path(mkdtemp(prefix="sim-"))))
    else:
        with Pool(2) as pool:
            found = [each for verdicts in pool.imap(causes.score, chosen) for each in verdicts]
    return causes.print_table(found)


def _score_live(cases: Sequence[Case], folder: Path) -> Iterator[causes.Verdict]:
    _say(f"snapshots are kept in {folder}")
    for each in run_live(cases, folder, _say):
        in_memory = {found.group: found for found in causes.score(each.case)}
        for found in causes.score_live(each.case, each.snapshots, each.first):
            line = f"{found.case:28} {found.group:8} {found.kind:28}"
            if found.group in each.ill_before:
                _say(f"{line} was in trouble before anything happened")
                continue
            _say(f"{line} {found.verdict:11} in memory {in_memory[found.group].verdict}")
            yield found


def _score_statuses(options: Namespace) -> bool:
    if options.cases in SETS:
        chosen = [Watched(case) for case in _choose(options)]
    else:
        chosen = [each for each in RHYTHMS if each.case.name.startswith(options.only)]
    with Pool(2) as pool:
        found = pool.map(statuses.score, chosen, chunksize=1)
    Console(width=150).print(statuses.table_of(found))
    return not any(each.wrong for each in found)


def _score_scaling(options: Namespace) -> bool:
    console = Console(width=150, highlight=False)
    return scaling.print_score(options.days, options.only, console)


def _score_tasks(options: Namespace) -> bool:
    console, right = Console(width=130, highlight=False), True
    for kind, make in KINDS.items():
        if chosen := [each for each in make() if each.case.name.startswith(options.only)]:
            found = tasks.score(kind, chosen)
            console.print(tasks.table_of(kind, found))
            right &= all(each.right for each in found)
    return right


def _score_ages(options: Namespace) -> bool:
    chosen = [case for case in CASES if case.name.startswith(options.only)]
    found = [verdict for case in chosen for verdict in ages.score(case, options.seed)]
    Console(width=130).print(ages.table_of(found))
    return not any(each.faults for each in found)


def _score_incidents(options: Namespace) -> bool:
    cases = plan_days(options.seed, lambda name: name.startswith(options.only))
    with TemporaryDirectory() as folder:
        found = incidents.score(cases, options.folder or Path(folder))
    for each in found:
        _say(f"{each.cluster}: {len(each.found)} of {len(each.planted)} incidents found")
        for fault in each.faults:
            print(f"  {fault}")
    return not any(each.faults for each in found)


def _score_alarms(options: Namespace) -> bool:
    found = [alarms.score(seed) for seed in range(options.seed, options.seed + 3)]
    Console(width=130).print(alarms.table_of(found))
    return not any(each.missed for each in found)


_SCORERS: Mapping[str, Callable[[Namespace], bool]] = {
    "causes": _score_causes,
    "statuses": _score_statuses,
    "scaling": _score_scaling,
    "tasks": _score_tasks,
    "ages": _score_ages,
    "incidents": _score_incidents,
    "alarms": _score_alarms,
}


if __name__ == "__main__":
    sys.exit(main())
