# SPDX-License-Identifier: Apache-2.0
"""Runs one after another over one topic, in a line or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kafka_lag.lag.columns import Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, PreviousRuns
from kafka_lag.lag.time_index import LookUp, no_look_up
from tests.builders import HOUR, NOON, Commit, a_reading, table
from tests.functions.lag.time_index.brokers import Broker, Log

SECOND = 1_000
_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")
TIMES = ("time_lag_seconds", "time_lag_error_seconds", "time_lag_method")


@dataclass
class Days:
    """Runs one after another over one topic; each knows all log ends of the runs before."""

    policy: str = "delete"
    rules: Rules = Rules()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        self.past = PreviousRuns.empty()

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
        report = evaluate(reading, self.past, self.rules, at, look_up)
        ends = report.snapshot.topic_partitions
        point = Frame.of({name: ends.columns[name] for name in _ENDS})
        self.past = PreviousRuns(report.snapshot, (*self.past.ends, point))
        return report


def told(report: LagReport) -> list[tuple[Any, ...]]:
    return table(report.snapshot.group_partitions, *TIMES)


def an_hour(rate: int = 10) -> tuple[Broker, Log]:
    """A record each `rate` seconds for an hour until noon."""
    log = Log([NOON - HOUR + i * rate * SECOND for i in range(HOUR // (rate * SECOND))])
    return Broker({("t", 0): log}), log
