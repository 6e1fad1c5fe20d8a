# SPDX-License-Identifier: Apache-2.0
"""Memory of a process, as Linux counts it."""

from __future__ import annotations

import resource
from pathlib import Path

MB = 2**20
_KB = 1024


def read_memory(pid: int | str) -> tuple[int, int]:
    """Bytes in RAM now, and at most since the process runs its program. Raises OSError."""
    lines = Path("/proc", str(pid), "status").read_text().splitlines()
    values = {name: value for name, _, value in (line.partition(":") for line in lines)}
    now, peak = (int(values[name].split()[0]) * _KB for name in ("VmRSS", "VmHWM"))
    return now, peak


def peak_mb() -> float:
    """The most of this process.

    Without /proc by `getrusage`, which counts what the process that started this one had as well.
    """
    try:
        return read_memory("self")[1] / MB
    except OSError:
        # In bytes on macOS.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MB
