# SPDX-License-Identifier: Apache-2.0
"""Which ends of a connection are a rejected login.

`test_unreachable.py` tests the sentences about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from kafka import errors
from kafka.future import Future

from kafka_lag.brokers.access import IAM, Access
from kafka_lag.brokers.errors import is_login_rejected

SCRAM = Access(("b:1",), "SASL_SSL", "SCRAM-SHA-512")
ROLE = Access(("b:1",), "SASL_SSL", IAM)
TLS = Access(("b:1",), "SSL", None)
PLAIN = Access(("b:1",), "PLAINTEXT", None)

CUT = errors.KafkaConnectionError("socket disconnected")
TIMED_OUT = errors.KafkaTimeoutError("no answer in time")
BAD_TOKEN = errors.SaslAuthenticationFailedError("no")
UNTRUSTED = errors.KafkaConnectionError(
    "Handshake failed: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"
)


def alert(name: str) -> errors.KafkaConnectionError:
    return errors.KafkaConnectionError(f"[SSL: {name}] {name.lower()} (_ssl.c:2580)")


@dataclass
class Ended:
    """As much of a connection as is looked at, ended after it came so far."""

    shook_hands: bool = False
    told_versions: bool = False
    was_ready: bool = False
    init_future: Any = field(default_factory=Future)

    def __post_init__(self) -> None:
        self.parser = object() if self.shook_hands else None
        self.broker_version_data = object() if self.told_versions else None
        if self.was_ready:
            self.init_future.success(True)
        else:
            self.init_future.failure(CUT)


REACHED = Ended()
SHOOK_HANDS = Ended(shook_hands=True)
TOLD_VERSIONS = Ended(shook_hands=True, told_versions=True)
READY = Ended(shook_hands=True, told_versions=True, was_ready=True)


@pytest.mark.parametrize(
    ("access", "connection", "error", "rejected"),
    [
        (SCRAM, TOLD_VERSIONS, BAD_TOKEN, True),
        (SCRAM, TOLD_VERSIONS, CUT, True),
        (ROLE, TOLD_VERSIONS, CUT, True),
        (SCRAM, SHOOK_HANDS, CUT, False),
        (SCRAM, READY, CUT, False),
        (SCRAM, TOLD_VERSIONS, TIMED_OUT, False),
        (SCRAM, None, CUT, False),
        (TLS, SHOOK_HANDS, CUT, True),
        (TLS, REACHED, CUT, False),
        (TLS, READY, CUT, False),
        (TLS, SHOOK_HANDS, TIMED_OUT, False),
        (TLS, REACHED, UNTRUSTED, False),
        (TLS, REACHED, alert("SSLV3_ALERT_BAD_CERTIFICATE"), True),
        (TLS, REACHED, alert("SSLV3_ALERT_CERTIFICATE_EXPIRED"), True),
        (TLS, REACHED, alert("TLSV13_ALERT_CERTIFICATE_REQUIRED"), True),
        (TLS, REACHED, alert("TLSV1_ALERT_UNKNOWN_CA"), True),
        (TLS, REACHED, alert("TLSV1_ALERT_PROTOCOL_VERSION"), False),
        (SCRAM, REACHED, alert("SSLV3_ALERT_BAD_CERTIFICATE"), False),
        (PLAIN, SHOOK_HANDS, CUT, False),
    ],
)
def test_an_end_is_a_rejected_login_only_while_a_broker_checks_it(
    access: Access, connection: Ended | None, error: Exception, *, rejected: bool
) -> None:
    assert is_login_rejected(access, connection, error) == rejected
