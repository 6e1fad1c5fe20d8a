# SPDX-License-Identifier: Apache-2.0
"""How long the first import of a function takes, from its package for this machine."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kafka_lag_cdk.packaging import PackagingError, Target, build

_MODULE = "kafka_lag.collect_lag"
_RUNS = 5

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


def cold_import(package: Path, runs: int) -> ColdImport:
    """Imports the collector in `runs` new processes of this interpreter, for either median."""
    with tempfile.TemporaryDirectory() as folder:
        # A copy, as bytecode must not come into the package.
        shutil.copytree(package, folder, dirs_exist_ok=True)
        return ColdImport(_median(folder, runs, "-B"), _median(folder, runs))


def _median(folder: str, runs: int, *options: str) -> float:
    # The first run is not counted: it reads from the disk, and writes the bytecode if it may.
    times = [_seconds(folder, options) for _ in range(runs + 1)]
    return statistics.median(times[1:])


def _seconds(folder: str, options: tuple[str, ...]) -> float:
    # boto3 lies among all that is installed here, after the package.
    runtime = sysconfig.get_path("purelib")
    command = [sys.executable, "-I", "-S", *options, "-c", _PROGRAM, folder, runtime, _MODULE]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Prints both medians; 1 when the package cannot be built."""
    try:
        times = cold_import(build(Target.here()), _RUNS)
    except PackagingError as error:
        print(error, file=sys.stderr)
        return 1
    print(
        f"{_MODULE}, medians of {_RUNS} new processes: {times.without_bytecode:.2f} s as in "
        f"Lambda, which cannot write bytecode; {times.with_bytecode:.2f} s with bytecode."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
