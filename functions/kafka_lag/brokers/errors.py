# SPDX-License-Identifier: Apache-2.0
"""Maps the client's exceptions and the brokers' error codes to unread reasons and retries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kafka import errors

from kafka_lag import contract
from kafka_lag.brokers.access import Access

# Characters of a broker's error text that are kept, so that it stays one sentence.
_LONGEST = 200

# The library puts its own names of an error in front of the text, some of them twice.
_PREFIX = re.compile(r"^(\[Error \d+\] |\w+Error: )+")

# The library's names of these codes are older than Kafka's.
_RENAMED = {
    -1: "UNKNOWN_SERVER_ERROR",
    6: "NOT_LEADER_OR_FOLLOWER",
    17: "INVALID_TOPIC_EXCEPTION",
}

UNKNOWN_TOPIC = 3
UNSUPPORTED_VERSION = 35
GROUP_ID_NOT_FOUND = 69

# OpenSSL's words for a broker's objection to our certificate, or to a missing one.
_ALERT = re.compile(r"ALERT_(\w+_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED)\b")

# Text for a login that ended without an error, as brokers may do for a wrong password.
CONNECTION_CLOSED = "the broker hung up during the login"

LOGIN_ERRORS: tuple[type[Exception], ...] = (
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedSaslMechanismError,
)

_REASONS: dict[type[Exception], contract.UnreadReason] = {
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

# For errors that Kafka calls retriable: an election, a coordinator that still loads. `retries` has
# as many pauses.
MOST_RETRIES = 3


class UnansweredError(Exception):
    """One request got no usable answer: `reason` says why in one word.

    `broker` is the id of the broker that did not answer; None if no broker is known.
    """

    def __init__(
        self, reason: contract.UnreadReason, detail: str, broker: int | None = None
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.broker = broker


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why something was not read.

    `detail` is for the log: Kafka's own name of the error if a broker gave one. `code` is that
    error's code, else 0. `retries` is how many retries in this run may help. `broker` is the id of
    the broker that did not answer; None if all answered.
    """

    reason: contract.UnreadReason
    detail: str
    retries: int = 0
    code: int = 0
    broker: int | None = None


NO_LEADER = Failure(contract.NO_LEADER, "LEADER_NOT_AVAILABLE", MOST_RETRIES)

# A coordinator that took over answers as of its high watermark, which followers learn up to half a
# second late (replica.fetch.wait.max.ms). A group created just before the move is not there yet.
NOT_KNOWN_YET = Failure(
    contract.NO_COORDINATOR,
    "its coordinator does not know what it had, because it may have just taken over",
    MOST_RETRIES,
)


def failure_of_code(code: int) -> Failure | None:
    """Returns the failure for a broker's error code; None for success."""
    if code == 0:
        return None
    error = errors.for_code(code)
    name = _RENAMED.get(code, str(error.message))
    detail = f"error code {code}" if name == "UNKNOWN" else name
    return Failure(reason_of(error()), detail, MOST_RETRIES if error.retriable else 0, code)


def failure_of(error: UnansweredError) -> Failure:
    """Returns the failure for a broker that did not answer.

    It allows one retry, because another broker may lead or coordinate by now. No retry helps if the
    login is denied or throttled.
    """
    is_final = error.reason in (contract.DENIED, contract.THROTTLED)
    return Failure(error.reason, error.detail, int(not is_final), broker=error.broker)


def malformed_failure(detail: str) -> Failure:
    """Returns the failure for an item whose answer cannot be right."""
    return Failure(contract.ERROR, detail)


def missing_failure(request: str) -> Failure:
    """Returns the failure for a requested item that is missing in the answer."""
    return malformed_failure(f"left out of the answer to {request}")


def reason_of(error: Exception) -> contract.UnreadReason:
    """Returns the unread reason for a client exception."""
    for kind, reason in _REASONS.items():
        if isinstance(error, kind):
            return reason
    return contract.ERROR


def cause(error: Exception) -> str:
    """Returns an exception's text on one line of bounded length; its type if it has no text."""
    text = _PREFIX.sub("", " ".join(str(error).split()))
    return (text or type(error).__name__)[:_LONGEST]


def is_certificate_alert(error: Exception) -> bool:
    """Returns True if a broker objects to our certificate, or to a missing one."""
    return bool(_ALERT.search(str(error)))


def is_login_rejected(access: Access, connection: Any, error: Exception) -> bool:
    """Returns True if a broker rejected the login or the client certificate.

    Over TLS the reason can get lost: the broker closes the connection right behind it, and
    kafka-python drops bytes that it read together with the end. The answer about versions needs no
    login, so an end between this answer and the end of the login counts as a rejection. A broker
    checks a certificate before any answer, and since TLS 1.3 after our handshake is over.
    """
    if isinstance(error, LOGIN_ERRORS):
        return True
    if type(error) is not errors.KafkaConnectionError or connection is None:
        return False
    if access.security_protocol == "SSL" and is_certificate_alert(error):
        return True
    return (
        access.security_protocol != "PLAINTEXT"
        and connection.parser is not None
        and (connection.broker_version_data is not None or not access.logs_in)
        and connection.init_future.failed()
    )


def login_error(access: Access, error: Exception) -> Exception:
    """Returns the login error that an ended connection means; the error itself if it is one."""
    if isinstance(error, LOGIN_ERRORS):
        return error
    reason = CONNECTION_CLOSED if access.logs_in else cause(error)
    rejected: Exception = errors.SaslAuthenticationFailedError(reason)
    return rejected
