# SPDX-License-Identifier: Apache-2.0
"""The daily job in a process of its own, as spark-submit starts it, and the same by DuckDB."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from types import TracebackType

import duckdb
import pyspark

from dev.report_check import compare, run, written
from kafka_lag_report.schemas import REPORTS
from kafka_lag_report.session import OWN_JVM

_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY_SECONDS = 0.2


class PeakMemory:
    """Looks at a process tree while it is entered; `peak` in bytes.

    `peak` stays None where the system has no /proc. Pages that processes share count in each.
    """

    def __init__(self, pid: int, proc: Path = Path("/proc")) -> None:
        self.peak: int | None = None
        self._pid, self._proc = pid, proc
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            used = tree_memory(self._pid, self._proc)
            if used is not None:
                self.peak = max(self.peak or 0, used)
            if self._ended.wait(_EVERY_SECONDS):
                return


def tree_memory(pid: int, proc: Path = Path("/proc")) -> int | None:
    """Resident bytes of a process and its descendants now; None if there is no such process."""
    parents, resident = {}, {}
    for folder in proc.glob("[0-9]*"):
        try:
            # The name, in parentheses, may hold anything.
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            resident[int(folder.name)] = int((folder / "statm").read_text().split()[1]) * _PAGE
        except (OSError, IndexError):
            # It ended meanwhile.
            continue
        parents[int(folder.name)] = int(after_name[1])
    if pid not in resident:
        return None
    family = {pid}
    while new := {one for one, parent in parents.items() if parent in family} - family:
        family |= new
    return sum(resident.get(one, 0) for one in family)


CORES, HEAP = 2, "2g"
# What no query of the reports' numbers would do.
NOT_REPORTS = ("session", "history", "pages", "usual", "message", "delete")
_ROOT = Path(__file__).parents[3]
SCRIPT = _ROOT / "glue_jobs" / "kafka_lag_report" / "daily_report.py"
SLOW_SCRIPT = Path(__file__).with_name("slow_job.py")
_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
_STAGE = re.compile(r"stage (?P<name>[^:]+): (?P<seconds>\d+(?:\.\d+)?) s")
# One machine needs no 200 tasks a shuffle.
_ONE_MACHINE = {**OWN_JVM, "spark.sql.shuffle.partitions": "8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """What a run took: `seconds` from start to exit, of which `stages` say a part.

    `ended` has each stage's end, seconds since the epoch; `peak_bytes` None is unknown.
    """

    seconds: float
    stages: Mapping[str, float] = field(default_factory=dict)
    ended: Mapping[str, float] = field(default_factory=dict)
    peak_bytes: int | None = None

    @property
    def report_seconds(self) -> float:
        """Of the stages that make reports; of the whole run where it printed none."""
        seconds = [s for name, s in self.stages.items() if name not in NOT_REPORTS]
        return sum(seconds) if seconds else self.seconds


def output_of(source: Path) -> Path:
    """Where the job's files for a day in `source` go: apart, as the next run must not find them."""
    return source / "output"


def run_job(
    source: Path,
    day: date,
    *,
    cores: int = CORES,
    script: Path = SCRIPT,
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> JobRun:
    """Run the job over `source` into an empty `output_of` it.

    `settings` are Spark's, more of them; `environment` is what `script` needs of it. Raises
    SystemExit with the job's last words if it fails.
    """
    shutil.rmtree(output_of(source), ignore_errors=True)
    spark = {**_ONE_MACHINE, **(settings or {}), "spark.master": f"local[{cores}]"}
    began = time.perf_counter()
    # Spark puts what its Python says on stderr on stdout anyway.
    with (
        subprocess.Popen(
            _command(script, source, day, spark),
            env={**_environment(), **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as job,
        PeakMemory(job.pid) as memory,
    ):
        output = read_stages(job.stdout or (), time.time)
        code = job.wait()
    if code:
        raise SystemExit(f"the job failed ({code}): {output.last_line or 'it said nothing'}")
    return JobRun(
        seconds=time.perf_counter() - began,
        stages=output.seconds,
        ended=output.ended,
        peak_bytes=memory.peak,
    )


def _command(script: Path, source: Path, day: date, settings: Mapping[str, str]) -> list[str]:
    command = [str(_SUBMIT), "--driver-memory", HEAP]
    command += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    command += [str(script), "--timings"]
    return [
        *command,
        "--input",
        str(source),
        "--output",
        str(output_of(source)),
        "--date",
        str(day),
    ]


@dataclass(frozen=True, slots=True)
class JobOutput:
    """What a job printed: each stage's seconds and end, and its last words."""

    seconds: Mapping[str, float]
    ended: Mapping[str, float]
    last_line: str


def read_stages(lines: Iterable[str], clock: Callable[[], float]) -> JobOutput:
    """Read until the job says no more; a stage ends when its line comes, by this clock."""
    seconds: dict[str, float] = {}
    ended: dict[str, float] = {}
    last_line = ""
    for line in lines:
        last_line = line.strip() or last_line
        if found := _STAGE.fullmatch(line.strip()):
            # one of each cluster
            seconds[found["name"]] = seconds.get(found["name"], 0.0) + float(found["seconds"])
            ended[found["name"]] = clock()
    return JobOutput(seconds, ended, last_line)


def _environment() -> dict[str, str]:
    """This process's own, and where the job finds its package and its Python."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(_ROOT / name) for name in ("glue_jobs", "functions", "")),
        "PYTHONUNBUFFERED": "1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


@dataclass(frozen=True, slots=True)
class Checked:
    """DuckDB's seconds for all reports, and what the job wrote otherwise, as sentences."""

    seconds: float
    compared: tuple[str, ...]
    differences: tuple[str, ...]


def checked(source: Path, output: Path, clusters: Sequence[str], day: date) -> Checked:
    """DuckDB's answers, on as many cores as the job had, held against what the job wrote."""
    seconds, differences = 0.0, []
    for cluster in clusters:
        with duckdb.connect(config={"threads": CORES}) as connection:
            began = time.perf_counter()
            expected = run(connection, source, cluster, day, today=datetime.now(UTC).date())
            seconds += time.perf_counter() - began
        for report in REPORTS:
            found = compare(expected[report], written(output, report, cluster, day))
            differences += [f"{cluster}, {report}: {words}" for words in found]
    return Checked(seconds, tuple(REPORTS), tuple(differences))
