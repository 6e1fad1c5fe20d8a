# SPDX-License-Identifier: Apache-2.0
"""Whether tasks needed are as many as it takes, on a real broker with consumers of set capacity.

Groups of one to eight members are set to the tasks that they need; then numbers around the last
advice are tried. Others must be known as helped by no more tasks, or as held up by a store that
they share, or have no number, as they were never behind. A minute lasts two seconds. A third of the
cases is held out by name: `--held-out` runs those alone, `--all` every one. Ends with 1 where one
is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from rich.console import Console
from rich.table import Table

from dev.benchmarks.tasks.cases import (
    Case,
    advice_cases,
    limited_cases,
    shared_cases,
    unknown_cases,
)
from dev.benchmarks.tasks.judge import is_right, says_no_help, says_shared_limit
from dev.benchmarks.tasks.runs import FOLLOWED, PROMISE, Advice, Bench
from dev.kafka import KafkaCluster
from kafka_lag.brokers.source import quiet_library

T = TypeVar("T")
# Case, what is said of it, what is so, and whether that is right.
Line: TypeAlias = tuple[str, str, str, bool]
Chosen: TypeAlias = Callable[[Case], bool]

PARTS = ("advice", "unknown", "limited", "shared")


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line for each case; 1 if one was wrong."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.tasks", description=__doc__)
    parser.add_argument("--held-out", action="store_true", help="the cases that were set aside")
    parser.add_argument("--all", action="store_true", help="these and the others")
    parser.add_argument("--only", choices=PARTS, help="a part of the measures")
    parser.add_argument("--match", default="", help="only cases whose name has this in it")
    parser.add_argument("--speed", type=float, default=80.0, help="records/s of a member (80)")
    parser.add_argument("--minute", type=float, default=2.0, help="s that a minute lasts (2)")
    parser.add_argument("--at-once", type=int, default=8, help="groups that are followed (8)")
    options = parser.parse_args(argv)
    quiet_library()
    console = Console(width=150, highlight=False)

    def chosen(case: Case) -> bool:
        aside = options.all or case.held_out is options.held_out
        return aside and options.match in case.name

    wrong = 0
    with KafkaCluster(brokers=1) as cluster:
        bench = Bench(cluster, options.speed, options.minute)
        try:
            for part in PARTS if options.only is None else (options.only,):
                table = Table("case", "says", "is", "right", title=part)
                found = list(_MEASURES[part](bench, chosen, options.at_once))
                for line in found:
                    table.add_row(*line[:3], "yes" if line[3] else "[red]no[/]")
                good = sum(line[3] for line in found)
                table.caption = f"{good} of {len(found)} right"
                wrong += len(found) - good
                console.print(table)
        finally:
            bench.close()
    return 1 if wrong else 0


def _advice(bench: Bench, chosen: Chosen, at_once: int) -> Iterator[Line]:
    for part in _batches([case for case in advice_cases() if chosen(case)], at_once):
        for advice in bench.follow(part):
            held = ", ".join(f"{number}: {age:.1f}" for number, age in sorted(advice.tried.items()))
            yield (
                advice.case.name,
                _describe(advice),
                held,
                is_right(advice.last, advice.tried, PROMISE),
            )


def _describe(advice: Advice) -> str:
    capacity = advice.row["capacity"]
    known = "no capacity" if capacity is None else f"{capacity * 60:.0f} a minute each"
    path = [advice.needed[0]]
    for number in advice.needed:
        if number != path[-1]:
            path.append(number)
    words = " ".join("-" if number is None else str(number) for number in path)
    return f"{words} ({known}, {advice.row['tasks_needed_reason']})"


def _unknown(bench: Bench, chosen: Chosen, at_once: int) -> Iterator[Line]:
    for part in _batches([case for case in unknown_cases() if chosen(case)], 2 * at_once):
        for case, row in zip(part, bench.watch(part, FOLLOWED // 2), strict=True):
            number = row["tasks_needed"]
            yield case.name, _words(number), "no number", number is None


def _limited(bench: Bench, chosen: Chosen, at_once: int) -> Iterator[Line]:
    for part in _batches([pair for pair in limited_cases() if chosen(pair[0])], 2 * at_once):
        rows = bench.watch([case for case, _ in part])
        for (case, helps), row in zip(part, rows, strict=True):
            says = says_no_help(row)
            yield case.name, _no_help(says), _no_help(not helps), says is not helps


def _shared(bench: Bench, chosen: Chosen, at_once: int) -> Iterator[Line]:
    for part in _batches([pair for pair in shared_cases() if chosen(pair[0])], 2 * at_once):
        rows = bench.add_members([case for case, _ in part])
        for (case, full), of_case in zip(part, rows, strict=True):
            says = says_shared_limit(of_case)
            yield case.name, _store(says), _store(full), says is full


def _no_help(no_help: bool) -> str:
    return "more do not help" if no_help else "more help"


def _store(full: bool) -> str:
    return "a store is full" if full else "too few tasks"


def _words(number: int | None) -> str:
    return "no number" if number is None else str(number)


def _batches(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    for at in range(0, len(items), most):
        yield items[at : at + most]


_MEASURES: Mapping[str, Callable[[Bench, Chosen, int], Iterator[Line]]] = {
    "advice": _advice,
    "unknown": _unknown,
    "limited": _limited,
    "shared": _shared,
}

if __name__ == "__main__":
    sys.exit(main())
