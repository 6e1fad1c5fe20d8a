# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.faults`: runs the collector under faults on real brokers, and judges its values.

Prints the faults, the number of values checked against the logs, wrong values (each rule with its
first case), and missing values with their reason. Exits with 1 if a value was wrong, or if too few
values were judged.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dev.faults.campaign import Campaign, Result
from dev.faults.faults import LANES
from dev.kafka import KafkaClusterError

NAMES = tuple(sorted({fault.__name__ for lane in LANES.values() for fault in lane}))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the campaign; returns 1 if anything was wrong, or too little judged."""
    parser = argparse.ArgumentParser(prog="python -m dev.faults", description=__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=3.0, help="how long (3)")
    add("--seed", type=int, default=1, help="of faults and traffic (1)")
    add("--tls", action="store_true", help="connect by SASL_SSL, not by SASL_PLAINTEXT")
    add("--fault", action="append", choices=NAMES, default=[], help="only this one, or these")
    given = parser.parse_args(arguments)
    console = Console(soft_wrap=True, markup=False)
    try:
        result = Campaign(console.print, given.minutes, given.seed, given.tls, given.fault).run()
    except KafkaClusterError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    return show(result, console)


def show(result: Result, console: Console) -> int:
    """Prints the findings; returns 1 if the campaign is not good."""
    verdict, problems = result.verdict, result.list_problems()
    for title, counts in (
        ("faults", result.faults),
        ("faults that came to nothing", result.without_effect),
        ("checked by the truth", verdict.checked),
        ("missing, with the reason", verdict.missing),
    ):
        table = Table(title=title, show_header=False)
        for name, count in counts.most_common():
            table.add_row(name, f"{count:,}")
        console.print(table)
    first = {each.rule: each for each in reversed(verdict.wrong)}
    for rule, count in Counter(each.rule for each in verdict.wrong).most_common():
        each = first[rule]
        console.print(
            f"WRONG {count} times: {rule}. First in run {each.run.number} ({each.run.during}): "
            f"{each.where} says {each.published}, truth: {each.truth}"
        )
    for problem in problems:
        console.print(f"ERROR {problem}")
    failed = sum(run.error is not None for run in result.runs)
    slowest = max((run.ended - run.began for run in result.runs), default=0.0)
    console.print(
        f"seed {result.seed}: {result.faults.total()} faults, {len(result.runs)} runs "
        f"({failed} with a named error, {result.calm} calm, {verdict.whole} of these whole, "
        f"the slowest {slowest:.2f} s), {len(verdict.wrong)} wrong"
    )
    return 1 if verdict.wrong or problems else 0


if __name__ == "__main__":
    sys.exit(main())
