# SPDX-License-Identifier: Apache-2.0
"""Descriptions of groups: any client may put any bytes into an assignment."""

from __future__ import annotations

import asyncio
import struct
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lag.brokers.coordinators import ConsumerGroup
from kafka_lag.brokers.group_members import GroupDescription, GroupMember, describe_groups
from tests.builders import table
from tests.functions.brokers.brokers import Brokers, Runs, Topic
from tests.functions.brokers.fakes import FakeConnections

_NULL_ARRAY = struct.pack(">hii", 0, -1, -1)
_GOOD = struct.pack(">hih1sii", 0, 1, 1, b"a", 1, 2) + struct.pack(">i", -1)


def _described(assignment: bytes, protocol: str = "consumer", names: str = "m") -> GroupDescription:
    """A group with a member for each letter of `names`."""
    members = [
        SimpleNamespace(
            member_metadata=b"",
            member_id=name,
            client_id="c",
            client_host="/h",
            member_assignment=assignment,
        )
        for name in names
    ]
    answer = SimpleNamespace(
        error_code=0, group_id="g", group_state="Stable", protocol_type=protocol, members=members
    )
    connections: Any = FakeConnections(lambda _: SimpleNamespace(groups=[answer]))
    return asyncio.run(describe_groups(connections, [ConsumerGroup("g", 1, "Stable", "classic")]))[
        "g"
    ]


@pytest.mark.parametrize(
    "assignment",
    [_NULL_ARRAY, b"", b"\x00", b"\xff" * 40, struct.pack(">hi", 0, 2**30)],
    ids=["null array", "empty", "one byte", "all ones", "a billion topics"],
)
def test_bytes_that_are_no_assignment_cost_the_owner_and_nothing_else(assignment: bytes) -> None:
    described = _described(assignment)
    (good,), (other,) = (
        _described(_GOOD, protocol=protocol).members or () for protocol in ("consumer", "connect")
    )
    assert (good.assignment, other.assignment) == ((("a", (2,)),), ())
    assert described.state == "Stable"
    assert [member.assignment for member in described.members or ()] == [()]


def test_members_listed_in_another_order_are_the_same_members() -> None:
    listed, again, others = (
        _described(_GOOD, names=each).members_hash for each in ("mn", "nm", "mo")
    )
    assert listed == again != others


COMMITS = {"orders": [5]}
EPOCHS = ("consumer_group", "group_type", "group_epoch")


def both_protocols(epoch: int = 7) -> Brokers:
    """`new` speaks the consumer protocol, `old` the classic one."""
    brokers = Brokers({"orders": Topic([(0, 9)])}, {"new": COMMITS, "old": COMMITS})
    brokers.epochs = {"new": epoch}
    return brokers


@pytest.mark.parametrize(
    ("answered", "read"), [(0, 0), (7, 7), (2**31 - 1, 2**31 - 1), (-1, None), (-(2**31), None)]
)
def test_a_group_has_the_epoch_that_its_coordinator_answers_unless_it_cannot_be(
    answered: int, read: int | None
) -> None:
    brokers = both_protocols(answered)
    groups = brokers.read().groups
    assert table(groups, *EPOCHS) == [("new", "consumer", read), ("old", "classic", None)]
    # A classic group is asked for by the request that has no epoch.
    names = ("ConsumerGroupDescribe", "DescribeGroups")
    assert [brokers.kinds.count(kind) for kind in names] == [1, 1]


def test_a_group_that_is_listed_as_empty_is_not_described_and_has_no_epoch() -> None:
    connections: Any = FakeConnections(lambda _: None)
    groups = [ConsumerGroup("g", 1, "Empty", "consumer")]
    assert asyncio.run(describe_groups(connections, groups))["g"].epoch is None
    assert connections.requests == []


def test_a_run_tells_the_rebalances_since_the_group_was_last_described() -> None:
    runs = Runs(both_protocols())

    def reported() -> tuple[Any, ...]:
        runs()
        groups = runs.collector.memory.newest.groups
        assert table(groups, *EPOCHS)[1] == ("old", "classic", None)
        return table(groups, "group_epoch", "rebalances")[0]

    assert reported() == (7, None)
    runs.brokers.epochs["new"] = 9
    assert reported() == (9, 2)
    runs.brokers.epochs["new"] = 10
    runs.brokers.lasting["ConsumerGroupDescribe", "new"] = 29
    assert reported() == (9, None)
    runs.brokers.lasting.clear()
    assert reported() == (10, 1)
    runs.brokers.lasting["OffsetFetch", "new"] = 29
    runs.brokers.epochs["new"] = 13
    assert reported() == (10, None)
    runs.brokers.lasting.clear()
    assert reported() == (13, 3)
    runs.brokers.epochs["new"] = 1
    assert reported() == (1, None)


def subtopology(name: str, sources: list[str], repartitions: list[str]) -> Any:
    made = [SimpleNamespace(name=each) for each in repartitions]
    return SimpleNamespace(
        subtopology_id=name, source_topics=sources, repartition_source_topics=made
    )


def task(of: str, *numbers: int) -> Any:
    return SimpleNamespace(subtopology_id=of, partitions=list(numbers))


SUBTOPOLOGIES = [subtopology("0", ["a", "b"], []), subtopology("1", [], ["app-by-key"])]
TASKS = [task("0", 0, 2), task("1", 1), task("lost", 0)]


@pytest.mark.parametrize(
    ("topology", "tasks", "owned"),
    [
        (
            SimpleNamespace(subtopologies=SUBTOPOLOGIES),
            TASKS,
            (("a", (0, 2)), ("b", (0, 2)), ("app-by-key", (1,))),
        ),
        (None, None, ()),
        (SimpleNamespace(subtopologies=None), None, ()),
    ],
    ids=["active tasks", "no topology yet", "an empty one"],
)
def test_a_member_of_a_streams_group_owns_what_its_active_tasks_read(
    topology: Any, tasks: Any, owned: tuple[Any, ...]
) -> None:
    assignment = SimpleNamespace(active_tasks=tasks)
    member = SimpleNamespace(member_id="m", client_id="c", client_host="/h", assignment=assignment)
    fields = {"error_code": 0, "group_state": "Stable", "group_epoch": 4}
    group = SimpleNamespace(group_id="app", topology=topology, members=[member], **fields)
    connections: Any = FakeConnections(lambda _: SimpleNamespace(groups=[group]))
    groups = [ConsumerGroup("app", 1, "Stable", "streams")]
    described = asyncio.run(describe_groups(connections, groups))["app"]
    assert (described.kind, described.epoch, described.state) == ("streams", 4, "Stable")
    assert described.members == (GroupMember("m", "c", "/h", owned),)
    (request,) = connections.requests
    assert (type(request).__name__, request.group_ids) == ("StreamsGroupDescribeRequest", ["app"])


def test_a_streams_group_is_read_as_any_other_and_is_gone_once_no_protocol_knows_it() -> None:
    runs = Runs(Brokers({"a": Topic([(0, 9)])}, {"app": {"a": [4]}}))
    runs.brokers.streams = {"app"}
    runs()
    newest = runs.collector.memory.newest
    assert table(newest.groups, "group_type", "group_state", "lag") == [("streams", "Stable", 5)]
    # The listing leaves it out: its coordinator still knows it, and then no more.
    del runs.brokers.groups["app"]
    runs.brokers.coordinators["app"] = 1
    runs()
    assert table(runs.collector.memory.newest.groups, "group_type") == [("streams",)]
    runs.brokers.streams = set()
    runs()
    assert table(runs.collector.memory.newest.groups, "status_reason") == [("gone",)]
