# SPDX-License-Identifier: Apache-2.0
"""Connecting: all bootstrap servers at once, the first that is ready names the brokers."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from kafka import errors
from kafka.protocol.metadata import MetadataRequest

from kafka_lag.brokers.access import Access, Login
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.diagnosis import PROBE_TIME, ServerFindings, probe_servers
from kafka_lag.brokers.errors import LOGIN_ERRORS, is_login_rejected, login_error
from kafka_lag.brokers.unreachable import advertised_error, unreachable_error
from kafka_lag.errors import LoginError, SourceError

# Of the time that a run has left, what looking for the cause of an error may take.
_PROBE_SHARE = 0.5


class BootstrapError(Exception):
    """No bootstrap server would talk: `causes` are pairs of an address and what came of it."""

    def __init__(self, causes: list[tuple[str, Exception]]) -> None:
        super().__init__("; ".join(f"{server}: {error}" for server, error in causes))
        self.causes = causes

    @property
    def rejects_login(self) -> bool:
        """Whether another login may help."""
        return any(isinstance(error, LOGIN_ERRORS) for _, error in self.causes)


def connect(
    access: Access, logins: Iterable[Login | None], deadline: float
) -> tuple[Connections, Login | None]:
    """Connections that know the cluster's brokers, and the first of the logins that one accepts.

    Where all fail, the error says what is found on the servers' ports. Raises LoginError,
    SourceError or ConfigError.
    """
    connections: Connections | None = None
    failed: BootstrapError | None = None
    try:
        for login in logins:
            if connections is None:
                connections = Connections(access, login)
                connections.begin_run(deadline)
            connections.pool.add_login(login)
            # A server that hangs is waited for each time, of what is left.
            connections.limit_broker_time(deadline)
            try:
                connections.run(bootstrap(connections))
            except BootstrapError as error:
                failed = error
                if error.rejects_login:
                    continue
                break
            connections.limit_broker_time(deadline)
            return connections, login
        if failed is None:
            raise LoginError("There is no login to try.")
        findings = diagnose(access, [server for server, _ in failed.causes], deadline)
        raise unreachable_error(
            access, failed.causes, findings, has_certificate=login is not None
        ) from failed
    except BaseException:
        if connections is not None:
            connections.close()
        raise


def explain_unread(connections: Connections, error: SourceError, deadline: float) -> SourceError:
    """What keeps us from the brokers that a bootstrap server named; else the error itself."""
    brokers = connections.pool.manager.cluster.brokers()
    addresses = {broker.node_id: f"{broker.host}:{broker.port}" for broker in brokers}
    down = connections.down()
    causes = [(addresses[node], why.detail) for node, why in down.items() if node in addresses]
    findings = diagnose(connections.access, [server for server, _ in causes], deadline)
    return advertised_error(connections.access, causes, findings) or error


def diagnose(access: Access, servers: list[str], deadline: float) -> tuple[ServerFindings, ...]:
    """What is found on the servers' ports, in a part of the time that is left."""
    seconds = min(PROBE_TIME, _PROBE_SHARE * (deadline - time.monotonic()))
    if seconds <= 0:
        return ()
    tls = access.security_protocol.endswith("SSL")
    return probe_servers(servers, access.cafile, tls_first=tls, seconds=seconds)


async def bootstrap(connections: Connections) -> None:
    """Learns the brokers. Raises BootstrapError."""
    pool = connections.pool
    servers = {server.node_id: server for server in pool.manager.cluster.bootstrap_brokers()}
    causes: dict[Any, Exception] = {
        node: errors.KafkaTimeoutError("no answer in time") for node in servers
    }

    async def attempt(node: Any) -> tuple[Any, Any]:
        try:
            connection = await _log_in(connections, node)
            answer = connection.send_request(MetadataRequest(topics=[]))
            return connection, await connections.wait_for(answer, connections.timeout)
        except Exception as error:  # addresses are a user's: codecs fail on them too
            causes[node] = error
            raise

    try:
        # Twice a broker's time: to connect, and to answer.
        first = connections.first_of(attempt(node) for node in servers)
        connection, metadata = await connections.wait_for(first, 2 * connections.timeout)
        pool.prefer(connection)
    except Exception as error:
        addresses = {node: f"{server.host}:{server.port}" for node, server in servers.items()}
        by_server = [(addresses[node], cause) for node, cause in causes.items()]
        raise BootstrapError(by_server) from error
    finally:
        for node in servers:
            pool.close(node)
    connections.update_brokers(metadata)


async def _log_in(connections: Connections, node: Any) -> Any:
    """A connection that is logged in. Raises what the client raises, a rejected login as one."""
    while True:
        connection = connections.pool.get(node, connections.timeout)
        try:
            await connections.wait_for(connection.init_future, connections.timeout)
        except errors.KafkaError as error:
            if not is_login_rejected(connections.access, connection, error):
                raise
            if not connections.pool.try_next_login(node, connection):
                raise login_error(connections.access, error) from error
        else:
            return connection
