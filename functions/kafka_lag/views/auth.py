# SPDX-License-Identifier: Apache-2.0
"""Checks that a request may be answered: by a bearer token, or by Lambda's check of a signature."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from kafka_lag.errors import ConfigError

_SCHEME = "bearer"
_SENDABLE = re.compile(r"[!-~]+")
_TOKEN_TTL_SECONDS = 300.0
# Anybody may send requests as often as they like, and each failed read costs a call.
_FAILURE_TTL_SECONDS = 5.0


def is_signed(event: Mapping[str, Any]) -> bool:
    """Returns True if Lambda itself has checked an IAM signature of a function URL's event."""
    authorizer = event["requestContext"].get("authorizer") or {}
    return bool(authorizer.get("iam"))


class Bearer:
    """Compares with the token that `read` returns, read again after 5 minutes of `clock` (seconds).

    Until it is read again, an old token may be accepted after a rotation, and the new one rejected.
    Only the token's hash is in memory.
    """

    def __init__(self, read: Callable[[], str], clock: Callable[[], float]) -> None:
        self._read = read
        self._clock = clock
        self._digest = b""
        self._until = float("-inf")
        self._failure: ConfigError | None = None
        self._failed_until = float("-inf")

    def allows(self, authorization: str) -> bool:
        """Returns True if an Authorization header holds the token.

        Raises ConfigError if `read` does. Any header takes the same time, because hashes of one
        length are compared.
        """
        scheme, _, token = authorization.strip().partition(" ")
        same = hmac.compare_digest(_hash(token.strip()), self._expected_hash())
        return same and scheme.lower() == _SCHEME

    def _expected_hash(self) -> bytes:
        now = self._clock()
        if now < self._until:
            return self._digest
        if self._failure is not None and now < self._failed_until:
            raise self._failure
        try:
            self._digest, self._until = _hash(self._read().strip()), now + _TOKEN_TTL_SECONDS
        except ConfigError as error:
            self._failure, self._failed_until = error, now + _FAILURE_TTL_SECONDS
            raise
        return self._digest


def check_token(text: str, holder: str) -> str:
    """Returns the text without surrounding blanks.

    Raises ConfigError for a text that no header can hold: a request only learns that its token is
    wrong, never why.
    """
    token = text.strip()
    if not _SENDABLE.fullmatch(token):
        raise ConfigError(
            f"{holder} must hold the token alone: it must be one line of visible ASCII, "
            "without blanks in it."
        )
    return token


def _hash(token: str) -> bytes:
    return sha256(token.encode(errors="surrogatepass")).digest()
