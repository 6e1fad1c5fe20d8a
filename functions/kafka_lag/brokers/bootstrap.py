# SPDX-License-Identifier: Apache-2.0
"""Connecting: all bootstrap servers at once, the first that is ready names the brokers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka import errors
from kafka.protocol.metadata import MetadataRequest

from kafka_lag.brokers.access import IAM, Access, Login
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.errors import LOGIN_ERRORS, cause, is_login_rejected, login_error
from kafka_lag.errors import LoginError, SourceError


def connect(
    access: Access, logins: Iterable[Login | None], deadline: float
) -> tuple[Connections, Login | None]:
    """Connections that know the cluster's brokers, and the first of the logins that one accepts.

    Raises LoginError, SourceError or ConfigError.
    """
    connections: Connections | None = None
    rejected = LoginError("There is no login to try.")
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
            except LoginError as error:
                rejected = error
                continue
            connections.limit_broker_time(deadline)
            return connections, login
        raise rejected
    except BaseException:
        if connections is not None:
            connections.close()
        raise


async def bootstrap(connections: Connections) -> None:
    """Learns the brokers. Raises LoginError or SourceError, with each server's cause."""
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
        raise unreachable_error(connections.access, by_server) from error
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


def unreachable_error(access: Access, causes: Iterable[tuple[str, Exception]]) -> SourceError:
    """One sentence for a cluster of which no bootstrap server would talk, with what to do.

    `causes` are pairs of a server's address and what came of it.
    """
    by_server = list(causes)
    reasons = "; ".join(sorted({f"{server}: {cause(error)}" for server, error in by_server}))
    if any(isinstance(e, errors.UnsupportedSaslMechanismError) for _, e in by_server):
        return LoginError(
            f"The brokers do not offer the mechanism {access.sasl_mechanism}: {reasons}. "
            "Set sasl_mechanism to one they enable."
        )
    if any(isinstance(error, LOGIN_ERRORS) for _, error in by_server):
        return LoginError(_rejected_login(access, reasons))
    check = "bootstrap_servers, security_protocol (TLS or plaintext port?) and the network path"
    if "certificate" in reasons.lower():
        check = "cafile: it must hold the authority that signed the brokers' certificates"
    return SourceError(
        f"No broker could be reached over {access.security_protocol}: {reasons}. Check {check}."
    )


def _rejected_login(access: Access, reasons: str) -> str:
    if not access.logs_in:
        return (
            f"The brokers refused the client certificate, or that there is none: {reasons}. Check "
            "that the secret of secret_id, or the file, holds one that has not expired, of an "
            "authority that the brokers trust."
        )
    if access.sasl_mechanism == IAM:
        return (
            f"The brokers refused the token ({IAM}): {reasons}. Check that the role may "
            "kafka-cluster:Connect to this cluster, and that the cluster allows IAM."
        )
    return (
        f"The brokers refused the login ({access.sasl_mechanism}): {reasons}. "
        "Check user name, password, and that the brokers enable this mechanism."
    )
