# SPDX-License-Identifier: Apache-2.0
"""Addresses of the brokers, protocol and login; this module needs no client library."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import Any, Protocol

from kafka_lag.errors import ConfigError

# MSK's IAM under Kafka's name (a token signed by the function's role in place of a password), and
# under the name of MSK's documentation and the Java clients.
IAM, IAM_OF_MSK = "OAUTHBEARER", "AWS_MSK_IAM"

CLIENT_ID = "msk-lag-reporter"

_USERNAME = "sasl_plain_username"
_DAY_MS = 24 * 3_600_000

# The lowest and the highest version that a client offers.
TlsVersions = tuple[ssl.TLSVersion, ssl.TLSVersion]
_TLS_VERSIONS: TlsVersions = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.MAXIMUM_SUPPORTED)


class Login(Protocol):
    """An identity for the brokers; its secret part is in no repr, log or error."""

    def client_options(self) -> dict[str, Any]:
        """Returns this login's settings for kafka-python's connection manager.

        Raises ConfigError.
        """


@dataclass(frozen=True, slots=True)
class Credentials:
    """A login by user name and password."""

    username: str
    password: str = field(repr=False)

    def client_options(self) -> dict[str, Any]:
        """Returns this login's settings for kafka-python's connection manager."""
        return {_USERNAME: self.username, "sasl_plain_password": self.password}


@dataclass(frozen=True, slots=True)
class Access:
    """The addresses of the brokers, and how to connect to them.

    `broker_timeout` is in seconds and an upper bound: a short run gives its brokers less.
    `tls_versions` None means 1.2 and above.
    """

    bootstrap_servers: tuple[str, ...]
    security_protocol: str = "SASL_SSL"
    sasl_mechanism: str | None = "SCRAM-SHA-512"
    cafile: str | None = None
    broker_timeout: float = 10.0
    tls_versions: TlsVersions | None = None

    @property
    def logs_in(self) -> bool:
        """Returns True if the protocol has a login."""
        return self.security_protocol.startswith("SASL")

    def client_options(self, login: Login | None) -> dict[str, Any]:
        """Returns the settings for kafka-python's connection manager. Raises ConfigError."""
        timeout_ms = int(self.broker_timeout * 1000)
        options: dict[str, Any] = {
            "bootstrap_servers": list(self.bootstrap_servers),
            "client_id": CLIENT_ID,
            "security_protocol": self.security_protocol,
            "ssl_cafile": self.cafile,
            "request_timeout_ms": timeout_ms,
            # A broker that was down a minute ago is tried again at each run.
            "reconnect_backoff_max_ms": 1000,
            # The brokers close idle connections. The library would close them at the start of a
            # run, when requests are already in flight.
            "connections_max_idle_ms": 7 * _DAY_MS,
            "receive_message_max_bytes": 200_000_000,
        }
        if self.tls_versions is not None and self.security_protocol.endswith("SSL"):
            options["ssl_context"] = tls_context(self.cafile, self.tls_versions)
        if self.logs_in:
            options["sasl_mechanism"] = self.sasl_mechanism
        options |= login.client_options() if login is not None else {}
        if _USERNAME in options and (self.sasl_mechanism or "").startswith("SCRAM"):
            options[_USERNAME] = _scram_name(options[_USERNAME])
        return options


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """Seconds to wait for the answers of a port.

    `total` is for all servers, which are probed side by side. A server is not responding if it
    sends nothing within `answer` after a Kafka request, and then nothing within `http_answer` after
    an HTTP request. Both limits grow if connecting took long. `first_word` is the wait after a TLS
    handshake: brokers then object to a missing client certificate, and some other servers greet.
    These answers would be lost if the server closed the connection on a request. `rejection` is the
    longest time for which brokers may delay the answer to a failed login; their default is 0.1 s.
    """

    total: float = 2.0
    answer: float = 0.4
    http_answer: float = 0.4
    first_word: float = 0.1
    rejection: float = 1.0

    @classmethod
    def within(cls, seconds: float) -> ProbeLimits:
        """Returns limits for a probe of `seconds`, with a tenth of them for one answer.

        The time for an answer is never less than the default.
        """
        usual = cls()
        answer = seconds / 10
        return cls(
            total=seconds,
            answer=max(usual.answer, answer),
            http_answer=max(usual.http_answer, answer),
        )


PROBE_LIMITS = ProbeLimits()


def tls_context(cafile: str | None, versions: TlsVersions | None = None) -> ssl.SSLContext:
    """Returns a context that checks brokers against the authorities in `cafile`.

    None stands for the system's authorities.

    Raises ConfigError.
    """
    # Made like kafka-python's own: the default context of Python 3.13 refuses some private
    # authorities that our other protocols accept.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version, context.maximum_version = versions or _TLS_VERSIONS
    if cafile is None:
        context.load_default_certs()
        return context
    try:
        context.load_verify_locations(cafile)
    except ssl.SSLError as error:
        raise ConfigError(f"cafile: {cafile} holds no PEM certificates ({error}).") from error
    except OSError as error:
        raise ConfigError(f"cafile: {cafile} cannot be read ({error.strerror}).") from error
    return context


def _scram_name(username: str) -> str:
    """Returns a user name as SCRAM sends it [RFC 5802, 5.1].

    kafka-python leaves this to its caller.
    """
    return username.replace("=", "=3D").replace(",", "=2C")
