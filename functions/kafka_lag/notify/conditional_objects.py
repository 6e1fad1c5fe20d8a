# SPDX-License-Identifier: Apache-2.0
"""Small objects in a bucket, written by conditional puts, so that one of two writers fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from kafka_lag.aws import AWS_ERRORS, conditional_put, error_code
from kafka_lag.errors import StoreError

_ABSENT, _DENIED = "NoSuchKey", "AccessDenied"
_LOST_PUT = ("PreconditionFailed", _ABSENT)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object's bytes, and the tag that changes whenever they are written."""

    data: bytes
    etag: str


class ConditionalObjects(Protocol):
    """Objects by key. All methods raise StoreError."""

    def read(self, key: str) -> StoredObject | None:
        """Returns the object; None if it does not exist."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        """Writes the object unless it exists; returns its tag, None if it existed."""

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        """Writes the object if it still has this tag; returns its new tag, else None."""


class S3ConditionalObjects:
    """Objects in a bucket."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def read(self, key: str) -> StoredObject | None:
        """Returns the object; None if it does not exist."""
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=key)
            return StoredObject(found["Body"].read(), found["ETag"])
        except AWS_ERRORS as error:
            if error_code(error) == _ABSENT or (
                error_code(error) == _DENIED and self._is_absent(key)
            ):
                return None
            raise self._error("read", key, error) from error

    def _is_absent(self, key: str) -> bool:
        """Returns True if the role can list the key and finds no object.

        S3 answers 403 for a missing object if the role may not list. Our right to list has a
        condition on the prefix, and AWS does not document whether S3 then answers 404 or 403.
        Without this check a cluster's first message could fail forever.
        """
        try:
            found = self._client.list_objects_v2(Bucket=self._bucket, Prefix=key, MaxKeys=1)
        except AWS_ERRORS:
            return False
        return all(each["Key"] != key for each in found.get("Contents", ()))

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        """Writes the object unless it exists; returns its tag, None if it existed."""
        return self._put(key, data, IfNoneMatch="*")

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        """Writes the object if it still has this tag; returns its new tag, else None."""
        return self._put(key, data, IfMatch=etag)

    def _put(self, key: str, data: bytes, **condition: str) -> str | None:
        try:
            return conditional_put(
                self._client, _LOST_PUT, Bucket=self._bucket, Key=key, Body=data, **condition
            )
        except AWS_ERRORS as error:
            raise self._error("write", key, error) from error

    def _error(self, verb: str, key: str, error: Exception) -> StoreError:
        return StoreError(
            f"Cannot {verb} {key} in bucket {self._bucket} ({error_code(error)}). "
            "Check that the bucket exists and the role's rights."
        )
