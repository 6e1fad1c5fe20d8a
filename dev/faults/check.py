# SPDX-License-Identifier: Apache-2.0
"""Whether what a run published is right: its judges in turn, and what they judge.

Each judge states its truth at the top of its module: `rows`, `ages`, `statuses`, `metrics`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from dev.faults.judge import Evidence
from dev.faults.metrics import Metrics
from dev.faults.rows import Rows
from dev.faults.run import Finding, History, Run, Verdict
from dev.faults.truth import TruthView
from kafka_lag import contract

_T, _P, _G = contract.TOPIC_PARTITIONS, contract.GROUP_PARTITIONS, contract.GROUPS
# What is held to the truth or to values that are; all other columns and metrics are not judged.
JUDGED_COLUMNS: Mapping[str, frozenset[str]] = {
    _T: frozenset(
        (
            *("taken_at", "asked_at", "read_at", "topic", "topic_id", "partition_id"),
            *("start_offset", "end_offset", "retention_ms"),
        )
    ),
    _P: frozenset(
        (
            *("taken_at", "read_at", "consumer_group", "topic", "topic_id", "partition_id"),
            *("committed_offset", "start_offset", "end_offset", "lag", "last_lag"),
            *("records_lost", "retention_margin", "next_record_after"),
            *("next_record_before", "time_lag_seconds", "time_lag_error_seconds"),
            *("last_time_lag_seconds", "commit_changed_at", "seconds_until_loss"),
            *("retention_risk", "status", "status_reason", "uncounted"),
        )
    ),
    _G: frozenset(
        (
            *("taken_at", "consumer_group", "topics", "partitions", "partitions_unknown"),
            *("partitions_uncommitted", "lag", "max_lag", "records_lost"),
            *("time_lag_seconds", "time_lag_error_seconds", "seconds_until_loss", "status"),
        )
    ),
}
JUDGED_METRICS = frozenset(
    (
        contract.OFFSET_LAG,
        contract.MAX_OFFSET_LAG,
        contract.ESTIMATED_TIME_LAG,
        contract.GROUP_STATUS,
        contract.TIME_TO_DATA_LOSS,
        contract.ESTIMATED_DRAIN_TIME,
        contract.MEMBERS,
        contract.REBALANCING,
        contract.PRODUCE_RATE,
        contract.CONSUME_RATE,
        contract.COLLECTOR_SUCCESS,
        contract.COLLECTOR_DURATION,
        contract.GROUPS_READ,
        contract.PARTITIONS_UNKNOWN,
        contract.PARTITIONS_UNCOMMITTED,
        contract.PARTITIONS_UNDATED,
        contract.READ_ERRORS,
        contract.LAGS_CLAMPED,
        contract.METRICS_OMITTED,
    )
)


def not_judged() -> Iterator[str]:
    """Columns and metrics that may be wrong without being found."""
    for dataset, columns in contract.COLUMNS.items():
        yield f"{dataset}: {', '.join(c for c in columns if c not in JUDGED_COLUMNS[dataset])}"
    metrics = [name for name in contract.METRIC_UNITS if name not in JUDGED_METRICS]
    yield f"metrics: {', '.join(metrics)}"


def check_run(
    truth: TruthView, run: Run, margin: float = 1.0, history: History | None = None
) -> Verdict:
    """Judge one run by the truth and the runs before it.

    `margin` is seconds that it may take beyond its deadline.
    """
    seen = Evidence(truth, run, history or History())
    rows, metrics = Rows(seen), Metrics(seen)
    seen.verdict.late = run.seconds > run.limit + margin
    metrics.lines()
    if run.frames:
        rows.keys()
        rows.topics()
        rows.partitions()
        rows.groups()
        metrics.metrics()
        rows.presence()
    elif run.metrics:
        metrics.metrics_alone()
        metrics.health()
    metrics.success()
    return seen.verdict


def summary(findings: Iterable[Finding]) -> Iterator[tuple[str, int, Finding]]:
    """How often each rule was broken, with the first case."""
    by_rule: dict[str, list[Finding]] = defaultdict(list)
    for each in findings:
        by_rule[each.rule].append(each)
    for rule, found in sorted(by_rule.items(), key=lambda pair: -len(pair[1])):
        yield rule, len(found), found[0]
