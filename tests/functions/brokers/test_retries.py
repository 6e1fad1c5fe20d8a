# SPDX-License-Identifier: Apache-2.0
"""Whole runs during an election: temporary errors are retried, and others are named."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.brokers.errors import UnansweredError
from tests.builders import NOON, table
from tests.functions.brokers.brokers import Brokers, Runs, Topic

GROUP, CLUSTER = ("shop", "g"), ("shop",)


def _runs(logs: int = 2) -> Runs:
    brokers = Brokers({"orders": Topic([(0, 10)] * logs)}, {"g": {"orders": [10] * logs}})
    brokers.nodes = [1, 2]
    return Runs(brokers)


@pytest.mark.parametrize(
    ("kind", "item", "code"),
    [
        ("Starts", ("orders", 1), 6),
        ("Ends", ("orders", 1), 5),
        ("Ends", ("orders", 1), 78),
        ("ListGroups", 1, 14),
        ("ListGroups", 1, 15),
        ("OffsetFetch", "g", 14),
        ("OffsetFetch", "g", 15),
        ("OffsetFetch", "g", 16),
        ("DescribeGroups", "g", 16),
    ],
)
@pytest.mark.parametrize("times", [1, 3])
def test_what_an_election_refuses_is_read_in_the_same_run(
    kind: str, item: Any, code: int, times: int
) -> None:
    runs = _runs()
    runs.brokers.codes[kind, item] = [code] * times
    values = runs()
    assert values[CLUSTER, contract.READ_ERRORS] == 0
    assert values[CLUSTER, contract.GROUPS_READ] == 1
    assert values[GROUP, contract.OFFSET_LAG] == 0
    assert runs.logger.warnings == []
    assert runs.brokers.kinds.count(kind) == times + (2 if kind == "ListGroups" else 1)


@pytest.mark.parametrize(
    ("kind", "item", "code", "line"),
    [
        (
            "Ends",
            ("orders", 1),
            6,
            "partition 'orders-1' not read (no_leader): offsets: NOT_LEADER_OR_FOLLOWER"
            "; its replicas: 1",
        ),
        (
            "Starts",
            ("orders", 1),
            56,
            "partition 'orders-1' not read (error): offsets: KAFKA_STORAGE_ERROR",
        ),
        (
            "OffsetFetch",
            "g",
            16,
            "group 'g' not read (no_coordinator): commits: NOT_COORDINATOR",
        ),
        (
            "ListGroups",
            2,
            14,
            "broker '2' not read (no_coordinator): could not list its groups: "
            "COORDINATOR_LOAD_IN_PROGRESS",
        ),
    ],
)
def test_what_lasts_is_given_up_soon_and_named_as_kafka_does(
    kind: str, item: Any, code: int, line: str
) -> None:
    runs = _runs()
    runs.brokers.lasting[kind, item] = code
    runs()
    assert runs.logger.warnings == [line]
    assert 0 < sum(runs.brokers.pauses) < 3


def test_a_broker_that_is_listed_no_more_is_one_line_with_its_host_and_port() -> None:
    def without_broker_3(_: Any, answer: Any) -> Any:
        for topic in getattr(answer, "topics", None) or ():
            for part in topic.partitions[1:] if hasattr(topic, "topic_id") else ():
                part.leader_id, part.replica_nodes, part.isr_nodes = -1, [3], [3]
        return answer

    runs = _runs(logs=30)
    runs.brokers.registered = [1, 2, 3]
    runs.brokers.change = without_broker_3
    assert runs()[CLUSTER, contract.READ_ERRORS] == 29
    assert runs.logger.warnings == [
        "broker '3' not read (no_leader): at b-3:9096: partition 'orders-1', offsets: "
        "LEADER_NOT_AVAILABLE; its replicas: 3; with it 28 partitions"
    ]
    runs()
    assert runs.brokers.kinds.count("DescribeCluster") == 0


@pytest.mark.parametrize(("refusing", "expected"), [([], True), ([1], True), ([1, 2], False)])
def test_a_reading_says_whether_any_broker_lists_its_groups(
    refusing: list[int], expected: bool
) -> None:
    brokers = _runs().brokers
    brokers.lasting = {("ListGroups", node): 31 for node in refusing}
    assert brokers.read().lists_groups is expected


def test_only_what_failed_is_retried() -> None:
    runs = _runs(logs=5)
    runs.brokers.codes["Ends", ("orders", 3)] = [6]
    runs()
    requested = [
        [p.partition_index for p in request.topics[0].partitions]
        for request in runs.brokers.requests
        if getattr(request, "isolation_level", None) == 0
    ]
    assert requested == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [3]]


@pytest.mark.parametrize("code", [29, 1, 43])
def test_an_error_that_does_not_pass_is_not_retried(code: int) -> None:
    runs = _runs()
    runs.brokers.lasting["Ends", ("orders", 1)] = code
    runs()
    assert runs.brokers.pauses == []
    assert runs.brokers.kinds.count("Ends") == 1


@pytest.mark.parametrize("node", [2, 0])
def test_a_new_leader_is_read_and_published(node: int) -> None:
    runs = _runs()
    runs.brokers.codes["Starts", ("orders", 1)] = [6]

    def elected(_: Any, answer: Any) -> Any:
        runs.brokers.topics["orders"].leaders[1] = node
        return answer

    runs.brokers.change = elected
    runs()
    frame = runs.collector.memory.newest.topic_partitions
    assert frame.numbers("leader").to_list() == [1, node]
    assert frame.strings("unread_reason").to_list() == [None, None]


@pytest.mark.parametrize("node", [2, 0])
def test_a_group_that_moves_is_read_from_its_new_coordinator(node: int) -> None:
    runs = _runs()
    runs.brokers.codes["OffsetFetch", "g"] = [16]

    def moved(_: Any, answer: Any) -> Any:
        if runs.brokers.kinds[-1] == "OffsetFetch":
            runs.brokers.coordinators["g"] = node
        return answer

    runs.brokers.change = moved
    assert runs()[CLUSTER, contract.GROUPS_READ] == 1
    fetched = zip(runs.brokers.requests, runs.brokers.sent_to, strict=True)
    assert [node for requested, node in fetched if hasattr(requested, "require_stable")] == [
        1,
        node,
    ]


def test_a_group_whose_coordinator_falls_silent_waits_for_the_next_one() -> None:
    runs = _runs()
    runs.brokers.codes["FindCoordinator", "g"] = [15]

    def unanswered_at_first(_: Any, answer: Any) -> Any:
        if runs.brokers.kinds[-1] == "OffsetFetch" and runs.brokers.kinds.count("OffsetFetch") == 1:
            return UnansweredError(contract.TIMEOUT, "no answer in time")
        return answer

    runs.brokers.change = unanswered_at_first
    assert runs()[CLUSTER, contract.GROUPS_READ] == 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (15, "(no_coordinator): commits: COORDINATOR_NOT_AVAILABLE"),
        # whatever else is wrong: what cannot be found is the coordinator
        (-1, "(no_coordinator): commits: UNKNOWN_SERVER_ERROR"),
        (30, "(denied): commits: GROUP_AUTHORIZATION_FAILED"),
    ],
)
def test_a_group_that_no_broker_coordinates_any_more_is_named_so(code: int, said: str) -> None:
    runs = _runs()
    runs.brokers.lasting["FindCoordinator", "g"] = code
    runs.brokers.lasting["OffsetFetch", "g"] = 16
    runs()
    assert runs.logger.warnings == [f"group 'g' not read {said}"]


def test_an_end_is_read_after_the_commit_that_it_is_compared_with() -> None:
    runs = _runs()
    runs.brokers.codes["Starts", ("orders", 0)] = [6]
    runs.brokers.codes["OffsetFetch", "g"] = [14, 14]
    runs()
    kinds = runs.brokers.kinds
    last = {kind: place for place, kind in enumerate(kinds)}
    assert last["Starts"] < kinds.index("OffsetFetch")
    assert last["OffsetFetch"] < kinds.index("Ends")


def test_a_partition_was_read_when_its_end_was_answered() -> None:
    ticks = count(NOON // 1000)
    reading = _runs().brokers.read(clock=lambda: float(next(ticks)))
    (committed_at,) = reading.groups.numbers("read_at").to_list()
    times = table(reading.topic_partitions, "asked_at", "read_at")
    assert times == [(committed_at + 1_000, committed_at + 2_000)] * 2


def test_no_retry_begins_when_half_of_the_runs_time_is_used_up() -> None:
    runs = _runs()
    runs.brokers.seconds = 1.0
    runs.brokers.lasting["Starts", ("orders", 1)] = 6
    runs()
    assert sum(runs.brokers.pauses) <= 0.5


@pytest.mark.parametrize("refuses", [True, False], ids=["refused", "no leader"])
def test_what_was_unread_in_the_run_before_is_not_waited_for_again(refuses: bool) -> None:
    runs = _runs()
    if refuses:
        runs.brokers.lasting["Ends", ("orders", 1)] = 6
    else:
        runs.brokers.topics["orders"].leaders[1] = -1
    runs()
    assert runs.brokers.pauses
    runs()
    assert runs.brokers.pauses == []
    assert runs.brokers.kinds.count("Metadata") == 1
    # Nor are all topics listed a second time in a run.
    listings = [r for r in runs.brokers.requests if getattr(r, "topics", ()) is None]
    assert len(listings) == 2
    why = "NOT_LEADER_OR_FOLLOWER" if refuses else "LEADER_NOT_AVAILABLE"
    assert runs.logger.warnings == [
        f"partition 'orders-1' not read (no_leader): offsets: {why}; its replicas: 1"
    ]


def test_a_topic_deleted_during_an_election_is_gone_and_no_error() -> None:
    runs = _runs()
    runs.brokers.topics["fleeting"] = Topic([(0, 3)])
    runs.brokers.lasting["Ends", ("fleeting", 0)] = 6

    def deleted(_: Any, answer: Any) -> Any:
        if runs.brokers.kinds[-1] == "Ends":
            runs.brokers.topics.pop("fleeting", None)
        return answer

    runs.brokers.change = deleted
    assert runs()[CLUSTER, contract.READ_ERRORS] == 0


@pytest.mark.parametrize(
    ("code", "reason"),
    [(69, None), (35, None), (15, contract.NO_COORDINATOR), (30, contract.DENIED)],
    ids=["no such group", "the protocol is off", "no coordinator", "denied"],
)
def test_a_group_is_deleted_after_two_seconds_where_the_new_group_protocol_does_not_know_it_either(
    code: int, reason: str | None
) -> None:
    runs = _runs()
    runs()
    del runs.brokers.groups["g"]
    runs.brokers.lasting["ConsumerGroupDescribe", "g"] = code
    errors = runs()[CLUSTER, contract.READ_ERRORS]
    groups = runs.collector.memory.newest.groups
    gone = contract.GONE if reason is None else None
    assert table(groups, "unread_reason", "status_reason") == [(reason, gone)]
    assert errors == (reason is not None)
    assert sum(runs.brokers.pauses) > 2 or reason


def _until(runs: Runs, kind: str, times: int, then: Callable[[], None]) -> None:
    """After so many answers of a kind in a run the brokers are as `then` makes them."""

    def change(_: Any, answer: Any) -> Any:
        if runs.brokers.kinds[-1] == kind and runs.brokers.kinds.count(kind) == times:
            then()
        return answer

    runs.brokers.change = change


@pytest.mark.parametrize("answers", [1, 3])
@pytest.mark.parametrize("kind", ["DescribeGroups", "OffsetFetch"])
def test_what_a_new_coordinator_does_not_know_yet_is_read_in_the_same_run(
    kind: str, answers: int
) -> None:
    runs = _runs()
    runs()
    commits = runs.brokers.groups.pop("g")
    if kind == "OffsetFetch":
        runs.brokers.groups["g"] = {}
    _until(runs, kind, answers, lambda: runs.brokers.groups.update(g=commits))
    assert runs()[GROUP, contract.OFFSET_LAG] == 0
    assert runs.logger.warnings == []


def test_a_group_that_was_moving_until_the_last_answer_is_not_deleted() -> None:
    runs = _runs()
    runs()
    del runs.brokers.groups["g"]
    runs.brokers.codes["DescribeGroups", "g"] = [16] * 3
    runs()
    groups = runs.collector.memory.newest.groups
    assert table(groups, "unread_reason", "lag") == [(contract.NO_COORDINATOR, 0)]
    (line,) = runs.logger.warnings
    assert line.startswith("group 'g' not read (no_coordinator)")
    runs()
    groups = runs.collector.memory.newest.groups
    assert groups.strings("status_reason").to_list() == [contract.GONE]


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_a_group_is_unread_where_no_time_is_left_to_ask_its_new_coordinator_again(
    listed: bool,
) -> None:
    runs = _runs()
    runs()
    runs.brokers.seconds = 0.3
    if listed:
        runs.brokers.groups["g"] = {}
    else:
        del runs.brokers.groups["g"]
    runs()
    groups = runs.collector.memory.newest.groups
    assert table(groups, "unread_reason", "lag") == [(contract.NO_COORDINATOR, 0)]
    assert [line.split(" not read")[0] for line in runs.logger.warnings] == ["group 'g'"]


def test_commits_that_were_deleted_are_believed_to_be_gone_after_two_seconds() -> None:
    runs = _runs()
    runs()
    runs.brokers.groups["g"] = {}
    runs()
    assert sum(runs.brokers.pauses) > 2
    snapshot = runs.collector.memory.newest
    assert snapshot.groups.strings("unread_reason").to_list() == [None]
    assert len(snapshot.group_partitions) == 0
    # Nor is one that never committed asked for again.
    runs()
    assert runs.brokers.pauses == []


def test_a_group_that_was_listed_and_never_read_stays_named_while_it_moves() -> None:
    runs = _runs()
    runs.brokers.lasting["OffsetFetch", "g"] = 14
    runs()
    del runs.brokers.groups["g"]
    runs.brokers.lasting["DescribeGroups", "g"] = 14
    for _ in range(2):
        runs()
        groups = runs.collector.memory.newest.groups
        assert table(groups, "consumer_group", "unread_reason") == [("g", contract.NO_COORDINATOR)]


def test_a_group_that_no_broker_lists_keeps_its_commits_for_longer_than_a_day() -> None:
    runs = _runs()
    runs()
    del runs.brokers.groups["g"]
    runs.brokers.lasting["FindCoordinator", "g"] = 15
    runs()
    runs(25 * 3_600)
    rows = runs.collector.memory.newest.group_partitions
    kept = (contract.NO_COORDINATOR, 10, contract.OK)
    assert table(rows, "unread_reason", "committed_offset", "last_status") == [kept, kept]


def test_a_topic_recreated_during_an_election_lends_its_offsets_to_nobody() -> None:
    runs = _runs()
    runs.brokers.codes["Ends", ("orders", 1)] = [6]

    def recreated(_: Any, answer: Any) -> Any:
        if runs.brokers.kinds[-1] == "Ends":
            runs.brokers.topics["orders"] = Topic([(0, 99), (0, 99)], topic_id=2)
        return answer

    runs.brokers.change = recreated
    runs()
    frame = runs.collector.memory.newest.topic_partitions
    assert frame.numbers("end_offset").to_list() == [10, None]
