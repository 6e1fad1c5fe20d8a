# SPDX-License-Identifier: Apache-2.0
"""AWS credentials of the person at the terminal: the default ones, a profile's, or a role's."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kafka_lag.brokers.access import Login
from kafka_lag.errors import ConfigError


@dataclass(frozen=True, slots=True)
class AwsRole:
    """A role to assume; None of each that AWS decides by itself.

    `region` is that of AWS STS. The role is assumed with the access key, if there is one, in place
    of the person's credentials.
    """

    arn: str
    session_name: str = "kafka-lag"
    external_id: str | None = None
    region: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)


def open_session(profile: str | None, region: str | None = None) -> Any:
    """Returns a boto3 session. Raises ConfigError for an unknown profile."""
    # Costs the start of those alone who use AWS.
    import boto3  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    try:
        return boto3.Session(profile_name=profile, region_name=region)
    except BotoCoreError as error:
        raise ConfigError(
            f"The AWS credentials cannot be read: {error}. Check the profile, or run aws configure."
        ) from error


def signed_login(profile: str | None, role: AwsRole | None, region: str) -> Login:
    """Returns tokens for MSK IAM, signed by these credentials. Raises ConfigError without any.

    A role is assumed when the first token is made, and again before it expires.
    """
    from botocore.credentials import (  # noqa: PLC0415
        AssumeRoleCredentialFetcher,
        Credentials,
        DeferredRefreshableCredentials,
    )
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    from kafka_lag.brokers.aws_login import role_login  # noqa: PLC0415

    session = open_session(profile, region)
    try:
        if role and role.access_key_id and role.secret_access_key:
            credentials = Credentials(
                role.access_key_id, role.secret_access_key, role.session_token
            )
        else:
            credentials = session.get_credentials()
    except BotoCoreError as error:
        raise ConfigError(
            f"The AWS credentials cannot be read: {error}. Check the profile, or run aws sso login."
        ) from error
    if role and credentials:
        request = {"RoleSessionName": role.session_name}
        if role.external_id:
            request["ExternalId"] = role.external_id
        fetcher = AssumeRoleCredentialFetcher(
            partial(_open_client, session, role), credentials, role.arn, extra_args=request
        )
        credentials = DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")
    return role_login(credentials, region)


def _open_client(session: Any, role: AwsRole, service: str, **options: Any) -> Any:
    """A client of AWS STS. The session's own has its keys already, and renews them."""
    if not role.access_key_id:
        options = {name: each for name, each in options.items() if not name.startswith("aws_")}
    return session.client(service, region_name=role.region, **options)
