# SPDX-License-Identifier: Apache-2.0
"""How long the daily job takes for a large cluster's day.

A day is generated in the real layout; the job runs in a process of its own, on two cores with a
heap of 2 GB.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark
from rich.console import Console
from rich.table import Table

from dev.benchmarks.fleet import make_large
from dev.sim.days import DATE, write_day
from kafka_lag_report.session import OWN_JVM

CLUSTER = "bench"
CORES, HEAP = 2, "2g"
_WRITTEN = "written"
_ROOT = Path(__file__).parents[2]
_SCRIPT = _ROOT / "glue_jobs" / "kafka_lag_report" / "daily_report.py"
_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
_STAGE = re.compile(r"stage (?P<name>[^:]+): (?P<seconds>\d+(?:\.\d+)?) s")
# One machine needs no 200 tasks a shuffle.
_SETTINGS = {**OWN_JVM, "spark.sql.shuffle.partitions": "8", "spark.master": f"local[{CORES}]"}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = _parser().parse_args(argv)
    console, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    with ExitStack() as stack:
        root = options.keep or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
        folder = a_day(root, options.partitions, options.minutes, progress)
        job = run_job(folder)
    _show(console, options.partitions * options.minutes, job)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.report", description=__doc__)
    add = parser.add_argument
    add("--partitions", type=_count, default=10_000, metavar="N", help="group-partitions (10000)")
    add("--minutes", type=_count, default=1_440, metavar="N", help="runs, one a minute (1440)")
    add("--keep", type=Path, metavar="DIR", help="keep the day there, and use one that is")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


def a_day(root: Path, partitions: int, minutes: int, console: Console) -> Path:
    """The folder with the day's snapshots; one that was written whole before is used again."""
    folder = root / f"{partitions}x{minutes}"
    if (folder / _WRITTEN).exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with console.status(f"writing {partitions * minutes / 1e6:,.1f} M rows"):
        write_day(folder, CLUSTER, make_large(partitions), watched=60.0 * minutes)
    (folder / _WRITTEN).touch()
    return folder


@dataclass(frozen=True, slots=True)
class JobRun:
    """What a run took: `seconds` from start to exit, of which `stages` say a part.

    `peak_mb` is that of its largest process.
    """

    seconds: float
    stages: Mapping[str, float]
    peak_mb: float = 0.0


def run_job(folder: Path) -> JobRun:
    """Run the job over a day, its output apart. Raises SystemExit with its last words."""
    output = folder / "output"
    shutil.rmtree(output, ignore_errors=True)
    conf = [word for key, value in _SETTINGS.items() for word in ("--conf", f"{key}={value}")]
    words: list[str | Path] = [
        "--timings",
        "--input",
        folder,
        "--output",
        output,
        "--date",
        str(DATE),
    ]
    roots = [str(_ROOT / name) for name in ("glue_jobs", "functions", "")]
    environment = {
        "PYTHONPATH": os.pathsep.join(roots),
        "PYTHONUNBUFFERED": "1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    began = time.perf_counter()
    # Spark puts what its Python says on stderr on stdout anyway.
    job = subprocess.run(
        [_SUBMIT, "--driver-memory", HEAP, *conf, _SCRIPT, *words],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    lines = job.stdout.strip().splitlines() or ["it said nothing"]
    if job.returncode:
        raise SystemExit(f"the job failed ({job.returncode}): {lines[-1]}")
    unit = 1024 if sys.platform == "linux" else 1024 * 1024
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
    return JobRun(time.perf_counter() - began, read_stages(lines), peak)


def read_stages(lines: Iterable[str]) -> dict[str, float]:
    """Seconds by stage, one of each cluster added up."""
    seconds: dict[str, float] = {}
    for line in lines:
        if found := _STAGE.fullmatch(line.strip()):
            seconds[found["name"]] = seconds.get(found["name"], 0.0) + float(found["seconds"])
    return seconds


def _show(console: Console, rows: int, job: JobRun) -> None:
    table = Table("the whole job", "", title=f"{rows:,} rows on local[{CORES}], heap {HEAP}")
    table.add_row("seconds", f"{job.seconds:.1f}")
    table.add_row("rows a second", f"{rows / job.seconds:,.0f}")
    table.add_row("peak MB", f"{job.peak_mb:,.0f}")
    for stage, seconds in job.stages.items():
        table.add_row(f"stage {stage}, s", f"{seconds:.1f}")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
