# SPDX-License-Identifier: Apache-2.0
"""Listing, reading, writing and deleting, alike on a disk and on S3."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_lag_report.errors import StoreError
from kafka_lag_report.storage import Storage, Stored, parse_file, read_files

ODD = f"cluster={quote('blå & 1/2', safe='')}"


@pytest.fixture(name="root", params=["disk", "s3", "s3a"])
def _root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path / "state [1] {a}")
    request.getfixturevalue("s3")
    return f"{request.param}://lag/below"


def test_what_is_written_is_found_and_read(root: str) -> None:
    path = f"{root}/groups/{ODD}/dt=2026-01-31/a b+c%20d.parquet"

    Storage().write(path, b"rows")

    assert Storage().read(path) == b"rows"
    assert Storage().folders(f"{root}/groups") == [ODD]
    assert Storage().objects(f"{root}/groups", ".parquet") == [
        Stored(f"{ODD}/dt=2026-01-31/a b+c%20d.parquet", 4)
    ]


def test_hidden_objects_and_other_endings_are_not_found(root: str) -> None:
    for name in ("b.parquet", "a.parquet", "_c.parquet", ".d.parquet", "_t/e.parquet", "f.part"):
        Storage().write(f"{root}/{name}", b"rows")

    found = Storage().objects(root, ".parquet")

    assert [file.name for file in found] == ["a.parquet", "b.parquet"]


def test_of_a_folder_that_is_missing_there_is_nothing(root: str) -> None:
    storage = Storage()

    assert (storage.folders(f"{root}/none"), storage.objects(f"{root}/none", "")) == ([], [])
    storage.delete([f"{root}/none/a"])
    storage.delete_folder(f"{root}/none")
    storage.keep_only(f"{root}/none", ["a"])


def test_objects_are_deleted_and_others_stay(root: str) -> None:
    paths = [f"{root}/{ODD}/{number}.parquet" for number in range(1_002)]
    for path in (paths[0], paths[1], paths[-1]):
        Storage().write(path, b"rows")

    Storage().delete([paths[0], *paths[2:]])

    assert Storage().objects(root, "") == [Stored(f"{ODD}/1.parquet", 4)]


def test_a_folder_is_deleted_as_a_whole(root: str) -> None:
    for name in ("gone/a", "gone/_b", "gone/below/.c", "gone-not/a"):
        Storage().write(f"{root}/{name}", b"rows")

    Storage().delete_folder(f"{root}/gone")

    assert Storage().folders(root) == ["gone-not"]
    assert [file.name for file in Storage().objects(root, "")] == ["gone-not/a"]


def test_of_a_folder_one_object_is_kept(root: str) -> None:
    for name in ("report.parquet", "part-0.parquet", ".crc", "below/a"):
        Storage().write(f"{root}/{name}", b"rows")

    Storage().keep_only(root, ["report.parquet"])

    assert [file.name for file in Storage().objects(root, "")] == ["below/a", "report.parquet"]


def test_a_page_is_served_as_what_it_is(s3: Any) -> None:
    Storage().write("s3://lag/report.html", b"<p>", content_type="text/html; charset=utf-8")

    assert s3.head_object(Bucket="lag", Key="report.html")["ContentType"] == (
        "text/html; charset=utf-8"
    )


def test_many_runs_that_write_and_tidy_one_folder_leave_a_whole_file(tmp_path: Path) -> None:
    whole = {bytes([number]) * 300_000 for number in range(3)}

    def run(data: bytes) -> None:
        for _ in range(10):
            Storage().write(f"{tmp_path}/report.parquet", data)
            Storage().keep_only(str(tmp_path), ["report.parquet"])

    with ThreadPoolExecutor(len(whole)) as pool:
        list(pool.map(run, whole))

    assert [path.name for path in tmp_path.iterdir()] == ["report.parquet"]
    assert (tmp_path / "report.parquet").read_bytes() in whole


@pytest.mark.parametrize("scheme", ["file:", "file://"])
def test_an_address_of_a_file_is_its_path_as_it_stands(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "cluster=a%20b").write_bytes(b"rows")

    assert Storage().read(f"{scheme}{tmp_path}/cluster=a%20b") == b"rows"


@pytest.mark.usefixtures("s3")
def test_a_store_that_was_used_can_be_sent_to_another_process() -> None:
    storage = Storage()
    storage.write("s3://lag/one", b"rows")

    sent = pickle.loads(pickle.dumps(storage))  # noqa: S301  # as Spark sends it

    assert sent.read("s3://lag/one") == b"rows"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://lag/none", r"cannot read s3://lag/none: .*; check address and rights"),
        ("/nowhere/none", r"cannot read /nowhere/none: .*No such file.*; check address and rights"),
        ("hdfs://host/none", r"hdfs://host/none: only s3:// and folders on a disk"),
    ],
)
@pytest.mark.usefixtures("s3")
def test_what_a_store_refuses_is_one_sentence(address: str, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        Storage().read(address)


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(StoreError, match=r"cannot write to .*file/a"):
        Storage().write(str(tmp_path / "file" / "a"), b"rows")


def test_a_footer_says_version_rows_and_types(root: str) -> None:
    # wider than what is read of a file at first
    names = [f"column_{number:05}_{'x' * 40}" for number in range(1_000)]
    table = pa.table({name: pa.array([1, 2]) for name in names})
    table = table.append_column("name", pa.array(["a", "b"]).dictionary_encode())
    table = table.append_column("replicas", pa.array([[1], []], pa.list_(pa.int32())))
    data = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({"kafka_lag_schema_version": "2.1"}), data)
    Storage().write(f"{root}/a.parquet", data.getvalue().to_pybytes())

    ((footer, _),) = read_files(Storage(), [f"{root}/a.parquet"])

    assert footer is not None
    assert (footer.version, footer.rows, len(footer.columns)) == ("2.1", 2, 1_002)
    assert footer.columns["name"] == "string"
    assert footer.columns["replicas"] == "list<int32>"


def test_files_that_are_alike_but_for_a_type_have_each_their_own(root: str) -> None:
    # the last two have one Parquet type, and what Arrow wrote of them
    types = [pa.int64(), pa.int32(), pa.int64(), pa.string(), pa.large_string()]
    for number, kind in enumerate(types):
        table = pa.table({"n": pa.array([None], kind)})
        data = pa.BufferOutputStream()
        pq.write_table(table, data)
        Storage().write(f"{root}/{number}.parquet", data.getvalue().to_pybytes())

    paths = [f"{root}/{number}.parquet" for number in range(len(types))]
    found = [footer for footer, _ in read_files(Storage(), paths)]

    assert [footer and footer.columns["n"] for footer in found] == list(map(str, types))


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"no Parquet at all", b"PAR1" + b"\xff" * 20 + b"PAR1"]
)
def test_what_is_no_parquet_has_no_footer(data: bytes) -> None:
    assert parse_file(data, whole=True) == (None, None)
