# SPDX-License-Identifier: Apache-2.0
"""Rows, partitions and runs in a line or two, for tests of `lag`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, PreviousRuns
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.snapshots.previous import Memory
from tests.builders import HOUR, MINUTE, NOON, Commit, a_reading, table
from tests.functions.lag.time_index_fake import Broker, Log

# Rows of one partition from the values that matter; the rest is unknown.

Row: TypeAlias = dict[str, Any]

# A row is read a little after its run began.
NOW, LATER = NOON, 150
_KEY = {"consumer_group": "g", "topic": "t", "partition_id": 0}


def rows(*values: Row, at: int = NOW) -> Frame:
    """Rows of `group_partitions`, read in the run of `at` unless they say otherwise."""
    return _frame(contract.GROUP_PARTITIONS, values, at)


def topic_rows(*values: Row, at: int = NOW) -> Frame:
    """Rows of `topic_partitions`, read in the run of `at` unless they say otherwise."""
    return _frame(contract.TOPIC_PARTITIONS, values, at)


def _frame(dataset: str, values: tuple[Row, ...], at: int) -> Frame:
    filled = [{**_KEY, "taken_at": at, "read_at": at + LATER, **row} for row in values]
    columns: dict[str, AnyColumn] = {}
    for name, kind in contract.COLUMNS[dataset].items():
        cells = [row.get(name) for row in filled]
        if kind == contract.STRING or kind in contract.LISTS:
            columns[name] = Strings.of(cells)
        else:
            columns[name] = Column.optional(cells, DTYPES[kind])
    return Frame.of(columns)


def of_group(groups: Frame, *names: str) -> tuple[Any, ...]:
    """Values of the only row."""
    (row,) = zip(*(groups.columns[name].to_list() for name in names), strict=True)
    return tuple(row)


# Runs a minute apart over groups at one partition, each with what a warm collector keeps.


@dataclass(slots=True)
class Runs:
    """`run` reads groups at their commits on topic t; a run is named by its minute from noon."""

    rules: Rules = Rules()  # noqa: RUF009 - frozen
    look_up: LookUp = no_look_up
    memory: Memory = field(default_factory=Memory.empty)

    def run(
        self,
        minute: float,
        commit: int | Sequence[int],
        end: int | str,
        *,
        members: int = 1,
        clock: int = 0,
        **more: Any,
    ) -> LagReport:
        """The run scheduled at that minute, by a clock that is so many ms ahead of the truth.

        `end` is the log's, or the reason why it was not read.
        """
        at = NOON + round(minute * MINUTE)
        commits = [commit] if isinstance(commit, int) else commit
        groups = {f"g{number}": {"t": [each]} for number, each in enumerate(commits)}
        owners = {(name, "t", 0): "m" for name in groups if members}
        more = {"owners": owners, "members": members, **more}
        log = end if isinstance(end, str) else (0, end)
        reading = a_reading(groups, {"t": [log]}, at=at + clock, **more)
        report = evaluate(reading, self.memory.previous_runs(), self.rules, at, self.look_up)
        self.memory = self.memory.add_run(report.snapshot, self.rules.interval_ms, stored=True)
        return report


def partition(report: LagReport, *names: str) -> tuple[Any, ...]:
    """These columns of the first group's row of the partition, None for unknown."""
    return tuple(report.snapshot.group_partitions.columns[name].to_list()[0] for name in names)


def group(report: LagReport, *names: str) -> tuple[Any, ...]:
    """These columns of the first group's row, None for unknown."""
    return tuple(report.snapshot.groups.columns[name].to_list()[0] for name in names)


# Runs one after another over one topic, in a line or two.

SECOND = 1_000
_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")
TIMES = ("time_lag_seconds", "time_lag_error_seconds", "time_lag_method")


@dataclass
class Days:
    """Runs one after another over one topic; each knows all log ends of the runs before."""

    policy: str = "delete"
    rules: Rules = Rules()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        self.previous_runs = PreviousRuns.empty()

    def run(
        self,
        at: int,
        commits: Sequence[Commit],
        log: tuple[int, int] | str,
        look_up: LookUp = no_look_up,
        **more: Any,
    ) -> LagReport:
        groups = {f"g{number}": {"t": [commit]} for number, commit in enumerate(commits)}
        reading = a_reading(groups, {"t": [log]}, at=at, **more)
        policy = Strings.constant(self.policy, 1)
        topics = reading.topic_partitions.with_columns(cleanup_policy=policy)
        reading = replace(reading, topic_partitions=topics)
        report = evaluate(reading, self.previous_runs, self.rules, at, look_up)
        ends = report.snapshot.topic_partitions
        point = Frame.of({name: ends.columns[name] for name in _ENDS})
        self.previous_runs = PreviousRuns(report.snapshot, (*self.previous_runs.ends, point))
        return report


def time_lags(report: LagReport) -> list[tuple[Any, ...]]:
    return table(report.snapshot.group_partitions, *TIMES)


def an_hour(rate: int = 10) -> tuple[Broker, Log]:
    """A record each `rate` seconds for an hour until noon."""
    log = Log([NOON - HOUR + i * rate * SECOND for i in range(HOUR // (rate * SECOND))])
    return Broker({("t", 0): log}), log
