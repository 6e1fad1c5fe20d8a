# SPDX-License-Identifier: Apache-2.0
"""What a broker of the tests answers to each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeConfigsResponse, DescribeGroupsResponse, ListGroupsResponse
from kafka.protocol.consumer import ListOffsetsResponse, OffsetFetchResponse
from kafka.protocol.metadata import (
    ApiVersionsResponse,
    FindCoordinatorResponse,
    MetadataResponse,
)
from kafka.protocol.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

if TYPE_CHECKING:
    from tests.functions.brokers.listening import Broker

TOPIC, COMMITTED, END = "orders", 4, 10

# By API key the highest version that the brokers speak.
VERSIONS = {2: 7, 3: 12, 9: 8, 10: 4, 15: 5, 16: 4, 17: 1, 18: 3, 32: 4, 36: 2}
_REFUSED_LOGIN = 58


def api_versions(_: Broker, __: Any) -> Any:
    keys = [
        ApiVersionsResponse.ApiVersion(api_key=key, min_version=0, max_version=highest)
        for key, highest in VERSIONS.items()
    ]
    return ApiVersionsResponse(error_code=0, api_keys=keys, throttle_time_ms=0)


def sasl_handshake(_: Broker, __: Any) -> Any:
    return SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN"])


def sasl_authenticate(broker: Broker, request: Any) -> Any:
    password = request.auth_bytes.split(b"\0")[-1].decode()
    good = broker.passwords is None or password in broker.passwords
    return SaslAuthenticateResponse(
        error_code=0 if good else _REFUSED_LOGIN,
        error_message=None if good else "Authentication failed",
        auth_bytes=b"",
        session_lifetime_ms=0,
    )


def metadata(broker: Broker, request: Any) -> Any:
    topic_of = MetadataResponse.MetadataResponseTopic
    brokers = broker.cluster.brokers
    topic = topic_of(
        error_code=0,
        name=TOPIC,
        is_internal=False,
        partitions=[
            topic_of.MetadataResponsePartition(
                error_code=0,
                partition_index=at,
                leader_id=broker.node,
                leader_epoch=0,
                replica_nodes=[broker.node],
                isr_nodes=[broker.node],
                offline_replicas=[],
            )
            for at, broker in enumerate(brokers)
        ],
    )
    return MetadataResponse(
        throttle_time_ms=0,
        brokers=[
            MetadataResponse.MetadataResponseBroker(b.node, *b.server.server_address[:2], None)
            for b in brokers
        ],
        cluster_id="fake",
        controller_id=1,
        topics=[] if request.topics == [] else [topic],
    )


def list_groups(broker: Broker, _: Any) -> Any:
    group = ListGroupsResponse.ListedGroup(
        group_id=f"group-{broker.node}", protocol_type="consumer", group_state="Empty"
    )
    return ListGroupsResponse(throttle_time_ms=0, error_code=0, groups=[group])


def describe_groups(_: Broker, request: Any) -> Any:
    group_of = DescribeGroupsResponse.DescribedGroup
    groups = [
        group_of(
            error_code=0,
            group_id=name,
            group_state="Empty",
            protocol_type="consumer",
            protocol_data="",
            members=[],
        )
        for name in request.groups
    ]
    return DescribeGroupsResponse(throttle_time_ms=0, groups=groups)


def find_coordinator(_: Broker, request: Any) -> Any:
    found = [
        FindCoordinatorResponse.Coordinator(
            key=name,
            node_id=int(name.removeprefix("group-")),
            host="127.0.0.1",
            port=1,
            error_code=0,
            error_message=None,
        )
        for name in request.coordinator_keys
    ]
    return FindCoordinatorResponse(throttle_time_ms=0, coordinators=found)


_SETTINGS = {
    "retention.ms": "604800000",
    "retention.bytes": "-1",
    "cleanup.policy": "delete",
    "message.timestamp.type": "CreateTime",
}


def describe_configs(_: Broker, request: Any) -> Any:
    result = DescribeConfigsResponse.DescribeConfigsResult
    config = result.DescribeConfigsResourceResult
    results = [
        result(
            error_code=0,
            error_message=None,
            resource_type=requested.resource_type,
            resource_name=requested.resource_name,
            configs=[config(name=name, value=value) for name, value in _SETTINGS.items()],
        )
        for requested in request.resources
    ]
    return DescribeConfigsResponse(throttle_time_ms=0, results=results)


def offset_fetch(broker: Broker, request: Any) -> Any:
    group_of = OffsetFetchResponse.OffsetFetchResponseGroup
    topic_of = group_of.OffsetFetchResponseTopics
    topic = topic_of(
        name=TOPIC,
        partitions=[
            topic_of.OffsetFetchResponsePartitions(
                partition_index=at,
                committed_offset=COMMITTED,
                committed_leader_epoch=0,
                metadata="",
                error_code=0,
            )
            for at in range(len(broker.cluster.brokers))
        ],
    )
    groups = [group_of(group_id=g.group_id, topics=[topic], error_code=0) for g in request.groups]
    return OffsetFetchResponse(throttle_time_ms=0, groups=groups)


def list_offsets(_: Broker, request: Any) -> Any:
    topic_of = ListOffsetsResponse.ListOffsetsTopicResponse
    topics = [
        topic_of(
            name=topic.name,
            partitions=[
                topic_of.ListOffsetsPartitionResponse(
                    partition_index=part.partition_index,
                    error_code=0,
                    timestamp=-1,
                    offset={-1: END, -2: 0}.get(part.timestamp, -1),
                    leader_epoch=0,
                )
                for part in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return ListOffsetsResponse(throttle_time_ms=0, topics=topics)


ANSWERS: dict[str, Callable[[Broker, Any], Any]] = {
    "ApiVersions": api_versions,
    "SaslHandshake": sasl_handshake,
    "SaslAuthenticate": sasl_authenticate,
    "Metadata": metadata,
    "ListGroups": list_groups,
    "DescribeGroups": describe_groups,
    "FindCoordinator": find_coordinator,
    "DescribeConfigs": describe_configs,
    "OffsetFetch": offset_fetch,
    "ListOffsets": list_offsets,
}
