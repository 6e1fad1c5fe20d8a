# SPDX-License-Identifier: Apache-2.0
"""Names that brokers answer with can be written in any encoding: nothing behind the brokers guards
against half of a surrogate pair. Those of offsets are in `test_offset_codec.py`.
"""

from __future__ import annotations

from typing import Any

import pytest
from kafka.protocol.admin import DescribeGroupsResponse, ListGroupsResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment
from kafka.protocol.metadata import MetadataResponse

NAME = "name-abc"
# The same length: U+D800 as encoders write it that do not look.
HALF = b"name-\xed\xa0\x80"
LISTED = ListGroupsResponse.ListedGroup(
    group_id=NAME, protocol_type="consumer", group_state="Empty", group_type="classic"
)
MEMBER = DescribeGroupsResponse.DescribedGroup.DescribedGroupMember(
    member_id="m",
    group_instance_id=None,
    client_id=NAME,
    client_host="/h",
    member_metadata=b"",
    member_assignment=b"",
)
DESCRIBED = DescribeGroupsResponse.DescribedGroup(
    error_code=0,
    group_id="g",
    group_state="Stable",
    protocol_type="consumer",
    protocol_data="range",
    members=[MEMBER],
)
TOPIC = MetadataResponse.MetadataResponseTopic(
    error_code=0, name=NAME, is_internal=False, partitions=[]
)
OWNED = ConsumerProtocolAssignment.TopicPartition(topic=NAME, partitions=[0])


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        (ListGroupsResponse(throttle_time_ms=0, error_code=0, groups=[LISTED]), 4),
        (DescribeGroupsResponse(throttle_time_ms=0, groups=[DESCRIBED]), 5),
        (MetadataResponse(throttle_time_ms=0, brokers=[], controller_id=1, topics=[TOPIC]), 12),
        (ConsumerProtocolAssignment(assigned_partitions=[OWNED], user_data=b""), 3),
    ],
    ids=["groups", "members", "topics", "assignments"],
)
def test_no_answer_brings_a_name_that_no_encoding_has_bytes_for(answer: Any, version: int) -> None:
    sent = answer.encode(version=version)
    # An assignment has its version in its bytes.
    of = {} if isinstance(answer, ConsumerProtocolAssignment) else {"version": version}
    assert NAME.encode() in sent
    type(answer).decode(sent, **of)
    with pytest.raises(UnicodeDecodeError):
        type(answer).decode(sent.replace(NAME.encode(), HALF), **of)
