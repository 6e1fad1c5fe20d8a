# SPDX-License-Identifier: Apache-2.0
"""Connects to all bootstrap servers at once; the first that is ready names the brokers."""

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

# Finding the cause of an error may take this share of the time that a run has left.
_PROBE_SHARE = 0.5
# Ports are probed after this many seconds without an answer, because some services wait forever for
# the rest of a request that they do not understand.
_PROBE_AFTER = 1.0
_PAUSE = 0.02


class BootstrapError(Exception):
    """No bootstrap server could be used.

    `causes` are pairs of an address and its error. `findings` are those of a probe, if the ports
    were probed while we waited.
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
        """Returns True if another login may help."""
        return any(isinstance(error, LOGIN_ERRORS) for _, error in self.causes)


def connect(
    access: Access,
    logins: Iterable[Login | None],
    deadline: float,
    limits: ProbeLimits = PROBE_LIMITS,
) -> tuple[Connections, Login | None]:
    """Returns connections that know the cluster's brokers, and the first login that one accepts.

    If all logins fail, the error includes the findings of a probe of the servers' ports, made
    within `limits`. Raises LoginError, SourceError or ConfigError.
    """
    connections: Connections | None = None
    failed: BootstrapError | None = None
    try:
        for login in logins:
            if connections is None:
                connections = Connections(access, login)
                connections.begin_run(deadline)
            connections.pool.add_login(login)
            # Each login may wait for a hung server again, for a share of the time left.
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
        # Imported here, because a run that reads its brokers does not need it.
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
    """Returns an error that explains why no advertised broker can be reached, else the given error.

    A bootstrap server advertises the brokers by their addresses.
    """
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
    """Returns the findings on the servers' ports, made in a part of the time that is left."""
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
    """Learns the cluster's brokers from the first server that answers. Raises BootstrapError."""
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
    probe = _BackgroundProbe(connections, list(addresses.values()), limits)
    try:
        first = connections.first_of(attempt(node) for node in servers)
        connection, metadata = await _wait_for_first(connections, first, probe)
        pool.prefer(connection)
    except Exception as error:
        by_server = [(addresses[node], cause) for node, cause in causes.items()]
        raise BootstrapError(by_server, probe.strangers) from error
    finally:
        for node in servers:
            pool.close(node)
    connections.update_brokers(metadata)


class _BackgroundProbe:
    """Probes ports while we wait for them; no request of the probe counts as a login."""

    def __init__(self, connections: Connections, servers: list[str], limits: ProbeLimits) -> None:
        self._access, self._servers, self._limits = connections.access, servers, limits
        self._deadline = time.monotonic() + connections.seconds_left()
        self._found: tuple[ServerFindings, ...] = ()

    def begin(self) -> None:
        """Starts the probe in a thread that nobody waits for."""
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def strangers(self) -> tuple[ServerFindings, ...]:
        """Returns the findings once no server is a broker; empty until then."""
        strangers = all(found.is_stranger for found in self._found)
        return self._found if strangers else ()

    def _run(self) -> None:
        with suppress(ConfigError):
            self._found = diagnose(
                self._access, self._servers, self._deadline, self._limits, mechanisms=False
            )


async def _wait_for_first(connections: Connections, answer: Any, probe: _BackgroundProbe) -> Any:
    """Returns the first answer.

    Raises KafkaTimeoutError after twice a broker's time, because a broker may take its time to
    connect and again to answer. Raises it earlier if the probe finds that no server is a broker.
    """
    end = time.monotonic() + 2 * connections.timeout
    first = connections.start(answer)
    try:
        return await connections.wait_for(first, min(_PROBE_AFTER, 2 * connections.timeout))
    except errors.KafkaTimeoutError:
        if first.is_done:
            raise
    probe.begin()
    while not (first.is_done or probe.strangers) and time.monotonic() < end:
        await connections.pause(_PAUSE)
    return await connections.wait_for(first, 0.0 if probe.strangers else end - time.monotonic())


async def _log_in(connections: Connections, node: Any) -> Any:
    """Returns a connection that is logged in.

    Raises the client's error, or a login error if the login was rejected.
    """
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
