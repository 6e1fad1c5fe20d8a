# SPDX-License-Identifier: Apache-2.0
"""Other projects' cases as our runs: one partition, one group, and no broker to look times up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, PreviousRuns
from tests.builders import Commits, a_reading

_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")


@dataclass(frozen=True, slots=True)
class Look:
    """What one run sees: the log's end, None where it is silent, and a commit, None for none."""

    at: int
    end: int | None
    commit: int | None = None
    owned: bool = False


def last_report(looks: Iterable[Look], rules: Rules) -> LagReport:
    """What the last run says, each knowing the run before and all ends seen until then."""
    past, report = PreviousRuns.empty(), None
    for look in looks:
        groups: dict[str, Commits] = {} if look.commit is None else {"g": {"t": [look.commit]}}
        log = contract.TIMEOUT if look.end is None else (0, look.end)
        owners = {("g", "t", 0): "m" if look.owned else None}
        reading = a_reading(groups, {"t": [log]}, at=look.at, owners=owners)
        report = evaluate(reading, past, rules, look.at)
        topics = report.snapshot.topic_partitions
        ends = Frame.of({name: topics.columns[name] for name in _ENDS})
        past = PreviousRuns(report.snapshot, (*past.ends, ends))
    assert report is not None, "no run at all"
    return report
