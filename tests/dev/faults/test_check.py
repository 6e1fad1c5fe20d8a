# SPDX-License-Identifier: Apache-2.0
"""A right run is found right, and each number that is made wrong is found."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dev.faults.check import JUDGED_COLUMNS, check_run, not_judged, summary
from dev.faults.run import KILLED, History, Run, Verdict
from dev.faults.truth import (
    COORDINATORS,
    NEVER,
    Commit,
    LogView,
    Purge,
    Stale,
    TopicView,
    Trouble,
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


def test_a_right_run_is_right_and_its_numbers_are_counted() -> None:
    verdict = judged(run(calm=True))
    assert (verdict.wrong, verdict.late, +verdict.missing) == ([], False, {})
    assert verdict.checked.total() > 30
    assert verdict.consistent.total() > 30


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
        (0, contract.ESTIMATED_DRAIN_TIME, 9.0, "metric EstimatedDrainTime"),
        (0, contract.PRODUCE_RATE, 2.5, "metric ProduceRate"),
        (0, contract.CONSUME_RATE, 3.0, "metric ConsumeRate"),
        (0, contract.MEMBERS, 1, "metric Members"),
        (0, contract.REBALANCING, 0, "metric Rebalancing"),
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
    last = {"last_lag": 4, "last_time_lag_seconds": 20.98, "read_at": NOW - 2_020}
    last |= {"seconds_until_loss": 604_779.0}
    planted[P][1] |= {"unread_reason": "timeout", **nothing, **last}
    planted[G][0] |= {"partitions_unknown": 1, "time_lag_seconds": 23.0}
    planted[G][0] |= {"time_lag_error_seconds": None}


@pytest.mark.parametrize(
    ("change", "log", "calm", "wrong"),
    [
        (_without_row, (), False, {"missing"}),
        (_without_row, ("group 'billing' not read (denied): x",), False, set()),
        (_without_row, ("topic 'orders' not read (denied): x",), False, set()),
        (_without_row, ("broker '1' not read (timeout): x",), False, set()),
        (_without_row, ("group 'other' not read (denied): x",), False, {"missing"}),
        (_without_row, ("broker '1' not read (timeout): x",), True, {"missing"}),
        (_without_row, ("broker '7' not read (timeout): x",), False, {"missing"}),
        (_without_row, ("and 1 more not read",), False, set()),
        (_without_row, ("and 0 more not read",), False, {"missing"}),
        (_unread_row, ("partition 'orders-1' not read (timeout): x",), False, set()),
        (_unread_row, ("partition 'orders-1' not read (timeout): x",), True, {"recovery"}),
    ],
)
def test_what_is_missing_must_be_named_and_must_come_back(
    change: Callable[[Rows], None], log: tuple[str, ...], calm: bool, wrong: set[str]
) -> None:
    planted = frames()
    change(planted)
    found = judged(run(frames=planted, metrics=[], log=log, calm=calm))
    about_presence = {f.rule for f in found.wrong if f.where == "billing on orders-1"}
    about_presence &= {"missing", "recovery"}
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
        row |= {"seconds_until_loss": 604_779.0}
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
    planted[T][1]["retention_ms"] = None
    assert rules(run(frames=planted)) == {"seconds_until_loss of group"}


def test_a_broken_rule_is_told_once_with_its_first_case() -> None:
    planted = frames()
    planted[T][0]["retention_ms"] = planted[T][1]["retention_ms"] = 1
    ((rule, count, first),) = summary(judged(run(frames=planted)).wrong)
    assert (rule, count, first.where, first.published) == ("retention_ms", 2, "orders-0", "1")


# Statuses: by the commits of the truth, and what each run before could see of them.


@pytest.mark.parametrize("status", ["OK", "WARN", None])
def test_a_commit_that_lay_still_for_longer_than_the_window_is_a_stop(status: str | None) -> None:
    planted = frames()
    planted[P][0] |= {"status": status}
    assert "status" in rules(run(frames=planted))


def test_a_stall_needs_a_group_that_ever_had_a_member() -> None:
    planted = frames()
    planted[P][0]["status"] = "STALL"
    assert "status" in rules(run(frames=planted))
    assert "status" not in rules(run(frames=planted), replace(TRUTH, memberless=frozenset()))


def _moved(*commits: Commit) -> TruthView:
    return replace(TRUTH, commits={"billing": {("orders", n): commits for n in (0, 1)}})


def test_a_stop_of_a_commit_one_second_old_is_found() -> None:
    truth = _moved(Commit(5, 1_010_000, 1_010_010), Commit(6, NOW - 1_000, NOW - 990))
    saw_another = [earlier_run(t, committed_offset=5) for t in range(FIRST, NOW - 1_000, 1_000)]
    known = history(*saw_another, earlier_run(NOW - 1_000))
    assert "status" in rules(run(), truth, known)
    right = frames()
    for row in right[P]:
        row |= {"status": "OK", "commit_changed_at": NOW - 1_000}
    right[G][0]["status"] = "OK"
    assert "status" not in rules(run(frames=right), truth, known)


def test_a_commit_that_moved_within_the_window_and_was_seen_to_is_no_stop() -> None:
    truth = _moved(Commit(5, 1_010_000, 1_010_010), Commit(6, NOW - 9_500, NOW - 9_490))
    saw = [earlier_run(t, committed_offset=5) for t in range(FIRST, NOW - 9_000, 1_000)]
    after = [earlier_run(t) for t in range(NOW - 9_000, NOW, 1_000)]
    assert "status" in rules(run(), truth, history(*saw, *after))


def test_a_stop_is_not_due_before_runs_saw_the_commit_for_the_window() -> None:
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "commit_changed_at": NOW - 9_000}
    planted[G][0]["status"] = "OK"
    known = history(*map(earlier_run, range(NOW - 9_000, NOW, 1_000)))
    assert "status" not in rules(run(frames=planted, metrics=[]), earlier=known)


def test_a_pause_excuses_only_where_pauses_came_before() -> None:
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "status_reason": "pausing"}
    assert "status" in rules(run(frames=planted))
    paused = _moved(
        *(Commit(n, 950_000 + 15_000 * n, 950_010 + 15_000 * n) for n in (1, 2, 3)),
        Commit(6, 1_010_000, 1_010_010),
    )
    assert "status" not in rules(run(frames=planted), paused)


@pytest.mark.parametrize(
    "between",
    [
        pytest.param([(at, 0, 10) for at in range(1_000, 15_000, 1_000)], id="the-same-again"),
        pytest.param([(7_000, 1, None)], id="one-that-nobody-answered"),
    ],
)
def test_a_pause_lasts_from_one_offset_that_was_taken_to_the_next(
    between: list[tuple[int, int, int | None]],
) -> None:
    commits = []
    for n in (1, 2, 3):
        at = 950_000 + 15_000 * n
        commits.append(Commit(n, at, at + 10))
        for later, more, answered in between:
            acked = NEVER if answered is None else at + later + answered
            commits.append(Commit(n + more, at + later, acked))
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "status_reason": "pausing"}
    truth = _moved(*commits, Commit(6, 1_010_000, 1_010_010))
    assert "status" not in rules(run(frames=planted), truth)


def test_a_rewind_needs_a_commit_that_went_back_within_the_window() -> None:
    back = _moved(Commit(9, 1_009_000, 1_009_010), Commit(6, 1_010_000, 1_010_010))
    planted = frames()
    for row in planted[P]:
        row["status"] = "REWIND"
    assert "status" in rules(run(frames=planted), back)


def test_a_commit_that_went_back_within_the_window_is_a_rewind() -> None:
    back = _moved(Commit(9, 1_009_000, 1_009_010), Commit(6, NOW - 5_500, NOW - 5_490))
    saw = [earlier_run(t, committed_offset=9) for t in range(FIRST, NOW - 5_000, 1_000)]
    known = history(*saw, *map(earlier_run, range(NOW - 5_000, NOW, 1_000)))
    planted = frames()
    for row in planted[P]:
        row |= {"status": "WARN", "commit_changed_at": NOW - 5_000}
    assert "status" in rules(run(frames=planted), back, known)
    for row in planted[P]:
        row["status"] = "REWIND"
    assert "status" not in rules(run(frames=planted), back, known)


def test_a_commit_on_its_way_back_to_where_it_was_is_still_a_rewind() -> None:
    back = _moved(
        Commit(9, 1_009_000, 1_009_010),
        Commit(6, FIRST + 1_500, FIRST + 1_510),
        Commit(2, NOW - 5_500, NOW - 5_490),
        Commit(6, NOW - 3_500, NOW - 3_490),
    )
    known = history(
        *(earlier_run(t, committed_offset=9) for t in (FIRST, FIRST + 1_000)),
        *map(earlier_run, range(FIRST + 2_000, NOW - 5_000, 1_000)),
        *(earlier_run(t, committed_offset=2) for t in (NOW - 5_000, NOW - 4_000)),
        *map(earlier_run, range(NOW - 3_000, NOW, 1_000)),
    )
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "commit_changed_at": NOW - 3_000}
    assert "status" in rules(run(frames=planted), back, known)
    for row in planted[P]:
        row["status"] = "REWIND"
    assert "status" not in rules(run(frames=planted), back, known)


def test_a_rewind_may_have_been_seen_first_by_a_run_that_was_repeated() -> None:
    seen_at = NOW - 11_000
    back = _moved(Commit(9, 1_009_000, 1_009_010), Commit(6, seen_at - 500, seen_at - 490))
    before = [earlier_run(t, committed_offset=9) for t in range(FIRST, seen_at, 1_000)]
    after = [earlier_run(t) for t in range(seen_at, NOW, 1_000)]
    known = history(*before, after[0], *after)
    planted = frames()
    for row in planted[P]:
        row["commit_changed_at"] = seen_at
    assert "status" not in rules(run(frames=planted), back, known)


@pytest.mark.parametrize("status", ["STOP", "WARN"])
def test_a_bad_status_needs_a_record_older_than_the_window(status: str) -> None:
    log = LogView.of([(n, NOW - 11_000 + 1_000 * n, NOW - 10_990 + 1_000 * n) for n in range(10)])
    topics = {"id-1": TopicView("orders", "id-1", (log, log), (0, 0), (1, 1))}
    planted = frames()
    for row in planted[P]:
        row |= {"status": status, "time_lag_seconds": 4.98, "time_lag_error_seconds": 0.0}
        row |= {"next_record_after": NOW - 5_000, "next_record_before": NOW - 5_000}
        row |= {"status_reason": "falling_behind" if status == "WARN" else None}
        row |= {"seconds_until_loss": 604_795.0}
    assert "status" in rules(run(frames=planted), replace(TRUTH, topics=topics))


# Ages: exact enough, there where one is known, and of a clock that may have jumped.


@pytest.mark.parametrize("seconds", [22.98, 9_999.0])
def test_an_error_that_explains_everything_is_found(seconds: float) -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_seconds": seconds, "time_lag_error_seconds": 1e6}
    assert "time_lag_error_seconds" in rules(run(frames=planted))
    planted[P][0] |= {"time_lag_error_seconds": 5.0}
    assert "time_lag_error_seconds" in rules(run(frames=planted, calm=True))


def test_an_error_is_that_of_its_bracket() -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 0.2}
    assert "error of the bracket" in rules(run(frames=planted))


def test_a_least_age_is_not_enough_when_calm() -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": None}
    assert "time_lag_error_seconds" in rules(run(frames=planted))
    planted[P][0] |= {"next_record_after": None}
    assert "time_lag_error_seconds" not in rules(run(frames=planted))
    assert "time_lag_error_seconds" in rules(run(frames=planted, calm=True))


def test_an_age_may_be_unbounded_beside_a_clock_that_was_a_little_wrong() -> None:
    slight = replace(earlier_run(1_008_000), clock_ahead=-700)
    known = history(slight, *map(earlier_run, range(FIRST, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": None, "next_record_after": None}
    assert "time_lag_error_seconds" in rules(run(frames=planted, calm=True))
    assert "time_lag_error_seconds" not in rules(run(frames=planted, calm=True), earlier=known)


def test_an_error_may_be_as_long_as_no_run_read_the_end() -> None:
    before = earlier_run(1_001_000, committed_offset=None)
    known = history(before, *map(earlier_run, range(FIRST, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 9.0}
    assert "time_lag_error_seconds" not in rules(run(frames=planted, calm=True), earlier=known)
    assert "time_lag_error_seconds" in rules(run(frames=planted, calm=True))


@pytest.mark.parametrize(("calm", "wrong"), [(False, False), (True, True)])
def test_an_error_may_hold_all_that_a_high_watermark_may_be_held_back(
    calm: bool, wrong: bool
) -> None:
    # A run read the log's end after the record was sent, and before it could be read.
    late = LogView.of([(n, 1_001_000 + 1_000 * n, 1_004_500 + 1_000 * n) for n in range(10)])
    topics = {"id-1": replace(TRUTH.topics["id-1"], logs=(late, late))}
    known = history(*map(earlier_run, range(1_001_000, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 40.0}
    found = rules(run(frames=planted, calm=calm), replace(TRUTH, topics=topics), known)
    assert ("time_lag_error_seconds" in found) == wrong


@pytest.mark.parametrize(("left", "wrong"), [(True, False), (False, True)])
def test_a_run_that_was_killed_may_have_left_its_reading(left: bool, wrong: bool) -> None:
    # Readable a moment late: none but the run that was killed read the log's end in between.
    late = LogView.of([(n, 1_001_650 + 1_000 * n, 1_001_800 + 1_000 * n) for n in range(10)])
    topics = {"id-1": replace(TRUTH.topics["id-1"], logs=(late, late))}
    killed = earlier_run(1_007_750)
    topics_left = killed.rows_of(T) if left else ()
    killed = replace(killed, frames={}, error=KILLED, topics_left=topics_left)
    before, after = range(1_001_000, 1_004_000, 1_000), range(1_008_000, NOW, 1_000)
    known = history(*map(earlier_run, before), killed, *map(earlier_run, after))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 40.0}
    found = rules(run(frames=planted), replace(TRUTH, topics=topics), known)
    assert ("time_lag_error_seconds" in found) == wrong


@pytest.mark.parametrize(("error", "wrong"), [(4.1, False), (4.3, True)])
def test_an_error_may_be_as_long_as_the_kept_readings_are_apart(error: float, wrong: bool) -> None:
    # Of runs 16 to 32 intervals ago every fourth is kept, and the record came 23 s ago.
    known = history(*map(earlier_run, range(1_001_000, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": error}
    found = rules(run(frames=planted, calm=True), earlier=known)
    assert ("time_lag_error_seconds" in found) == wrong


def test_readings_by_a_clock_that_jumped_bound_nothing() -> None:
    jumped = earlier_run(1_005_000)
    for row in [*jumped.rows_of(T), *jumped.rows_of(P)]:
        row |= {name: row[name] + 5_000 for name in ("asked_at", "read_at") if name in row}
    known = history(
        *map(earlier_run, range(1_001_000, 1_005_000, 1_000)),
        replace(jumped, clock_ahead=5_000),
        *map(earlier_run, range(1_006_000, NOW, 1_000)),
    )
    begins = [each.begin for each in known.readings(("orders", 0), 1_013_000, 1_000)]
    # What came within 5 s after it may seem to come before it.
    assert [at for at in begins if 1_004_500 < at < 1_012_500] == [1_010_990, 1_011_990]
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 5.5, "next_record_after": 1_001_600}
    assert "time_lag_error_seconds" not in rules(run(frames=planted, calm=True), earlier=known)


def test_how_exact_ages_are_is_counted() -> None:
    planted = frames()
    planted[P][0]["time_lag_error_seconds"] = None
    assert judged(run(frames=planted)).ages == {"at least": 1, "± 0.1 s": 1}


def test_an_age_of_a_group_or_topic_that_is_left_out_is_found() -> None:
    planted, lines = frames(), metrics()
    planted[G][0]["time_lag_seconds"] = None
    del lines[1][contract.ESTIMATED_TIME_LAG]
    found = rules(run(frames=planted, metrics=lines))
    assert {"time lag of group", "metric EstimatedTimeLag"} <= found
    for row in planted[P]:
        row["time_lag_seconds"] = None
    found = rules(run(frames=planted, metrics=[], calm=True))
    assert "recovery" in found


@pytest.mark.parametrize("age", [23.2, 1e6, 0.0])
def test_an_age_of_a_topic_is_its_oldest_partitions(age: float) -> None:
    planted, lines = frames(), metrics()
    planted[P][0] |= {"time_lag_error_seconds": None, "time_lag_seconds": 22.0}
    lines[1][contract.ESTIMATED_TIME_LAG] = age
    assert "metric EstimatedTimeLag" in rules(run(frames=planted, metrics=lines))


@pytest.mark.parametrize(
    ("ahead", "before", "method", "seconds", "wrong"),
    [
        # The clock was 5 s ahead, so what was dated by it looks 5 s younger now, not older.
        (0, (5_000,), "carried", 17.98, False),
        (0, (5_000,), "carried", 27.98, True),
        (0, (-5_000,), "carried", 27.98, False),
        (0, (-5_000,), "carried", 17.98, True),
        (0, (5_000,), "record_time", 17.98, True),
        (0, (), "carried", 17.98, True),
        # The clock is 5 s ahead: what the brokers dated looks older.
        (5_000, (), "record_time", 27.98, False),
        (5_000, (), "record_time", 17.98, True),
    ],
)
def test_a_clock_that_jumped_makes_ages_wrong_on_one_side_only(
    ahead: int, before: tuple[int, ...], method: str, seconds: float, wrong: bool
) -> None:
    planted = frames()
    for row in planted[T]:
        row |= {"asked_at": row["asked_at"] + ahead, "read_at": row["read_at"] + ahead}
    for row in planted[P]:
        row |= {"read_at": row["read_at"] + ahead, "time_lag_method": method}
        row |= {"time_lag_seconds": seconds}
    found = rules(run(frames=planted, clock_ahead=ahead, clocks_before=before))
    assert ("time_lag_seconds" in found) == wrong


@pytest.mark.parametrize(
    ("jump", "at", "wrong"),
    [(0, 1_008_000, True), (-700, 1_008_000, False), (-700, 990_000, True)],
)
def test_what_a_clock_said_that_was_a_little_wrong_holds(jump: int, at: int, wrong: bool) -> None:
    slight = replace(earlier_run(at), clock_ahead=jump)
    known = history(slight, *map(earlier_run, range(FIRST, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"next_record_before": 1_006_400, "time_lag_seconds": 23.6}
    found = rules(run(frames=planted), earlier=known)
    assert ({"next_record_before", "time_lag_seconds"} <= found) == wrong
    assert bool({"next_record_before", "time_lag_seconds"} & found) == wrong


# Losses.


@pytest.mark.parametrize(
    ("seconds", "risk"),
    [(5.0, "SAFE"), (5.0, "AT_RISK"), (604_777.0, "AT_RISK"), (604_777.0, "LOST"), (None, None)],
)
def test_a_wrong_time_until_a_loss_is_found(seconds: float | None, risk: str | None) -> None:
    planted = frames()
    planted[P][0] |= {"seconds_until_loss": seconds, "retention_risk": risk}
    assert {"seconds_until_loss", "retention_risk"} & rules(run(frames=planted))


@pytest.mark.parametrize("seconds", [5.0, 604_777.0, 0.0, None])
def test_a_groups_time_until_a_loss_is_the_least_of_what_is_at_risk(seconds: float | None) -> None:
    planted, lines = frames(), metrics()
    planted[G][0]["seconds_until_loss"] = seconds
    lines[0][contract.TIME_TO_DATA_LOSS] = seconds
    assert "seconds_until_loss of group" in rules(run(frames=planted, metrics=lines))


# Commits that a coordinator may answer with.


def test_a_new_coordinator_excuses_a_moment_and_not_the_whole_fault() -> None:
    stale = (Stale(COORDINATORS, since=NOW - 70_000, begin=NOW - 68_000),)
    planted = frames()
    for row in planted[P]:
        row |= {"committed_offset": 5, "lag": 5, "retention_margin": 5}

    def truth(acked: int) -> TruthView:
        commits = [Commit(5, NOW - 65_000, NOW - 64_990), Commit(6, acked - 10, acked)]
        return replace(_moved(*commits), stale=stale)

    assert "committed_offset" in rules(run(frames=planted), truth(NOW - 61_000))
    assert "committed_offset" not in rules(run(frames=planted), truth(NOW - 1_000))


# A run that left no snapshot.


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        (0, contract.OFFSET_LAG, 1_000_000_000),
        (0, contract.OFFSET_LAG, 7),
        (0, contract.ESTIMATED_TIME_LAG, 9_999.0),
        (0, contract.ESTIMATED_TIME_LAG, 0.0),
        (0, contract.GROUP_STATUS, 7),
        (0, contract.TIME_TO_DATA_LOSS, 5.0),
        (0, contract.TIME_TO_DATA_LOSS, 0.0),
        (1, contract.OFFSET_LAG, 9),
        (1, contract.MAX_OFFSET_LAG, 9),
        (2, contract.OFFSET_LAG, 9),
        (2, contract.ESTIMATED_TIME_LAG, 99.0),
    ],
)
def test_metrics_of_a_run_without_a_snapshot_are_held_to_the_truth(
    line: int, name: str, value: Any
) -> None:
    lines = metrics()[:-1]
    failed = {"frames": {}, "error": "the store does not answer"}
    assert rules(run(metrics=lines, **failed)) == set()
    lines[line][name] = value
    assert f"metric {name}" in rules(run(metrics=lines, **failed))


def test_an_age_beside_partitions_without_one_is_at_least_so_much() -> None:
    lines = metrics()[:-1]
    failed = {"frames": {}, "error": "the store does not answer"}
    del lines[2][contract.ESTIMATED_TIME_LAG]
    lines[0][contract.ESTIMATED_TIME_LAG] = lines[1][contract.ESTIMATED_TIME_LAG] = 3.0
    assert rules(run(metrics=lines, **failed)) == set()
    lines[0][contract.ESTIMATED_TIME_LAG] = 99.0
    assert "metric EstimatedTimeLag" in rules(run(metrics=lines, **failed))


def test_a_lag_that_such_a_run_leaves_out_is_found() -> None:
    lines = metrics()[:-1]
    del lines[0][contract.OFFSET_LAG]
    failed = {"frames": {}, "error": "the store does not answer"}
    assert rules(run(metrics=lines, **failed)) == {"metric OffsetLag"}


# Names, and what stands there twice.

OTHER = {contract.DIMENSION_CLUSTER: "c", contract.DIMENSION_GROUP: "nobody"}


@pytest.mark.parametrize(
    "line",
    [
        {**OTHER, contract.OFFSET_LAG: 1},
        {**OTHER, contract.DIMENSION_TOPIC: "orders", contract.OFFSET_LAG: 1},
        metrics()[0],
        metrics()[2],
        metrics()[-1],
        {contract.DIMENSION_CLUSTER: "c", "Lag": 1},
        {contract.DIMENSION_CLUSTER: "c", contract.TIME_LAG_LOOKUPS: -1},
        {contract.DIMENSION_CLUSTER: "c", contract.TIME_LAG_LOOKUPS: float("nan")},
        {contract.DIMENSION_CLUSTER: "other", contract.TIME_LAG_LOOKUPS: 1},
        {contract.DIMENSION_CLUSTER: "c", contract.DIMENSION_TOPIC: "orders"},
        {
            contract.DIMENSION_CLUSTER: "c",
            contract.TIME_LAG_LOOKUPS: 1,
            "_aws": {"Timestamp": NOW - 60_000},
        },
    ],
)
def test_a_line_that_should_not_be_there_is_found(line: dict[str, Any]) -> None:
    assert "line of metrics" in rules(run(metrics=[*metrics(), line]))


@pytest.mark.parametrize("dataset", [T, P, G])
def test_a_row_that_stands_there_twice_is_found(dataset: str) -> None:
    planted = frames()
    planted[dataset].append(dict(planted[dataset][0]))
    assert "row" in rules(run(frames=planted))


def test_a_row_about_nobody_is_found() -> None:
    planted = frames()
    planted[G].append(planted[G][0] | {"consumer_group": "nobody", "unread_reason": "timeout"})
    assert "row" in rules(run(frames=planted))


# What is carried of a row that was not read.


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("committed_offset", 5),
        ("end_offset", 12),
        ("start_offset", 3),
        ("last_lag", 3),
        ("last_time_lag_seconds", 19.0),
        ("last_time_lag_seconds", 99.0),
        ("records_lost", 3),
        ("next_record_after", 1_009_000),
        ("next_record_before", 1_001_000),
        ("read_at", NOW - 300),
        ("uncounted", "unknown"),
        ("seconds_until_loss", 5.0),
        ("seconds_until_loss", 600_000.0),
        ("retention_risk", "AT_RISK"),
        ("retention_risk", "LOST"),
    ],
)
def test_a_wrong_value_of_an_unread_row_is_found(column: str, value: Any) -> None:
    planted, log = frames(), ("partition 'orders-1' not read (timeout): x",)
    _unread_row(planted)
    assert rules(run(frames=planted, metrics=[], log=log)) <= ABSENT
    planted[P][1][column] = value
    assert rules(run(frames=planted, metrics=[], log=log)) - ABSENT


# What is broken by leaving out all lines of metrics.
ABSENT = {
    "metric OffsetLag",
    "metric MaxOffsetLag",
    "metric EstimatedTimeLag",
    "metric GroupStatus",
    "metric TimeToDataLoss",
    "metric ConsumeRate",
    "metric ProduceRate",
    "metric EstimatedDrainTime",
    "metric Members",
    "metric Rebalancing",
    "metric GroupsRead",
    "metric PartitionsUnknown",
    "metric PartitionsUncommitted",
    "metric LagsClamped",
    "metric MetricsOmitted",
    "CollectorDuration",
    "CollectorSuccess",
    "ReadErrors",
}


def test_problems_that_are_only_counted_excuse_as_many_groups_or_partitions() -> None:
    planted, log = frames(), ("and 1 more not read",)
    planted[P].clear()
    missing = "missing"
    assert missing not in rules(run(frames=planted, metrics=[], log=log))
    commits = dict.fromkeys(("billing", "shipping"), TRUTH.commits["billing"])
    truth = replace(TRUTH, commits=commits)
    assert missing in rules(run(frames=planted, metrics=[], log=log), truth)


def test_a_group_without_a_partition_has_no_metrics_to_miss() -> None:
    planted = frames()
    planted[P].clear()
    broken = rules(run(frames=planted, metrics=[]))
    assert not broken & {"metric Members", "metric Rebalancing", "metric EstimatedDrainTime"}


def test_a_broker_is_a_reason_only_if_it_led_or_was_under_a_fault() -> None:
    planted, log = frames(), ("broker '7' not read (timeout): x",)
    _without_row(planted)
    one = run(frames=planted, metrics=[], log=log)
    assert "missing" in rules(one)
    assert "missing" not in rules(one, replace(TRUTH, troubles=(Trouble(7, NOW - 5_000),)))
    long_ago = Trouble(7, NOW - 90_000, NOW - 60_000)
    assert "missing" in rules(one, replace(TRUTH, troubles=(long_ago,)))


@pytest.mark.parametrize(
    ("dataset", "column"),
    [(dataset, column) for dataset in (T, P, G) for column in sorted(JUDGED_COLUMNS[dataset])],
)
def test_every_column_that_is_said_to_be_judged_is(dataset: str, column: str) -> None:
    planted = frames()
    old = planted[dataset][0][column]
    # A value of the same kind, and of no right run.
    planted[dataset][0][column] = "other" if isinstance(old, str) else (old or 0) + 7_777_777
    assert rules(run(frames=planted))


def test_columns_that_are_not_judged_are_listed() -> None:
    text = "\n".join(not_judged())
    assert "worst_topic" in text
    assert "end_offset" not in text
    assert contract.TIME_LAG_LOOKUPS in text


def test_two_values_that_are_absent_are_no_number() -> None:
    before = judged().consistent["metric EstimatedTimeLag"]
    planted, lines = frames(), metrics()
    planted[P][1]["time_lag_seconds"] = None
    del lines[3][contract.ESTIMATED_TIME_LAG]
    after = judged(run(frames=planted, metrics=lines)).consistent["metric EstimatedTimeLag"]
    assert after == before - 1
