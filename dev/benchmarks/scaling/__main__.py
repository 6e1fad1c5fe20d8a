# SPDX-License-Identifier: Apache-2.0
"""How often services change, and whether they keep their promise, under each policy.

Services in a closed loop: planted loads, ten seconds at a time, the collector's own arithmetic each
minute, models of CloudWatch's alarms and of Application Auto Scaling, tasks that take their time to
start. Against steps by lag, an idealised KEDA, and the best schedule by one who knows the load.
A third of the cases is held out by name: `--held-out` runs those alone. Stores that all tasks share
must be known as full, and others never. Ends with 1 where a constant load changes more than twice a
day, with noise more than six times, or is late, or a store is taken for what it is not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dev.benchmarks.scaling.cases import (
    HOUR,
    SLOWER_FROM,
    Case,
    changing_cases,
    constant_cases,
    drawn_store_cases,
    store_cases,
)
from dev.benchmarks.scaling.runs import Trace, run, run_best

_PER_RUN = 60
_MOST_CHANGES = {0.0: 2, 0.1: 6}
_PARTS = ("constant", "changing", "stores")


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the tables; 1 if a constant load broke its limit."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.scaling", description=__doc__)
    parser.add_argument("--hours", type=int, default=48, help="simulated at most (default: 48)")
    parser.add_argument("--held-out", action="store_true", help="the cases that were set aside")
    parser.add_argument("--policies", default="tasks,steps,keda", help="(default: %(default)s)")
    parser.add_argument("--only", choices=_PARTS, help="a part of the cases")
    parser.add_argument("--seed", type=int, help="stores that are drawn, not those planted by hand")
    options = parser.parse_args(argv)
    console = Console(width=150, highlight=False)
    names = options.policies.split(",")

    def chosen(cases: Sequence[Case]) -> list[Case]:
        held = [case for case in cases if case.held_out is options.held_out]
        return [case.first(options.hours * HOUR) for case in held]

    broken = 0
    if options.only in (None, "constant"):
        for noise, most in _MOST_CHANGES.items():
            traces = _run_each([(case, "tasks") for case in chosen([*constant_cases(noise)])])
            late = [t for t in traces if t.changes() > most or t.minutes_over()]
            broken += len(late)
            console.print(_counts(f"Constant loads, noise {noise:.0%}", traces))
            for trace in late:
                console.print(f"[red]missed[/] {trace.case.name}: {trace.changes()} changes")
    if options.only in (None, "changing"):
        cases = chosen([*changing_cases()])
        by_name = {name: _run_each([(case, name) for case in cases]) for name in names}
        changes = [trace.changes() for trace in by_name[names[0]]]
        best = {"best": run_best(cases), "best, as many changes": run_best(cases, changes)}
        console.print(_comparison(by_name, best))
    if options.only in (None, "stores"):
        broken += _print_stores(console, options.seed)
    return 1 if broken else 0


def _print_stores(console: Console, seed: int | None) -> int:
    """Whether a full store is distinguished from too few tasks; how often it was not.

    The number may end at twice the fewest that read as much as the most, or at that before a store
    became slower.
    """
    pairs = [*(store_cases() if seed is None else drawn_store_cases(seed))]
    columns = ("case", "fewest that read as much", "most in the end", "minutes held", "right")
    table = Table(*columns, title="Stores")
    wrong = 0
    for trace, (case, full) in zip(_run_each([(c, "tasks") for c, _ in pairs]), pairs, strict=True):
        enough = case.fewest_that_read_as_much(case.minutes - 1)
        ends = trace.wanted[-case.minutes // 4 :]
        held = sum(number is not None for number in trace.held)
        before = trace.wanted[SLOWER_FROM - 1] if case.gets_slower else 0
        right = enough <= min(ends) <= max(ends) <= max(2 * enough, before) if full else not held
        wrong += not right
        cells = (str(enough) if full else "-", str(max(ends)), str(held), "yes" if right else "no")
        table.add_row(case.name, *cells)
    console.print(table)
    return wrong


def _run_each(pairs: Sequence[tuple[Case, str]]) -> list[Trace]:
    parts = (pairs[at : at + _PER_RUN] for at in range(0, len(pairs), _PER_RUN))
    return [trace for part in parts for trace in run(part)]


def _counts(title: str, traces: Sequence[Trace]) -> Table:
    table = Table("changes in all", "after an hour", "cases", title=title)
    found = sorted((trace.changes(), trace.changes(HOUR)) for trace in traces)
    for pair in dict.fromkeys(found):
        table.add_row(str(pair[0]), str(pair[1]), str(found.count(pair)))
    return table


def _comparison(by_name: dict[str, list[Trace]], best: dict[str, list[Trace]]) -> Table:
    """Changes, minutes over the promise and task hours of each; hours also over the best ones."""
    columns = [*by_name, *best]
    table = Table(
        "case", *columns, "hours / best", "hours / as many changes", title="Loads that change"
    )
    every = {**by_name, **best}
    for at, trace in enumerate(next(iter(by_name.values()))):
        cells = [
            f"{one[at].changes():4} {one[at].minutes_over():5} {one[at].task_hours:7.1f}"
            for one in every.values()
        ]
        shares = [f"{trace.task_hours / one[at].task_hours:.2f}" for one in best.values()]
        table.add_row(trace.case.name, *cells, *shares)
    return table


if __name__ == "__main__":
    sys.exit(main())
