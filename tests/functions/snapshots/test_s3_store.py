# SPDX-License-Identifier: Apache-2.0
"""Snapshots in a bucket: written once, listed whole, failures said in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from kafka_lag.errors import StoreError, UnusableError
from kafka_lag.snapshots.s3_store import S3Store


@pytest.fixture(name="client")
def _client() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="kept")
        yield client


@pytest.fixture(name="store")
def _store(client: Any) -> S3Store:
    return S3Store(client, "kept")


def test_what_is_written_is_read(store: S3Store) -> None:
    assert store.write_once("a/b.parquet", b"one")
    assert store.read("a/b.parquet") == b"one"


def test_an_object_is_written_once_and_never_changed(store: S3Store) -> None:
    store.write_once("a", b"one")
    assert not store.write_once("a", b"two")
    assert store.read("a") == b"one"


def test_keys_are_those_that_start_with_the_prefix(store: S3Store) -> None:
    for key in ("x/2", "x/1", "xy/3", "y/4"):
        store.write_once(key, b"")
    assert store.keys("x/") == ["x/1", "x/2"]


def test_keys_are_listed_over_all_pages(store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
    expected = [f"x/{number:04}" for number in range(25)]
    for key in expected:
        store.write_once(key, b"")
    assert store.keys("x/") == expected


def test_keys_after_another_are_listed_without_it(store: S3Store) -> None:
    for key in ("x/1", "x/2", "x/3", "y/4"):
        store.write_once(key, b"")
    assert store.keys("x/", after="x/1") == ["x/2", "x/3"]
    assert store.keys("x/", after="x/11") == ["x/2", "x/3"]
    assert store.keys("x/", after="a") == ["x/1", "x/2", "x/3"]
    assert store.keys("x/", after="y") == []


def test_a_prefix_without_objects_has_no_keys(store: S3Store) -> None:
    assert store.keys("nothing/") == []


def test_a_missing_object_is_distinguished_from_a_store_that_fails(store: S3Store) -> None:
    with pytest.raises(UnusableError, match="There is no a/b in bucket kept"):
        store.read("a/b")


@pytest.mark.parametrize("verb", ["list", "read", "write"])
def test_a_missing_bucket_is_one_sentence_with_what_to_check(client: Any, verb: str) -> None:
    store = S3Store(client, "absent")
    calls: dict[str, Callable[[], object]] = {
        "list": lambda: store.keys("x/"),
        "read": lambda: store.read("x/1"),
        "write": lambda: store.write_once("x/1", b""),
    }
    with pytest.raises(StoreError, match=rf"Cannot {verb} x/1? in bucket absent \(NoSuchBucket\)"):
        calls[verb]()


class Answering:
    """A client whose puts answer these error codes in turn, then take the object."""

    def __init__(self, *codes: str) -> None:
        self.codes = list(codes)
        self.puts: list[dict[str, Any]] = []

    def put_object(self, **put: Any) -> dict[str, str]:
        self.puts.append(put)
        if self.codes:
            raise ClientError({"Error": {"Code": self.codes.pop(0)}}, "PutObject")
        return {"ETag": "tag"}


CONFLICT = "ConditionalRequestConflict"


def test_a_put_that_met_another_writer_is_tried_again() -> None:
    client = Answering(CONFLICT, CONFLICT)
    assert S3Store(client, "kept").write_once("a", b"one")
    assert len(client.puts) == 3


def test_the_other_writer_may_have_won() -> None:
    assert not S3Store(Answering(CONFLICT, "PreconditionFailed"), "kept").write_once("a", b"one")


def test_a_conflict_without_end_is_a_store_error() -> None:
    client = Answering(*[CONFLICT] * 9)
    with pytest.raises(StoreError, match=CONFLICT):
        S3Store(client, "kept").write_once("a", b"one")
    assert len(client.puts) == 3


def test_a_rejection_is_not_tried_again() -> None:
    client = Answering("AccessDenied")
    with pytest.raises(StoreError, match=r"Cannot write a in bucket kept \(AccessDenied\)"):
        S3Store(client, "kept").write_once("a", b"one")
    assert len(client.puts) == 1


def test_every_put_asks_that_the_object_does_not_exist() -> None:
    client = Answering()
    S3Store(client, "kept").write_once("a", b"one")
    assert client.puts == [{"Bucket": "kept", "Key": "a", "Body": b"one", "IfNoneMatch": "*"}]


class Unreachable:
    """A client that finds no endpoint, as in a VPC without one."""

    def __getattr__(self, name: str) -> Any:
        raise EndpointConnectionError(endpoint_url="https://s3.invalid")


@pytest.mark.parametrize("verb", ["keys", "read", "write_once"])
def test_an_endpoint_that_cannot_be_reached_is_a_store_error(verb: str) -> None:
    call = getattr(S3Store(Unreachable(), "kept"), verb)
    with pytest.raises(StoreError, match=r"EndpointConnectionError.*VPC's S3 endpoint"):
        call("a", *([b"one"] if verb == "write_once" else []))
