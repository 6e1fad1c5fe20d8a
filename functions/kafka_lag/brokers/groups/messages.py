# SPDX-License-Identifier: Apache-2.0
"""ConsumerGroupDescribe (API key 69, KIP-848), which kafka-python lacks, from its JSON schema.

Field names, types and versions are those of the Apache Kafka 4.1 protocol definition.
"""

from kafka.protocol.api_message import ApiMessage

_SCHEMAS = "kafka_lag.brokers.groups.schemas"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """Members and assignments of groups that speak the consumer protocol."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg,misc]
    """The answer: one entry a group, each with its own error code."""
