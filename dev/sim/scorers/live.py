# SPDX-License-Identifier: Apache-2.0
"""Causes that are named of cases on real brokers, beside those in memory."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from dev.sim.events import Case
from dev.sim.live.waves import run_live
from dev.sim.scorers import causes


def print_verdicts(options: Namespace) -> bool:
    """Prints each verdict as it is made, then counts."""
    folder = options.folder or Path(mkdtemp(prefix="sim-"))
    return causes.print_table(list(_score(causes.choose(options), folder)))


def _score(cases: Sequence[Case], folder: Path) -> Iterator[causes.Verdict]:
    _say(f"snapshots are kept in {folder}")
    for each in run_live(cases, folder, _say):
        in_memory = {found.group: found for found in causes.score(each.case)}
        for found in causes.score_live(each.case, each.snapshots, each.first):
            line = f"{found.case:28} {found.group:8} {found.kind:28}"
            if found.group in each.ill_before:
                _say(f"{line} was in trouble before anything happened")
                continue
            _say(f"{line} {found.verdict:11} in memory {in_memory[found.group].verdict}")
            yield found


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
