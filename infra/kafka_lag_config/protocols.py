# SPDX-License-Identifier: Apache-2.0
"""Protocols of brokers and mechanisms of logins, in Kafka's words; needs no schema library."""

from __future__ import annotations

from typing import Final, Literal, get_args

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN", "OAUTHBEARER"]
# MSK's, as Kafka names it: a token signed by the function's role in place of a password.
IAM: Final = "OAUTHBEARER"
PROTOCOLS: Final[tuple[str, ...]] = get_args(SecurityProtocol)
# Those that take a user name and a password.
PASSWORD_MECHANISMS: Final[tuple[str, ...]] = tuple(
    each for each in get_args(SaslMechanism) if each != IAM
)
