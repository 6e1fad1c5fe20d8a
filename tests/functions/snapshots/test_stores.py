# SPDX-License-Identifier: Apache-2.0
"""A bucket and a folder: written once, listed whole, and one sentence for a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from kafka_lag.errors import StoreError, UnusableError
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag.snapshots.store import BrowsableStore, FolderStore


@pytest.fixture(name="client")
def _client() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="kept")
        yield client


@pytest.fixture(name="store", params=["bucket", "folder"])
def _store(request: pytest.FixtureRequest, tmp_path: Path) -> BrowsableStore:
    if request.param == "folder":
        return FolderStore(tmp_path)
    return S3Store(request.getfixturevalue("client"), "kept")


def test_an_object_is_written_once_and_never_changed(store: BrowsableStore) -> None:
    assert store.write_once("a/b.parquet", b"one")
    assert not store.write_once("a/b.parquet", b"two")
    assert store.read("a/b.parquet") == b"one"
    assert store.keys("") == ["a/b.parquet"]


def test_a_missing_object_is_distinguished_from_a_store_that_fails(store: BrowsableStore) -> None:
    with pytest.raises(UnusableError, match=r"There is no .*a/b"):
        store.read("a/b")


# Prefix and the key after which they come.
LISTED = {
    ("x/", ""): ["x/1.parquet", "x/y/2.parquet"],
    ("x/y", ""): ["x/y/2.parquet"],
    ("z/", ""): [],
    ("", ""): ["x/1.parquet", "x/y/2.parquet", "xy/3.parquet"],
    ("x/", "x/1.parquet"): ["x/y/2.parquet"],
    ("x/", "x/1"): ["x/1.parquet", "x/y/2.parquet"],
    ("x/", "x/z"): [],
}


def test_keys_start_with_the_prefix_and_come_after_another(store: BrowsableStore) -> None:
    for key in ("x/y/2.parquet", "x/1.parquet", "xy/3.parquet"):
        store.write_once(key, b"")
    assert {asked: store.keys(*asked) for asked in LISTED} == LISTED
    assert (store.folders(""), store.folders("x/")) == (["x", "xy"], ["y"])


def test_keys_are_listed_over_all_pages(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
    store = S3Store(client, "kept")
    expected = [f"x/{number:04}" for number in range(25)]
    for key in expected:
        store.write_once(key, b"")
    assert store.keys("x/") == expected


def test_a_folder_leaves_no_half_written_file_and_lists_none(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    for data in (b"one", b"two"):
        store.write_once("a/b.parquet", data)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["b.parquet"]
    (tmp_path / "a/tmp123.part").write_bytes(b"ha")
    assert store.keys("a/") == ["a/b.parquet"]
    assert FolderStore(tmp_path / "absent").keys("a/") == []


def test_what_is_in_the_way_in_a_folder_is_a_store_error(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_text("in the way")
    (tmp_path / "endless").symlink_to("endless")
    with pytest.raises(StoreError, match=r"Cannot read .*a"):
        store.read("a")
    for key in ("b/c", "b/c/d"):
        with pytest.raises(StoreError, match=r"Cannot write .*Check the folder's rights"):
            store.write_once(key, b"one")
    for listing in (store.keys, store.folders):
        with pytest.raises(StoreError, match=r"^Cannot list .*endless/? \(Too many .*rights\.$"):
            listing("endless/")


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


@pytest.mark.parametrize(
    ("codes", "written"), [([CONFLICT] * 2, True), ([CONFLICT, "PreconditionFailed"], False)]
)
def test_a_put_that_met_another_writer_is_tried_again(codes: list[str], written: bool) -> None:
    client = Answering(*codes)
    assert S3Store(client, "kept").write_once("a", b"one") is written
    put = {"Bucket": "kept", "Key": "a", "Body": b"one", "IfNoneMatch": "*"}
    assert client.puts == [put] * (len(codes) + written)


@pytest.mark.parametrize(("code", "puts"), [(CONFLICT, 3), ("AccessDenied", 1)])
def test_a_conflict_without_end_and_a_rejection_are_store_errors(code: str, puts: int) -> None:
    client = Answering(*[code] * 9)
    with pytest.raises(StoreError, match=rf"Cannot write a in bucket kept \({code}\)"):
        S3Store(client, "kept").write_once("a", b"one")
    assert len(client.puts) == puts


class Unreachable:
    """A client that finds no endpoint, as in a VPC without one."""

    def __getattr__(self, name: str) -> Any:
        raise EndpointConnectionError(endpoint_url="https://s3.invalid")


@pytest.mark.parametrize("verb", ["list", "read", "write"])
def test_a_bucket_that_cannot_be_reached_is_one_sentence_with_what_to_check(
    client: Any, verb: str
) -> None:
    for asked, code in ((client, "NoSuchBucket"), (Unreachable(), "EndpointConnectionError")):
        store = S3Store(asked, "absent")
        calls: dict[str, Callable[[], object]] = {
            "list": partial(store.keys, "x"),
            "read": partial(store.read, "x"),
            "write": partial(store.write_once, "x", b""),
        }
        sentence = rf"Cannot {verb} x in bucket absent \({code}\).*VPC's S3 endpoint"
        with pytest.raises(StoreError, match=sentence):
            calls[verb]()
