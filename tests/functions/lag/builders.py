# SPDX-License-Identifier: Apache-2.0
"""Builds partitions and runs in a line or two, for tests of `lag`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.snapshots.previous import Memory
from tests.builders import HOUR, MINUTE, NOON, Commit, a_reading, table
from tests.functions.lag.time_index_fake import Broker, Log

# Runs a minute apart over groups at one partition, each with what a warm collector keeps.


@dataclass(slots=True)
class Runs:
    """`run` reads groups at their commits on topic t; a run is named by its minute from noon."""

    rules: Rules = Rules()  # noqa: RUF009 - frozen
    look_up: LookUp = no_look_up
    policy: str | None = "delete"
    memory: Memory = field(default_factory=Memory.empty)

    def run(
        self,
        minute: float,
        commit: int | Sequence[Commit],
        end: int | str,
        *,
        start: int = 0,
        members: int = 1,
        clock: int = 0,
        look_up: LookUp | None = None,
        **more: Any,
    ) -> LagReport:
        """The run scheduled at that minute, by a clock that is so many ms ahead of the truth.

        `end` is the log's, or the reason why it was not read.
        """
        at = NOON + round(minute * MINUTE)
        commits = [commit] if isinstance(commit, int) else commit
        groups = {f"g{number}": {"t": [each]} for number, each in enumerate(commits)}
        owners = {(name, "t", 0): "m" for name in groups if members}
        more = {"owners": owners, "members": members, "cleanup_policy": self.policy, **more}
        log = end if isinstance(end, str) else (start, end)
        reading = a_reading(groups, {"t": [log]}, at=at + clock, **more)
        report = evaluate(
            reading, self.memory.previous_runs(), self.rules, at, look_up or self.look_up
        )
        self.memory = self.memory.add_run(report.snapshot, self.rules.interval_ms, stored=True)
        return report


def partition(report: LagReport, *names: str) -> tuple[Any, ...]:
    """These columns of the first group's row of the partition, None for unknown."""
    return tuple(report.snapshot.group_partitions.columns[name].to_list()[0] for name in names)


def group(report: LagReport, *names: str) -> tuple[Any, ...]:
    """These columns of the first group's row, None for unknown."""
    return tuple(report.snapshot.groups.columns[name].to_list()[0] for name in names)


SECOND = 1_000
TIMES = ("time_lag_seconds", "time_lag_error_seconds", "time_lag_method")


def time_lags(report: LagReport) -> list[tuple[Any, ...]]:
    return table(report.snapshot.group_partitions, *TIMES)


def an_hour(rate: int = 10) -> tuple[Broker, Log]:
    """A record each `rate` seconds for an hour until noon."""
    log = Log([NOON - HOUR + i * rate * SECOND for i in range(HOUR // (rate * SECOND))])
    return Broker({("t", 0): log}), log
