# SPDX-License-Identifier: Apache-2.0
"""Snapshots in a folder: whole or not at all, written once, the same keys as in a bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lag.errors import StoreError, UnusableError
from kafka_lag.snapshots.store import FolderStore

KEY = "snapshots/groups/cluster=c/dt=2026-01-31/hour=12/one.parquet"


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path)


def files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def test_what_is_written_is_read_and_lies_under_its_key(store: FolderStore, tmp_path: Path) -> None:
    assert store.write_once(KEY, b"one")
    assert store.read(KEY) == (tmp_path / KEY).read_bytes() == b"one"


def test_a_file_is_written_once_and_never_changed(store: FolderStore) -> None:
    store.write_once(KEY, b"one")
    assert not store.write_once(KEY, b"two")
    assert store.read(KEY) == b"one"


def test_no_half_written_file_is_left(store: FolderStore, tmp_path: Path) -> None:
    for data in (b"one", b"two"):
        store.write_once(KEY, data)
    assert files(tmp_path) == [KEY]


def test_a_half_written_file_of_another_run_is_no_key(store: FolderStore, tmp_path: Path) -> None:
    store.write_once(KEY, b"one")
    (tmp_path / KEY).with_name("tmp123.part").write_bytes(b"ha")
    assert store.keys("snapshots/") == [KEY]


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("x/", ["x/1.parquet", "x/y/2.parquet"]),
        ("x/y", ["x/y/2.parquet"]),
        ("z/", []),
        ("", ["x/1.parquet", "x/y/2.parquet", "xy/3.parquet"]),
    ],
)
def test_keys_are_those_that_start_with_the_prefix(
    store: FolderStore, prefix: str, found: list[str]
) -> None:
    for key in ("x/y/2.parquet", "x/1.parquet", "xy/3.parquet"):
        store.write_once(key, b"")
    assert store.keys(prefix) == found


@pytest.mark.parametrize(
    ("after", "found"),
    [("x/1.parquet", ["x/y/2.parquet"]), ("x/1", ["x/1.parquet", "x/y/2.parquet"]), ("x/z", [])],
)
def test_keys_after_another_are_listed_without_it(
    store: FolderStore, after: str, found: list[str]
) -> None:
    for key in ("x/y/2.parquet", "x/1.parquet"):
        store.write_once(key, b"")
    assert store.keys("x/", after) == found


def test_a_missing_folder_has_no_keys(tmp_path: Path) -> None:
    assert FolderStore(tmp_path / "absent").keys("snapshots/") == []


def test_a_missing_file_is_distinguished_from_a_store_that_fails(store: FolderStore) -> None:
    with pytest.raises(UnusableError, match=r"There is no .*one.parquet"):
        store.read(KEY)


def test_a_folder_in_the_place_of_a_file_is_a_store_error(
    store: FolderStore, tmp_path: Path
) -> None:
    (tmp_path / KEY).mkdir(parents=True)
    with pytest.raises(StoreError, match=r"Cannot read .*one.parquet"):
        store.read(KEY)


def test_a_file_in_the_place_of_the_folder_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "snapshots").write_text("in the way")
    with pytest.raises(StoreError, match=r"Cannot write .*Check the folder's rights"):
        FolderStore(tmp_path).write_once(KEY, b"one")


def test_a_folder_that_cannot_be_listed_is_a_store_error(
    store: FolderStore, tmp_path: Path
) -> None:
    (tmp_path / "endless").symlink_to("endless")
    for listing in (store.keys, store.folders):
        with pytest.raises(StoreError, match=r"^Cannot list .*endless/? \(Too many .*rights\.$"):
            listing("endless/")
