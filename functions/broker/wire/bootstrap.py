# SPDX-License-Identifier: Apache-2.0
"""The way in: all bootstrap servers at once, the first that is ready names the brokers."""

from __future__ import annotations

from typing import Any

from kafka import errors
from kafka.future import Future
from kafka.protocol.metadata import MetadataRequest

from functions.broker.wire.access import Access, Login
from functions.broker.wire.connection import Wire
from functions.broker.wire.refusals import unreachable


def connected(access: Access, login: Login | None, deadline: float) -> Wire:
    """A wire that knows the cluster's brokers. Raises LoginError, SourceError or ConfigError."""
    wire = Wire(access, login)
    wire.begin(deadline)
    try:
        wire.run(bootstrap(wire))
    except BaseException:
        wire.close()
        raise
    return wire


async def bootstrap(wire: Wire) -> None:
    """Learns the brokers. Raises LoginError or SourceError, with each server's cause."""
    servers = {server.node_id: server for server in wire.servers()}
    causes: dict[Any, Exception] = {
        node: errors.KafkaTimeoutError("no answer in time") for node in servers
    }
    ready, left = Future(), set(servers)

    async def attempt(node: Any) -> None:
        try:
            await wire.connect(node)
            answer = await wire.ask(node, MetadataRequest(topics=[]))
        except Exception as error:  # noqa: BLE001 - addresses are a user's: codecs fail on them too
            causes[node] = error
            answer = None
        left.discard(node)
        if not ready.is_done and (answer is not None or not left):
            ready.success(answer)

    for node in servers:
        wire.start(attempt(node))
    try:
        # Twice a broker's time: to connect, and to answer.
        answer = await wire.within(ready, 2 * wire.access.broker_timeout)
    except errors.KafkaTimeoutError:
        answer = None
    for node in servers:
        wire.hang_up(node)
    if answer is None:
        where = {node: f"{server.host}:{server.port}" for node, server in servers.items()}
        raise unreachable(wire.access, [(where[node], error) for node, error in causes.items()])
    wire.learn(answer)
