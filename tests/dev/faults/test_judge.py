# SPDX-License-Identifier: Apache-2.0
"""The judge finds each wrong value of a run, and nothing in a run that is right."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dev.faults.judge import judge_run
from dev.faults.run import History, Run, Verdict, count_by_rule
from dev.faults.truth import (
    COORDINATORS,
    Commit,
    LogView,
    Purge,
    Stale,
    TopicView,
    Trouble,
    TruthView,
)
from kafka_lag import contract

T, P, G = contract.TOPIC_PARTITIONS, contract.GROUP_PARTITIONS, contract.GROUPS
NOW, WEEK = 1_030_000, 604_800.0
# Ten records, one a second from 1,001,000 on; the group has committed 6 of them.
LOG = LogView.of([(n, 1_001_000 + 1_000 * n, 1_001_010 + 1_000 * n) for n in range(10)])


def with_logs(log: LogView) -> dict[str, TopicView]:
    return {"id-1": TopicView("orders", "id-1", (log, log), (0, 0), (1, 1))}


def with_commits(*commits: Commit) -> dict[str, Any]:
    return {"billing": {("orders", n): commits for n in (0, 1)}}


TRUTH = TruthView(with_logs(LOG), with_commits(Commit(6, 1_010_000, 1_010_010)))
TOPIC: Mapping[str, Any] = {
    "topic": "orders",
    "topic_id": "id-1",
    "unread_reason": None,
    "asked_at": NOW - 10,
    "read_at": NOW,
    "leader": 1,
    "start_offset": 0,
    "end_offset": 10,
    "retention_ms": 604_800_000,
}
# Of the four unread records the oldest came at 1,007,000.
ROW: Mapping[str, Any] = {
    "consumer_group": "billing",
    "topic": "orders",
    "topic_id": "id-1",
    "unread_reason": None,
    "read_at": NOW - 20,
    "committed_offset": 6,
    "start_offset": 0,
    "end_offset": 10,
    "lag": 4,
    "last_lag": None,
    "records_lost": 0,
    "next_record_after": 1_006_950,
    "next_record_before": 1_007_100,
    "time_lag_seconds": 22.98,
    "time_lag_error_seconds": 0.1,
    "time_lag_method": "record_time",
    "last_time_lag_seconds": None,
    "status": "STOP",
    "status_reason": None,
    "seconds_until_loss": 604_777.0,
}
GROUP = {
    "consumer_group": "billing",
    "unread_reason": None,
    "status_reason": None,
    "lag": 8,
    "time_lag_seconds": 22.98,
}
UNREAD = {
    "unread_reason": "timeout",
    **dict.fromkeys(("lag", "time_lag_seconds", "time_lag_error_seconds", "status")),
    "last_lag": 4,
    "last_time_lag_seconds": 20.98,
    "read_at": NOW - 2_020,
}


def run(
    row: Mapping[str, Any] | None = None,
    group: Mapping[str, Any] | None = None,
    topic: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Run:
    """A right run, apart from these values of the first partition, and of the run itself."""
    topics = [{**TOPIC, "partition_id": n} for n in (0, 1)]
    rows = [{**ROW, "partition_id": n} for n in (0, 1)]
    topics[0] |= topic or {}
    rows[0] |= row or {}
    frames = {T: topics, P: rows, G: [{**GROUP, **(group or {})}]}
    own = {contract.DIMENSION_GROUP: "billing"}
    lines: list[Mapping[str, Any]] = [
        {**own, contract.OFFSET_LAG: 8, contract.ESTIMATED_TIME_LAG: 22.98},
    ]
    right = Run(1, NOW, NOW - 100, NOW + 100, 0.2, 5.0, 10_000, metrics=lines, frames=frames)
    return replace(right, **changes)


def earlier(since: int = 1_012_000, step: int = 1_000, **changes: Any) -> History:
    """A run a second since a time, ms."""
    known = History()
    for at in range(since, NOW, step):
        known.add(run(taken_at=at, began=at - 100, ended=at + 100, **changes))
    return known


def judged(one: Run, truth: TruthView = TRUTH, history: History | None = None) -> Verdict:
    return judge_run(truth, one, history or earlier())


def rules(one: Run, truth: TruthView = TRUTH, history: History | None = None) -> set[str]:
    """The rules that a run breaks."""
    return {finding.rule for finding in judged(one, truth, history).wrong}


def test_a_right_run_is_right_and_its_values_are_counted() -> None:
    verdict = judged(run(calm=True))
    assert (verdict.wrong, verdict.late, +verdict.missing) == ([], False, {})
    assert verdict.checked.total() > 15


def test_a_late_run_and_a_leaked_password_are_found() -> None:
    assert not judge_run(TRUTH, run(seconds=5.9), margin=1.0).late
    assert judge_run(TRUTH, run(seconds=6.1), margin=1.0).late
    assert rules(run(leaked=True)) == {"secret"}


def test_a_broken_rule_is_shown_once_with_its_first_case() -> None:
    findings = judged(run(row={"lag": 3}, topic={"end_offset": 11})).wrong
    counted = [(count, first.rule, first.where) for count, first in count_by_rule(findings)]
    assert (1, "end_offset", "orders-0") in counted
    assert (1, "lag", "billing on orders-0") in counted


@pytest.mark.parametrize(
    ("place", "values", "rule"),
    [
        ("topic", {"end_offset": 11}, "end_offset"),
        ("topic", {"end_offset": 9}, "end_offset"),
        ("topic", {"start_offset": 1}, "start_offset"),
        ("topic", {"topic_id": "id-2"}, "topic id"),
        ("row", {"committed_offset": 5}, "committed_offset"),
        ("row", {"committed_offset": None}, "committed_offset"),
        ("row", {"lag": 3}, "lag"),
        ("row", {"lag": None}, "lag"),
        ("row", {"records_lost": 2}, "records_lost"),
        ("row", {"time_lag_seconds": 22.5}, "age"),
        ("row", {"time_lag_seconds": 24.0}, "age"),
        ("row", {"time_lag_error_seconds": -0.1}, "age"),
        ("row", {"time_lag_seconds": 24.0, "time_lag_error_seconds": None}, "age"),
        ("row", {"next_record_after": 1_008_000}, "next_record_after"),
        ("row", {"next_record_before": 1_006_500}, "next_record_before"),
        ("row", {"seconds_until_loss": 5.0}, "seconds_until_loss"),
        ("row", {"status_reason": "records_lost"}, "status"),
        ("row", {"unread_reason": "timeout"}, "unread lag"),
        ("group", {"status_reason": "gone"}, "gone"),
        ("group", {"consumer_group": "nobody"}, "row"),
    ],
)
def test_a_wrong_value_is_found(place: str, values: dict[str, Any], rule: str) -> None:
    assert rule in rules(run(**{place: values}))


def test_an_age_without_an_error_may_be_too_small_but_not_in_a_calm_run() -> None:
    low = {"time_lag_seconds": 5.0, "time_lag_error_seconds": None}
    assert not rules(run(row=low, group={"time_lag_seconds": 22.98}))
    assert rules(run(row=low, calm=True)) == {"recovery"}
    slight = earlier(clock_ahead=-700)
    assert not rules(run(row=low, calm=True), history=slight)


@pytest.mark.parametrize(
    ("age", "wrong"), [(22.98, False), (15.0, False), (0.0, False), (24.5, True)]
)
def test_markers_may_stand_before_the_next_record(age: float, wrong: bool) -> None:
    # Offset 6 is a marker; the next record may be any of the following ones.
    at = LOG.offset != 6
    log = replace(LOG, offset=LOG.offset[at], low=LOG.low[at], high=LOG.high[at])
    bounds = {"next_record_after": None, "next_record_before": None}
    row = {"time_lag_seconds": age, "time_lag_error_seconds": 0.0, **bounds}
    found = rules(run(row=row, metrics=[]), replace(TRUTH, topics=with_logs(log)))
    assert ("age" in found) is wrong


@pytest.mark.parametrize(
    ("ahead", "before", "age", "wrong"),
    [
        (0, (5_000,), 17.98, False),
        (0, (5_000,), 27.98, True),
        (0, (-5_000,), 27.98, False),
        (0, (), 17.98, True),
        (5_000, (), 27.98, False),
        (5_000, (), 17.98, True),
    ],
)
def test_a_clock_that_jumped_makes_ages_wrong_on_one_side_only(
    ahead: int, before: tuple[int, ...], age: float, wrong: bool
) -> None:
    row = {"time_lag_seconds": age, "read_at": NOW - 20 + ahead}
    topic = {"asked_at": NOW - 10 + ahead, "read_at": NOW + ahead}
    one = run(row=row, topic=topic, clock_ahead=ahead, clocks_before=before)
    assert ("age" in rules(one)) is wrong


def test_lost_records_are_an_error_and_nothing_unread_is_ok() -> None:
    log = replace(LOG, purges=(Purge(8, NOW - 9_000, NOW - 8_000),))
    truth = replace(TRUTH, topics=with_logs(log))
    topic = {"start_offset": 8}
    row = {"start_offset": 8, "lag": 2, "records_lost": 2, "time_lag_seconds": 20.98}
    row |= {"next_record_before": 1_009_100, "seconds_until_loss": 604_779.0}
    lost = {"status": "ERR", "status_reason": "records_lost"}
    first = {f.rule for f in judged(run(row=row, topic=topic), truth).wrong if "-0" in f.where}
    assert first == {"status"}
    right = judged(run(row={**row, **lost}, topic=topic), truth).wrong
    assert not [f for f in right if "-0" in f.where]
    everything = replace(TRUTH, commits=with_commits(Commit(10, 1_010_000, 1_010_010)))
    nothing = {"committed_offset": 10, "lag": 0, "time_lag_seconds": 0.0, "status": "WARN"}
    assert "status" in rules(run(row=nothing), everything)


@pytest.mark.parametrize(
    ("moves", "since", "wrong"),
    [
        pytest.param(((6, 1_010_000),), 1_012_000, False, id="stood"),
        pytest.param(((5, 1_010_000), (6, NOW - 1_000)), 1_012_000, True, id="moved"),
        pytest.param(((5, 1_010_000), (6, NOW - 11_500)), 1_012_000, False, id="moved before"),
        pytest.param(
            ((6, 1_010_000), (5, NOW - 5_000), (6, NOW - 1_000)), 1_012_000, False, id="came back"
        ),
        pytest.param(((5, 1_010_000), (6, NOW - 1_500)), NOW - 2_000, True, id="runs since then"),
    ],
)
def test_a_commit_that_moved_within_the_window_does_not_stand(
    moves: tuple[tuple[int, int], ...], since: int, wrong: bool
) -> None:
    truth = replace(TRUTH, commits=with_commits(*(Commit(o, at, at + 10) for o, at in moves)))
    assert ("status" in rules(run(), truth, earlier(since))) is wrong


def test_a_record_younger_than_the_window_does_not_make_a_group_stop() -> None:
    young = LogView.of([(n, NOW - 5_000 + n, NOW - 4_990 + n) for n in range(10)])
    row = {"time_lag_seconds": 4.98, "next_record_after": None, "next_record_before": None}
    row |= {"seconds_until_loss": WEEK - 4.0}
    verdict = judged(run(row=row), replace(TRUTH, topics=with_logs(young)))
    assert {f.rule for f in verdict.wrong if f.where == "billing on orders-0"} == {"status"}


def leave_out(one: Run) -> Run:
    return replace(one, frames={**one.frames, P: one.rows_of(P)[1:]})


@pytest.mark.parametrize(
    ("log", "calm", "missing"),
    [
        ((), False, True),
        (("group 'billing' not read (denied): x",), False, False),
        (("topic 'orders' not read (denied): x",), False, False),
        (("partition 'orders-0' not read (denied): x",), False, False),
        (("group 'other' not read (denied): x",), False, True),
        (("broker '1' not read (timeout): x",), False, False),
        (("broker '7' not read (timeout): x",), False, True),
        (("and 1 more not read",), False, False),
        (("and 0 more not read",), False, True),
        (("broker '1' not read (timeout): x",), True, True),
    ],
)
def test_a_missing_row_must_be_named_and_must_come_back(
    log: tuple[str, ...], calm: bool, missing: bool
) -> None:
    one = leave_out(run(log=log, calm=calm))
    assert ("missing" in rules(one)) is missing
    assert judged(one).missing.total() == 1


def test_a_broker_explains_a_missing_row_only_if_it_led_or_was_under_a_fault() -> None:
    one = leave_out(run(log=("broker '7' not read (timeout): x",)))
    now, long_ago = Trouble(7, NOW - 5_000), Trouble(7, NOW - 90_000, NOW - 60_000)
    assert "missing" not in rules(one, replace(TRUTH, troubles=(now,)))
    assert "missing" in rules(one, replace(TRUTH, troubles=(long_ago,)))


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({}, None),
        ({"committed_offset": 5}, "carried committed_offset"),
        ({"end_offset": 12}, "carried end_offset"),
        ({"last_time_lag_seconds": 19.0}, "carried last_time_lag_seconds"),
        ({"last_time_lag_seconds": 99.0}, "carried last_time_lag_seconds"),
        ({"read_at": NOW - 300}, "read_at of an unread row"),
    ],
)
def test_an_unread_row_carries_what_was_right_when_it_was_read(
    values: dict[str, Any], rule: str | None
) -> None:
    found = rules(run(row={**UNREAD, **values}))
    assert rule in found if rule else not found


def test_an_unread_row_and_an_error_are_wrong_in_a_calm_run() -> None:
    assert "recovery" in rules(run(row=UNREAD, calm=True))
    assert rules(run(calm=True, error="the store does not answer")) == {"recovery"}


@pytest.mark.parametrize(
    ("deleted", "made", "wrong"),
    [
        pytest.param(NOW - 5, NOW - 4, False, id="recreated before"),
        pytest.param(NOW - 5, NOW + 1, True, id="recreated later"),
        pytest.param(NOW + 1, NOW, True, id="deleted later"),
    ],
)
def test_an_end_may_be_that_of_the_recreated_topic(deleted: int, made: int, wrong: bool) -> None:
    empty = LogView.of([])
    topics = {
        "id-1": replace(TRUTH.topics["id-1"], deleted_sent=deleted),
        "id-2": TopicView("orders", "id-2", (empty, empty), (made, made), (made, made)),
    }
    found = rules(run(topic={"end_offset": 0}), replace(TRUTH, topics=topics))
    assert ("end_offset" in found) is wrong


def test_a_new_coordinator_may_answer_with_a_commit_of_a_moment_before() -> None:
    stale = (Stale(COORDINATORS, since=NOW - 70_000, begin=NOW - 68_000),)

    def truth(acked: int) -> TruthView:
        commits = with_commits(Commit(5, NOW - 65_000, NOW - 64_990), Commit(6, acked - 10, acked))
        return replace(TRUTH, commits=commits, stale=stale)

    row = {"committed_offset": 5, "lag": 5}
    assert "committed_offset" in rules(run(row=row), truth(NOW - 61_000))
    assert "committed_offset" not in rules(run(row=row), truth(NOW - 1_000))


@pytest.mark.parametrize(("lag", "wrong"), [(8, False), (7, True), (9, True)])
def test_without_a_snapshot_the_lag_is_held_to_the_truth(lag: int, wrong: bool) -> None:
    own = {contract.DIMENSION_GROUP: "billing"}
    lines = [{**own, contract.OFFSET_LAG: lag}, {**own, contract.DIMENSION_TOPIC: "orders"}]
    one = run(frames={}, metrics=lines, error="the store does not answer")
    assert ("metric OffsetLag" in rules(one)) is wrong
