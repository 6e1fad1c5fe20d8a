# SPDX-License-Identifier: Apache-2.0
"""The brokers' answers as rows: each field has a value of its own, which ends up in one column."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from kafka_lag.brokers import offsets, topics
from kafka_lag.brokers.coordinators import ConsumerGroup, find_coordinators
from kafka_lag.brokers.group_offsets import CommittedOffsets, fetch_offsets
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.topics import build_table
from tests.builders import NOON, table
from tests.functions.brokers.brokers import Brokers, Topic
from tests.functions.brokers.fakes import FakeConnections

ID = "00000000-0000-0000-0000-00000000000a"


def a_member(name: str, **owned: Sequence[int]) -> Any:
    topic_of = ConsumerProtocolAssignment.TopicPartition
    topics = [topic_of(topic=topic, partitions=list(each)) for topic, each in owned.items()]
    assignment = ConsumerProtocolAssignment(assigned_partitions=topics, user_data=b"")
    return SimpleNamespace(
        member_id=name,
        client_id=f"client-{name}",
        client_host=f"/host-{name}",
        member_metadata=b"",
        member_assignment=bytes(assignment.encode(version=0)),
    )


MEMBERS = {
    "g": [a_member("m", b=[1, -1, 2, 2**31 - 1], gone=[0]), a_member("n", c=[2])],
    # Of a group whose commits are not read nobody owns anything.
    "denied": [a_member("o", a=[0])],
}

# Maps of parallel consumers: after this commit three records are finished, and after this one more
# than the log has.
MAPS = {40: "bgACAAM=", 30: "ZQAAAAEAAJw/"}


def a_cluster() -> Brokers:
    """Three topics of one to three partitions, of which `b` is led by a broker 0 and by nobody."""
    topics = {
        "c": Topic([(0, 70), (3, 80), (5, 90)], topic_id=0),
        "a": Topic([(1, 50)], leaders={0: 7}, topic_id=10),
        "b": Topic([(2, 40), (0, 60)], leaders={0: 0, 1: -1}, topic_id=11),
    }
    groups = {"g": {"c": [0, 40, -1]}, "h": {"a": [30]}, "denied": {"a": [1]}, "share": {}}
    brokers = Brokers(topics, groups)
    brokers.nodes = [0, 1, 7]
    brokers.epochs = {"h": 5}
    brokers.lasting["OffsetFetch", "denied"] = 30

    def change(_: Any, answer: Any) -> Any:
        for group in getattr(answer, "groups", ()):
            if brokers.kinds[-1] == "DescribeGroups":
                group.members = MEMBERS.get(group.group_id, [])
            if getattr(group, "group_type", None) and group.group_id == "share":
                group.group_type = "Share"
            for topic in getattr(group, "topics", ()):
                for part in topic.partitions:
                    part.committed_leader_epoch = {40: 6, 30: 0}.get(part.committed_offset, -1)
                    part.metadata = MAPS.get(part.committed_offset, "")
        for topic in getattr(answer, "topics", ()) if brokers.kinds[-1] == "Metadata" else ():
            for part in topic.partitions[1:]:
                part.replica_nodes, part.isr_nodes = [5, 6], []
        return answer

    brokers.change = change
    return brokers


def test_each_partition_has_the_topics_id_and_its_own_leader_rack_replicas_and_offsets() -> None:
    found = a_cluster().read().topic_partitions

    second = ID.replace("a", "b")
    assert table(found, "topic", "topic_id", "partition_id", "leader", "leader_rack") == [
        ("a", ID, 0, 7, "az7"),
        ("b", second, 0, 0, "az0"),
        ("b", second, 1, None, None),
        *(("c", None, number, 1, "az1") for number in range(3)),
    ]
    whole, part = ((1,), (1,)), ((5, 6), ())
    replicas = table(found, "replicas", "in_sync_replicas")
    assert replicas == [whole, whole, part, whole, part, part]
    offsets = table(found, "start_offset", "end_offset", "unread_reason")
    assert offsets[:3] == [(1, 50, None), (2, 40, None), (None, None, "no_leader")]
    assert offsets[3:] == [(0, 70, None), (3, 80, None), (5, 90, None)]


def test_a_group_has_what_its_description_and_the_listing_say_of_it() -> None:
    brokers = a_cluster()
    found = brokers.read().groups

    names = ("consumer_group", "unread_reason", "group_state", "group_type", "protocol")
    assert sorted(table(found, *names, "members", "group_epoch")) == [
        ("denied", "denied", "Stable", "classic", "consumer", 1, None),
        ("g", None, "Stable", "classic", "consumer", 2, None),
        ("h", None, "Stable", "consumer", "consumer", 0, 5),
        ("share", None, "Stable", "share", "consumer", None, None),
    ]
    read_at = dict(table(found, "consumer_group", "read_at"))
    assert read_at == {"denied": None, "g": NOON, "h": NOON, "share": None}
    fetches = [each for each in brokers.requests if type(each).__name__ == "OffsetFetchRequest"]
    asked = {group.group_id for each in fetches for group in each.groups}
    assert asked == {"denied", "g", "h"}


def test_a_group_has_all_partitions_of_each_topic_that_it_reads_or_owns() -> None:
    found = a_cluster().read().group_partitions

    names = ("consumer_group", "topic", "partition_id", "committed_offset", "commit_epoch")
    assert table(found, *names, "member_id") == [
        # What a client says that it owns and the topic lacks is nobody's, nor a neighbour.
        ("g", "b", 0, None, None, None),
        ("g", "b", 1, None, None, "m"),
        # A commit at the very beginning is one; -1 is none. A commit may lack an epoch.
        ("g", "c", 0, 0, None, None),
        ("g", "c", 1, 40, 6, None),
        ("g", "c", 2, None, None, "n"),
        ("h", "a", 0, 30, 0, None),
    ]
    assert table(found, "lag") == [(None,)] * 3 + [(80 - 40 - 3,)] + [(None,)] * 2
    clients = table(found, "client_id", "client_host", "read_at")
    assert clients[1] == ("client-m", "/host-m", NOON)
    assert clients[4:] == [("client-n", "/host-n", NOON), (None, None, NOON)]


def test_each_leader_is_asked_for_its_own_partitions() -> None:
    brokers = a_cluster()
    brokers.read()

    asked = {
        node: [(t.name, p.partition_index) for t in request.topics for p in t.partitions]
        for kind, node, request in zip(
            brokers.kinds, brokers.sent_to, brokers.requests, strict=True
        )
        if kind == "Ends"
    }
    assert asked == {0: [("b", 0)], 1: [("c", 0), ("c", 1), ("c", 2)], 7: [("a", 0)]}


def test_a_request_has_fewer_partitions_and_topics_than_a_broker_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert max(offsets.PARTITIONS_PER_REQUEST, topics.TOPICS_PER_REQUEST) < 1_000_000
    monkeypatch.setattr(offsets, "PARTITIONS_PER_REQUEST", 2)
    monkeypatch.setattr(topics, "TOPICS_PER_REQUEST", 2)
    brokers = Brokers({"a": Topic([(n, 10 + n) for n in range(5)])}, {})
    found = brokers.read(ReadRequest(known_topics=frozenset("bcd")))

    assert table(found.topic_partitions, "start_offset", "end_offset") == [
        (n, 10 + n) for n in range(5)
    ]
    sent: dict[str, list[int]] = {}
    for kind, request in zip(brokers.kinds, brokers.requests, strict=True):
        if kind in ("Starts", "Ends"):
            sent.setdefault(kind, []).extend(len(topic.partitions) for topic in request.topics)
        elif kind == "Metadata" and request.topics is not None:
            sent.setdefault(kind, []).append(len(request.topics))
    assert sent == {"Starts": [2, 2, 1], "Ends": [2, 2, 1], "Metadata": [2, 1]}


def test_a_cluster_without_topics_has_no_row() -> None:
    assert len(Brokers({}, {}).read().topic_partitions) == 0


def an_answer(node: int, code: int = 0) -> Any:
    return SimpleNamespace(error_code=code, node_id=node)


def found_by(answers: dict[str, Any]) -> tuple[dict[str, ConsumerGroup], list[Any]]:
    """What brokers answer, and the requests."""

    def answer(request: Any) -> Any:
        keys = [key for key in request.coordinator_keys if key in answers]
        each = [SimpleNamespace(key=key, **vars(answers[key])) for key in keys]
        return SimpleNamespace(coordinators=each)

    fake = FakeConnections(answer)
    connections: Any = fake
    return asyncio.run(find_coordinators(connections, answers)), fake.requests


def test_groups_are_located_by_one_request() -> None:
    answers = {
        "a": an_answer(0),
        "b": an_answer(7),
        "c": an_answer(-1),
        "d": an_answer(3, 15),
        "e": an_answer(3, 30),
    }

    found, sent = found_by(answers)

    coordinators = {name: group.coordinator for name, group in found.items()}
    assert coordinators == {"a": 0, "b": 7, "c": None, "d": None, "e": None}
    reasons = {name: group.failure and group.failure.reason for name, group in found.items()}
    none = dict.fromkeys("cd", "no_coordinator")
    assert reasons == {"a": None, "b": None, **none, "e": "denied"}
    assert len(sent) == 1


@pytest.mark.parametrize(("groups", "sizes"), [(500, [500]), (501, [500, 1]), (0, [])])
def test_one_request_locates_five_hundred_groups(groups: int, sizes: Sequence[int]) -> None:
    _, sent = found_by({f"g{number}": an_answer(1) for number in range(groups)})
    assert [len(request.coordinator_keys) for request in sent] == sizes


# Commits as brokers answer them; rows 0 | 1 2 of the table.

TOPICS = build_table(
    [
        SimpleNamespace(
            name=name,
            topic_id=None,
            partitions=[
                SimpleNamespace(partition_index=n, leader_id=1, replica_nodes=[1], isr_nodes=[1])
                for n in range(count)
            ],
        )
        for count, name in enumerate("ab", 1)
    ],
    {},
)


def commits_of(**topics: dict[int, int]) -> Any:
    named = [
        SimpleNamespace(
            name=name,
            partitions=[
                SimpleNamespace(
                    partition_index=n,
                    committed_offset=at,
                    committed_leader_epoch=3,
                    metadata="",
                    error_code=0,
                )
                for n, at in offsets.items()
            ],
        )
        for name, offsets in topics.items()
    ]
    return SimpleNamespace(error_code=0, topics=named)


def fetched(
    answers: dict[str, Any], commits: CommittedOffsets | None = None
) -> tuple[CommittedOffsets, FakeConnections]:
    """What brokers that coordinate these groups answer, groups of odd numbers being on broker 2."""

    def answer(request: Any) -> Any:
        of = {group.group_id: vars(answers[group.group_id]) for group in request.groups}
        return SimpleNamespace(
            groups=[SimpleNamespace(group_id=name, **each) for name, each in of.items()]
        )

    fake = FakeConnections(answer)
    connections: Any = fake
    found = commits or CommittedOffsets(("other", *answers))
    groups = [ConsumerGroup(name, 1 + number % 2) for number, name in enumerate(answers)]
    asyncio.run(fetch_offsets(connections, groups, TOPICS, found, (), lambda: 12.5))
    return found, fake


def test_commits_stand_at_their_partitions() -> None:
    answers = {"g": commits_of(b={1: 7, 0: -1}), "h": commits_of(a={0: 9})}

    found, _ = fetched(answers)

    rows = sorted(zip(*(each.tolist() for each in found.as_arrays()), strict=True))
    assert rows == [(1, 1, -1, 3, -1, 0), (1, 2, 7, 3, -1, 0), (2, 0, 9, 3, -1, 0)]
    assert found.read_at == {"g": 12_500, "h": 12_500}
    assert (found.unread, found.failures, found.unlisted) == ({}, {}, {})


@pytest.mark.parametrize(
    ("groups", "requests"), [(200, 2), (202, 4)], ids=["a hundred each", "a few more"]
)
def test_a_request_has_a_hundred_groups(groups: int, requests: int) -> None:
    _, fake = fetched({f"g{number:03}": commits_of() for number in range(groups)})
    assert len(fake.requests) == requests


@pytest.mark.parametrize("number", [-1, 2, 99])
def test_a_commit_on_a_partition_that_the_topic_lacks_leaves_the_group_unread_once(
    number: int,
) -> None:
    answers = {"g": commits_of(b={1: 8, number: 5})}
    found, _ = fetched(answers)

    assert ("g" in found.unread, "g" in found.read_at) == (True, False)
    # The same answer once more: somebody left it behind.
    again, _ = fetched(answers, commits=found)
    assert (again.unread, again.read_at) == ({}, {"g": 12_500})
    assert again.unlisted == {"g": {("b", number)}}
    assert [each.tolist() for each in again.as_arrays()] == [[1], [2], [8], [3], [-1], [0]]
