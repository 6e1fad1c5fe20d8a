# SPDX-License-Identifier: Apache-2.0
"""How long the daily job takes for a large cluster's day, beside DuckDB on the same files.

Days are generated in the real layout; the job runs in a process of its own, on two cores with a
heap of 2 GB. `whole` compares every number with DuckDB's; `growth` repeats the job on 1, 4 and 10
million rows; `delay` with each opening of an object slowed down as S3 would. Ends with an
estimate for Glue, and with 1 when a number differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from dev.benchmarks.report.days import CLUSTER, DATE, Size, a_day
from dev.benchmarks.report.estimate import DATASETS, OPEN_SECONDS, Speed, speed
from dev.benchmarks.report.job import CORES, SLOW_SCRIPT, checked, output_of, run_job
from dev.benchmarks.report.opens import compiled, opens
from dev.benchmarks.report.tables import WIDTH, Measured, as_json, show

WHOLE, GROWTH, DELAY = "whole", "growth", "delay"
_GROWTH_ROWS = (1_000_000, 4_000_000, 10_000_000)
_SHOWN = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print; 1 if the job and DuckDB say different things."""
    options = _parser().parse_args(argv)
    console = Console(stderr=True, highlight=False)
    with ExitStack() as stack:
        root = options.keep or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
        measured = list(_measured(options, root, console))
    found = _speed(measured)
    if options.json:
        sys.stdout.write(json.dumps(as_json(measured, found), indent=1) + "\n")
    else:
        output = Console(highlight=False)
        wide = output if output.is_terminal else Console(highlight=False, width=WIDTH)
        show(wide, measured, found)
    differences = [words for one in measured if one.check for words in one.check.differences]
    for words in differences[:_SHOWN]:
        console.print(f"differs: {words}", markup=False, soft_wrap=True)
    if len(differences) > _SHOWN:
        console.print(f"and {len(differences) - _SHOWN:,} more differences")
    return 1 if differences else 0


def _measured(options: argparse.Namespace, root: Path, console: Console) -> Iterator[Measured]:
    size = Size(partitions=options.partitions, minutes=options.minutes)
    if WHOLE in options.measure:
        yield _whole(root, size, console)
    if GROWTH in options.measure:
        for rows in _GROWTH_ROWS:
            part = replace(size, partitions=max(1, round(rows / size.minutes)))
            source = a_day(root, part, console)
            console.print(f"{GROWTH}: the job on {part.rows:,} rows", style="dim")
            yield Measured(name=GROWTH, size=part, run=run_job(source, DATE))
    if DELAY in options.measure:
        yield _delayed(root, size, options.delay, console)


def _whole(root: Path, size: Size, console: Console) -> Measured:
    source = a_day(root, size, console)
    console.print(f"{WHOLE}: the job on {size.rows:,} rows", style="dim")
    run = run_job(source, DATE)
    console.print(f"{WHOLE}: the same by DuckDB", style="dim")
    check = checked(source, output_of(source), [CLUSTER], DATE)
    return Measured(name=WHOLE, size=size, run=run, check=check)


def _delayed(root: Path, size: Size, delay: float, console: Console) -> Measured:
    source = a_day(root, size, console)
    shim = compiled(source)
    console.print(f"{DELAY}: the job with {delay} s an opening", style="dim")
    run = run_job(
        source,
        DATE,
        script=SLOW_SCRIPT,
        settings=shim.settings(delay),
        environment=shim.environment(delay),
    )
    with shim.log.open() as lines:
        counted = opens(lines, run.ended)
    return Measured(name=DELAY, size=size, run=run, delay_seconds=delay, opens=counted)


def _speed(measured: Sequence[Measured]) -> Speed:
    """From the runs without delay, if any; what an object makes wait from the one with it."""
    at_once = [(one.size.rows, one.run.seconds) for one in measured if not one.delay_seconds]
    slowed = [one for one in measured if one.delay_seconds]
    found = speed(at_once or [(one.size.rows, one.run.seconds) for one in slowed], cores=CORES)
    if not at_once or not slowed:
        return found
    (one,) = slowed
    later = one.run.seconds - found.fixed - found.per_row * one.size.rows
    waited = max(later, 0.0) / (one.size.minutes * DATASETS)
    return replace(found, wait_per_object=waited * OPEN_SECONDS / one.delay_seconds)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dev.benchmarks.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--partitions", type=_count, default=10_000, metavar="N", help="group-partitions (10000)")
    add("--minutes", type=_count, default=1_440, metavar="N", help="runs, one a minute (1440)")
    add("--delay", type=float, default=0.1, metavar="S", help="seconds an opening takes (0.1)")
    add("--keep", type=Path, metavar="DIR", help="keep the days there, and use those that are")
    add(
        "--measure",
        nargs="+",
        choices=(WHOLE, GROWTH, DELAY),
        default=[WHOLE, GROWTH, DELAY],
        help="what (default: all)",
    )
    add("--json", action="store_true", help="JSON instead of tables")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
