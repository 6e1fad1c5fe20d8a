# SPDX-License-Identifier: Apache-2.0
"""Zips are the same bytes wherever and whenever they are written, or they are not there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from zipfile import ZipFile

import pytest

from kafka_lag_cdk.packaging.archive import Package, add, replacing
from tests.infra.packaging.fakes import write

FILES: dict[str, str | bytes] = {"pkg/b.py": "b" * 1000, "pkg/a.py": "", "c.so": b"\0\1\2"}


def _zipped(folder: Path, names: list[str]) -> Path:
    path = folder / "x.zip"
    with replacing(path) as draft:
        add(draft, {name: folder / name for name in names})
    return path


def test_neither_times_nor_modes_nor_the_order_of_files_change_the_bytes(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", FILES), write(tmp_path / "two", FILES)
    for name in FILES:
        os.utime(two / name, (1, 1_500_000_000))
        (two / name).chmod(0o700)
    first = _zipped(one, list(FILES)).read_bytes()
    assert first == _zipped(two, list(reversed(FILES))).read_bytes()


def test_another_content_is_another_hash(tmp_path: Path) -> None:
    one = write(tmp_path / "one", FILES)
    two = write(tmp_path / "two", FILES | {"pkg/a.py": "changed"})
    assert (
        Package.of(_zipped(one, list(FILES))).sha256 != Package.of(_zipped(two, list(FILES))).sha256
    )


def test_lambdas_user_may_read_every_file(tmp_path: Path) -> None:
    path = _zipped(write(tmp_path, FILES), list(FILES))
    with ZipFile(path) as archive:
        modes = {entry.external_attr >> 16 for entry in archive.infolist()}
    assert modes == {0o100644}


def test_files_come_out_as_they_went_in(tmp_path: Path) -> None:
    path = _zipped(write(tmp_path, FILES), list(FILES))
    with ZipFile(path) as archive:
        assert sorted(archive.namelist()) == sorted(FILES)
        assert archive.read("c.so") == b"\0\1\2"


def test_a_package_tells_its_hash_and_sizes(tmp_path: Path) -> None:
    path = _zipped(write(tmp_path, FILES), list(FILES))
    content = path.read_bytes()
    assert Package.of(path) == Package(
        path, hashlib.sha256(content).hexdigest(), len(content), 1003
    )


def test_an_interrupted_zip_is_not_there_at_all(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _interrupted(tmp_path / "x.zip")
    assert list(tmp_path.iterdir()) == []


def _interrupted(path: Path) -> None:
    with replacing(path) as draft:
        draft.write_bytes(b"half")
        raise KeyboardInterrupt


def test_an_older_zip_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = write(tmp_path, {"x.zip": "old"}) / "x.zip"
    with replacing(path) as draft:
        draft.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
