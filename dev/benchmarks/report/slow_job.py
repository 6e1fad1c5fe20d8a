# SPDX-License-Identifier: Apache-2.0
"""The daily job with a disk that is as far away for its workers as for its JVM."""

from __future__ import annotations

import os
import sys
import time

from kafka_lag_report.daily_report import main
from kafka_lag_report.storage import Storage

DELAY, LOG = "BENCH_OPEN_DELAY_SECONDS", "BENCH_OPEN_LOG"


class SlowDisk(Storage):
    """Files of which each takes as long to open, and is written down, as the environment says."""

    def read(self, path: str) -> bytes:
        """All of a file, later."""
        _open_slowly(path)
        return super().read(path)

    def tail(self, path: str) -> bytes:
        """The end of a file, later."""
        _open_slowly(path)
        return super().tail(path)


def _open_slowly(path: str) -> None:
    line = f"{time.time() * 1_000:.0f} {path}\n".encode()
    # a line is one write, which processes do not mix
    log = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(log, line)
    finally:
        os.close(log)
    time.sleep(float(os.environ[DELAY]))


if __name__ == "__main__":
    sys.exit(main(storage=SlowDisk))
