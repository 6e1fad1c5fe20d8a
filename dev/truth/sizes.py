# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.truth.sizes BOOTSTRAP`: times a scrape of each program on brokers that run.

`python -m dev.benchmarks.collect --sizes 60000 --hold` starts them, and times the collector. Each
program is alone and is scraped each 15 s; CPU is of a scrape, with all that is done until the next.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path

from dev.benchmarks.collector_process import MB, read_memory
from dev.kafka.readiness import wait_until
from dev.truth.page import table_of
from dev.truth.programs import OURS, TOOL, Program, Running, take_programs

_APART, _SCRAPES, _ANSWERS_WITHIN = 15.0, 4, 120.0
_HEADS = ("program", "s", "slowest s", "CPU s", "peak MB", "lines")


def measure(program: Program, bootstrap: str) -> list[str]:
    """Returns a row of the table."""
    seconds, lines = [], [0]
    with (
        tempfile.TemporaryDirectory() as folder,
        Running(program, bootstrap, Path(folder, "program")) as running,
    ):
        wait_until(lambda: _shows_all(running, lines), what=f"{program.name} with all groups")
        before = _read_cpu_seconds(running.pid)
        for _ in range(_SCRAPES):
            began = time.monotonic()
            running.scrape(_ANSWERS_WITHIN)
            seconds.append(time.monotonic() - began)
            time.sleep(max(0.0, _APART - seconds[-1]))
        cpu = (_read_cpu_seconds(running.pid) - before) / _SCRAPES
        peak = read_memory(running.pid)[1] / MB
    times = (f"{each:.2f}" for each in (sorted(seconds)[_SCRAPES // 2], max(seconds), cpu))
    return [program.name, *times, f"{peak:.0f}", f"{lines[-1]:,}"]


def _shows_all(running: Running, lines: list[int]) -> bool:
    """Returns whether an answer has lines of groups, and no more than the one before."""
    with suppress(OSError, HTTPException):
        text = running.scrape(_ANSWERS_WITHIN)
        lines.append(text.count("\n") if running.program.lag[1] + "=" in text else 0)
    return 0 < lines[-1] == lines[-2]


def _read_cpu_seconds(pid: int) -> float:
    # User and system, the 12th and 13th field behind the name, which may hold anything.
    fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(bootstrap: str) -> None:
    """Prints a table of the programs that read when they are scraped, and of ours by topic."""
    here, _ = take_programs()
    programs = [each for each in here if each.name != TOOL and not each.interval]
    # As docs/exporter.md recommends: by partition an answer of 60,000 is over its limit.
    ours = next(replace(each, path="/metrics?level=topic") for each in here if each.name == OURS)
    print(table_of(_HEADS, (measure(each, bootstrap) for each in (ours, *programs))))


if __name__ == "__main__":
    main(*sys.argv[1:])
