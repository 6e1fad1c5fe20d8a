# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus, what it is given to scrape, and what our documentation tells its users."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_lag.snapshots.store import write_snapshot
from kafka_lag.views.latest_run import Snapshots
from tests.builders import MINUTE, NOON, a_snapshot
from tests.fakes import MemoryStore
from tests.programs import find_program

DOC = (Path(__file__).parents[2] / "docs" / "prometheus.md").read_text()
NASTY = 'a"b\\c\n{x="y"} 1 \u00fc\U0001f600'


def program(name: str) -> str:
    """Where it is; without it a skip, or a failure where CI is set."""
    return find_program(name, package="prometheus")


def snapshots() -> Snapshots:
    store = MemoryStore()
    groups = {"billing": {"orders": [5, 9]}, NASTY: {"orders": [10, 10]}}
    write_snapshot(store, "shop", a_snapshot(groups, {"orders": [(0, 10), (0, 10)]}))
    return Snapshots(store, clock)


def clock() -> float:
    return (NOON + MINUTE) / 1000


def examples(file: str) -> list[str]:
    """What the documentation would have its reader put into such a file."""
    found = re.findall(rf"```yaml\n# {re.escape(file)}\n(.*?)```", DOC, re.DOTALL)
    assert found
    return found
