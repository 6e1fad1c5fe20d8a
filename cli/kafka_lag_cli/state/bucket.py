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

from kafka_lag.errors import ConfigError, StoreError, UnusableError
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag_cli.account.errors import AwsError
from kafka_lag_cli.account.session import open_session

# What a client holds open at most, where nobody reads many objects at once.
_CONNECTIONS = 10


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
        if isinstance(cause, aws.ParamValidationError):
            sentence = f"{bucket} cannot be the name of a bucket: check it (--state)."
        else:
            error_of_aws = AwsError(right, cause)
            sentence = f"The bucket {bucket} cannot be read. {error_of_aws}"
            is_answer = isinstance(cause, aws.ClientError)
            if is_answer and not error_of_aws.denied and not error_of_aws.rejected:
                sentence += " Check the bucket's name and the AWS region."
        raise StoreError(sentence) from cause
