# SPDX-License-Identifier: Apache-2.0
"""Whole objects on S3 and on a disk, from any process."""

import pickle
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kafka_lag_report.errors import StoreError
from kafka_lag_report.storage.objects import Anywhere, s3_place


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_an_object_on_s3_is_written_and_read(s3: Any, scheme: str) -> None:
    address = f"{scheme}://lag/history/groups/cluster=a%20b/part.parquet"

    Anywhere().write(address, b"rows")

    assert Anywhere().read(address) == b"rows"
    assert [each["Key"] for each in s3.list_objects_v2(Bucket="lag")["Contents"]] == [
        "history/groups/cluster=a%20b/part.parquet"
    ]


def test_a_file_is_written_with_its_folders_and_read(tmp_path: Path) -> None:
    path = tmp_path / "cluster=a%20b" / "odd name"

    Anywhere().write(str(path), b"rows")

    assert path.read_bytes() == b"rows"
    assert Anywhere().read(str(path)) == b"rows"


@pytest.mark.parametrize("scheme", ["file:", "file://"])
def test_an_address_of_a_file_is_its_path_as_it_stands(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "cluster=a%20b").write_bytes(b"rows")

    assert Anywhere().read(f"{scheme}{tmp_path}/cluster=a%20b") == b"rows"


class _Breaking(BaseHTTPRequestHandler):
    """S3 of one object, which breaks off in the middle of its first answer."""

    answers = 0

    def do_HEAD(self) -> None:
        self._say(b"")

    def do_GET(self) -> None:
        type(self).answers += 1
        self._say(b"ro" if self.answers == 1 else b"rows")
        self.close_connection = True

    def log_message(self, *words: object) -> None:
        """Nothing."""

    def _say(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.send_header("ETag", '"one"')
        self.end_headers()
        self.wfile.write(body)


def test_an_answer_that_breaks_off_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), _Breaking) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)

        data = Anywhere().read("s3://kept/one")
        server.shutdown()

    assert data == b"rows"
    assert _Breaking.answers == 2


@pytest.mark.usefixtures("s3")
def test_a_store_that_was_used_can_be_sent_to_another_process() -> None:
    store = Anywhere()
    store.write("s3://lag/one", b"rows")

    sent = pickle.loads(pickle.dumps(store))  # noqa: S301  # as Spark sends it

    assert sent.read("s3://lag/one") == b"rows"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://lag/none", r"cannot read s3://lag/none: .*Not Found; check address and rights"),
        ("/nowhere/none", r"cannot read /nowhere/none: .*No such file.*; check address and rights"),
        ("hdfs://host/none", r"no history of hdfs://host/none: .*pass --no-history true"),
    ],
)
@pytest.mark.usefixtures("s3")
def test_what_a_store_refuses_is_one_sentence(address: str, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        Anywhere().read(address)


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("s3://kept/a/b", ("kept", "a/b")),
        ("s3a://kept/a/b/", ("kept", "a/b")),
        ("s3://kept", ("kept", "")),
        ("s3://kept/x#y?z=1", ("kept", "x#y?z=1")),
        ("/srv/s3://kept", None),
        ("file:///srv", None),
        ("state", None),
    ],
)
def test_only_addresses_of_s3_have_a_bucket(address: str, place: tuple[str, str] | None) -> None:
    assert s3_place(address) == place
