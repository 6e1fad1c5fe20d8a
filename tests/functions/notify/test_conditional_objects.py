# SPDX-License-Identifier: Apache-2.0
"""Of two who write an object one loses, in S3 and in the fake of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from kafka_lag.errors import StoreError
from kafka_lag.notify.conditional_objects import (
    ConditionalObjects,
    S3ConditionalObjects,
    StoredObject,
)
from tests.functions.notify.fakes import MemoryObjects


@pytest.fixture(name="bucket")
def _bucket() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="kept")
        yield client


@pytest.fixture(name="stored", params=["s3", "memory"])
def _stored(request: pytest.FixtureRequest) -> ConditionalObjects:
    if request.param == "memory":
        return MemoryObjects()
    return S3ConditionalObjects(request.getfixturevalue("bucket"), "kept")


def test_the_first_write_wins(stored: ConditionalObjects) -> None:
    assert stored.read("a/b") is None
    first = stored.put_if_none_match("a/b", b"one")

    assert first is not None
    assert stored.put_if_none_match("a/b", b"two") is None
    assert stored.read("a/b") == StoredObject(b"one", first)


def test_a_write_that_saw_the_newest_wins(stored: ConditionalObjects) -> None:
    first = stored.put_if_none_match("a/b", b"one") or ""
    second = stored.put_if_match("a/b", b"two", first)

    assert second is not None
    assert stored.put_if_match("a/b", b"three", first) is None
    assert stored.read("a/b") == StoredObject(b"two", second)


def test_a_write_over_what_was_deleted_loses(stored: ConditionalObjects) -> None:
    assert stored.put_if_match("a/b", b"one", '"0"') is None


def test_a_bucket_that_is_not_there_is_an_error(bucket: Any) -> None:
    objects = S3ConditionalObjects(bucket, "missing")

    with pytest.raises(StoreError, match=r"^Cannot read a/b in bucket missing \(NoSuchBucket\)"):
        objects.read("a/b")
    with pytest.raises(StoreError, match=r"^Cannot write a/b .*\(NoSuchBucket\)"):
        objects.put_if_none_match("a/b", b"one")


class _Denying:
    """S3 to a role that may not read; it may list if `keys` are known."""

    def __init__(self, keys: list[str] | None) -> None:
        self._keys = keys

    def get_object(self, **_: Any) -> Any:
        raise _denied("GetObject")

    def list_objects_v2(self, *, Prefix: str, **_: Any) -> Any:  # noqa: N803
        if self._keys is None:
            raise _denied("ListObjectsV2")
        return {"Contents": [{"Key": key} for key in self._keys if key.startswith(Prefix)]}


def _denied(operation: str) -> ClientError:
    return ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, operation)


@pytest.mark.parametrize("keys", [[], ["notified/cursors/orders/topic-2"]])
def test_a_missing_object_that_s3_denies_is_missing_if_a_list_says_so(keys: list[str]) -> None:
    objects = S3ConditionalObjects(_Denying(keys), "ours")
    assert objects.read("notified/cursors/orders/topic") is None


@pytest.mark.parametrize("keys", [None, ["notified/cursors/orders/topic"]])
def test_an_object_that_is_there_or_may_be_is_denied(keys: list[str] | None) -> None:
    objects = S3ConditionalObjects(_Denying(keys), "ours")
    with pytest.raises(StoreError, match=r"Cannot read .*/topic in bucket ours \(AccessDenied\)"):
        objects.read("notified/cursors/orders/topic")
