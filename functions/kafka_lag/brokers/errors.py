# SPDX-License-Identifier: Apache-2.0
"""Error mapping: the client's exceptions and the brokers' codes to unread reasons and retries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kafka import errors

from kafka_lag import contract
from kafka_lag.brokers.access import Access

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

# What is said of a login that was ended without a word, as brokers may do to a wrong password.
HUNG_UP = "the broker hung up during the login"

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

# For what Kafka calls retriable: an election, a coordinator that still loads. There are as many
# pauses in `retries`.
MOST_RETRIES = 3


class UnansweredError(Exception):
    """One request got no usable answer: `reason` says why in one word.

    `broker` is the id of the broker that did not answer, null where it is not one alone.
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
    """Why something was not read.

    `detail` is for the log: Kafka's own name of the error where a broker gave one, whose `code` it
    is (else 0). `retries` may help within this run. `broker` is the one that did not answer, null
    where one did.
    """

    reason: contract.UnreadReason
    detail: str
    retries: int = 0
    code: int = 0
    broker: int | None = None


NO_LEADER = Failure(contract.NO_LEADER, "LEADER_NOT_AVAILABLE", MOST_RETRIES)

# A coordinator that took over answers as of its high watermark, which followers learn up to half a
# second late (replica.fetch.wait.max.ms): what was made just before the move is not there yet.
NOT_KNOWN_YET = Failure(
    contract.NO_COORDINATOR,
    "its coordinator does not know what it had, because it may have just taken over",
    MOST_RETRIES,
)


def failure_of_code(code: int) -> Failure | None:
    """Return the failure of a broker's error code; null for success."""
    if code == 0:
        return None
    error = errors.for_code(code)
    name = _RENAMED.get(code, str(error.message))
    detail = f"error code {code}" if name == "UNKNOWN" else name
    return Failure(reason_of(error()), detail, MOST_RETRIES if error.retriable else 0, code)


def failure_of(error: UnansweredError) -> Failure:
    """A broker that did not answer; another may lead or coordinate by now, so one retry helps.

    No retry helps a login that is denied or throttled.
    """
    is_final = error.reason in (contract.DENIED, contract.THROTTLED)
    return Failure(error.reason, error.detail, int(not is_final), broker=error.broker)


def malformed(detail: str) -> Failure:
    """An answer that cannot be right, for the item it is about."""
    return Failure(contract.ERROR, detail)


def left_out(request: str) -> Failure:
    """An item that was requested and that the answer does not hold."""
    return malformed(f"left out of the answer to {request}")


def reason_of(error: Exception) -> contract.UnreadReason:
    """The unread reason that a client exception stands for."""
    for kind, reason in _REASONS.items():
        if isinstance(error, kind):
            return reason
    return contract.ERROR


def cause(error: Exception) -> str:
    """Return an exception's text on one line of bounded length; its type if it has no text."""
    text = _PREFIX.sub("", " ".join(str(error).split()))
    return (text or type(error).__name__)[:_LONGEST]


def is_certificate_alert(error: Exception) -> bool:
    """Return true if a broker objects to our certificate, or to its absence."""
    return bool(_ALERT.search(str(error)))


def is_login_rejected(access: Access, connection: Any, error: Exception) -> bool:
    """Return true if an error is a login that the broker rejected, a client certificate included.

    Over TLS its reason can get lost: the broker closes right behind it, and kafka-python drops
    what it read together with the end. So an end between the answer about versions, which needs
    no login, and the end of the login counts as a rejection. A certificate is looked at before
    any answer, and since TLS 1.3 after the handshake is over for us.
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
    """The rejected login that an ended connection stands for; the error itself if it is one."""
    if isinstance(error, LOGIN_ERRORS):
        return error
    reason = HUNG_UP if access.logs_in else cause(error)
    rejected: Exception = errors.SaslAuthenticationFailedError(reason)
    return rejected
