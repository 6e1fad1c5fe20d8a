# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.faults`: faults on real brokers, and snapshots judged by the truth of the logs.

Prints faults, runs, values checked by the truth, wrong values (each rule with its first case), what
was missing with its reason, and late runs. Exits with 1 if anything was wrong or late, or if too
little was judged.
"""

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dev.faults.campaign import Campaign, Options, Result
from dev.faults.faults import LANES
from dev.faults.run import count_by_rule
from dev.kafka import KafkaClusterError

NAMES = tuple(sorted({fault.__name__ for lane in LANES.values() for fault in lane}))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the campaign; returns 1 if anything was wrong or late."""
    parser = argparse.ArgumentParser(prog="python -m dev.faults", description=__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=3.0, help="how long (3)")
    add("--seed", type=int, default=1, help="of faults and traffic (1)")
    add("--tls", action="store_true", help="connect by SASL_SSL, not by SASL_PLAINTEXT")
    add("--fault", action="append", choices=NAMES, default=[], help="only this one, or these")
    given = parser.parse_args(arguments)
    console = Console(soft_wrap=True)
    options = Options(given.minutes, given.seed, given.tls, tuple(given.fault))
    try:
        result = Campaign(options, lambda line: console.print(line, markup=False)).run()
    except KafkaClusterError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    show(result, console)
    return 0 if result.good else 1


def show(result: Result, console: Console) -> None:
    """Print what was found."""
    for title, counts in (
        ("faults", result.faults),
        ("faults that came to nothing", result.without_effect),
        ("numbers checked by the truth", result.checked),
        ("missing, with the reason", result.missing),
    ):
        table = Table(title=title, show_header=False)
        for name, count in counts.most_common():
            table.add_row(name, f"{count:,}")
        if counts:
            console.print(table)
    for count, first in count_by_rule(result.wrong):
        console.print(
            f"WRONG {count} times: {first.rule}. First in run {first.run} "
            f"({result.during.get(first.run)}): {first.where} says {first.published}, truth: "
            f"{first.truth}",
            markup=False,
        )
    for run, seconds, limit in result.late:
        during = result.during.get(run)
        console.print(f"LATE run {run}: {seconds:.2f} s of {limit:.2f} ({during})", markup=False)
    console.print(f"brokers were slow of themselves {result.slow} times", markup=False)
    for error in (*result.errors, *result.missing_checks):
        console.print(f"ERROR {error}", markup=False)
    console.print(
        f"seed {result.seed}: {sum(result.faults.values())} faults, {result.runs} runs "
        f"({result.failed} failed with a named error, {result.whole} with numbers, "
        f"{result.calm} calm, the slowest {result.slowest:.2f} s), "
        f"{result.checked.total():,} numbers checked by the truth, "
        f"{len(result.wrong)} wrong, "
        f"{sum(result.missing.values()):,} missing, "
        f"{len(result.late)} late",
        markup=False,
    )


if __name__ == "__main__":
    sys.exit(main())
