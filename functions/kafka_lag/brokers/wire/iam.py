# SPDX-License-Identifier: Apache-2.0
"""A login without a secret: tokens that the role the function runs as signs for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from botocore.credentials import CredentialProvider
from botocore.exceptions import BotoCoreError
from kafka.net.sasl.oauth import AbstractTokenProvider

from kafka_lag.brokers.wire.access import IAM
from kafka_lag.errors import ConfigError


class TokenLogin(AbstractTokenProvider):  # type: ignore[misc]
    """A token for each connection, made when that connection logs in, so that none is too old.

    `make` is called while other connections wait, and may raise ConfigError.
    """

    def __init__(self, make: Callable[[], str]) -> None:
        super().__init__()
        self._make = make

    def token(self) -> str:
        """A new token, as kafka-python asks for it."""
        return self._make()

    def client_options(self) -> dict[str, Any]:
        """Settings of kafka-python's connection manager. Raises ConfigError."""
        # Tried before anybody connects: else a role that is missing looks like brokers that are.
        self.token()
        return {"sasl_oauth_token_provider": self}


def role_login(credentials: Any, region: str) -> TokenLogin:
    """Logs in as whose AWS credentials these are (botocore's; None raises ConfigError).

    `region` is the cluster's. A token costs about a millisecond and asks nobody, as long as the
    credentials are at hand.
    """
    # Costs the start of those alone who log in this way.
    from aws_msk_iam_sasl_signer import (  # type: ignore[import-untyped]  # noqa: PLC0415
        MSKAuthTokenProvider,
    )

    if credentials is None:
        raise ConfigError(_nobody("none configured"))
    holder = _Holder(credentials)

    def sign() -> str:
        token, _ = MSKAuthTokenProvider.generate_auth_token_from_credentials_provider(
            region, holder
        )
        return str(token)

    return TokenLogin(sign)


class _Holder(CredentialProvider):
    """The credentials found at the start: the signer alone would look for them at each token."""

    def __init__(self, credentials: Any) -> None:
        super().__init__()
        self._credentials = credentials

    def load(self) -> Any:
        """What the credentials are by now, as some are renewed before they expire."""
        try:
            return self._credentials.get_frozen_credentials()
        except BotoCoreError as error:
            raise ConfigError(_nobody(type(error).__name__)) from error


def _nobody(why: str) -> str:
    return (
        f"There are no AWS credentials to sign in to the brokers with ({why}): {IAM} needs a "
        "function that runs as a role."
    )
