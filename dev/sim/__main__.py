# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.sim score CASES --by SCORER`: compares the collector's answers with the truth."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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

# The scorers of each set of cases; the first one judges unless another is named.
_JUDGED_BY: Mapping[str, tuple[Any, ...]] = {
    **dict.fromkeys(SETS, (causes, statuses)),
    "rhythms": (statuses,),
    "services": (scaling,),
    "tasks": (tasks,),
    "logs": (ages,),
    "days": (incidents,),
    "alarms": (alarms,),
    **dict.fromkeys(("releases", "releases-aside", "releases-unseen"), (releases,)),
    **dict.fromkeys(("restarts", "restarts-unseen"), (restarts,)),
    **dict.fromkeys(("probes", "probes-unseen"), (probes,)),
    "changes": (changes,),
}


def _name(scorer: Any) -> str:
    return str(scorer.__name__).rpartition(".")[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Prints verdicts; returns 1 if one is not right."""
    parser = ArgumentParser(prog="python -m dev.sim", description=__doc__)
    commands = parser.add_subparsers(required=True)
    score = commands.add_parser("score", help="judge the collector's answers")
    score.add_argument("cases", choices=_JUDGED_BY)
    names = sorted({_name(each) for several in _JUDGED_BY.values() for each in several})
    score.add_argument("--by", choices=names, help="which of its answers")
    score.add_argument("--seed", type=int, help="of cases that are drawn; of days: draw them")
    only = "cases whose name begins with one of these"

    def split(text: str) -> tuple[str, ...]:
        return tuple(text.split(","))

    score.add_argument("--only", metavar="NAME,...", help=only, type=split, default=("",))
    score.add_argument("--live", action="store_true", help="on real brokers, beside memory")
    score.add_argument("--folder", type=Path, help="for snapshots of --live and of days")
    options = parser.parse_args(argv)
    judged_by = {_name(each): each for each in _JUDGED_BY[options.cases]}
    if options.by not in (None, *judged_by):
        parser.error(f"{options.cases} cases are judged by {' or '.join(judged_by)}")
    if options.seed is None:
        options.seed = SEED if options.cases == "drawn" else 0
    scorer = judged_by[options.by or next(iter(judged_by))]
    return 0 if scorer.print_verdicts(options) else 1


if __name__ == "__main__":
    sys.exit(main())
