# SPDX-License-Identifier: Apache-2.0
"""A reading during which something happens to the cluster."""

import time
from collections.abc import Callable
from typing import Any

from dev.kafka import KafkaCluster
from kafka_lag.brokers.bootstrap import bootstrap
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.offset_codec import ListOffsetsRequest
from kafka_lag.brokers.offsets import END
from kafka_lag.brokers.reading import ReadRequest, read_cluster
from kafka_lag.brokers.topic_settings import TopicSettingsCache
from kafka_lag.lag.model import ClusterReading
from tests.kafka.looking import ANSWERED_WITHIN, access, login, only


def _asks_for_ends(request: Any) -> bool:
    return isinstance(request, ListOffsetsRequest) and bool(request.time == END)


class InterruptedConnections(Connections):
    """Connections on which something happens just before the first request for end offsets."""

    action: Callable[[], None] | None = None

    async def send(self, node: Any, request: Any) -> Any:
        action = self.action
        if action is not None and _asks_for_ends(request):
            self.action = None
            action()
        return await super().send(node, request)


class RecordingConnections(Connections):
    """Connections that record the requests, in order, and whether for starts or ends."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.requests: list[str] = []

    async def send(self, node: Any, request: Any) -> Any:
        kind = type(request).__name__.removesuffix("Request")
        self.requests.append("Ends" if _asks_for_ends(request) else kind)
        return await super().send(node, request)


def asked_of(cluster: KafkaCluster, pattern: str) -> list[str]:
    """The kinds of requests that one reading sends, in order."""
    (credentials,) = login(cluster).candidates()
    connections = RecordingConnections(access(cluster), credentials)
    connections.begin_run(time.monotonic() + ANSWERED_WITHIN)
    mine = only(pattern)
    try:
        connections.run(bootstrap(connections))
        connections.requests.clear()
        connections.run(
            read_cluster(connections, ReadRequest(mine.groups, mine.topics), TopicSettingsCache())
        )
    finally:
        connections.close()
    return connections.requests


def read_while(cluster: KafkaCluster, pattern: str, action: Callable[[], None]) -> ClusterReading:
    """What is read of groups and topics of this pattern when `action` comes before the ends."""
    (credentials,) = login(cluster).candidates()
    connections = InterruptedConnections(access(cluster), credentials)
    connections.begin_run(time.monotonic() + ANSWERED_WITHIN)
    mine = only(pattern)
    request = ReadRequest(groups=mine.groups, topics=mine.topics)
    try:
        connections.run(bootstrap(connections))
        connections.action = action
        return connections.run(read_cluster(connections, request, TopicSettingsCache()))
    finally:
        connections.close()
