# SPDX-License-Identifier: Apache-2.0
"""The daily job with a disk that is as far away for its workers as for its JVM."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass

from kafka_lag_report.daily_report import main
from kafka_lag_report.storage.objects import Disk

DELAY, LOG = "BENCH_OPEN_DELAY_SECONDS", "BENCH_OPEN_LOG"


@dataclass(frozen=True, slots=True)
class SlowDisk(Disk):
    """Files of which each takes `delay` seconds to open, and is written down in `log`."""

    delay: float
    log: str

    def read(self, address: str) -> bytes:
        """All of a file, later."""
        line = f"{time.time() * 1_000:.0f} {address}\n".encode()
        # a line is one write, which processes do not mix
        log = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(log, line)
        finally:
            os.close(log)
        time.sleep(self.delay)
        return super(SlowDisk, self).read(address)


def slow_disk() -> SlowDisk:
    """As the bench's environment has it."""
    return SlowDisk(float(os.environ[DELAY]), os.environ[LOG])


if __name__ == "__main__":
    sys.exit(main(objects=slow_disk))
