# SPDX-License-Identifier: Apache-2.0
"""Which login to try next: a rotated secret reaches brokers and us at different times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag.aws import CURRENT, PREVIOUS, error_code, read_secret
from kafka_lag.brokers.wire.access import Credentials, Login
from kafka_lag.errors import ConfigError

# What makes a login of a secret's id and its JSON (None: it is none). Raises ConfigError, without
# a cause where that might quote the secret.
Shape = Callable[[str, Any], Login]


class CredentialSource(Protocol):
    """Where a login comes from."""

    def candidates(self) -> Iterator[Login | None]:
        """What to try, in order, until the brokers accept one; None means no login is needed."""

    def others(self) -> Iterator[Login | None]:
        """What else could be tried when some brokers refuse what others took."""

    def accepted(self, login: Login | None) -> None:
        """Remembers what the brokers took, to start with it next time."""


def user_and_password(secret_id: str, fields: Any) -> Credentials:
    """The shape that MSK asks of a SCRAM secret. Raises ConfigError."""
    told = fields if isinstance(fields, dict) else {}
    username, password = told.get("username"), told.get("password")
    if not (isinstance(username, str) and username and isinstance(password, str) and password):
        raise ConfigError(
            f"The secret {secret_id} must be a JSON object with two strings, "
            '"username" and "password".'
        )
    return Credentials(username, password)


class FixedCredentials:
    """One login that never changes, or none."""

    def __init__(self, login: Login | None = None) -> None:
        self._login = login

    def candidates(self) -> Iterator[Login | None]:
        """The one there is."""
        yield self._login

    def others(self) -> Iterator[Login | None]:
        """There are no others."""
        yield from ()

    def accepted(self, login: Login | None) -> None:
        """Nothing to remember."""


class SecretCredentials:
    """A login from Secrets Manager: a JSON object, of the shape given.

    Starts with what was accepted last; when refused, the current version is read once more,
    and then the previous one, as brokers learn of a rotation late.
    Raises ConfigError for a secret that is missing, forbidden or malformed.
    """

    def __init__(self, client: Any, secret_id: str, shape: Shape = user_and_password) -> None:
        self._client = client
        self._secret_id = secret_id
        self._shape = shape
        self._accepted: Login | None = None

    def candidates(self) -> Iterator[Login | None]:
        """Accepted before, current, previous; each once."""
        if self._accepted is not None:
            yield self._accepted
        yield from self.others()

    def others(self) -> Iterator[Login | None]:
        """Current and previous, as far as they are not what was accepted before."""
        tried = [self._accepted]
        for stage in (CURRENT, PREVIOUS):
            login = self._read(stage)
            if login is not None and login not in tried:
                tried.append(login)
                yield login

    def accepted(self, login: Login | None) -> None:
        """Kept in memory only."""
        self._accepted = login

    def _read(self, stage: str) -> Login | None:
        try:
            text = read_secret(self._client, self._secret_id, stage)
        except ClientError as error:
            raise ConfigError(
                f"The secret {self._secret_id} cannot be read ({error_code(error)}). "
                "Check secret_id, and that the function's role may get and decrypt it."
            ) from error
        except BotoCoreError as error:
            raise ConfigError(
                f"Secrets Manager did not answer for {self._secret_id} ({type(error).__name__}). "
                "Check the VPC's endpoint or route to it."
            ) from error
        return None if text is None else self._shape(self._secret_id, _decoded(text))


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
