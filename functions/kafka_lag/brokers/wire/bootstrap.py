# SPDX-License-Identifier: Apache-2.0
"""The way in: all bootstrap servers at once, the first that is ready names the brokers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka import errors
from kafka.protocol.metadata import MetadataRequest

from kafka_lag.brokers.wire.access import Access, Login
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import is_refusal, refusal, unreachable
from kafka_lag.errors import LoginError


def connected(
    access: Access, logins: Iterable[Login | None], deadline: float
) -> tuple[Wire, Login | None]:
    """A wire that knows the cluster's brokers, and the first of the logins that one accepts.

    Raises LoginError, SourceError or ConfigError.
    """
    wire: Wire | None = None
    refused = LoginError("There is no login to try.")
    try:
        for login in logins:
            if wire is None:
                wire = Wire(access, login)
                wire.begin(deadline)
            wire.connections.add(login)
            # A server that hangs is waited for each time, of what is left.
            wire.share_time(deadline)
            try:
                wire.run(bootstrap(wire))
            except LoginError as error:
                refused = error
                continue
            wire.share_time(deadline)
            return wire, login
        raise refused
    except BaseException:
        if wire is not None:
            wire.close()
        raise


async def bootstrap(wire: Wire) -> None:
    """Learns the brokers. Raises LoginError or SourceError, with each server's cause."""
    connections = wire.connections
    servers = {server.node_id: server for server in connections.any.cluster.bootstrap_brokers()}
    causes: dict[Any, Exception] = {
        node: errors.KafkaTimeoutError("no answer in time") for node in servers
    }

    async def attempt(node: Any) -> tuple[Any, Any]:
        try:
            connection = await _connected(wire, node)
            request = connection.send_request(MetadataRequest(topics=[]))
            return connection, await wire.within(request, wire.timeout)
        except Exception as error:  # addresses are a user's: codecs fail on them too
            causes[node] = error
            raise

    try:
        # Twice a broker's time: to connect, and to answer.
        first = wire.first_of(attempt(node) for node in servers)
        connection, metadata = await wire.within(first, 2 * wire.timeout)
        connections.learn(connection)
    except Exception as error:
        where = {node: f"{server.host}:{server.port}" for node, server in servers.items()}
        told = [(where[node], cause) for node, cause in causes.items()]
        raise unreachable(wire.access, told) from error
    finally:
        for node in servers:
            connections.close(node)
    wire.learn(metadata)


async def _connected(wire: Wire, node: Any) -> Any:
    """A connection that is logged in. Raises what the client raises, a refused login as one."""
    while True:
        connection = wire.connections.to(node, wire.timeout)
        try:
            await wire.within(connection.init_future, wire.timeout)
        except errors.KafkaError as error:
            if not is_refusal(wire.access, connection, error):
                raise
            if not wire.connections.try_next_login(node, connection):
                raise refusal(wire.access, error) from error
        else:
            return connection
