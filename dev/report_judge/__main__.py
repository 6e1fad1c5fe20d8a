# SPDX-License-Identifier: Apache-2.0
"""Write days with planted incidents, report them all in one run of the job, and read the result.

Prints what was found, what is missing, and what is false or said twice; 1 if anything is.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from dev.days.write import write_day
from dev.report_judge.drawn import drawn
from dev.report_judge.judge import Verdict, judge
from dev.report_judge.planted import PLANTED, Cluster, PlantedDay, clusters
from kafka_lag_report.cluster_day import Job
from kafka_lag_report.day_message import deliver_message
from kafka_lag_report.options import parse
from kafka_lag_report.read_snapshots import requested_days
from kafka_lag_report.storage import Storage
from kafka_lag_report.timings import Timings

DATE = date(2026, 1, 31)
_WRITTEN = ".written"


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the seen days, those set aside, both, or days drawn by a seed."""
    parser = argparse.ArgumentParser(prog="python -m dev.report_judge", description=__doc__)
    parser.add_argument("--days", choices=("seen", "aside", "all"), default="all")
    parser.add_argument("--drawn", type=int, metavar="SEED", help="days drawn by it instead")
    parser.add_argument("--only", metavar="PATTERN", help="days whose names have this")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the days there, use those")
    parser.add_argument("--write-only", action="store_true", help="write the days and stop")
    options = parser.parse_args(argv)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    with ExitStack() as stack:
        root = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        wrong = 0
        parts = parts_of(options.days) if options.drawn is None else {"drawn": drawn(options.drawn)}
        for part, planted in parts.items():
            days = [day for day in planted if re.search(options.only or "", day.name)]
            places = clusters(days, part)
            write(root / part, places, console)
            if not options.write_only:
                run_job(root / part)
                verdicts = [
                    judge(root / part, each, DATE, message_of(root / part, each.name))
                    for each in places
                ]
                wrong += show(console, f"{part}: {len(days)} days", verdicts)
    return 1 if wrong else 0


def parts_of(which: str) -> dict[str, tuple[PlantedDay, ...]]:
    """The planted days: `seen`, `aside`, or `all` in these two parts."""
    named = ("seen", "aside") if which == "all" else (which,)
    return {
        part: tuple(day for day in PLANTED if day.set_aside == (part == "aside")) for part in named
    }


def write(root: Path, places: Sequence[Cluster], console: Console) -> None:
    """The days' snapshots; a cluster that was written whole before is used again."""
    for cluster in places:
        mark = root / f"{_WRITTEN}-{cluster.name}"
        if not mark.exists():
            console.print(f"writing {cluster.name}: {', '.join(d.name for d in cluster.days)}")
            write_day(root, cluster.day, date=DATE)
            mark.touch()


def run_job(root: Path) -> None:
    """Report every cluster."""
    command = [sys.executable, "-m", "kafka_lag_report.daily_report", "--date", str(DATE)]
    places = ["--input", str(root), "--output", str(root)]
    subprocess.run([*command, *places], check=True, stdout=subprocess.DEVNULL)


def message_of(root: Path, cluster: str) -> str:
    """The message of this cluster's day alone, as it would be were it the only one."""
    storage, lines = Storage(), list[str]()
    options = parse(
        ["--input", str(root), "--output", str(root), "--date", str(DATE), "--cluster", cluster],
        lambda: datetime(2026, 2, 1, 1, tzinfo=UTC),
    )
    (days,) = requested_days(storage, options, lines.append)
    nothing: Any = None  # no session: what is published is read without one
    job = Job(nothing, storage, options, Timings(time.monotonic, lines.append))
    deliver_message(job, DATE, days, {}, lines.append)
    return "\n".join(lines)


def show(console: Console, title: str, verdicts: Sequence[Verdict]) -> int:
    """Print the counts and each fault; returns how many faults there are."""
    planted = sum(each.planted for each in verdicts)
    found = sum(each.found for each in verdicts)
    faults = [f"{each.cluster}: {fault}" for each in verdicts for fault in each.faults]
    lines = sum(each.lines for each in verdicts)
    share = found / planted if planted else 1.0
    console.print(
        f"{title}, {planted} incidents: {found} found ({share:.0%}) in {lines} lines, "
        f"{len(faults)} faults"
    )
    for fault in faults:
        console.print(f"  {fault}")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())
