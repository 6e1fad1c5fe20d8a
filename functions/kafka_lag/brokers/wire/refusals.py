# SPDX-License-Identifier: Apache-2.0
"""The client library's exceptions and the brokers' error codes, translated into our words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from kafka import errors

from kafka_lag import contract
from kafka_lag.brokers.wire.access import IAM, Access
from kafka_lag.errors import LoginError, SourceError

# A broker's own words are kept short enough to stay one sentence.
_LONGEST = 200

# The library puts its own names for an error in front of what it says, some of them twice.
_PREFIX = re.compile(r"^(\[Error \d+\] |\w+Error: )+")

# The library's names of these are older than Kafka's.
_RENAMED = {
    -1: "UNKNOWN_SERVER_ERROR",
    6: "NOT_LEADER_OR_FOLLOWER",
    17: "INVALID_TOPIC_EXCEPTION",
}

UNKNOWN_TOPIC = 3
UNSUPPORTED_VERSION = 35
GROUP_ID_NOT_FOUND = 69

# What OpenSSL calls a broker's objection to our certificate, or to there being none.
_ALERT = re.compile(r"ALERT_(\w+_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED)\b")

_LOGIN: tuple[type[Exception], ...] = (
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedSaslMechanismError,
)

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


class UnansweredError(Exception):
    """One request got no usable answer: `reason` is an unread reason of the contract."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


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
    """Kafka's own name of an error code, for a person to look up."""
    name = _RENAMED.get(code, str(errors.for_code(code).message))
    return f"error code {code}" if name == "UNKNOWN" else name


def is_refusal(access: Access, connection: Any, error: Exception) -> bool:
    """Whether an error is a login that the broker refused, a client certificate included.

    Over TLS its reason can get lost: the broker hangs up right behind it, and kafka-python drops
    what it read together with the end. So an end between the answer about versions, which needs
    no login, and the end of the login counts as a refusal. A certificate is looked at before any
    answer, and since TLS 1.3 after the handshake is over for us.
    """
    if isinstance(error, _LOGIN):
        return True
    if type(error) is not errors.KafkaConnectionError or connection is None:
        return False
    if access.security_protocol == "SSL" and _ALERT.search(str(error)):
        return True
    return (
        access.security_protocol != "PLAINTEXT"
        and connection.parser is not None
        and (connection.broker_version_data is not None or not access.logs_in)
        and connection.init_future.failed()
    )


def refusal(access: Access, error: Exception) -> Exception:
    """The refused login that an ended connection stands for; the error itself if it is one."""
    if isinstance(error, _LOGIN):
        return error
    said = "the broker hung up during the login" if access.logs_in else cause(error)
    refused: Exception = errors.SaslAuthenticationFailedError(said)
    return refused


def unreachable(access: Access, causes: Iterable[tuple[str, Exception]]) -> SourceError:
    """One sentence for a cluster of which no bootstrap server would talk, with what to do.

    `causes` are pairs of a server's address and what came of it.
    """
    known = list(causes)
    told = "; ".join(sorted({f"{server}: {cause(error)}" for server, error in known}))
    if any(isinstance(e, errors.UnsupportedSaslMechanismError) for _, e in known):
        return LoginError(
            f"The brokers do not offer the mechanism {access.sasl_mechanism}: {told}. "
            "Set sasl_mechanism to one they enable."
        )
    if any(isinstance(error, _LOGIN) for _, error in known):
        return LoginError(_refused(access, told))
    check = "bootstrap_servers, security_protocol (TLS or plaintext port?) and the network path"
    if "certificate" in told.lower():
        check = "cafile: it must hold the authority that signed the brokers' certificates"
    return SourceError(
        f"No broker could be reached over {access.security_protocol}: {told}. Check {check}."
    )


def _refused(access: Access, told: str) -> str:
    if not access.logs_in:
        return (
            f"The brokers refused the client certificate, or that there is none: {told}. Check "
            "that secret_id names a secret with one that has not expired, of an authority that "
            "the brokers trust."
        )
    if access.sasl_mechanism == IAM:
        return (
            f"The brokers refused the token ({IAM}): {told}. Check that the function's role may "
            "kafka-cluster:Connect to this cluster, and that the cluster allows IAM."
        )
    return (
        f"The brokers refused the login ({access.sasl_mechanism}): {told}. "
        "Check user name, password, and that the brokers enable this mechanism."
    )


def cause(error: Exception) -> str:
    """What an exception says, on one line of bounded length; its type where it says nothing."""
    text = _PREFIX.sub("", " ".join(str(error).split()))
    return (text or type(error).__name__)[:_LONGEST]
