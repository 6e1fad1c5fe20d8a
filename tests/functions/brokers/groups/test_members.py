# SPDX-License-Identifier: Apache-2.0
"""Descriptions of groups: any client may put any bytes into an assignment."""

from __future__ import annotations

import asyncio
import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from kafka_lag.brokers.groups.census import Group
from kafka_lag.brokers.groups.commits import Commits
from kafka_lag.brokers.groups.members import Description, Member, describe
from kafka_lag.brokers.rows import group_partition_rows
from kafka_lag.brokers.topics.table import table_of
from tests.functions.brokers.fakes import FakeWire

_NULL_ARRAY = struct.pack(">hii", 0, -1, -1)
_GOOD = struct.pack(">hih1sii", 0, 1, 1, b"a", 1, 2) + struct.pack(">i", -1)


def _described(assignment: bytes, protocol: str = "consumer") -> Description:
    member = SimpleNamespace(
        member_id="m", client_id="c", client_host="/h", member_assignment=assignment
    )
    answer = SimpleNamespace(
        error_code=0, group_id="g", group_state="Stable", protocol_type=protocol, members=[member]
    )
    wire: Any = FakeWire(lambda _: SimpleNamespace(groups=[answer]))
    return asyncio.run(describe(wire, [Group("g", 1, "Stable", "classic")]))["g"]


def test_a_consumers_assignment_names_what_it_owns() -> None:
    assert ConsumerProtocolAssignment.decode(_GOOD) is not None
    (member,) = _described(_GOOD).members or ()
    assert member.owns == (("a", (2,)),)


@pytest.mark.parametrize(
    "assignment",
    [_NULL_ARRAY, b"", b"\x00", b"\xff" * 40, struct.pack(">hi", 0, 2**30)],
    ids=["null array", "empty", "one byte", "all ones", "a billion topics"],
)
def test_bytes_that_are_no_assignment_cost_the_owner_and_nothing_else(assignment: bytes) -> None:
    described = _described(assignment)
    assert described.state == "Stable"
    assert [member.owns for member in described.members or ()] == [()]


def test_another_protocols_bytes_are_not_decoded() -> None:
    (member,) = _described(_GOOD, protocol="connect").members or ()
    assert member.owns == ()


@pytest.mark.parametrize("partition", [-9, -1, 2, 2**31 - 1])
def test_an_owned_partition_that_does_not_exist_is_nobodys(partition: int) -> None:
    topics: list[Any] = [
        SimpleNamespace(
            name=name,
            topic_id=None,
            partitions=[
                SimpleNamespace(partition_index=i, leader_id=1, replica_nodes=[1], isr_nodes=[1])
                for i in range(2)
            ],
        )
        for name in ("a", "z")
    ]
    commits = Commits(("g",), read_at={"g": 1})
    owns = Member("m", "c", "/h", (("z", (partition,)),))
    rows = group_partition_rows(table_of(topics, {}), commits, {"g": Description(members=(owns,))})
    assert not np.any(rows.strings("member_id").known)
