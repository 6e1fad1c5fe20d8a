# SPDX-License-Identifier: Apache-2.0
"""Addresses of the brokers, protocol and login; this module needs no client library."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import Any, Protocol

from kafka_lag.errors import ConfigError

# MSK's IAM, as Kafka names it: a token signed by the function's role in place of a password; and as
# MSK's documentation and Java's clients name it.
IAM, IAM_OF_MSK = "OAUTHBEARER", "AWS_MSK_IAM"

CLIENT_ID = "msk-lag-reporter"

_USERNAME = "sasl_plain_username"
_DAY_MS = 24 * 3_600_000

# The least and the greatest version that a client offers.
TlsVersions = tuple[ssl.TLSVersion, ssl.TLSVersion]
_TLS_VERSIONS: TlsVersions = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.MAXIMUM_SUPPORTED)


class Login(Protocol):
    """An identity for the brokers; its proof is in no repr, log or error."""

    def client_options(self) -> dict[str, Any]:
        """Its settings of kafka-python's connection manager. Raises ConfigError."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A login by user name and password."""

    username: str
    password: str = field(repr=False)

    def client_options(self) -> dict[str, Any]:
        """Settings of kafka-python's connection manager."""
        return {_USERNAME: self.username, "sasl_plain_password": self.password}


@dataclass(frozen=True, slots=True)
class Access:
    """The addresses of the brokers, and how to talk to them.

    `broker_timeout` is in seconds, and the most there is: a short run gives its brokers less.
    `tls_versions` None are 1.2 and all above.
    """

    bootstrap_servers: tuple[str, ...]
    security_protocol: str = "SASL_SSL"
    sasl_mechanism: str | None = "SCRAM-SHA-512"
    cafile: str | None = None
    broker_timeout: float = 10.0
    tls_versions: TlsVersions | None = None

    @property
    def logs_in(self) -> bool:
        """True if the protocol has a login."""
        return self.security_protocol.startswith("SASL")

    def client_options(self, login: Login | None) -> dict[str, Any]:
        """Settings of kafka-python's connection manager. Raises ConfigError."""
        timeout_ms = int(self.broker_timeout * 1000)
        options: dict[str, Any] = {
            "bootstrap_servers": list(self.bootstrap_servers),
            "client_id": CLIENT_ID,
            "security_protocol": self.security_protocol,
            "ssl_cafile": self.cafile,
            "request_timeout_ms": timeout_ms,
            # A broker that was down a minute ago is tried again at each run.
            "reconnect_backoff_max_ms": 1000,
            # Idle connections are the brokers' to close: the library would do it at the start of
            # a run, with requests already in flight.
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
    """Seconds that are waited for what a port may say.

    `total` is for all servers, which are looked at side by side. A server that says nothing within
    `answer` to a request of Kafka's, and then within `http_answer` to one of HTTP's, is not
    responding; both are more where connecting took long. `first_word` is given after a TLS
    handshake, when brokers object to a missing client certificate, and some others greet: what
    they say would be lost with a connection that they close on a request. `rejection` is what
    brokers may keep back the answer to a login that fails: 0.1 s, unless they are set to more.
    """

    total: float = 2.0
    answer: float = 0.4
    http_answer: float = 0.4
    first_word: float = 0.1
    rejection: float = 1.0

    @classmethod
    def within(cls, seconds: float) -> ProbeLimits:
        """Return limits for a probe of so many seconds, with a tenth of it for one answer.

        No answer is given less than by default.
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
    """Checks brokers against a file of authorities, None for the system's. Raises ConfigError."""
    # Made as kafka-python makes its own: the default one of Python 3.13 refuses some private
    # authorities that the other protocols of ours accept.
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
    """A user name as SCRAM sends it, which kafka-python leaves to its caller [RFC 5802, 5.1]."""
    return username.replace("=", "=3D").replace(",", "=2C")
