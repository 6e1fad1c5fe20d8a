# SPDX-License-Identifier: Apache-2.0
"""AWS credentials of the person at the terminal: the default ones, a profile's, or a role's."""

from __future__ import annotations

from typing import Any

from kafka_lag.brokers.access import Login
from kafka_lag.errors import ConfigError


def open_session(profile: str | None, region: str | None = None) -> Any:
    """A boto3 session. Raises ConfigError for a profile that there is not."""
    # Costs the start of those alone who use AWS.
    import boto3  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    try:
        return boto3.Session(profile_name=profile, region_name=region)
    except BotoCoreError as error:
        raise ConfigError(
            f"The AWS credentials cannot be read: {error}. Check the profile, or run aws configure."
        ) from error


def signed_login(profile: str | None, role: str | None, region: str) -> Login:
    """Tokens for MSK IAM, signed by these credentials. Raises ConfigError where there are none.

    A role is assumed when the first token is made, and again before it expires.
    """
    from botocore.credentials import (  # noqa: PLC0415
        AssumeRoleCredentialFetcher,
        DeferredRefreshableCredentials,
    )
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    from kafka_lag.brokers.aws_login import role_login  # noqa: PLC0415

    session = open_session(profile, region)
    try:
        credentials = session.get_credentials()
    except BotoCoreError as error:
        raise ConfigError(
            f"The AWS credentials cannot be read: {error}. Check the profile, or run aws sso login."
        ) from error
    if role and credentials:
        fetcher = AssumeRoleCredentialFetcher(
            lambda service, **rest: session.client(service, **_without_keys(rest)),
            credentials,
            role,
            extra_args={"RoleSessionName": "kafka-lag"},
        )
        credentials = DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")
    return role_login(credentials, region)


def _without_keys(options: dict[str, Any]) -> dict[str, Any]:
    """The session's own client has the keys already, and renews them."""
    return {name: value for name, value in options.items() if not name.startswith("aws_")}
