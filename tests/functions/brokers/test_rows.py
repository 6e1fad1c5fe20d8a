# SPDX-License-Identifier: Apache-2.0
"""What brokers answer, as rows: a value of its own in every field, and where each one ends up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.brokers.coordinators import ConsumerGroup, by_coordinator, chunks, find_coordinators
from kafka_lag.brokers.errors import Failure
from kafka_lag.brokers.group_members import GroupDescription, GroupMember
from kafka_lag.brokers.group_offsets import CommittedOffsets, fetch_offsets
from kafka_lag.brokers.group_rows import group_partition_rows, group_rows
from kafka_lag.brokers.offsets import START, LogOffsets, OffsetReader
from kafka_lag.brokers.retries import RetryBudget
from kafka_lag.brokers.topics import build_table
from tests.builders import table
from tests.functions.brokers.brokers import Brokers, Topic
from tests.functions.brokers.fakes import FakeConnections

ID = "00000000-0000-0000-0000-00000000000a"
FAILURE = Failure(contract.TIMEOUT, "slow")


def a_partition(number: int, leader: int = 1, **more: Any) -> Any:
    fields = {"replica_nodes": [leader], "isr_nodes": [leader], **more}
    return SimpleNamespace(partition_index=number, leader_id=leader, **fields)


def a_topic(name: str, *partitions: Any, topic_id: UUID | None = None) -> Any:
    return SimpleNamespace(name=name, topic_id=topic_id, partitions=list(partitions))


def test_each_partition_has_the_topics_id_and_its_own_leader_rack_and_replicas() -> None:
    found = build_table(
        [
            a_topic("z", a_partition(0, 3), topic_id=UUID(int=0)),
            a_topic(
                "a",
                a_partition(1, -1, replica_nodes=[5, 6], isr_nodes=[]),
                a_partition(0, 0, replica_nodes=[0, 2], isr_nodes=[2]),
                topic_id=UUID(ID),
            ),
        ],
        {0: "az-0", 3: None, -1: "nowhere"},
    )

    assert (found.names, found.index) == (("a", "z"), {"a": 0, "z": 1})
    assert (found.first.tolist(), found.count.tolist(), len(found)) == ([0, 2], [2, 1], 3)
    names = ("topic", "topic_id", "partition_id", "leader")
    assert table(found.frame, *names) == [("a", ID, 0, 0), ("a", ID, 1, None), ("z", None, 0, 3)]
    racks = table(found.frame, "leader_rack", "replicas", "in_sync_replicas")
    assert racks[0] == ("az-0", (0, 2), (2,))
    assert racks[1][1:] == ((5, 6), ())
    assert racks[2] == (None, (3,), (3,))


def test_a_cluster_without_topics_has_no_row() -> None:
    assert len(build_table([], {})) == 0


def a_member(name: str, *owned: tuple[str, tuple[int, ...]]) -> GroupMember:
    return GroupMember(name, f"client-{name}", f"/host-{name}", owned)


def test_a_group_has_the_words_of_its_description_before_those_of_the_listing() -> None:
    groups = [
        ConsumerGroup("both", 1, "Empty", "classic", "listed"),
        ConsumerGroup("listed", 1, "Stable", "consumer", None),
        ConsumerGroup("unread", 1, None, None, None),
        ConsumerGroup("failed", None, failure=Failure(contract.NO_COORDINATOR, "none")),
    ]
    described = {
        "both": GroupDescription("Stable", "described", (a_member("m"), a_member("n"))),
        "listed": GroupDescription(None, "described", (), epoch=7, members_hash=11),
        "unread": GroupDescription(failure=FAILURE),
    }
    commits = CommittedOffsets(
        ("both", "listed", "unread", "failed"),
        read_at={"both": 5, "listed": 6},
        unread={"unread": FAILURE, "failed": FAILURE},
    )
    names = ("consumer_group", "read_at", "unread_reason", "group_state", "group_type", "protocol")
    counts = ("members", "group_epoch", "members_hash")

    found = group_rows(groups, commits, described)

    assert table(found, *names) == [
        ("both", 5, None, "Stable", "classic", "listed"),
        ("listed", 6, None, "Stable", "consumer", "described"),
        ("unread", None, "timeout", None, None, None),
        ("failed", None, "no_coordinator", None, None, None),
    ]
    assert table(found, *counts) == [
        (2, None, None),
        (0, 7, 11),
        (None, None, None),
        (None, None, None),
    ]


# Three topics of one to three partitions; table rows 0 | 1 2 | 3 4 5.
TOPICS = build_table(
    [a_topic(name, *map(a_partition, range(n))) for n, name in enumerate("abc", 1)], {}
)
OF_PARTITION = ("consumer_group", "topic", "partition_id", "committed_offset", "member_id")


def test_a_group_has_all_partitions_of_each_topic_that_it_reads_or_owns() -> None:
    commits = CommittedOffsets(("g", "h"), read_at={"g": 8, "h": 9})
    row, offset, epoch = [0, 4, 3, 5], [70, 40, 0, -1], [0, -1, 6, -1]
    commits.add(*(np.array(each) for each in ([1, 0, 0, 0], row, offset, epoch)))
    owners = {
        "g": GroupDescription(members=(a_member("m", ("b", (1,))), a_member("n", ("c", (0, 2))))),
        "h": GroupDescription(members=(a_member("o", ("gone", (0,))),)),
    }

    found = group_partition_rows(TOPICS, commits, owners)

    assert table(found, *OF_PARTITION) == [
        ("g", "b", 0, None, None),
        ("g", "b", 1, None, "m"),
        # A commit at the very beginning is one; -1 is none.
        ("g", "c", 0, 0, "n"),
        ("g", "c", 1, 40, None),
        ("g", "c", 2, None, "n"),
        ("h", "a", 0, 70, None),
    ]
    # An epoch of 0 is one; a commit may lack it.
    assert found.numbers("commit_epoch").to_list() == [None, None, 6, None, None, 0]
    clients = table(found, "client_id", "client_host", "read_at")
    assert clients[1:3] == [("client-m", "/host-m", 8), ("client-n", "/host-n", 8)]
    assert clients[5] == (None, None, 9)


def test_a_partition_that_failed_has_a_reason_and_no_commit_and_its_neighbours_have_theirs() -> (
    None
):
    commits = CommittedOffsets(("g", "h"), failures={(0, 2): FAILURE}, read_at={"g": 1, "h": 1})
    commits.add(*(np.array(each) for each in ([0, 0, 1], [1, 2, 1], [10, 20, 30], [-1] * 3)))

    found = table(
        group_partition_rows(TOPICS, commits, {}),
        *("consumer_group", "partition_id", "committed_offset", "unread_reason"),
    )

    assert found == [
        ("g", 0, 10, None),
        ("g", 1, None, "timeout"),
        ("h", 0, 30, None),
        ("h", 1, None, None),
    ]


def test_an_assignment_of_a_partition_that_the_topic_lacks_owns_none_of_its_neighbours() -> None:
    owners = {"g": GroupDescription(members=(a_member("m", ("b", (-1, 1, 2))),))}

    found = group_partition_rows(TOPICS, CommittedOffsets(("g",), read_at={"g": 1}), owners)

    assert table(found, "topic", "partition_id", "member_id") == [("b", 0, None), ("b", 1, "m")]


def test_who_owns_partitions_of_a_group_whose_commits_were_not_read_is_not_said() -> None:
    owners = {"g": GroupDescription(members=(a_member("m", ("a", (0,))),))}
    assert len(group_partition_rows(TOPICS, CommittedOffsets(("g",)), owners)) == 0


# Who coordinates which group.


def an_answer(node: int, code: int = 0) -> Any:
    return SimpleNamespace(error_code=code, node_id=node)


def found_by(version: int, answers: dict[str, Any]) -> tuple[dict[str, ConsumerGroup], list[Any]]:
    """What brokers of this version of FindCoordinator answer, and the requests."""

    def answer(request: Any) -> Any:
        if version < 4:
            return answers[request.key]
        keys = [key for key in request.coordinator_keys if key in answers]
        each = [SimpleNamespace(key=key, **vars(answers[key])) for key in keys]
        return SimpleNamespace(coordinators=each)

    fake = FakeConnections(answer, version)
    connections: Any = fake
    return asyncio.run(find_coordinators(connections, answers)), fake.requests


@pytest.mark.parametrize(("version", "requests"), [(3, 4), (4, 1), (6, 1)])
def test_groups_are_located_by_one_request_where_brokers_take_many(
    version: int, requests: int
) -> None:
    answers = {"a": an_answer(0), "b": an_answer(7), "c": an_answer(-1), "d": an_answer(-1, 15)}

    found, sent = found_by(version, answers)

    assert {name: group.coordinator for name, group in found.items()} == {
        "a": 0,
        "b": 7,
        "c": None,
        "d": None,
    }
    reasons = {name: group.failure and group.failure.reason for name, group in found.items()}
    assert reasons == {"a": None, "b": None, "c": "no_coordinator", "d": "no_coordinator"}
    assert len(sent) == requests


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    ("code", "reason"), [(30, "denied"), (15, "no_coordinator"), (-1, "no_coordinator")]
)
def test_why_a_group_has_no_coordinator_is_named(version: int, code: int, reason: str) -> None:
    found, _ = found_by(version, {"g": an_answer(3, code)})
    failure = found["g"].failure
    assert failure is not None
    assert (found["g"].coordinator, failure.reason) == (None, reason)


def test_a_group_that_the_answer_leaves_out_is_not_read() -> None:
    connections: Any = FakeConnections(lambda _: SimpleNamespace(coordinators=None), 4)
    found = asyncio.run(find_coordinators(connections, ["g"]))
    assert found["g"].coordinator is None
    assert found["g"].failure is not None


@pytest.mark.parametrize(("groups", "sizes"), [(500, [500]), (501, [500, 1]), (0, [])])
def test_one_request_locates_five_hundred_groups(groups: int, sizes: Sequence[int]) -> None:
    _, sent = found_by(4, {f"g{number}": an_answer(1) for number in range(groups)})
    assert [len(request.coordinator_keys) for request in sent] == sizes


def test_groups_are_asked_for_where_they_are_coordinated_and_those_without_nowhere() -> None:
    groups = [ConsumerGroup(name, node) for name, node in (("a", 0), ("b", 2), ("c", 0))]
    parts = by_coordinator([*groups, ConsumerGroup("d", None)])
    assert {node: [group.name for group in part] for node, part in parts.items()} == {
        0: ["a", "c"],
        2: ["b"],
    }


@pytest.mark.parametrize(
    ("kind", "supported"),
    [("classic", True), ("Consumer", True), (None, True), ("Streams", True), ("share", False)],
)
def test_a_group_without_commits_against_log_ends_is_not_supported(
    kind: str | None, supported: bool
) -> None:
    assert ConsumerGroup("g", 1, kind=kind).supported == supported


def test_chunks_hold_everything_once() -> None:
    assert chunks([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]


# Commits as brokers answer them: tables of TOPICS' rows.


def a_commit(number: int, offset: int, code: int = 0) -> Any:
    return SimpleNamespace(
        partition_index=number, committed_offset=offset, committed_leader_epoch=3, error_code=code
    )


def commits_of(*topics: tuple[str, Sequence[Any]], code: int = 0) -> Any:
    named = [SimpleNamespace(name=name, partitions=list(parts)) for name, parts in topics]
    return SimpleNamespace(error_code=code, topics=named)


def fetched(
    answers: dict[str, Any],
    version: int = 8,
    unasked: Sequence[str] = (),
    commits: CommittedOffsets | None = None,
    committed: Sequence[str] = (),
) -> tuple[CommittedOffsets, FakeConnections]:
    """What brokers that coordinate these groups answer, groups of odd numbers being on broker 2."""

    def answer(request: Any) -> Any:
        if version < 8:
            return answers[request.group_id]
        names = [*(group.group_id for group in request.groups), *unasked]
        of = {name: answers[name] for name in names if answers[name]}
        return SimpleNamespace(
            groups=[SimpleNamespace(group_id=name, **vars(each)) for name, each in of.items()]
        )

    fake = FakeConnections(answer, version)
    connections: Any = fake
    found = commits or CommittedOffsets(("other", *answers))
    groups = [ConsumerGroup(name, 1 + number % 2) for number, name in enumerate(answers)]
    asyncio.run(fetch_offsets(connections, groups, TOPICS, found, committed, lambda: 12.5))
    return found, fake


@pytest.mark.parametrize("version", [7, 8])
def test_commits_stand_at_their_partitions_whatever_the_brokers_version(version: int) -> None:
    found, _ = fetched(
        {
            "g": commits_of(("b", [a_commit(1, 7), a_commit(0, -1)]), ("c", [a_commit(2, 0)])),
            "h": commits_of(("a", [a_commit(0, 9)])),
        },
        version,
    )

    rows = sorted(zip(*(each.tolist() for each in found.as_arrays()), strict=True))
    assert rows == [(1, 1, -1, 3), (1, 2, 7, 3), (1, 5, 0, 3), (2, 0, 9, 3)]
    assert found.read_at == {"g": 12_500, "h": 12_500}
    assert (found.unread, found.failures, found.unlisted) == ({}, {}, {})


@pytest.mark.parametrize(
    ("version", "groups", "requests"),
    [(8, 200, 2), (8, 202, 4), (7, 5, 5)],
    ids=["a hundred each", "a few more", "one each"],
)
def test_a_request_has_a_hundred_groups_where_brokers_take_several(
    version: int, groups: int, requests: int
) -> None:
    _, fake = fetched({f"g{number:03}": commits_of() for number in range(groups)}, version)
    assert len(fake.requests) == requests


@pytest.mark.parametrize(
    ("number", "is_there"), [(-1, False), (0, True), (1, True), (2, False), (99, False)]
)
def test_a_commit_on_a_partition_that_the_topic_lacks_leaves_the_group_unread_once(
    number: int, is_there: bool
) -> None:
    answers = {"g": commits_of(("c", [a_commit(2, 8)]), ("b", [a_commit(number, 5)]))}
    found, _ = fetched(answers)

    assert (found.unlisted == {}) == is_there
    assert ("g" in found.unread, "g" in found.read_at) == (not is_there, is_there)
    # The same answer once more: somebody left it behind.
    again, _ = fetched(answers, commits=found)
    assert (again.unread, again.read_at) == ({}, {"g": 12_500})
    if not is_there:
        assert again.unlisted == {"g": {("b", number)}}
        assert [each.tolist() for each in again.as_arrays()] == [[1], [5], [8], [3]]


@pytest.mark.parametrize(
    ("parts", "failing"),
    [
        ([a_commit(0, 5), a_commit(1, -1)], []),
        ([a_commit(0, 5), a_commit(1, -2)], []),
        ([a_commit(0, 5), a_commit(0, 6)], [1]),
        ([a_commit(0, 5, 29), a_commit(1, 6)], [1]),
        ([a_commit(0, 5), a_commit(1, 6, 29)], [2]),
    ],
    ids=["none", "negative", "twice", "the first denied", "the second denied"],
)
def test_an_odd_commit_costs_its_partition(parts: Sequence[Any], failing: list[int]) -> None:
    found, _ = fetched({"g": commits_of(("b", parts))})
    assert sorted(found.failures) == [(1, row) for row in failing]


def test_a_group_that_fails_or_is_left_out_is_unread_and_one_unasked_is_named() -> None:
    found, fake = fetched(
        {"denied": commits_of(code=30), "fine": commits_of(), "left": None},
        unasked=["denied"],
    )
    reasons = {name: failure.reason for name, failure in found.unread.items()}
    assert reasons == {"denied": "denied", "left": "error"}
    assert set(found.read_at) == {"fine"}
    assert fake.unexpected == {2: "answered OffsetFetch for group 'denied', unasked"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (commits_of(), "no_coordinator"),
        (commits_of(("b", [a_commit(0, 5)])), None),
        (commits_of(code=30), "denied"),
    ],
    ids=["nothing any more", "some", "denied"],
)
def test_a_group_that_had_commits_and_is_answered_without_any_is_not_read(
    answer: Any, reason: str | None
) -> None:
    found, _ = fetched({"g": answer}, committed=["g", "other"])
    failure = found.unread.get("g")
    assert (failure and failure.reason, "g" in found.read_at) == (reason, reason is None)


def test_a_group_whose_answer_was_not_whole_is_forgotten_and_no_other() -> None:
    found, _ = fetched(
        {
            "g": commits_of(("b", [a_commit(0, 5), a_commit(1, -1, 29)])),
            "h": commits_of(("b", [a_commit(0, 6), a_commit(1, -1, 29)])),
        }
    )
    found.forget({"g": FAILURE})

    assert [each.tolist() for each in found.as_arrays()] == [[2, 2], [1, 2], [6, -1], [3, 3]]
    assert list(found.failures) == [(2, 2)]
    assert (found.unread, found.read_at) == ({"g": FAILURE}, {"h": 12_500})


def test_a_share_group_is_listed_and_nobody_asks_for_its_commits() -> None:
    brokers = Brokers({"orders": Topic([(0, 9)])}, {name: {"orders": [5]} for name in ("g", "s")})

    def change(request: Any, answer: Any) -> Any:
        for listed in answer.groups if type(request).__name__ == "ListGroupsRequest" else ():
            listed.group_type = "Share" if listed.group_id == "s" else "Classic"
        return answer

    brokers.change = change
    reading = brokers.read()

    assert table(reading.groups, "consumer_group", "group_type") == [
        ("g", "classic"),
        ("s", "share"),
    ]
    assert table(reading.group_partitions, "consumer_group") == [("g",)]
    fetches = [each for each in brokers.requests if type(each).__name__ == "OffsetFetchRequest"]
    assert [group.group_id for each in fetches for group in each.groups] == ["g"]


# Offsets as leaders answer them. Row 2 has no leader; the others are on brokers 1, 2 and 2.

LED = build_table(
    [
        a_topic("a", a_partition(0, 1), a_partition(1, 2), a_partition(2, -1)),
        a_topic("b", a_partition(0, 2)),
    ],
    {},
)
ANSWERED = {("a", 0): (0, 10), ("a", 1): (0, 11), ("b", 0): (0, 0)}


def offsets_of(
    answers: Sequence[tuple[str, int, int, int]],
) -> tuple[LogOffsets, FakeConnections]:
    """The first offsets by these answers (topic, number, error code, offset), asked for once."""

    def answer(request: Any) -> Any:
        asked = {(t.name, p.partition_index) for t in request.topics for p in t.partitions}
        topics = [
            SimpleNamespace(
                name=name,
                partitions=[
                    SimpleNamespace(partition_index=n, error_code=code, offset=offset, timestamp=-1)
                ],
            )
            for name, n, code, offset in answers
            if (name, n) in asked or code == STRANGE
        ]
        return SimpleNamespace(topics=topics)

    fake = FakeConnections(answer)
    connections: Any = fake
    ticks = iter(range(5, 100))
    reader = OffsetReader(connections, RetryBudget(connections), LED, lambda: float(next(ticks)))
    return asyncio.run(reader.read(START, np.ones(len(LED), bool))), fake


STRANGE = 999
RIGHT = [(topic, number, *answer) for (topic, number), answer in ANSWERED.items()]


def test_each_leader_is_asked_for_its_own_partitions() -> None:
    found, fake = offsets_of(RIGHT)

    asked = {
        node: [(t.name, p.partition_index) for t in request.topics for p in t.partitions]
        for node, request in zip(fake.sent_to, fake.requests, strict=True)
    }
    assert asked == {1: [("a", 0)], 2: [("a", 1), ("b", 0)]}
    assert found.offset.to_list() == [10, 11, None, 0]
    assert (found.asked_at.to_list(), found.read_at.to_list()) == (
        [5_000, 7_000, None, 7_000],
        [6_000, 8_000, None, 8_000],
    )
    assert {row: failure.reason for row, failure in found.failures.items()} == {2: "no_leader"}
    assert fake.unexpected == {}


@pytest.mark.parametrize(
    ("answers", "reason", "detail"),
    [
        ([], "error", "left"),
        ([("a", 1, 29, -1)], "denied", "AUTHORIZATION"),
        ([("a", 1, 0, -1)], "error", "answered offset -1"),
        ([("a", 1, 0, 7), ("a", 1, 0, 7)], "error", "answered twice"),
    ],
    ids=["left out", "denied", "no offset", "twice"],
)
def test_an_odd_answer_costs_its_partition_its_offset(
    answers: list[tuple[str, int, int, int]], reason: str, detail: str
) -> None:
    others = [each for each in RIGHT if each[:2] != ("a", 1)]
    found, _ = offsets_of([*others, *answers])

    assert found.offset.to_list() == [10, None, None, 0]
    assert found.failures[1].reason == reason
    assert detail in found.failures[1].detail


@pytest.mark.parametrize(("topic", "number"), [("a", 2), ("a", 3), ("a", -1), ("c", 0)])
def test_an_answer_that_nobody_asked_for_is_named_and_used_for_nothing(
    topic: str, number: int
) -> None:
    found, fake = offsets_of([*RIGHT, (topic, number, STRANGE, 77)])

    assert found.offset.to_list() == [10, 11, None, 0]
    assert fake.unexpected[1] == f"answered ListOffsets for {topic!r}-{number}, unasked"


def test_a_partition_that_the_broker_does_not_know_makes_its_topic_missing() -> None:
    found, _ = offsets_of([("a", 0, 0, 10), ("a", 1, 0, 11), ("b", 0, 3, -1)])
    assert found.missing == {"b"}
