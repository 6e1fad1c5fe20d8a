# SPDX-License-Identifier: Apache-2.0
"""Stores to read snapshots from, or to keep a cluster's in: a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cli.state.folder import default_state


def find_state(chosen: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder that was named, or where `watch` keeps snapshots. Raises ConfigError for none."""
    folder = chosen or default_state(environ)
    if not folder.is_dir():
        raise ConfigError(
            f"There is no folder {folder} yet: run kafka-lag watch first, or name one by --state."
        )
    return folder


def open_folder(folder: Path) -> FolderStore:
    """The folder that holds `snapshots/`, or will. Raises ConfigError for that one itself."""
    clusters = (folder / contract.GROUPS).glob("cluster=*")
    if not (folder / contract.SNAPSHOT_PREFIX).is_dir() and any(clusters):
        raise ConfigError(
            f"{folder} is inside the state: name the folder above, {folder.resolve().parent}."
        )
    return FolderStore(folder)
