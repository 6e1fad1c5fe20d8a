# SPDX-License-Identifier: Apache-2.0
"""Small objects of which each write says what its writer saw last, so that one of two loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag.aws import conditional_put, error_code
from kafka_lag.errors import StoreError

_ABSENT = "NoSuchKey"
_OTHER = ("PreconditionFailed", _ABSENT)


@dataclass(frozen=True, slots=True)
class Stored:
    """An object's bytes, and the tag that changes whenever they are written."""

    data: bytes
    etag: str


class Claims(Protocol):
    """Objects by key. All methods raise StoreError."""

    def read(self, key: str) -> Stored | None:
        """The object, None where there is none."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        """Writes the object unless it exists; its tag, None where it exists."""

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        """Writes the object if it still has this tag; its new tag, None where it has another."""


class S3Claims:
    """In a bucket, by conditional puts."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def read(self, key: str) -> Stored | None:
        """The object, None where there is none."""
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=key)
            return Stored(found["Body"].read(), found["ETag"])
        except (ClientError, BotoCoreError) as error:
            if error_code(error) == _ABSENT:
                return None
            raise self._failed("read", key, error) from error

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        """Writes the object unless it exists."""
        return self._put(key, data, IfNoneMatch="*")

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        """Writes the object if it still has this tag."""
        return self._put(key, data, IfMatch=etag)

    def _put(self, key: str, data: bytes, **condition: str) -> str | None:
        try:
            return conditional_put(
                self._client, _OTHER, Bucket=self._bucket, Key=key, Body=data, **condition
            )
        except (ClientError, BotoCoreError) as error:
            raise self._failed("write", key, error) from error

    def _failed(self, verb: str, key: str, error: Exception) -> StoreError:
        return StoreError(
            f"Cannot {verb} {key} in bucket {self._bucket} ({error_code(error)}). "
            "Check that the bucket exists and the role's rights."
        )
