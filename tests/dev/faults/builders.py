# SPDX-License-Identifier: Apache-2.0
"""A run that is right in all, the truth that it is right by, and how to spoil it."""

from dataclasses import replace
from typing import Any

from dev.faults.check import check_run
from dev.faults.run import History, Run, Verdict
from dev.faults.truth import (
    Commit,
    LogView,
    TopicView,
    TruthView,
)
from kafka_lag import contract

Rows = dict[str, list[dict[str, Any]]]

_WEEK_MS = 7 * 86_400_000

# Ten records, one a second from 1,001,000 on; the group has committed 6 of them.
LOG = LogView.of([(n, 1_001_000 + 1_000 * n, 1_001_010 + 1_000 * n) for n in range(10)])

TRUTH = TruthView(
    {"id-1": TopicView("orders", "id-1", (LOG, LOG), (0, 0), (1, 1))},
    {"billing": {("orders", n): [Commit(6, 1_010_000, 1_010_010)] for n in (0, 1)}},
    memberless=frozenset({"billing"}),
)
NOW = 1_030_000
# The first run that saw this commit.
FIRST = 1_012_000


def frames() -> Rows:
    """What a run says that reads at NOW: lag 4, of which the oldest came at 1,007,000."""
    topics: list[dict[str, Any]] = [
        {
            "taken_at": NOW,
            "topic": "orders",
            "topic_id": "id-1",
            "partition_id": n,
            "unread_reason": None,
            "asked_at": NOW - 10,
            "read_at": NOW,
            "leader": 1,
            "start_offset": 0,
            "end_offset": 10,
            "retention_ms": _WEEK_MS,
            "transaction_seen_at": FIRST,
        }
        for n in (0, 1)
    ]
    rows: list[dict[str, Any]] = [
        {
            "taken_at": NOW,
            "consumer_group": "billing",
            "topic": "orders",
            "topic_id": "id-1",
            "partition_id": n,
            "unread_reason": None,
            "read_at": NOW - 20,
            "committed_offset": 6,
            "start_offset": 0,
            "end_offset": 10,
            "lag": 4,
            "last_lag": None,
            "records_lost": 0,
            "retention_margin": 6,
            "rest_end": None,
            "rest_left_at": None,
            "rests_seen": None,
            "rest_records": None,
            "next_record_after": 1_006_950,
            "next_record_before": 1_007_100,
            "next_record_time": None,
            "time_lag_seconds": 22.98,
            "time_lag_error_seconds": 0.1,
            "time_lag_method": "record_time",
            "last_time_lag_seconds": None,
            "age_growth": 1.0,
            "observations": 10,
            "status": "STOP",
            "commit_changed_at": FIRST,
            "last_status": "STOP",
            "status_reason": None,
            "retention_risk": "SAFE",
            "seconds_until_loss": 604_777.0,
            "uncounted": None,
        }
        for n in (0, 1)
    ]
    group = {
        "taken_at": NOW,
        "consumer_group": "billing",
        "read_at": NOW - 20,
        "unread_reason": None,
        "topics": 1,
        "partitions": 2,
        "partitions_unknown": 0,
        "partitions_uncommitted": 0,
        "lag": 8,
        "max_lag": 4,
        "records_lost": 0,
        "time_lag_seconds": 22.98,
        "time_lag_error_seconds": 0.1,
        "status": "ERR",
        "status_reason": None,
        "seconds_until_loss": contract.NO_LOSS_SECONDS,
        "drain_seconds": 8.0,
        "produce_rate": 3.0,
        "consume_rate": 2.5,
        "members": 2,
        "group_state": "Assigning",
    }
    return {
        contract.TOPIC_PARTITIONS: topics,
        contract.GROUP_PARTITIONS: rows,
        contract.GROUPS: [group],
    }


def frames_with(**columns: Any) -> Rows:
    """The same with these values in both rows of partitions."""
    planted = frames()
    for row in planted[contract.GROUP_PARTITIONS]:
        row.update(columns)
    return planted


