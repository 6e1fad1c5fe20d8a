# SPDX-License-Identifier: Apache-2.0
"""Folders through Hadoop, on a local disk."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.errors import DataError
from kafka_lag_report.storage.files import Files, Stored, unreachable

pytestmark = pytest.mark.spark


@pytest.fixture(name="files")
def _files(spark: SparkSession) -> Files:
    return Files(spark)


@pytest.fixture(name="staged")
def _staged(tmp_path: Path) -> Path:
    folder = tmp_path / "staged"
    folder.mkdir()
    (folder / "new").write_text("new")
    return folder


def test_objects_are_listed_however_deep_with_their_sizes(files: Files, tmp_path: Path) -> None:
    root = tmp_path / "a [b]"
    for name, text in {"z.csv": "1", "b/c/d.csv": "123", "b/c/d.txt": "", "_x/e.csv": ""}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    assert files.objects(f"{root}/", ".csv") == [Stored("b/c/d.csv", 3), Stored("z.csv", 1)]


def test_a_folder_that_is_missing_has_no_objects(files: Files, tmp_path: Path) -> None:
    assert files.objects(f"{tmp_path}/none", "") == []


def test_text_is_written_over_what_was_there(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "below/page.html"
    files.write_text(str(path), "a longer page")

    files.write_text(str(path), "<p>né 🐘")

    assert path.read_text("utf-8") == "<p>né 🐘"


def test_text_that_cannot_be_written_is_named(files: Files, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(DataError, match=r"cannot write to .*/file/page.html"):
        files.write_text(f"{tmp_path}/file/page.html", "text")


def test_a_swap_replaces_the_folder_as_a_whole(files: Files, staged: Path, tmp_path: Path) -> None:
    target, aside = tmp_path / "deep/target", tmp_path / "deeper/aside"
    target.mkdir(parents=True)
    (target / "old").write_text("old")

    files.swap(str(staged), str(target), str(aside))

    assert [path.name for path in target.iterdir()] == ["new"]
    assert not staged.exists()
    assert not aside.exists()


def test_a_swap_makes_the_folder_where_there_was_none(
    files: Files, staged: Path, tmp_path: Path
) -> None:
    files.swap(str(staged), f"{tmp_path}/deep/target", f"{tmp_path}/aside")

    assert (tmp_path / "deep/target/new").read_text() == "new"


def test_a_swap_for_nothing_removes_the_folder(files: Files, staged: Path, tmp_path: Path) -> None:
    files.swap(None, str(staged), f"{tmp_path}/aside")

    assert list(tmp_path.iterdir()) == []


def test_a_swap_that_fails_puts_the_old_folder_back(files: Files, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "old").write_text("old")

    with pytest.raises(DataError, match=f"cannot replace {target}"):
        files.swap(f"{tmp_path}/not-there", str(target), f"{tmp_path}/aside")

    assert (target / "old").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("An error occurred\n: java.io.FileNotFoundException: File x does not exist\n\tat y", True),
        (": java.lang.RuntimeException: z\nCaused by: java.net.SocketTimeoutException: w", True),
        (": org.apache.spark.SparkException: Task 0 failed: java.net.UnknownHost: s3", True),
        ("Caused by: org.apache.spark.SparkFileNotFoundException: File x does not", True),
        (": java.nio.file.AccessDeniedException: s3a://b/x: getFileStatus", True),
        (": org.apache.hadoop.fs.s3a.AWSClientIOException: x", True),
        (": java.lang.RuntimeException: x is not a Parquet file\n\tat java.net.Socket.read", False),
        (": java.io.IOException: can not read class org.apache.parquet.format.FileMeta", False),
    ],
)
def test_what_the_store_did_not_give_is_told_from_what_a_file_is(said: str, expected: bool) -> None:
    assert unreachable(said) is expected
