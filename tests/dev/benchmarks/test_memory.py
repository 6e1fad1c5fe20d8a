# SPDX-License-Identifier: Apache-2.0
"""Memory of a process is its own, whoever started it."""

import os
import subprocess
import sys

from dev.benchmarks.memory import MB, read_memory

OWN = "from dev.benchmarks.memory import peak_mb; print(peak_mb())"


def test_the_most_memory_is_not_that_of_the_process_that_started_it() -> None:
    large = b"x" * (300 * MB)
    printed = subprocess.run(
        [sys.executable, "-c", OWN], capture_output=True, check=True, text=True
    )

    assert float(printed.stdout) < 100
    assert read_memory(os.getpid())[1] > len(large)
