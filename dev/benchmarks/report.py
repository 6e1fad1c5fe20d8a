# SPDX-License-Identifier: Apache-2.0
"""Measures how long the daily job takes for a large cluster's day.

A day is generated in the real layout. The job runs in a process of its own, on two cores with a
heap of 2 GB. Its stages are printed as they end.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark

from dev.benchmarks.fleet import PARTITIONS, TOPICS_A_GROUP, make_fleet
from dev.sim.run import DATE, write_day
from kafka_lag_report.session import OWN_JVM

CORES, HEAP = 2, "2g"
_RUNS = 1_440
_ROOT = Path(__file__).parents[2]
_SCRIPT = _ROOT / "glue_jobs" / "kafka_lag_report" / "daily_report.py"
_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
# One machine needs no 200 tasks a shuffle.
_SETTINGS = {**OWN_JVM, "spark.sql.shuffle.partitions": "8", "spark.master": f"local[{CORES}]"}


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and prints; returns the job's exit code."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.report", description=__doc__)
    add = parser.add_argument
    add("--groups", type=int, default=167, metavar="N", help="of 60 partitions each (167)")
    options = parser.parse_args(argv)
    rows = options.groups * TOPICS_A_GROUP * PARTITIONS * _RUNS
    with TemporaryDirectory(prefix="bench-") as folder:
        print(f"writing {rows:,} rows", flush=True)
        write_day(Path(folder), "bench", make_fleet(options.groups))
        seconds, code = run_job(folder)
    unit = 1024 if sys.platform == "linux" else 1024 * 1024
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
    print(f"{seconds:.1f} s, {rows / seconds:,.0f} rows a second, {peak:,.0f} MB at most")
    return code


def run_job(folder: str) -> tuple[float, int]:
    """Runs the job over a day; returns its seconds and its exit code."""
    conf = [word for key, value in _SETTINGS.items() for word in ("--conf", f"{key}={value}")]
    words = ["--timings", "--input", folder, "--output", folder, "--date", str(DATE)]
    environment = {
        "PYTHONPATH": os.pathsep.join(str(_ROOT / name) for name in ("glue_jobs", "functions", "")),
        "PYTHONUNBUFFERED": "1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    began = time.perf_counter()
    command = [str(_SUBMIT), "--driver-memory", HEAP, *conf, str(_SCRIPT), *words]
    job = subprocess.run(command, env=os.environ | environment, check=False)
    return time.perf_counter() - began, job.returncode


if __name__ == "__main__":
    sys.exit(main())
