# SPDX-License-Identifier: Apache-2.0
"""Logins of AWS: passwords and certificates from a secret, tokens signed by a role.

This is a module of its own, because loading boto3 takes half a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from botocore.credentials import CredentialProvider
from botocore.exceptions import BotoCoreError, ClientError
from kafka.net.sasl.oauth import AbstractTokenProvider

from kafka_lag.aws import CURRENT, PREVIOUS, error_code, read_secret
from kafka_lag.brokers.access import IAM_OF_MSK, Login
from kafka_lag.brokers.login import Shape, user_and_password
from kafka_lag.errors import ConfigError

_ASSUME_ROLE = "AssumeRole"


class SecretCredentials:
    """A login from Secrets Manager: a JSON object of the given shape.

    The login that brokers accepted last comes first. If they reject it, the secret's current
    version is read once more and then the previous one, because brokers learn of a rotation late.
    Raises ConfigError for a secret that is missing, forbidden or malformed.
    """

    def __init__(self, client: Any, secret_id: str, shape: Shape = user_and_password) -> None:
        self._client = client
        self._secret_id = secret_id
        self._shape = shape
        self._accepted: Login | None = None

    def candidates(self) -> Iterator[Login | None]:
        """Yields the login accepted before, the current and the previous one, each once."""
        if self._accepted is not None:
            yield self._accepted
        yield from self.others()

    def others(self) -> Iterator[Login | None]:
        """Yields the current and the previous login, without the one accepted before."""
        tried = [self._accepted]
        for stage in (CURRENT, PREVIOUS):
            login = self._read(stage)
            if login is not None and login not in tried:
                tried.append(login)
                yield login

    def remember(self, login: Login | None) -> None:
        """Keeps the accepted login, in memory only."""
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
        return None if text is None else self._shape(self._secret_id, _decode(text))


def _decode(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


class TokenLogin(AbstractTokenProvider):  # type: ignore[misc]
    """A token for each connection, made at its login so that it is never too old.

    `make` is called while other connections wait, and may raise ConfigError.
    """

    def __init__(self, make: Callable[[], str]) -> None:
        super().__init__()
        self._make = make

    def token(self) -> str:
        """Returns a new token, as kafka-python requires."""
        return self._make()

    def client_options(self) -> dict[str, Any]:
        """Returns this login's settings for kafka-python's connection manager.

        Raises ConfigError.
        """
        # Tried before connecting: otherwise a missing role looks like missing brokers.
        self.token()
        return {"sasl_oauth_token_provider": self}


def role_login(credentials: Any, region: str) -> TokenLogin:
    """Returns a login with these AWS credentials (botocore's; None raises ConfigError).

    `region` is the cluster's. A token costs about a millisecond and no request while the
    credentials are at hand.
    """
    # Imported here, because it slows down the start and only this login needs it.
    from aws_msk_iam_sasl_signer import (  # type: ignore[import-untyped]  # noqa: PLC0415
        MSKAuthTokenProvider,
    )

    if credentials is None:
        raise ConfigError(_no_credentials("none configured"))
    provider = _FixedProvider(credentials)

    def sign() -> str:
        token, _ = MSKAuthTokenProvider.generate_auth_token_from_credentials_provider(
            region, provider
        )
        return str(token)

    return TokenLogin(sign)


class _FixedProvider(CredentialProvider):
    """Holds the credentials of the start, because the signer would look for them at each token."""

    def __init__(self, credentials: Any) -> None:
        super().__init__()
        self._credentials = credentials

    def load(self) -> Any:
        """Returns the present credentials; some are renewed before they expire."""
        try:
            return self._credentials.get_frozen_credentials()
        except BotoCoreError as error:
            raise ConfigError(_no_credentials(type(error).__name__)) from error
        except ClientError as error:
            assumed = error.operation_name.startswith(_ASSUME_ROLE)
            what = ", the role cannot be assumed" if assumed else ""
            raise ConfigError(_no_credentials(f"{error_code(error)}{what}")) from error


def _no_credentials(why: str) -> str:
    return (
        f"There are no AWS credentials to sign in to the brokers with ({why}): {IAM_OF_MSK} needs "
        "those of a role, a profile or a user."
    )
