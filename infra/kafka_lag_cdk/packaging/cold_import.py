# SPDX-License-Identifier: Apache-2.0
"""How long the first import of a function takes, from its package unpacked in a new folder."""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from kafka_lag_cdk.packaging.archive import Package

MODULE = "kafka_lag.collect_lag"

# Lambda's order: the function's files, then what the runtime brings.
_PROGRAM = """\
import sys, time
sys.path[:0] = [sys.argv[1]]
sys.path.append(sys.argv[2])
began = time.perf_counter()
__import__(sys.argv[3])
print(time.perf_counter() - began)
"""


@dataclass(frozen=True, slots=True)
class ColdImport:
    """Medians in seconds: as in Lambda, whose files are read-only, and with bytecode written."""

    without_bytecode: float
    with_bytecode: float


def cold_import(package: Package, runs: int) -> ColdImport:
    """Imports the collector in `runs` new processes of this interpreter, for either median."""
    with tempfile.TemporaryDirectory() as folder:
        with ZipFile(package.path) as archive:
            archive.extractall(folder)
        return ColdImport(_median(folder, runs, "-B"), _median(folder, runs))


def _median(folder: str, runs: int, *options: str) -> float:
    # The first run is not counted: it reads from the disk, and writes the bytecode if it may.
    times = [_seconds(folder, options) for _ in range(runs + 1)]
    return statistics.median(times[1:])


def _seconds(folder: str, options: tuple[str, ...]) -> float:
    command = [sys.executable, "-I", "-S", *options, "-c", _PROGRAM, folder, _runtime(), MODULE]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _runtime() -> str:
    """Where boto3 lies, which stands for the packages that Lambda brings."""
    found = importlib.util.find_spec("boto3")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("boto3 is not installed")
    return str(Path(found.origin).parents[1])
