# SPDX-License-Identifier: Apache-2.0
"""Whether recurring pauses are learnt and outages are not, over weeks at a run a minute.

The rule alone on thousands of cases: A outages of steady groups, B batch jobs, C gaps without runs,
D dead jobs, F dead jobs after outages. Then E: whole runs of `evaluate` with their history. Ends
with 1 where a threshold is missed. Every third seed and pattern is held out: none was looked at
while the rule was made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from dev.benchmarks.pauses.rule_alone import Figure, rule_alone
from dev.benchmarks.pauses.whole_runs import table_of, whole_runs


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the tables; 1 if a threshold was missed."""
    options = _parser().parse_args(argv)
    console, progress = Console(width=130), Console(stderr=True, highlight=False)

    def say(words: str) -> None:
        progress.print(words, style="dim")

    missed: list[str] = []
    if not options.only_runs:
        figures = list(rule_alone(options.cases, options.seeds, options.days, say))
        console.print(_table(figures))
        missed += [f"{figure.name}, {figure.of}" for figure in figures if figure.missed]
    if not options.only_rule:
        verdicts = whole_runs(options.run_days, options.seed, say)
        console.print(table_of(verdicts))
        missed += [one.pattern.name for one in verdicts if one.missed]
    for name in missed:
        progress.print(f"[red]missed[/] {name}")
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.pauses", description=__doc__)
    parser.add_argument("--cases", type=int, default=15, help="thousands of A (default: 15)")
    parser.add_argument("--seeds", type=int, default=9, help="of B to F (default: 9)")
    parser.add_argument("--days", type=int, default=60, help="of B and C (default: 60)")
    parser.add_argument("--run-days", type=int, default=60, help="of E (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="of E (default: 0)")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--only-rule", action="store_true", help="A to F without E")
    only.add_argument("--only-runs", action="store_true", help="E alone")
    return parser


def _table(figures: Iterable[Figure]) -> Table:
    table = Table("", "of", "held out", "cases", "worst", "allowed", title="The rule alone")
    for figure in figures:
        color = "[red]" if figure.missed else ""
        table.add_row(
            figure.name,
            figure.of,
            "yes" if figure.held_out else "",
            f"{figure.cases:,}",
            f"{color}{figure.worst:g}",
            f"{figure.allowed:g}",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
