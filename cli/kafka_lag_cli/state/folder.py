# SPDX-License-Identifier: Apache-2.0
"""The folder in which the command keeps snapshots: where it is, how it is read, how long."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lag import contract
from kafka_lag.errors import ConfigError

if TYPE_CHECKING:
    from kafka_lag.snapshots.store import FolderStore

# What the daily report and the pages look back on, and a day more.
DEFAULT_KEEP_DAYS = 8
_DAY = re.compile(r"dt=(\d{4}-\d{2}-\d{2})")


def default_state(environ: Mapping[str, str]) -> Path:
    """Returns the folder for caches of the XDG base directory specification, on macOS too."""
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafka-lag"


def find_state(chosen: Path | None, environ: Mapping[str, str]) -> Path:
    """Returns the named folder, or the one of `watch`. Raises ConfigError if it does not exist."""
    folder = chosen or default_state(environ)
    if not folder.is_dir():
        raise ConfigError(
            f"There is no folder {folder} yet: run kafka-lag watch first, or name one by --state."
        )
    return folder


def open_folder(folder: Path) -> FolderStore:
    """Returns the folder that holds `snapshots/`. Raises ConfigError for `snapshots/` itself."""
    clusters = (folder / contract.GROUPS).glob("cluster=*")
    if not (folder / contract.SNAPSHOT_PREFIX).is_dir() and any(clusters):
        raise ConfigError(
            f"{folder} is inside the state: name the folder above, {folder.resolve().parent}."
        )
    # Costs the start of those alone who read snapshots.
    from kafka_lag.snapshots.store import FolderStore  # noqa: PLC0415

    return FolderStore(folder)


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
