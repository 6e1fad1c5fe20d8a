# SPDX-License-Identifier: Apache-2.0
"""The way in: all bootstrap servers at once, the first that is ready names the brokers."""

from __future__ import annotations

from typing import Any

from kafka import errors
from kafka.future import Future
from kafka.protocol.metadata import MetadataRequest

from functions.broker.wire.access import Access, Credentials, UnansweredError, unreachable
from functions.broker.wire.connection import Wire


def connected(access: Access, credentials: Credentials | None, deadline: float) -> Wire:
    """A wire that knows the cluster's brokers. Raises LoginError or SourceError."""
    wire = Wire(access, credentials)
    wire.begin(deadline)
    try:
        wire.run(bootstrap(wire))
    except BaseException:
        wire.close()
        raise
    return wire


async def bootstrap(wire: Wire) -> None:
    """Learns the brokers. Raises LoginError or SourceError, with each server's cause."""
    servers = wire.servers()
    ready, causes = Future(), {}

    async def attempt(server: Any) -> None:
        try:
            await wire.connect(server.node_id)
            answer = await wire.ask(server.node_id, MetadataRequest(topics=[]))
        except (errors.KafkaError, UnansweredError, OSError) as error:
            causes[f"{server.host}:{server.port}"] = error
            if len(causes) == len(servers) and not ready.is_done:
                ready.failure(unreachable(wire.access, causes))
        else:
            if not ready.is_done:
                ready.success(answer)
        finally:
            wire.hang_up(server.node_id)

    for server in servers:
        wire.start(attempt(server))
    wire.learn(await ready)
    for server in servers:
        wire.hang_up(server.node_id)
