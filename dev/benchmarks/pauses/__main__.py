# SPDX-License-Identifier: Apache-2.0
"""Whether recurring pauses are learnt and outages are not, over weeks at a run a minute.

Whole runs of `evaluate` with their history: groups that keep up, batch jobs, bursts, groups that
fall behind or die. Ends with 1 where one changes its held status too often or is reported late.
Every third pattern is held out: it judges a change of the rule, and does not choose it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

from dev.benchmarks.pauses.whole_runs import table_of, whole_runs


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if a threshold was missed."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.pauses", description=__doc__)
    parser.add_argument("--days", type=int, default=60, help="simulated (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="of work and pauses (default: 0)")
    options = parser.parse_args(argv)
    progress = Console(stderr=True, highlight=False)
    verdicts = whole_runs(
        options.days, options.seed, lambda words: progress.print(words, style="dim")
    )
    Console(width=130).print(table_of(verdicts))
    missed = [one.pattern.name for one in verdicts if one.missed]
    for name in missed:
        progress.print(f"[red]missed[/] {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
