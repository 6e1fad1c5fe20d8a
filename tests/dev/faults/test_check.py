# SPDX-License-Identifier: Apache-2.0
"""A right run is found right, and each number that is made wrong is found."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dev.faults.check import Run, check_run, summary
from dev.faults.truth import Commit, LogView, Purge, TopicView, TruthView
from kafka_lag import contract

Rows = dict[str, list[dict[str, Any]]]

_WEEK_MS = 7 * 86_400_000
# Ten records, one a second from 1,001,000 on; the group has committed 6 of them.
LOG = LogView.of([(n, 1_001_000 + 1_000 * n, 1_001_010 + 1_000 * n) for n in range(10)])
TRUTH = TruthView(
    {"id-1": TopicView("orders", "id-1", (LOG, LOG), (0, 0), (1, 1))},
    {"billing": {("orders", n): [Commit(6, 1_010_000, 1_010_010)] for n in (0, 1)}},
)
NOW = 1_030_000


def frames() -> Rows:
    """What a run says that reads at NOW: lag 4, of which the oldest came at 1,007,000."""
    topics = [
        {
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
        }
        for n in (0, 1)
    ]
    rows = [
        {
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
            "records_lost": 0,
            "retention_margin": 6,
            "next_record_after": 1_006_000,
            "next_record_before": 1_007_100,
            "time_lag_seconds": 22.98,
            "time_lag_error_seconds": 0.1,
            "time_lag_method": "record_time",
            "status": "STOP",
            "commit_changed_at": 1_012_000,
            "last_status": "STOP",
            "status_reason": None,
            "retention_risk": "SAFE",
            "seconds_until_loss": 604_000.0,
        }
        for n in (0, 1)
    ]
    group = {
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
    }
    return {
        contract.TOPIC_PARTITIONS: topics,
        contract.GROUP_PARTITIONS: rows,
        contract.GROUPS: [group],
    }


def metrics() -> list[dict[str, Any]]:
    """The same as lines of metrics."""
    group = {contract.DIMENSION_CLUSTER: "c", contract.DIMENSION_GROUP: "billing"}
    topic = {**group, contract.DIMENSION_TOPIC: "orders"}
    lag = {contract.OFFSET_LAG: 8, contract.ESTIMATED_TIME_LAG: 22.98}
    whole = {contract.GROUP_STATUS: 2, contract.TIME_TO_DATA_LOSS: contract.NO_LOSS_SECONDS}
    each = {contract.OFFSET_LAG: 4, contract.ESTIMATED_TIME_LAG: 22.98}
    health = {
        contract.GROUPS_READ: 1,
        contract.PARTITIONS_UNKNOWN: 0,
        contract.PARTITIONS_UNCOMMITTED: 0,
        contract.READ_ERRORS: 0,
        contract.LAGS_CLAMPED: 0,
        contract.METRICS_OMITTED: 0,
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


def rules(judged: Run, truth: TruthView = TRUTH) -> set[str]:
    """The rules that a run breaks."""
    return {finding.rule for finding in check_run(truth, judged).wrong}


def test_a_right_run_is_right_and_its_numbers_are_counted() -> None:
    verdict = check_run(TRUTH, run(calm=True))
    assert (verdict.wrong, verdict.late, +verdict.missing) == ([], False, {})
    assert verdict.checked.total() > 50


T, P, G = contract.TOPIC_PARTITIONS, contract.GROUP_PARTITIONS, contract.GROUPS


@pytest.mark.parametrize(
    ("dataset", "column", "value", "rule"),
    [
        (T, "end_offset", 11, "end_offset"),
        (T, "end_offset", 9, "end_offset"),
        (T, "start_offset", 1, "start_offset"),
        (T, "retention_ms", 60_000, "retention_ms"),
        (T, "topic_id", "id-2", "topic id"),
        (P, "committed_offset", 5, "committed_offset"),
        (P, "committed_offset", None, "committed_offset"),
        (P, "lag", 3, "lag"),
        (P, "lag", None, "lag"),
        (P, "records_lost", 2, "records_lost"),
        (P, "retention_margin", 5, "retention_margin"),
        (P, "time_lag_seconds", 22.5, "time_lag_seconds"),
        (P, "time_lag_seconds", 24.0, "time_lag_seconds"),
        (P, "next_record_after", 1_008_000, "next_record_after"),
        (P, "next_record_before", 1_006_500, "next_record_before"),
        (P, "status_reason", "records_lost", "status"),
        (P, "status_reason", "beyond_end", "status"),
        (P, "status", "REWIND", "status"),
        (P, "seconds_until_loss", -1.0, "seconds_until_loss"),
        (G, "lag", 7, "lag of group"),
        (G, "lag", None, "lag of group"),
        (G, "max_lag", 5, "max_lag"),
        (G, "records_lost", 1, "records_lost of group"),
        (G, "partitions", 3, "partitions"),
        (G, "partitions_unknown", 1, "partitions_unknown"),
        (G, "partitions_uncommitted", 1, "partitions_uncommitted"),
        (G, "time_lag_seconds", 20.0, "time lag of group or topic"),
        (G, "status", "OK", "status of group"),
        (G, "status", None, "status of group"),
        (G, "status_reason", "gone", "gone"),
    ],
)
def test_a_wrong_value_in_a_dataset_is_found(
    dataset: str, column: str, value: Any, rule: str
) -> None:
    planted = frames()
    planted[dataset][0][column] = value
    assert rule in rules(run(frames=planted))


@pytest.mark.parametrize(
    ("line", "name", "value", "rule"),
    [
        (0, contract.OFFSET_LAG, 9, "metric OffsetLag"),
        (0, contract.ESTIMATED_TIME_LAG, 0.0, "metric EstimatedTimeLag"),
        (0, contract.GROUP_STATUS, 0, "metric GroupStatus"),
        (0, contract.TIME_TO_DATA_LOSS, 5.0, "metric TimeToDataLoss"),
        (1, contract.OFFSET_LAG, 9, "metric OffsetLag"),
        (1, contract.MAX_OFFSET_LAG, 9, "metric MaxOffsetLag"),
        (1, contract.ESTIMATED_TIME_LAG, 9.0, "metric EstimatedTimeLag"),
        (2, contract.OFFSET_LAG, 9, "metric OffsetLag"),
        (3, contract.ESTIMATED_TIME_LAG, 9.0, "metric EstimatedTimeLag"),
        (4, contract.GROUPS_READ, 2, "metric GroupsRead"),
        (4, contract.READ_ERRORS, 1, "ReadErrors"),
        (4, contract.LAGS_CLAMPED, 1, "metric LagsClamped"),
    ],
)
def test_a_wrong_metric_is_found(line: int, name: str, value: Any, rule: str) -> None:
    planted = metrics()
    planted[line][name] = value
    assert rule in rules(run(metrics=planted))


@pytest.mark.parametrize("line", range(4))
def test_a_metric_that_is_left_out_is_found(line: int) -> None:
    planted = metrics()
    del planted[line][contract.OFFSET_LAG]
    assert rules(run(metrics=planted)) == {"metric OffsetLag"}


def test_an_age_that_claims_to_be_exact_must_be() -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_seconds": 22.9, "time_lag_error_seconds": 0.0}
    assert "time_lag_seconds" in rules(run(frames=planted))
    planted[P][0] |= {"time_lag_error_seconds": 0.2}
    assert "time_lag_seconds" not in rules(run(frames=planted))


def test_a_least_age_may_be_small_and_not_large() -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_seconds": 5.0, "time_lag_error_seconds": None}
    assert "time_lag_seconds" not in rules(run(frames=planted))
    planted[P][0] |= {"time_lag_seconds": 25.0}
    assert "time_lag_seconds" in rules(run(frames=planted))


def _without_row(planted: Rows) -> None:
    del planted[P][1]
    planted[G][0] |= {"partitions": 1, "lag": 4}


def _unread_row(planted: Rows) -> None:
    nothing = dict.fromkeys(("lag", "time_lag_seconds", "time_lag_error_seconds", "status"))
    planted[P][1] |= {"unread_reason": "timeout", **nothing}
    planted[G][0] |= {"partitions_unknown": 1}


@pytest.mark.parametrize(
    ("change", "log", "calm", "wrong"),
    [
        (_without_row, (), False, {"missing"}),
        (_without_row, ("group 'billing' not read (denied): x",), False, set()),
        (_without_row, ("topic 'orders' not read (denied): x",), False, set()),
        (_without_row, ("broker '1' not read (timeout): x",), False, set()),
        (_without_row, ("group 'other' not read (denied): x",), False, {"missing"}),
        (_without_row, ("broker '1' not read (timeout): x",), True, {"missing"}),
        (_unread_row, ("partition 'orders-1' not read (timeout): x",), False, set()),
        (_unread_row, ("partition 'orders-1' not read (timeout): x",), True, {"recovery"}),
    ],
)
def test_what_is_missing_must_be_named_and_must_come_back(
    change: Callable[[Rows], None], log: tuple[str, ...], calm: bool, wrong: set[str]
) -> None:
    planted = frames()
    change(planted)
    found = check_run(TRUTH, run(frames=planted, metrics=[], log=log, calm=calm))
    about_presence = {f.rule for f in found.wrong} & {"missing", "recovery"}
    assert about_presence == wrong
    assert found.missing.total() > 0


def test_an_unread_row_tells_no_lag() -> None:
    planted = frames()
    planted[P][1] |= {"unread_reason": "timeout"}
    assert {"unread lag", "unread time_lag_seconds", "unread status"} <= rules(run(frames=planted))


def test_a_late_run_is_found() -> None:
    assert not check_run(TRUTH, run(seconds=5.9), margin=1.0).late
    assert check_run(TRUTH, run(seconds=6.1), margin=1.0).late


def test_success_is_told_by_a_run_that_succeeded_and_by_no_other() -> None:
    assert rules(run(error="the store does not answer")) == {"CollectorSuccess"}
    assert rules(run(metrics=metrics()[:-1])) == {"CollectorSuccess"}
    failed = run(error="the store does not answer", metrics=metrics()[:-1], calm=True)
    assert rules(failed) == {"recovery"}


def test_a_run_that_read_no_group_is_no_success() -> None:
    lines = metrics()
    lines[4][contract.GROUPS_READ] = 0
    assert rules(run(frames={}, metrics=lines)) == set()
    known = run(frames={}, metrics=lines, known_groups=frozenset({"billing"}))
    assert rules(known) == {"CollectorSuccess"}


def test_a_stop_of_a_commit_that_moved_lately_is_found() -> None:
    planted = frames()
    planted[P][0]["commit_changed_at"] = NOW - 9_000
    assert rules(run(frames=planted)) == {"status"}


def test_a_stop_by_a_time_at_which_the_commit_was_another_is_found() -> None:
    lately = {"billing": {("orders", n): [Commit(6, NOW - 1_000, NOW - 990)] for n in (0, 1)}}
    assert rules(run(limit=1.0), replace(TRUTH, commits=lately)) == {"status"}


def test_lost_records_make_an_error_at_no_distance() -> None:
    log = replace(LOG, purges=(Purge(8, NOW - 9_000, NOW - 8_000),))
    truth = replace(TRUTH, topics={"id-1": TopicView("orders", "id-1", (log, log), (0, 0), (1, 1))})
    planted = frames()
    for row in planted[T]:
        row["start_offset"] = 8
    for row in planted[P]:
        row |= {"start_offset": 8, "lag": 2, "records_lost": 2, "retention_margin": 0}
        row |= {"status": "ERR", "status_reason": "records_lost", "retention_risk": "LOST"}
        row |= {"time_lag_seconds": 20.98, "next_record_before": 1_009_100}
    planted[G][0] |= {"lag": 4, "max_lag": 2, "records_lost": 4, "time_lag_seconds": 20.98}
    assert rules(run(frames=planted, metrics=[]), truth) & {
        "seconds_until_loss of group",
        "status of lost records",
        "lag",
        "time_lag_seconds",
    } == {"seconds_until_loss of group"}
    planted[G][0]["seconds_until_loss"] = 0.0
    assert "seconds_until_loss of group" not in rules(run(frames=planted, metrics=[]), truth)


def test_no_risk_is_told_only_where_every_risk_is_known() -> None:
    planted = frames()
    planted[P][1] |= {"seconds_until_loss": None, "retention_risk": None}
    assert rules(run(frames=planted)) == {"seconds_until_loss of group"}


def test_a_broken_rule_is_told_once_with_its_first_case() -> None:
    planted = frames()
    planted[T][0]["retention_ms"] = planted[T][1]["retention_ms"] = 1
    ((rule, count, first),) = summary(check_run(TRUTH, run(frames=planted)).wrong)
    assert (rule, count, first.where, first.told) == ("retention_ms", 2, "orders-0", "1")
