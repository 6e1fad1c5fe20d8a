# SPDX-License-Identifier: Apache-2.0
"""A reading in the middle of which something happens to the cluster."""

import time
from collections.abc import Callable
from typing import Any

from kafka.protocol.consumer import ListOffsetsRequest

from dev.kafka import KafkaCluster
from kafka_lag.brokers.reading import Question, read_cluster
from kafka_lag.brokers.topics.configs import ConfigCache
from kafka_lag.brokers.topics.offsets import END
from kafka_lag.brokers.wire.bootstrap import bootstrap
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.lag.model import ClusterReading
from tests.kafka.looking import access, login, only


def _asks_for_ends(request: Any) -> bool:
    if not isinstance(request, ListOffsetsRequest):
        return False
    return bool(request.topics[0].partitions[0].timestamp == END)


class InterruptedWire(Wire):
    """A wire on which something happens just before the first question for end offsets."""

    action: Callable[[], None] | None = None

    async def ask(self, node: Any, request: Any) -> Any:
        action = self.action
        if action is not None and _asks_for_ends(request):
            self.action = None
            action()
        return await super().ask(node, request)


class NotingWire(Wire):
    """A wire that notes what was asked, in order, and whether for starts or ends."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.asked: list[str] = []

    async def ask(self, node: Any, request: Any) -> Any:
        kind = type(request).__name__.removesuffix("Request")
        self.asked.append("Ends" if _asks_for_ends(request) else kind)
        return await super().ask(node, request)


def asked_of(cluster: KafkaCluster, pattern: str) -> list[str]:
    """The kinds of questions that one reading asks, in order."""
    (credentials,) = login(cluster).candidates()
    wire = NotingWire(access(cluster), credentials)
    wire.begin(time.monotonic() + 45)
    mine = only(pattern)
    try:
        wire.run(bootstrap(wire))
        wire.asked.clear()
        wire.run(read_cluster(wire, Question(mine.groups, mine.topics), ConfigCache()))
    finally:
        wire.close()
    return wire.asked


def read_while(cluster: KafkaCluster, pattern: str, action: Callable[[], None]) -> ClusterReading:
    """What is read of groups and topics of this pattern when `action` comes before the ends."""
    (credentials,) = login(cluster).candidates()
    wire = InterruptedWire(access(cluster), credentials)
    wire.begin(time.monotonic() + 45)
    mine = only(pattern)
    question = Question(groups=mine.groups, topics=mine.topics)
    try:
        wire.run(bootstrap(wire))
        wire.action = action
        return wire.run(read_cluster(wire, question, ConfigCache()))
    finally:
        wire.close()
