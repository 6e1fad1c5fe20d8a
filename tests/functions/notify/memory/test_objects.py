# SPDX-License-Identifier: Apache-2.0
"""Guarded writes, in S3 and in the fake that stands for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from kafka_lag.errors import StoreError
from kafka_lag.notify.memory.objects import Claims, S3Claims, Stored
from tests.functions.notify.fakes import MemoryClaims


@pytest.fixture(name="bucket")
def _bucket() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="kept")
        yield client


@pytest.fixture(name="claims", params=["s3", "memory"])
def _claims(request: pytest.FixtureRequest) -> Claims:
    if request.param == "memory":
        return MemoryClaims()
    return S3Claims(request.getfixturevalue("bucket"), "kept")


def test_an_object_that_is_not_there_is_none(claims: Claims) -> None:
    assert claims.read("a/b") is None


def test_the_first_write_wins(claims: Claims) -> None:
    first = claims.put_if_none_match("a/b", b"one")

    assert first is not None
    assert claims.put_if_none_match("a/b", b"two") is None
    assert claims.read("a/b") == Stored(b"one", first)


def test_a_write_that_saw_the_newest_wins(claims: Claims) -> None:
    first = claims.put_if_none_match("a/b", b"one") or ""
    second = claims.put_if_match("a/b", b"two", first)

    assert second is not None
    assert claims.put_if_match("a/b", b"three", first) is None
    assert claims.read("a/b") == Stored(b"two", second)


def test_a_write_over_what_was_deleted_loses(claims: Claims) -> None:
    assert claims.put_if_match("a/b", b"one", '"0"') is None


class Contended:
    """A client whose puts meet a writer at the same time, so many times."""

    def __init__(self, client: Any, conflicts: int) -> None:
        self._client, self._conflicts = client, conflicts

    def put_object(self, **request: Any) -> Any:
        self._conflicts -= 1
        if self._conflicts >= 0:
            told = {"Error": {"Code": "ConditionalRequestConflict", "Message": ""}}
            raise ClientError(told, "PutObject")  # type: ignore[arg-type]
        return self._client.put_object(**request)


def test_a_conflict_of_two_writers_is_tried_again(bucket: Any) -> None:
    claims = S3Claims(Contended(bucket, 2), "kept")

    assert claims.put_if_none_match("a/b", b"one")


def test_a_lasting_conflict_is_told(bucket: Any) -> None:
    claims = S3Claims(Contended(bucket, 3), "kept")

    with pytest.raises(StoreError, match=r"^Cannot write a/b .*\(ConditionalRequestConflict\)"):
        claims.put_if_none_match("a/b", b"one")


def test_a_bucket_that_is_not_there_is_told(bucket: Any) -> None:
    claims = S3Claims(bucket, "missing")

    with pytest.raises(StoreError, match=r"^Cannot read a/b in bucket missing \(NoSuchBucket\)"):
        claims.read("a/b")
