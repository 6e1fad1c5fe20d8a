# SPDX-License-Identifier: Apache-2.0
"""Runs a minute apart over one group and one partition, each with what a warm collector keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from functions.lag.evaluate import evaluate
from functions.lag.model import LagReport
from functions.lag.rules import Rules
from functions.lag.time_index.questions import LookUp, nobody
from functions.snapshots.memory import Memory
from tests.builders import MINUTE, NOON, a_reading

_OWNER = {("g", "t", 0): "m"}


@dataclass(slots=True)
class Runs:
    """`run` reads group g at a commit on topic t; runs are numbered by their minute from noon."""

    rules: Rules = Rules()  # noqa: RUF009 - frozen
    look_up: LookUp = nobody
    memory: Memory = field(default_factory=Memory.empty)

    def run(
        self, minute: int, commit: int, end: int, *, members: int = 1, clock: int = 0, **more: Any
    ) -> LagReport:
        """The run scheduled at that minute, by a clock that is so many ms ahead of the truth."""
        at = NOON + minute * MINUTE
        more = {"owners": _OWNER if members else {}, "members": members, **more}
        reading = a_reading({"g": {"t": [commit]}}, {"t": [(0, end)]}, at=at + clock, **more)
        report = evaluate(reading, self.memory.past(), self.rules, at, self.look_up)
        self.memory = self.memory.then(report.snapshot, self.rules.interval_ms, stored=True)
        return report


def partition(report: LagReport, *names: str) -> tuple[Any, ...]:
    """These columns of the only partition's row, None for unknown."""
    return tuple(report.snapshot.group_partitions.columns[name].to_list()[0] for name in names)


def group(report: LagReport, *names: str) -> tuple[Any, ...]:
    """These columns of the only group's row, None for unknown."""
    return tuple(report.snapshot.groups.columns[name].to_list()[0] for name in names)
