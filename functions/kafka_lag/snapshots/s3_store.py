# SPDX-License-Identifier: Apache-2.0
"""Snapshots in a bucket. This is a module of its own, because loading boto3 takes half a second."""

from __future__ import annotations

from typing import Any

from kafka_lag.aws import AWS_ERRORS, conditional_put, error_code
from kafka_lag.errors import StoreError, UnusableError

_NO_SUCH_KEY = "NoSuchKey"


class S3Store:
    """A bucket, with conditional puts so that a repeated run changes nothing."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def keys(self, prefix: str, after: str = "") -> list[str]:
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix, StartAfter=after
            )
            return [item["Key"] for page in pages for item in page.get("Contents", [])]
        except AWS_ERRORS as error:
            raise self._failed("list", prefix, error) from error

    def folders(self, prefix: str) -> list[str]:
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix, Delimiter="/"
            )
            found = [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", [])]
        except AWS_ERRORS as error:
            raise self._failed("list", prefix, error) from error
        return [name.removeprefix(prefix).rstrip("/") for name in found]

    def read(self, key: str) -> bytes:
        try:
            body: bytes = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except AWS_ERRORS as error:
            raise self._failed("read", key, error) from error
        return body

    def write_once(self, key: str, data: bytes) -> bool:
        try:
            tag = conditional_put(
                self._client, Bucket=self._bucket, Key=key, Body=data, IfNoneMatch="*"
            )
        except AWS_ERRORS as error:
            raise self._failed("write", key, error) from error
        return tag is not None

    def _failed(self, verb: str, what: str, error: Exception) -> StoreError:
        code = error_code(error)
        if code == _NO_SUCH_KEY:
            return UnusableError(f"There is no {what} in bucket {self._bucket}.")
        return StoreError(
            f"Cannot {verb} {what} in bucket {self._bucket} ({code}). Check that the bucket "
            "exists, the role's rights, and the VPC's S3 endpoint."
        )
