# SPDX-License-Identifier: Apache-2.0
"""Where snapshots are where nobody names a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def default_state(environ: Mapping[str, str]) -> Path:
    """Where the XDG base directory specification has a user's caches, on macOS too."""
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafka-lag"