def metrics() -> list[dict[str, Any]]:
    """The same as lines of metrics."""
    group = {contract.DIMENSION_CLUSTER: "c", contract.DIMENSION_GROUP: "billing"}
    topic = {**group, contract.DIMENSION_TOPIC: "orders"}
    lag = {contract.OFFSET_LAG: 8, contract.ESTIMATED_TIME_LAG: 22.98}
    whole = {contract.GROUP_STATUS: 2, contract.TIME_TO_DATA_LOSS: contract.NO_LOSS_SECONDS}
    whole |= {contract.ESTIMATED_DRAIN_TIME: 8.0, contract.MEMBERS: 2, contract.REBALANCING: 1}
    whole |= {contract.PRODUCE_RATE: 3.0, contract.CONSUME_RATE: 2.5}
    each = {contract.OFFSET_LAG: 4, contract.ESTIMATED_TIME_LAG: 22.98}
    health = {
        contract.GROUPS_READ: 1,
        contract.PARTITIONS_UNKNOWN: 0,
        contract.PARTITIONS_UNCOMMITTED: 0,
        contract.READ_ERRORS: 0,
        contract.PARTITIONS_UNDATED: 0,
        contract.LAGS_CLAMPED: 0,
        contract.METRICS_OMITTED: 0,
        contract.COLLECTOR_DURATION: 0.19,
    }
    return [
        {**group, **lag, **whole},
        {**topic, **lag, contract.MAX_OFFSET_LAG: 4},
        *({**topic, contract.DIMENSION_PARTITION: str(n), **each} for n in (0, 1)),
        {contract.DIMENSION_CLUSTER: "c", **health},
        {contract.DIMENSION_CLUSTER: "c", contract.COLLECTOR_SUCCESS: 1},
    ]


def run(**changes: Any) -> Run:
    """A run that is right in all unless something is changed."""
    right = Run(
        number=1,
        taken_at=NOW,
        began=NOW - 100,
        ended=NOW + 100,
        seconds=0.2,
        limit=5.0,
        window_ms=10_000,
        metrics=metrics(),
        frames=frames(),
    )
    return replace(right, **changes)


def earlier_run(taken_at: int, **columns: Any) -> Run:
    """The run of this time, which saw the same; `columns` are set in its rows of partitions."""
    back, seen = NOW - taken_at, frames()
    for row in seen[contract.TOPIC_PARTITIONS]:
        row |= {"asked_at": row["asked_at"] - back, "read_at": row["read_at"] - back}
    for row in seen[contract.GROUP_PARTITIONS]:
        row |= {"read_at": row["read_at"] - back, **columns}
    times = {"began": taken_at - 100, "ended": taken_at + 100}
    return run(taken_at=taken_at, frames=seen, metrics=[], **times)


def history(*runs: Run) -> History:
    """These runs; without any, one a second since the first that saw the commit."""
    known = History()
    for each in runs or map(earlier_run, range(FIRST, NOW, 1_000)):
        known.add(each)
    return known


def judged(
    one: Run | None = None, truth: TruthView = TRUTH, earlier: History | None = None
) -> Verdict:
    """What comes of a run after these."""
    return check_run(truth, one or run(), history=earlier or history())


def rules(one: Run, truth: TruthView = TRUTH, earlier: History | None = None) -> set[str]:
    """The rules that a run breaks."""
    verdict = judged(one, truth, earlier)
    return {finding.rule for finding in (*verdict.wrong, *verdict.unsure)}


T, P, G = contract.TOPIC_PARTITIONS, contract.GROUP_PARTITIONS, contract.GROUPS


def leave_out_a_row(planted: Rows) -> None:
    del planted[P][1]
    planted[G][0] |= {"partitions": 1, "lag": 4}


def leave_a_row_unread(planted: Rows) -> None:
    nothing = dict.fromkeys(("lag", "time_lag_seconds", "time_lag_error_seconds", "status"))
    last = {"last_lag": 4, "last_time_lag_seconds": 20.98, "read_at": NOW - 2_020}
    last |= {"seconds_until_loss": 604_779.0}
    planted[P][1] |= {"unread_reason": "timeout", **nothing, **last}
    planted[G][0] |= {"partitions_unknown": 1, "time_lag_seconds": 23.0}
    planted[G][0] |= {"time_lag_error_seconds": None}


def moved(*commits: Commit) -> TruthView:
    return replace(TRUTH, commits={"billing": {("orders", n): commits for n in (0, 1)}})
