# SPDX-License-Identifier: Apache-2.0
"""The folder in which the command keeps snapshots, and how long."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kafka_lag import contract

# What the daily report and the pages look back on, and a day more.
DEFAULT_KEEP_DAYS = 8
_DAY = re.compile(r"dt=(\d{4}-\d{2}-\d{2})")


def default_state(environ: Mapping[str, str]) -> Path:
    """Returns the folder for caches of the XDG base directory specification, on macOS too."""
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafka-lag"


def remove_old_days(state: Path, keep_days: int, now: float) -> list[Path]:
    """Removes the days of snapshots that ended more than so many days before `now`, in seconds.

    Returns what was removed: folders named by a day, below `snapshots/` alone. What cannot be
    removed stays, and is tried again the next time.
    """
    oldest = (datetime.fromtimestamp(now, UTC) - timedelta(days=keep_days)).date().isoformat()
    days = (state / contract.SNAPSHOT_PREFIX).glob("*/cluster=*/dt=*")
    old = [day for day in days if (name := _DAY.fullmatch(day.name)) and name[1] < oldest]
    for day in old:
        shutil.rmtree(day, ignore_errors=True)
    return sorted(old)
