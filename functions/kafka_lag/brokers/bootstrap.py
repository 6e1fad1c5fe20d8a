# SPDX-License-Identifier: Apache-2.0
"""Connecting: all bootstrap servers at once, the first that is ready names the brokers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafka import errors
from kafka.protocol.metadata import MetadataRequest

from kafka_lag.brokers.access import PROBE_LIMITS, Access, Login, ProbeLimits
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.errors import LOGIN_ERRORS, is_login_rejected, login_error
from kafka_lag.errors import ConfigError, LoginError, SourceError

if TYPE_CHECKING:
    from kafka_lag.brokers.diagnosis.ports import ServerFindings

# Of the time that a run has left, what looking for the cause of an error may take.
_PROBE_SHARE = 0.5
# Seconds without an answer after which the ports are looked at, as some services wait for ever for
# the rest of what they do not understand.
_LOOK_AFTER = 1.0
_PAUSE = 0.02


class BootstrapError(Exception):
    """No bootstrap server would talk.

    `causes` are pairs of an address and what came of it, `findings` what their ports were seen to
    speak while they were waited for.
    """

    def __init__(
        self,
        causes: list[tuple[str, Exception]],
        findings: tuple[ServerFindings, ...] = (),
    ) -> None:
        super().__init__("; ".join(f"{server}: {error}" for server, error in causes))
        self.causes = causes
        self.findings = findings

    @property
    def rejects_login(self) -> bool:
        """True if another login may help."""
        return any(isinstance(error, LOGIN_ERRORS) for _, error in self.causes)


def connect(
    access: Access,
    logins: Iterable[Login | None],
    deadline: float,
    limits: ProbeLimits = PROBE_LIMITS,
) -> tuple[Connections, Login | None]:
    """Connections that know the cluster's brokers, and the first of the logins that one accepts.

    Where all fail, the error says what is found on the servers' ports within `limits`. Raises
    LoginError, SourceError or ConfigError.
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
                connections.run(bootstrap(connections, limits))
            except BootstrapError as error:
                failed = error
                if error.rejects_login:
                    continue
                break
            connections.limit_broker_time(deadline)
            return connections, login
        if failed is None:
            raise LoginError("There is no login to try.")
        # No run that reads its brokers loads what explains an error.
        from kafka_lag.brokers.diagnosis.unreachable import unreachable_error  # noqa: PLC0415

        findings = failed.findings or diagnose(
            access, [server for server, _ in failed.causes], deadline, limits
        )
        raise unreachable_error(
            access, failed.causes, findings, has_certificate=login is not None
        ) from failed
    except BaseException:
        if connections is not None:
            connections.close()
        raise


def explain_unread(
    connections: Connections, error: SourceError, deadline: float, limits: ProbeLimits
) -> SourceError:
    """Return the error that explains why the brokers that a bootstrap server named are unreachable;
    else the given error."""
    from kafka_lag.brokers.diagnosis.unreachable import advertised_error  # noqa: PLC0415

    brokers = connections.pool.manager.cluster.brokers()
    addresses = {broker.node_id: f"{broker.host}:{broker.port}" for broker in brokers}
    down = connections.down()
    causes = [(addresses[node], why.detail) for node, why in down.items() if node in addresses]
    findings = diagnose(connections.access, [server for server, _ in causes], deadline, limits)
    return advertised_error(connections.access, causes, findings) or error


def diagnose(
    access: Access,
    servers: list[str],
    deadline: float,
    limits: ProbeLimits,
    *,
    mechanisms: bool = True,
) -> tuple[ServerFindings, ...]:
    """Return the findings on the servers' ports, made in a part of the time that is left."""
    from kafka_lag.brokers.diagnosis.ports import probe_servers  # noqa: PLC0415

    seconds = min(limits.total, _PROBE_SHARE * (deadline - time.monotonic()))
    if seconds <= 0:
        return ()
    tls = access.security_protocol.endswith("SSL")
    return probe_servers(
        servers,
        access.cafile,
        tls_first=tls,
        mechanisms=mechanisms,
        limits=replace(limits, total=seconds),
    )


async def bootstrap(connections: Connections, limits: ProbeLimits = PROBE_LIMITS) -> None:
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

    addresses = {node: f"{server.host}:{server.port}" for node, server in servers.items()}
    look = _Look(connections, list(addresses.values()), limits)
    try:
        first = connections.first_of(attempt(node) for node in servers)
        connection, metadata = await _wait_for_first(connections, first, look)
        pool.prefer(connection)
    except Exception as error:
        by_server = [(addresses[node], cause) for node, cause in causes.items()]
        raise BootstrapError(by_server, look.strangers) from error
    finally:
        for node in servers:
            pool.close(node)
    connections.update_brokers(metadata)


class _Look:
    """A look at ports while they are waited for, which sends nothing that counts as a login."""

    def __init__(self, connections: Connections, servers: list[str], limits: ProbeLimits) -> None:
        self._access, self._servers, self._limits = connections.access, servers, limits
        self._deadline = time.monotonic() + connections.seconds_left()
        self._found: tuple[ServerFindings, ...] = ()

    def begin(self) -> None:
        """Goes on in a thread, which nobody waits for."""
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def strangers(self) -> tuple[ServerFindings, ...]:
        """All servers, once they are all known to be no brokers; none until then."""
        strangers = all(found.is_stranger for found in self._found)
        return self._found if strangers else ()

    def _run(self) -> None:
        with suppress(ConfigError):
            self._found = diagnose(
                self._access, self._servers, self._deadline, self._limits, mechanisms=False
            )


async def _wait_for_first(connections: Connections, answer: Any, look: _Look) -> Any:
    """The first answer, in twice a broker's time: to connect, and to answer.

    Raises KafkaTimeoutError, and as soon as the servers are known to be no brokers.
    """
    end = time.monotonic() + 2 * connections.timeout
    first = connections.start(answer)
    try:
        return await connections.wait_for(first, min(_LOOK_AFTER, 2 * connections.timeout))
    except errors.KafkaTimeoutError:
        if first.is_done:
            raise
    look.begin()
    while not (first.is_done or look.strangers) and time.monotonic() < end:
        await connections.pause(_PAUSE)
    return await connections.wait_for(first, 0.0 if look.strangers else end - time.monotonic())


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
