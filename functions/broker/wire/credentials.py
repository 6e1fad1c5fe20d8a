# SPDX-License-Identifier: Apache-2.0
"""Which user name and password to try next: a rotated secret reaches brokers and us apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from functions.broker.wire.access import Credentials
from functions.errors import ConfigError

CURRENT, PREVIOUS = "AWSCURRENT", "AWSPREVIOUS"

_ABSENT = "ResourceNotFoundException"


class CredentialSource(Protocol):
    """Where a login comes from."""

    def candidates(self) -> Iterator[Credentials | None]:
        """What to try, in order, until the brokers accept one; None means no login is needed."""

    def others(self) -> Iterator[Credentials | None]:
        """What else could be tried when some brokers refuse what others took."""

    def accepted(self, credentials: Credentials | None) -> None:
        """Remembers what the brokers took, to start with it next time."""


class FixedCredentials:
    """One login that never changes, or none."""

    def __init__(self, credentials: Credentials | None = None) -> None:
        self._credentials = credentials

    def candidates(self) -> Iterator[Credentials | None]:
        """The one there is."""
        yield self._credentials

    def others(self) -> Iterator[Credentials | None]:
        """There are no others."""
        yield from ()

    def accepted(self, credentials: Credentials | None) -> None:
        """Nothing to remember."""


class SecretCredentials:
    """A login from Secrets Manager, a JSON object with `username` and `password`.

    Starts with what was accepted last; when refused, the current version is read once more,
    and then the previous one, as brokers learn of a rotation late.
    Raises ConfigError for a secret that is missing, forbidden or malformed.
    """

    def __init__(self, client: Any, secret_id: str) -> None:
        self._client = client
        self._secret_id = secret_id
        self._accepted: Credentials | None = None

    def candidates(self) -> Iterator[Credentials | None]:
        """Accepted before, current, previous; each once."""
        if self._accepted is not None:
            yield self._accepted
        yield from self.others()

    def others(self) -> Iterator[Credentials | None]:
        """Current and previous, as far as they are not what was accepted before."""
        tried = [self._accepted]
        for stage in (CURRENT, PREVIOUS):
            credentials = self._read(stage)
            if credentials is not None and credentials not in tried:
                tried.append(credentials)
                yield credentials

    def accepted(self, credentials: Credentials | None) -> None:
        """Kept in memory only."""
        self._accepted = credentials

    def _read(self, stage: str) -> Credentials | None:
        try:
            answer = self._client.get_secret_value(SecretId=self._secret_id, VersionStage=stage)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code == _ABSENT and stage == PREVIOUS:
                return None
            raise ConfigError(
                f"The secret {self._secret_id} cannot be read ({code}). "
                "Check secret_id, and that the function's role may get and decrypt it."
            ) from error
        except BotoCoreError as error:
            raise ConfigError(
                f"Secrets Manager did not answer for {self._secret_id} ({type(error).__name__}). "
                "Check the VPC's endpoint or route to it."
            ) from error
        return self._parsed(answer.get("SecretString"))

    def _parsed(self, text: str | None) -> Credentials:
        try:
            fields = json.loads(text or "")
            username, password = fields["username"], fields["password"]
        except (ValueError, TypeError, KeyError):
            username = password = None
        if not (isinstance(username, str) and username and isinstance(password, str) and password):
            # The cause is not chained: its message may quote the secret.
            raise ConfigError(
                f"The secret {self._secret_id} must be a JSON object with two strings, "
                '"username" and "password".'
            )
        return Credentials(username, password)
