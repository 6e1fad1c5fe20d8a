# SPDX-License-Identifier: Apache-2.0
"""Every way to log in, by the options of a subcommand."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
import trustme

from kafka_lag.brokers.access import IAM, Credentials, Login
from kafka_lag.brokers.aws_login import TokenLogin
from kafka_lag.brokers.login import CertifiedLogin, ClientCertificate, CredentialSource
from kafka_lag_cli.connecting.login_options import BrokerOptions, brokers_of
from kafka_lag_cli.show import show

MSK = "b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com:9098"
SASL = ("-X", "security.protocol=SASL_SSL", "--username", "monitor")
SERVERLESS = "boot-a1b2c3.c1.kafka-serverless.us-east-1.amazonaws.com:9098"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What options name is there."""
    monkeypatch.chdir(tmp_path)
    for name in ("f", "k"):
        Path(name).write_text("nothing")


def options(*more: str, servers: str = "b:9092", **environ: str) -> BrokerOptions:
    with show.make_context("show", ["--bootstrap-servers", servers, *more]) as ctx:
        return brokers_of(ctx.params, environ)


def login_of(found: BrokerOptions) -> Login | None:
    (login,) = found.make_source().candidates()
    return login


def test_without_a_word_there_is_no_login() -> None:
    found = options()
    assert (found.access.security_protocol, found.access.sasl_mechanism) == ("PLAINTEXT", None)
    assert login_of(found) is None


@pytest.mark.parametrize(("more", "guess"), [((), "PLAINTEXT"), (("--username", "u"), "SASL_SSL")])
def test_a_protocol_that_nobody_names_is_a_guess(more: tuple[str, ...], guess: str) -> None:
    found = options(*more, KAFKA_LAG_PASSWORD="word")
    assert (found.protocol_named, found.access.security_protocol) == (False, guess)
    named = options("-X", f"security.protocol={guess}", *more, KAFKA_LAG_PASSWORD="word")
    assert named.protocol_named


def test_a_password_comes_from_the_environment_and_is_in_no_repr() -> None:
    found = options(*SASL, "--password-env", "P", P="secret-word")
    assert found.access.sasl_mechanism == "SCRAM-SHA-512"
    assert login_of(found) == Credentials("monitor", "secret-word")
    assert "secret-word" not in repr(found)


@pytest.mark.parametrize(
    ("servers", "more", "region"),
    [
        (MSK, [], "eu-west-1"),
        (SERVERLESS, [], "us-east-1"),
        (f"other:9098,{MSK}", [], "eu-west-1"),
        ("vpce.example:14001", [], "eu-central-1"),
        (MSK, ["-X", "security.protocol=SASL_SSL"], "eu-west-1"),
    ],
)
def test_iam_needs_no_more_than_the_brokers_names(
    servers: str, more: list[str], region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    found = options("--iam", *more, servers=servers)
    assert (found.access.security_protocol, found.access.sasl_mechanism) == ("SASL_SSL", IAM)
    assert found.region == region


def test_iam_signs_a_token_with_the_credentials_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    login = login_of(options("--iam", servers=MSK))
    assert isinstance(login, TokenLogin)
    assert len(login.token()) > 100


def test_blanks_around_brokers_are_left_out() -> None:
    assert options(servers=" a:1, b:65535,").access.bootstrap_servers == ("a:1", "b:65535")


def source_of(file: Path | str) -> CredentialSource:
    """The login of a password's file."""
    return options(*SASL, "--password-file", str(file)).make_source()


def test_a_password_in_a_file_is_read_again_when_it_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("first\n")
    source = source_of(file)
    (login,) = source.candidates()
    assert login == Credentials("monitor", "first")
    source.remember(login)
    assert list(source.others()) == []
    file.write_text("second\r\n")
    assert list(source.others()) == [Credentials("monitor", "second")]
    assert list(source.candidates()) == [login, Credentials("monitor", "second")]


def test_a_property_of_the_command_line_goes_before_the_files(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(trustme.CA().cert_pem.bytes())
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\nssl.truststore.location=/no.jks\n")
    given = ("-X", f"ssl.truststore.location={tmp_path}/ca.pem", "-X", "request.timeout.ms=2500")
    access = options("--command-config", str(file), *given).access
    assert (access.security_protocol, access.cafile) == ("SSL", str(tmp_path / "ca.pem"))
    assert access.broker_timeout == 2.5


def test_a_certificate_is_in_one_file_with_its_key_and_goes_with_a_password(tmp_path: Path) -> None:
    leaf = trustme.CA().issue_cert("monitor.example")
    leaf.private_key_and_cert_chain_pem.write_to_path(tmp_path / "me.pem")
    certificate = ("-X", f"ssl.keystore.location={tmp_path}/me.pem")
    alone = options(*certificate)
    assert alone.access.security_protocol == "SSL"
    assert isinstance(login_of(alone), ClientCertificate)
    both = login_of(options(*SASL, *certificate, KAFKA_LAG_PASSWORD="word"))
    assert isinstance(both, CertifiedLogin)
    assert both.credentials == Credentials("monitor", "word")


@pytest.mark.parametrize(
    "key",
    [
        *("sasl.jaas.config", "ssl.key.password", "ssl.keystore.password", "ssl.keystore.key"),
        *("ssl.truststore.password", "sasl.password", "ssl.key.pem", "sasl.oauthbearer.token"),
    ],
)
@pytest.mark.parametrize("sign", ["=", ":"])
def test_no_property_of_the_command_line_holds_a_secret(key: str, sign: str) -> None:
    with pytest.raises(click.UsageError) as raised:
        options("-X", f"{key}{sign}secret-word")
    assert "secret-word" not in raised.value.message
    if sign == "=":
        assert "--command-config" in raised.value.message


@pytest.mark.parametrize("later", ["", None, "\udcff"], ids=["empty", "gone", "no text"])
def test_a_password_read_once_stays_when_it_cannot_be_read_again(
    later: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "password"
    file.write_text("größe\n", "utf-8")
    source = source_of(file)
    if later is None:
        file.unlink()
    else:
        file.write_text(later, "utf-8", "surrogateescape")
    (login,) = source.candidates()
    assert login == Credentials("monitor", "größe")
    source.remember(login)
    assert list(source.others()) == []


def test_a_password_is_read_once_from_a_pipe_and_from_a_marked_file_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "password").write_text("first", "utf-8-sig")
    reading, writing = os.pipe()
    os.write(writing, b"first\n")
    os.close(writing)
    try:
        for place in ("~/password", f"/dev/fd/{reading}"):
            assert list(source_of(place).candidates()) == [Credentials("monitor", "first")]
    finally:
        os.close(reading)
