# SPDX-License-Identifier: Apache-2.0
"""Names that brokers answer with can be written in any encoding: nothing behind the brokers guards
against half of a surrogate pair.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from kafka.protocol import consumer
from kafka.protocol.admin import DescribeGroupsResponse, ListGroupsResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment
from kafka.protocol.metadata import MetadataResponse

from kafka_lag.brokers.offset_codec import decode_list_offsets, decode_offset_fetch

NAME = "name-abc"
# The same length: U+D800 as encoders write it that do not look.
HALF = b"name-\xed\xa0\x80"


def a_listing() -> Any:
    group = ListGroupsResponse.ListedGroup(
        group_id=NAME, protocol_type="consumer", group_state="Empty", group_type="classic"
    )
    return ListGroupsResponse(throttle_time_ms=0, error_code=0, groups=[group])


def a_description() -> Any:
    group_of = DescribeGroupsResponse.DescribedGroup
    member = group_of.DescribedGroupMember(
        member_id="m",
        group_instance_id=None,
        client_id=NAME,
        client_host="/h",
        member_metadata=b"",
        member_assignment=b"",
    )
    group = group_of(
        error_code=0,
        group_id="g",
        group_state="Stable",
        protocol_type="consumer",
        protocol_data="range",
        members=[member],
    )
    return DescribeGroupsResponse(throttle_time_ms=0, groups=[group])


def topics() -> Any:
    topic = MetadataResponse.MetadataResponseTopic(
        error_code=0, name=NAME, is_internal=False, partitions=[]
    )
    return MetadataResponse(
        throttle_time_ms=0, brokers=[], cluster_id="c", controller_id=1, topics=[topic]
    )


def commits() -> Any:
    group_of = consumer.OffsetFetchResponse.OffsetFetchResponseGroup
    topic_of = group_of.OffsetFetchResponseTopics
    part = topic_of.OffsetFetchResponsePartitions(
        partition_index=0, committed_offset=1, committed_leader_epoch=0, metadata="", error_code=0
    )
    group = group_of(group_id="g", topics=[topic_of(name=NAME, partitions=[part])], error_code=0)
    return consumer.OffsetFetchResponse(throttle_time_ms=0, groups=[group])


def log_ends() -> Any:
    topic_of = consumer.ListOffsetsResponse.ListOffsetsTopicResponse
    part = topic_of.ListOffsetsPartitionResponse(
        partition_index=0, error_code=0, timestamp=-1, offset=1, leader_epoch=0
    )
    topic = topic_of(name=NAME, partitions=[part])
    return consumer.ListOffsetsResponse(throttle_time_ms=0, topics=[topic])


def an_assignment() -> Any:
    partition = ConsumerProtocolAssignment.TopicPartition(topic=NAME, partitions=[0])
    return ConsumerProtocolAssignment(assigned_partitions=[partition], user_data=b"")


@pytest.mark.parametrize(
    ("answer", "version", "decode"),
    [
        (a_listing(), 4, partial(ListGroupsResponse.decode, version=4)),
        (a_description(), 5, partial(DescribeGroupsResponse.decode, version=5)),
        (topics(), 12, partial(MetadataResponse.decode, version=12)),
        (commits(), 8, lambda data: decode_offset_fetch(data, 8)),
        (log_ends(), 4, lambda data: decode_list_offsets(data, 4)),
        (an_assignment(), 3, ConsumerProtocolAssignment.decode),
    ],
    ids=["groups", "members", "topics", "commits", "log ends", "assignments"],
)
def test_no_answer_brings_a_name_that_no_encoding_has_bytes_for(
    answer: Any, version: int, decode: Callable[[bytes], Any]
) -> None:
    sent = answer.encode(version=version)
    assert NAME.encode() in sent
    decode(sent)
    with pytest.raises(UnicodeDecodeError):
        decode(sent.replace(NAME.encode(), HALF))
