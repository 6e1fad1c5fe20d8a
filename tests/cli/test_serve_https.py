# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag serve` over HTTPS, and on an address that others can reach."""

from __future__ import annotations

import socket
import ssl
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
import trustme

from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.command import main
from kafka_lag_cli.local_server import LocalServer, load_certificate
from tests.cli.test_serve import received

AUTHORITY = trustme.CA()
OLD, NEW = AUTHORITY.issue_cert("127.0.0.1"), AUTHORITY.issue_cert("127.0.0.1", "new.example")


def write(leaf: trustme.LeafCert, folder: Path) -> tuple[Path, Path]:
    certfile, keyfile = folder / "tls.crt", folder / "tls.key"
    certfile.write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
    keyfile.write_bytes(leaf.private_key_pem.bytes())
    return certfile, keyfile


def connect(port: int) -> HTTPSConnection:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return HTTPSConnection("127.0.0.1", port, timeout=240, context=context)


def serving(folder: Path, **more: Any) -> LocalServer:
    """With the old certificate."""
    snapshots = Snapshots(FolderStore(folder), lambda: 0.0)
    certificate = load_certificate(*write(OLD, folder))
    return LocalServer(snapshots, lambda: 0.0, certificate=certificate, **more)


def test_requests_are_answered_over_https_alone(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        port = int(server.url.rpartition(":")[2])
        connection = connect(port)
        connection.request("GET", "/healthz")
        body = connection.getresponse().read()
        connection.close()
        with socket.create_connection(("127.0.0.1", port), timeout=240) as plain:
            plain.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            answered = received(plain)

    assert server.url.startswith("https://127.0.0.1:")
    assert (body, answered) == (b"ok\n", b"")


def test_a_pair_that_does_not_fit_is_one_sentence_without_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certfile, _ = write(OLD, tmp_path)
    keyfile = tmp_path / "other.key"
    keyfile.write_bytes(NEW.private_key_pem.bytes())

    call = ["--listen-certfile", str(certfile), "--listen-keyfile", str(keyfile)]
    assert main(["serve", "--state", str(tmp_path), *call]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"{certfile} and {keyfile} are no certificate with its key: both must be PEM, the key "
        "without a password."
    )


TOKEN = ["--token-file", "token"]
CERTIFICATE = ["--listen-certfile", "tls.crt", "--listen-keyfile", "tls.key"]


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        (["--no-token"], "Everybody who reaches 0.0.0.0:0 can read the names of groups, topics"),
        (TOKEN, "The token crosses the network in clear: add --listen-cert"),
        ([*TOKEN, *CERTIFICATE], ""),
    ],
    ids=["without a token", "in clear", "over TLS"],
)
def test_what_the_network_sees_is_said_at_the_start(
    options: list[str],
    warning: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write(OLD, tmp_path)
    (tmp_path / "token").write_text("correct-horse")
    # Without its folder it ends by itself, once it has warned.
    assert main(["serve", "--state", "nowhere", "--listen", "0.0.0.0:0", *options]) == 2

    *warnings, error = capsys.readouterr().err.replace("\n ", " ").splitlines()
    assert "there is no folder nowhere" in error
    assert "".join(warnings).startswith(warning)
    assert bool(warnings) is bool(warning)
