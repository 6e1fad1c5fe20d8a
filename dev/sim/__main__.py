# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.sim score CASES --by SCORER`: compares the collector's answers with the truth."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dev.sim.cases.drawn import SEED, SETS
from dev.sim.scorers import (
    ages,
    alarms,
    causes,
    changes,
    incidents,
    probes,
    releases,
    restarts,
    scaling,
    statuses,
    tasks,
)

_SCORERS: Mapping[str, Callable[[Namespace], bool]] = {
    "causes": causes.print_verdicts,
    "statuses": statuses.print_verdicts,
    "scaling": scaling.print_verdicts,
    "tasks": tasks.print_verdicts,
    "ages": ages.print_verdicts,
    "incidents": incidents.print_verdicts,
    "alarms": alarms.print_verdicts,
    "releases": releases.print_verdicts,
    "restarts": restarts.print_verdicts,
    "probes": probes.print_verdicts,
    "changes": changes.print_verdicts,
}
_JUDGED_BY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(SETS, ("causes", "statuses")),
    "rhythms": ("statuses",),
    "services": ("scaling",),
    "tasks": ("tasks",),
    "logs": ("ages",),
    "days": ("incidents",),
    "alarms": ("alarms",),
    **dict.fromkeys(("releases", "releases-aside"), ("releases",)),
    **dict.fromkeys(("restarts", "restarts-aside"), ("restarts",)),
    "probes": ("probes",),
    "changes": ("changes",),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints verdicts; returns 1 if one is not right."""
    parser = ArgumentParser(prog="python -m dev.sim", description=__doc__)
    commands = parser.add_subparsers(required=True)
    score = commands.add_parser("score", help="judge the collector's answers")
    score.add_argument("cases", choices=_JUDGED_BY)
    score.add_argument("--by", choices=_SCORERS, help="which of its answers")
    score.add_argument("--seed", type=int, help="of cases that are drawn; of days: draw them")
    only = "cases whose name begins with one of these"

    def split(text: str) -> tuple[str, ...]:
        return tuple(text.split(","))

    score.add_argument("--only", metavar="NAME,...", help=only, type=split, default=("",))
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


if __name__ == "__main__":
    sys.exit(main())
