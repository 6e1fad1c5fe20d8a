# SPDX-License-Identifier: Apache-2.0
"""Stores to read snapshots from, or to keep a cluster's in: a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag_cli.state.folder import default_state

if TYPE_CHECKING:
    from kafka_lag.snapshots.store import FolderStore


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
