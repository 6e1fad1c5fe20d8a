# SPDX-License-Identifier: Apache-2.0
"""A bucket of snapshots, read with one's own AWS credentials.

Errors name no role and no VPC, but what somebody at a terminal can do. Apart from the folder, as
boto3 takes half a second to load.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore import exceptions as aws
from botocore.config import Config

from kafka_lag.aws import error_code
from kafka_lag.errors import ConfigError, StoreError, UnusableError
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag_cli.account.session import open_session

# What a client holds open at most, where nobody reads many objects at once.
_CONNECTIONS = 10
_NO_CREDENTIALS = "No AWS credentials here: set AWS_PROFILE, or run aws sso login."
_EXPIRED_CREDENTIALS = (
    *("ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidToken"),
    *("SSOTokenLoadError", "TokenRetrievalError", "UnauthorizedSSOTokenError"),
)


def open_bucket(
    bucket: str,
    profile: str | None = None,
    connections: int = _CONNECTIONS,
) -> OwnBucket:
    """Returns the bucket; reads nothing of it yet. Raises ConfigError."""
    config = Config(
        connect_timeout=5,
        read_timeout=20,
        retries={"mode": "standard"},
        max_pool_connections=connections,
    )
    try:
        client = open_session(profile).client("s3", config=config)
    except aws.BotoCoreError as error:
        raise ConfigError(f"AWS cannot be used as it is configured here: {error}") from error
    return OwnBucket(client, bucket)


class OwnBucket(S3Store):
    """A bucket that somebody reads with their own rights: errors name no role and no VPC."""

    def keys(self, prefix: str, after: str = "") -> list[str]:
        with _map_errors(self._bucket, "s3:ListBucket"):
            return super().keys(prefix, after)

    def folders(self, prefix: str) -> list[str]:
        with _map_errors(self._bucket, "s3:ListBucket"):
            return super().folders(prefix)

    def read(self, key: str) -> bytes:
        with _map_errors(self._bucket, "s3:GetObject"):
            return super().read(key)


@contextmanager
def _map_errors(bucket: str, right: str) -> Iterator[None]:
    try:
        yield
    except UnusableError:
        raise
    except StoreError as error:
        cause = error.__cause__
        if not isinstance(cause, Exception):
            raise
        raise StoreError(_explain(cause, bucket, right)) from cause


def _explain(error: Exception, bucket: str, right: str) -> str:
    code = error_code(error)
    if isinstance(error, aws.NoCredentialsError | aws.PartialCredentialsError):
        return _NO_CREDENTIALS
    if code in _EXPIRED_CREDENTIALS:
        return f"AWS does not take your credentials ({code}): run aws sso login, or renew them."
    if isinstance(error, aws.ParamValidationError):
        return f"{bucket} cannot be the name of a bucket: check it (--state)."
    if isinstance(error, aws.ConnectionError | aws.HTTPClientError):
        return f"S3 cannot be reached ({code}). Check your network and the AWS region."
    return (
        f"The bucket {bucket} cannot be read ({code}). "
        f"Check the name, the AWS region, and your right to {right}."
    )
