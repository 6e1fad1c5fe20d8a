# SPDX-License-Identifier: Apache-2.0
"""How to reach the brokers, and the exceptions of their client translated into ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kafka import errors

from functions import contract
from functions.errors import LoginError, SourceError


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name and a password that no repr, log or error shows."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """Where the brokers are and how to talk to them; timeouts in seconds."""

    bootstrap_servers: tuple[str, ...]
    security_protocol: str = "SASL_SSL"
    sasl_mechanism: str | None = "SCRAM-SHA-512"
    cafile: str | None = None
    broker_timeout: float = 10.0

    def client_options(self, credentials: Credentials | None) -> dict[str, Any]:
        """Settings of kafka-python's connection manager."""
        options: dict[str, Any] = {
            "bootstrap_servers": list(self.bootstrap_servers),
            "client_id": "msk-lag-reporter",
            "security_protocol": self.security_protocol,
            "ssl_cafile": self.cafile,
            "request_timeout_ms": int(self.broker_timeout * 1000),
            "socket_connection_setup_timeout_ms": int(self.broker_timeout * 1000),
            "socket_connection_setup_timeout_max_ms": int(self.broker_timeout * 1000),
            # A broker that was down a minute ago is tried again at each run.
            "reconnect_backoff_max_ms": 1000,
            "receive_message_max_bytes": 200_000_000,
        }
        if self.security_protocol.startswith("SASL"):
            options["sasl_mechanism"] = self.sasl_mechanism
        if credentials is not None:
            options["sasl_plain_username"] = credentials.username
            options["sasl_plain_password"] = credentials.password
        return options

    def is_refusal(self, connection: Any, error: Exception) -> bool:
        """Whether an error is a login that the broker refused.

        Over TLS its reason can get lost: the broker hangs up right behind it, and kafka-python
        drops what it read together with the end. So an end between the answer about versions,
        which needs no login, and the end of the login counts as a refusal.
        """
        if isinstance(error, _LOGIN):
            return True
        return (
            self.security_protocol.startswith("SASL")
            and type(error) is errors.KafkaConnectionError
            and connection is not None
            and connection.parser is not None
            and connection.broker_version_data is not None
            and connection.init_future.failed()
        )


_LOGIN = (
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedSaslMechanismError,
    errors.IllegalSaslStateError,
)


class UnansweredError(Exception):
    """One request got no usable answer: `reason` is an unread reason of the contract."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


# A broker's own words are kept short enough to stay one sentence.
_LONGEST = 200

_REASONS: dict[type[Exception], str] = {
    errors.AuthorizationError: contract.DENIED,
    errors.LeaderNotAvailableError: contract.NO_LEADER,
    errors.NotLeaderForPartitionError: contract.NO_LEADER,
    errors.ReplicaNotAvailableError: contract.NO_LEADER,
    errors.CoordinatorNotAvailableError: contract.NO_COORDINATOR,
    errors.CoordinatorLoadInProgressError: contract.NO_COORDINATOR,
    errors.NotCoordinatorError: contract.NO_COORDINATOR,
    errors.KafkaTimeoutError: contract.TIMEOUT,
    errors.RequestTimedOutError: contract.TIMEOUT,
}


def reason_of(error: Exception) -> str:
    """The unread reason that a client exception stands for."""
    for kind, reason in _REASONS.items():
        if isinstance(error, kind):
            return reason
    return contract.ERROR


def reason_of_code(code: int) -> str | None:
    """The unread reason of a Kafka error code, None for success."""
    return None if code == 0 else reason_of(errors.for_code(code)())


def name_of_code(code: int) -> str:
    """The field's own name of a Kafka error code, for a person to look up."""
    return str(errors.for_code(code).__name__).removesuffix("Error")


def unreachable(access: Access, causes: dict[str, Exception]) -> SourceError:
    """One sentence for a cluster of which no bootstrap server would talk, with what to do."""
    told = "; ".join(sorted({f"{server}: {_cause(error)}" for server, error in causes.items()}))
    if any(isinstance(e, errors.UnsupportedSaslMechanismError) for e in causes.values()):
        return LoginError(
            f"The brokers do not offer the mechanism {access.sasl_mechanism}: {told}. "
            "Set sasl_mechanism to one they enable."
        )
    if any(isinstance(error, _LOGIN) for error in causes.values()):
        return LoginError(
            f"The brokers refused the login ({access.sasl_mechanism}): {told}. "
            "Check user name, password, and that the brokers enable this mechanism."
        )
    return SourceError(
        f"No broker could be reached over {access.security_protocol}: {told}. "
        "Check bootstrap_servers, security_protocol (TLS or plaintext port?) and the network path."
    )


def _cause(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:_LONGEST]
