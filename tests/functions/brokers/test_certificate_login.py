# SPDX-License-Identifier: Apache-2.0
"""Client certificates from a secret: accepted ones, rejected ones, and where the key is."""

from __future__ import annotations

import json
import os
import ssl
import stat
import sys
import traceback
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.login import ClientCertificate, as_file, client_certificate
from kafka_lag.errors import ConfigError

AUTHORITY = trustme.CA()


def secret_of(name: str) -> dict[str, Any]:
    leaf = AUTHORITY.issue_cert(name)
    chain = "".join(blob.bytes().decode() for blob in leaf.cert_chain_pems)
    return {"certificate": chain, "private_key": leaf.private_key_pem.bytes().decode()}


def locked(key: str, password: str) -> str:
    private = load_pem_private_key(key.encode(), None)
    how = BestAvailableEncryption(password.encode())
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode()


GOOD, OTHER = secret_of("monitor.invalid"), secret_of("other.invalid")
LOCKED = {**GOOD, "private_key": locked(GOOD["private_key"], "open-sesame")}


def login_of(secret: Any, cafile: str | None = None) -> ClientCertificate:
    return client_certificate("AmazonMSK_tls", secret, cafile)


@pytest.mark.parametrize(
    "secret",
    [
        GOOD,
        {**GOOD, "private_key_password": None},
        {**LOCKED, "private_key_password": "open-sesame"},
        {**GOOD, "certificate": GOOD["certificate"].strip()},
    ],
    ids=["no password", "null password", "locked", "no newline at end"],
)
def test_a_pair_becomes_a_context_that_trusts_nobody_unchecked(secret: Any) -> None:
    login = login_of(secret)
    context = login.client_options()["ssl_context"]
    assert KEY_LINE not in repr(login) + repr(login.client_options())
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_brokers_are_checked_against_the_cafile_alone(tmp_path: Path) -> None:
    AUTHORITY.cert_pem.write_to_path(tmp_path / "ca.pem")
    trusted = login_of(GOOD, str(tmp_path / "ca.pem")).context.get_ca_certs(binary_form=True)
    assert trusted == [ssl.PEM_cert_to_DER_cert(AUTHORITY.cert_pem.bytes().decode())]


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, r"cannot be read \(No such file"), ("nothing of that kind", "holds no PEM")],
)
def test_a_cafile_of_no_use_is_named(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "ca.pem").write_text(text)
    with pytest.raises(ConfigError, match=rf"cafile: .*ca\.pem {said}"):
        login_of(GOOD, str(tmp_path / "ca.pem"))


SHAPE = "must be a JSON object with two strings"
PEM = "is not PEM text, or"
KEY_LINE = GOOD["private_key"].splitlines()[1]


@pytest.mark.parametrize(
    ("secret", "message"),
    [
        pytest.param(None, SHAPE, id="not JSON"),
        pytest.param([KEY_LINE], SHAPE, id="list"),
        pytest.param({"username": "monitor", "password": KEY_LINE}, SHAPE, id="a password's"),
        pytest.param({**GOOD, "private_key": [KEY_LINE]}, SHAPE, id="key is no string"),
        pytest.param({**GOOD, "private_key_password": 5}, SHAPE, id="password is no string"),
        pytest.param({**GOOD, "certificate": ""}, PEM, id="no certificate"),
        pytest.param({**GOOD, "private_key": KEY_LINE}, PEM, id="key without its frame"),
        pytest.param({**GOOD, "private_key": ""}, PEM, id="no key"),
        pytest.param({**GOOD, "private_key": KEY_LINE + "\ud800"}, PEM, id="no text"),
        pytest.param(LOCKED, PEM, id="locked, no password"),
        pytest.param({**LOCKED, "private_key_password": KEY_LINE}, PEM, id="locked, other one"),
        pytest.param({**LOCKED, "private_key_password": "x" * 2000}, PEM, id="password too long"),
        pytest.param(
            {**GOOD, "private_key": OTHER["private_key"]}, "does not fit", id="another's key"
        ),
    ],
)
def test_a_pair_of_no_use_is_refused_in_one_sentence_and_never_quoted(
    secret: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        login_of(secret)
    assert str(raised.value).startswith("The secret AmazonMSK_tls ")
    assert KEY_LINE not in "".join(traceback.format_exception(raised.value))
    assert raised.value.__cause__ is raised.value.__context__ is None


class Versions:
    """A Secrets Manager with one secret, by stage."""

    def __init__(self, **stages: dict[str, Any]) -> None:
        self.stages = stages

    def get_secret_value(self, SecretId: str, VersionStage: str) -> dict[str, str]:  # noqa: N803
        return {"SecretString": json.dumps(self.stages[VersionStage])}


def test_a_rotated_certificate_is_tried_in_the_order_of_passwords_and_once() -> None:
    shape = partial(client_certificate, cafile=None)
    source = SecretCredentials(Versions(AWSCURRENT=OTHER, AWSPREVIOUS=GOOD), "tls", shape)
    assert list(source.candidates()) == [login_of(OTHER), login_of(GOOD)]
    source.remember(login_of(GOOD))
    assert list(source.candidates()) == [login_of(GOOD), login_of(OTHER)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files in memory")
def test_the_text_is_read_as_often_as_wanted_and_in_no_folder() -> None:
    with as_file(b"text") as path:
        assert path.startswith("/proc/self/fd/")
        assert [Path(path).read_bytes() for _ in range(2)] == [b"text"] * 2
        assert Path(os.readlink(path)).name.startswith("memfd:")
    assert not Path(path).exists()


def test_where_there_are_no_files_in_memory_it_is_its_owners_and_gone_at_the_end() -> None:
    with as_file(b"text", in_memory=lambda: None) as path:
        assert Path(path).read_bytes() == b"text"
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not Path(path).exists()
