# SPDX-License-Identifier: Apache-2.0
"""Each wrong number of a row is found, and each row that is not there."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dev.faults.truth import (
    COORDINATORS,
    Commit,
    LogView,
    Stale,
    TopicView,
    Trouble,
    TruthView,
)
from tests.dev.faults.builders import (
    LOG,
    NOW,
    TRUTH,
    G,
    P,
    Rows,
    T,
    frames,
    frames_with,
    judged,
    leave_a_row_unread,
    leave_out_a_row,
    moved,
    rules,
    run,
)


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
        (G, "lag", 7, "lag of group"),
        (G, "lag", None, "lag of group"),
        (G, "max_lag", 5, "max_lag"),
        (G, "records_lost", 1, "records_lost of group"),
        (G, "partitions", 3, "partitions"),
        (G, "partitions_unknown", 1, "partitions_unknown"),
        (G, "partitions_uncommitted", 1, "partitions_uncommitted"),
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
    ("change", "log", "calm", "wrong"),
    [
        (leave_out_a_row, (), False, {"missing"}),
        (leave_out_a_row, ("group 'billing' not read (denied): x",), False, set()),
        (leave_out_a_row, ("topic 'orders' not read (denied): x",), False, set()),
        (leave_out_a_row, ("broker '1' not read (timeout): x",), False, set()),
        (leave_out_a_row, ("group 'other' not read (denied): x",), False, {"missing"}),
        (leave_out_a_row, ("broker '1' not read (timeout): x",), True, {"missing"}),
        (leave_out_a_row, ("broker '7' not read (timeout): x",), False, {"missing"}),
        (leave_out_a_row, ("and 1 more not read",), False, set()),
        (leave_out_a_row, ("and 0 more not read",), False, {"missing"}),
        (leave_a_row_unread, ("partition 'orders-1' not read (timeout): x",), False, set()),
        (leave_a_row_unread, ("partition 'orders-1' not read (timeout): x",), True, {"recovery"}),
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


@pytest.mark.parametrize(
    ("deleted", "made", "is_wrong"),
    [
        pytest.param(NOW - 5, NOW - 4, False, id="made anew before"),
        pytest.param(NOW - 5, NOW, False, id="made anew meanwhile"),
        pytest.param(NOW - 5, NOW + 1, True, id="made anew later"),
        pytest.param(NOW + 1, NOW, True, id="deleted later"),
    ],
)
def test_an_end_may_be_that_of_the_topic_made_anew(
    deleted: int, made: int, *, is_wrong: bool
) -> None:
    empty = LogView.of([])
    topics = {
        "id-1": TopicView("orders", "id-1", (LOG, LOG), (0, 0), (1, 1), deleted_sent=deleted),
        "id-2": TopicView("orders", "id-2", (empty, empty), (made, made), (made, made)),
        "id-3": TopicView("orders", "id-3", (empty, empty), (NOW + 9, NOW + 9), (NOW + 9, NOW + 9)),
    }
    planted = frames()
    planted[T][0]["end_offset"] = 0
    found = rules(run(frames=planted), replace(TRUTH, topics=topics))
    assert ("end_offset" in found) is is_wrong


def test_an_unread_row_tells_no_lag() -> None:
    planted = frames()
    planted[P][1] |= {"unread_reason": "timeout"}
    assert {"unread lag", "unread time_lag_seconds", "unread status"} <= rules(run(frames=planted))


def test_a_new_coordinator_excuses_a_moment_and_not_the_whole_fault() -> None:
    stale = (Stale(COORDINATORS, since=NOW - 70_000, begin=NOW - 68_000),)
    planted = frames_with(committed_offset=5, lag=5, retention_margin=5)

    def truth(acked: int) -> TruthView:
        commits = [Commit(5, NOW - 65_000, NOW - 64_990), Commit(6, acked - 10, acked)]
        return replace(moved(*commits), stale=stale)

    assert "committed_offset" in rules(run(frames=planted), truth(NOW - 61_000))
    assert "committed_offset" not in rules(run(frames=planted), truth(NOW - 1_000))


@pytest.mark.parametrize("dataset", [T, P, G])
def test_a_row_that_stands_there_twice_is_found(dataset: str) -> None:
    planted = frames()
    planted[dataset].append(dict(planted[dataset][0]))
    assert "row" in rules(run(frames=planted))


def test_a_row_about_nobody_is_found() -> None:
    planted = frames()
    planted[G].append(planted[G][0] | {"consumer_group": "nobody", "unread_reason": "timeout"})
    assert "row" in rules(run(frames=planted))


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
    leave_a_row_unread(planted)
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
    "metric PartitionsUndated",
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


def test_a_broker_is_a_reason_only_if_it_led_or_was_under_a_fault() -> None:
    planted, log = frames(), ("broker '7' not read (timeout): x",)
    leave_out_a_row(planted)
    one = run(frames=planted, metrics=[], log=log)
    assert "missing" in rules(one)
    assert "missing" not in rules(one, replace(TRUTH, troubles=(Trouble(7, NOW - 5_000),)))
    long_ago = Trouble(7, NOW - 90_000, NOW - 60_000)
    assert "missing" in rules(one, replace(TRUTH, troubles=(long_ago,)))
