# SPDX-License-Identifier: Apache-2.0
"""Tokens of a role: their content, the time they are signed, and the error without a role."""

from __future__ import annotations

import base64
import time
import traceback
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.credentials import Credentials, ReadOnlyCredentials
from botocore.exceptions import ClientError, CredentialRetrievalError

from kafka_lag.brokers.access import IAM, Access
from kafka_lag.brokers.aws_login import TokenLogin, role_login
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import ConfigError

KEY, SECRET, SESSION = "AKIAEXAMPLE", "a-secret-key", "a-session-token"


def url_in(token: str) -> str:
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()


def signed(token: str) -> dict[str, str]:
    """The parameters of the URL that a token is."""
    return {name: value for name, (value,) in parse_qs(urlsplit(url_in(token)).query).items()}


def test_a_token_is_a_signed_permission_to_connect_in_our_region() -> None:
    token = role_login(Credentials(KEY, SECRET, SESSION), "eu-north-1").token()
    assert urlsplit(url_in(token)).netloc == "kafka.eu-north-1.amazonaws.com"
    said = signed(token)
    assert said["Action"] == "kafka-cluster:Connect"
    assert said["X-Amz-Expires"] == "900"
    assert said["X-Amz-Security-Token"] == SESSION
    who, _day, region, service, _ = said["X-Amz-Credential"].split("/")
    assert (who, region, service) == (KEY, "eu-north-1", "kafka-cluster")
    assert SECRET not in url_in(token)


class Renewed:
    """Credentials of a role, which AWS replaces now and then."""

    def __init__(self) -> None:
        self.key = KEY

    def get_frozen_credentials(self) -> ReadOnlyCredentials:
        return ReadOnlyCredentials(self.key, SECRET, SESSION)


def test_a_token_is_signed_with_what_the_credentials_are_by_then() -> None:
    role = Renewed()
    login = role_login(role, "eu-west-1")
    role.key = "AKIANEXT"
    assert signed(login.token())["X-Amz-Credential"].startswith("AKIANEXT/")
    # Each connection is given a token of its own.
    tokens = iter(["first", "second"])
    each = TokenLogin(lambda: next(tokens))
    assert [each.token(), each.token()] == ["first", "second"]


class Lost:
    """Credentials that cannot be had."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def get_frozen_credentials(self) -> ReadOnlyCredentials:
        raise self._error


GONE = CredentialRetrievalError(provider="container-role", error_msg="no answer")
DENIED = ClientError({"Error": {"Code": "AccessDenied", "Message": "arn of a user"}}, "AssumeRole")


@pytest.mark.parametrize(
    ("credentials", "said"),
    [
        (None, r"no AWS credentials .*\(none configured\): .* a role, a profile or a user\."),
        (Lost(GONE), r"no AWS credentials .*\(CredentialRetrievalError\): .* a role, a profile"),
        (Lost(DENIED), r"\(AccessDenied, the role cannot be assumed\): "),
    ],
    ids=["none", "not renewed", "not assumed"],
)
def test_a_role_that_is_missing_is_told_as_one(credentials: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        role_login(credentials, "eu-west-1").client_options()


def test_a_login_shows_neither_its_key_nor_its_token() -> None:
    login = role_login(Credentials(KEY, SECRET, SESSION), "eu-west-1")
    for shown in (login, FixedCredentials(login), login.client_options()):
        assert not any(word in f"{shown!r} {shown}" for word in (SECRET, SESSION, login.token()))


def test_a_token_that_cannot_be_made_is_told_before_anybody_connects() -> None:
    def refuse() -> str:
        raise ConfigError("there is no role")

    access = Access(("localhost:1",), "SASL_SSL", IAM)
    source = KafkaSource(access, FixedCredentials(TokenLogin(refuse)))
    with pytest.raises(ConfigError, match="there is no role") as raised:
        source.read(ReadRequest(), time.monotonic() + 60)
    assert "localhost:1" not in "".join(traceback.format_exception_only(raised.value))
