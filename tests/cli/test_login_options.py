# SPDX-License-Identifier: Apache-2.0
"""Every way to log in, as the options of a subcommand say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_lag.brokers.access import IAM
from kafka_lag.brokers.login import TokenLogin
from kafka_lag.cli.login_options import BrokerOptions
from kafka_lag.cli.watch import parse_options
from kafka_lag.errors import ConfigError

MSK = "b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com:9098"
SERVERLESS = "boot-a1b2c3.c1.kafka-serverless.us-east-1.amazonaws.com:9098"


def options(*more: str, servers: str = "b:9092", **environ: str) -> BrokerOptions:
    call = ["--bootstrap-servers", servers, "--state", "nowhere", *more]
    return parse_options(call, environ).brokers


def usage_error(capsys: pytest.CaptureFixture[str], *more: str, servers: str = "b:9092") -> str:
    with pytest.raises(SystemExit) as caught:
        options(*more, servers=servers)
    assert caught.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_without_a_word_there_is_no_login() -> None:
    found = options()
    assert (found.access.security_protocol, found.access.sasl_mechanism) == ("PLAINTEXT", None)
    assert found.make_login() is None


def test_a_password_comes_from_the_environment_and_is_in_no_repr() -> None:
    login = ("--security-protocol", "SASL_SSL", "--username", "monitor", "--password-env", "P")
    found = options(*login, P="secret-word")
    assert found.access.sasl_mechanism == "SCRAM-SHA-512"
    assert found.credentials is not None
    assert found.credentials.password == "secret-word"
    assert "secret-word" not in repr(found)


@pytest.mark.parametrize(
    ("servers", "more", "region"),
    [
        (MSK, [], "eu-west-1"),
        (SERVERLESS, [], "us-east-1"),
        (f"other:9098,{MSK}", [], "eu-west-1"),
        (MSK, ["--region", "eu-central-1"], "eu-central-1"),
        ("vpce.example:14001", ["--region", "eu-west-1"], "eu-west-1"),
        (MSK, ["--security-protocol", "SASL_SSL"], "eu-west-1"),
    ],
)
def test_iam_needs_no_more_than_the_brokers_names(
    servers: str, more: list[str], region: str
) -> None:
    found = options("--iam", *more, servers=servers)
    assert (found.access.security_protocol, found.access.sasl_mechanism) == ("SASL_SSL", IAM)
    assert found.region == region


def test_iam_signs_a_token_with_the_credentials_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    login = options("--iam", servers=MSK).make_login()
    assert isinstance(login, TokenLogin)
    assert len(login.token()) > 100


def test_a_profile_that_there_is_not_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    found = options("--iam", "--profile", "nobody", servers=MSK)
    with pytest.raises(ConfigError, match=r"AWS credentials cannot be read: .*nobody"):
        found.make_login()


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--iam"], "--region is needed, as the brokers' names do not hold it"),
        (["--iam", "--username", "u"], "--username does not go with --iam"),
        (["--iam", "--certfile", "f"], "--certfile does not go with --iam"),
        (["--iam", "--security-protocol", "SSL"], "--security-protocol does not go with --iam"),
        (["--profile", "p"], "--profile and --region are for --iam"),
        (["--region", "eu-west-1"], "--profile and --region are for --iam"),
        (["--certfile", "f"], "--certfile and --keyfile go together"),
        (["--keyfile", "f"], "--certfile and --keyfile go together"),
        (
            ["--certfile", "f", "--keyfile", "k", "--username", "u"],
            "--username does not go with --certfile",
        ),
        (
            ["--certfile", "f", "--keyfile", "k", "--security-protocol", "SASL_SSL"],
            "--security-protocol does not go with --certfile",
        ),
        (["--security-protocol", "SASL_SSL"], "SASL_SSL needs --username"),
        (["--username", "u"], "--username and --password-env are for SASL, not PLAINTEXT"),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    capsys: pytest.CaptureFixture[str], more: list[str], expected: str
) -> None:
    assert usage_error(capsys, *more).endswith(expected)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, r"cannot be read \(No such file or directory\)"),
        (b"no pem", "are no client certificate to use"),
        (b"\xff\xfe", r"cannot be read \(it is no PEM text\)"),
    ],
)
def test_files_without_a_certificate_are_named(
    content: bytes | None, expected: str, tmp_path: Path
) -> None:
    files: dict[str, Any] = {"--certfile": tmp_path / "c.pem", "--keyfile": tmp_path / "k.pem"}
    if content is not None:
        for file in files.values():
            file.write_bytes(content)
    call = [str(part) for pair in files.items() for part in pair]
    with pytest.raises(ConfigError, match=rf"c\.pem and .*k\.pem {expected}"):
        options(*call).make_login()
