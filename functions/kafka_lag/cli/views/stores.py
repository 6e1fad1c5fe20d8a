# SPDX-License-Identifier: Apache-2.0
"""Where the snapshots are, with words for somebody at a terminal: no role and no VPC is theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from botocore import exceptions as aws

from kafka_lag import contract
from kafka_lag.aws import error_code
from kafka_lag.errors import ConfigError, StoreError, UnusableError
from kafka_lag.snapshots.store import FolderStore, S3Store

_NO_CREDENTIALS = "No AWS credentials here: set AWS_PROFILE, or run aws sso login."
_LOGIN_OVER = (
    *("ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidToken"),
    *("SSOTokenLoadError", "TokenRetrievalError", "UnauthorizedSSOTokenError"),
)


class OwnBucket(S3Store):
    """A bucket that somebody reads with their own rights."""

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """The keys that start with the prefix and come after another one, in order."""
        with _in_own_words(self._bucket, "s3:ListBucket"):
            return super().keys(prefix, after)

    def folders(self, prefix: str) -> list[str]:
        """The names right below the prefix, in order."""
        with _in_own_words(self._bucket, "s3:ListBucket"):
            return super().folders(prefix)

    def read(self, key: str) -> bytes:
        """The object's bytes."""
        with _in_own_words(self._bucket, "s3:GetObject"):
            return super().read(key)


def own_folder(folder: Path) -> FolderStore:
    """The folder that holds `snapshots/`, or will. Raises ConfigError for that one itself."""
    own = (folder / contract.GROUPS).glob("cluster=*")
    if not (folder / contract.SNAPSHOT_PREFIX).is_dir() and any(own):
        raise ConfigError(
            f"{folder} is inside the state: name the folder above, {folder.resolve().parent}."
        )
    return FolderStore(folder)


@contextmanager
def _in_own_words(bucket: str, right: str) -> Iterator[None]:
    try:
        yield
    except UnusableError:
        raise
    except StoreError as error:
        cause = error.__cause__
        if not isinstance(cause, Exception):
            raise
        raise StoreError(_told(cause, bucket, right)) from cause


def _told(error: Exception, bucket: str, right: str) -> str:
    code = error_code(error)
    if isinstance(error, aws.NoCredentialsError | aws.PartialCredentialsError):
        return _NO_CREDENTIALS
    if code in _LOGIN_OVER:
        return f"AWS does not take your credentials ({code}): run aws sso login, or renew them."
    if isinstance(error, aws.ParamValidationError):
        return f"{bucket} cannot be the name of a bucket: check it (--bucket)."
    if isinstance(error, aws.ConnectionError | aws.HTTPClientError):
        return f"S3 cannot be reached ({code}). Check your network and the region (--region)."
    return (
        f"The bucket {bucket} cannot be read ({code}). "
        f"Check the name, the region (--region), and your right to {right}."
    )
