# SPDX-License-Identifier: Apache-2.0
"""Logins from Secrets Manager: the order in which they are tried, and that none is shown."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.errors import ConfigError

FIRST, SECOND, THIRD = "first-pass", "second-pass", "third-pass"


def login(password: str) -> Credentials:
    return Credentials("reporter", password)


def as_secret(password: str) -> str:
    return json.dumps({"username": "reporter", "password": password})


def test_a_user_name_is_escaped_as_scram_asks_and_sent_to_plain_as_it_is() -> None:
    """RFC 5802, 5.1: a comma and an equals sign, each once."""
    user = Credentials("team=a,lag", "hunter2")
    sent = {
        mechanism: Access(("b:9096",), sasl_mechanism=mechanism).client_options(user)
        for mechanism in ("SCRAM-SHA-512", "PLAIN")
    }
    names = {mechanism: options["sasl_plain_username"] for mechanism, options in sent.items()}
    assert names == {"SCRAM-SHA-512": "team=3Da=2Clag", "PLAIN": "team=a,lag"}


@pytest.fixture(name="client")
def _client() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("secretsmanager", region_name="us-east-1")


@pytest.fixture(name="source")
def _source(client: Any) -> SecretCredentials:
    client.create_secret(Name="shop", SecretString=as_secret(FIRST))
    return SecretCredentials(client, "shop")


def rotate(client: Any, password: str) -> None:
    client.put_secret_value(SecretId="shop", SecretString=as_secret(password))


def test_the_accepted_login_comes_before_the_current_and_the_previous_each_read_anew(
    client: Any, source: SecretCredentials
) -> None:
    assert list(source.candidates()) == [login(FIRST)]
    rotate(client, SECOND)
    assert list(source.candidates()) == [login(SECOND), login(FIRST)]
    source.remember(login(FIRST))
    assert list(source.candidates()) == [login(FIRST), login(SECOND)]
    assert list(source.others()) == [login(SECOND)]
    rotate(client, THIRD)
    assert list(source.candidates()) == [login(FIRST), login(THIRD), login(SECOND)]


def test_the_secret_is_not_read_while_the_accepted_login_works(client: Any) -> None:
    source = SecretCredentials(client, "absent")
    source.remember(login(FIRST))
    assert next(source.candidates()) == login(FIRST)


class Refusing:
    """A Secrets Manager that raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def get_secret_value(self, **_: str) -> dict[str, Any]:
        raise self._error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetSecretValue"),
            r"secret shop cannot be read \(ResourceNotFoundException\)",
        ),
        (
            ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetSecretValue"),
            "AccessDeniedException.*may get and decrypt",
        ),
        (
            EndpointConnectionError(endpoint_url="https://secrets.invalid"),
            "EndpointConnectionError.*VPC's endpoint",
        ),
    ],
    ids=["missing", "forbidden", "unreachable"],
)
def test_a_secret_that_cannot_be_read_says_what_to_check(error: Exception, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        list(SecretCredentials(Refusing(error), "shop").candidates())


@pytest.mark.parametrize(
    "content",
    [
        b"hunter2",
        "hunter2",
        '{"username": "reporter", "password": hunter2}',
        '["reporter", "hunter2"]',
        '"hunter2"',
        '{"user": "reporter", "password": "hunter2"}',
        '{"username": "", "password": "hunter2"}',
        '{"username": "hunter2", "password": ""}',
        '{"username": "reporter", "password": ["hunter2"]}',
    ],
    ids=[
        *("binary", "bare word", "not JSON", "list", "string", "other keys", "no user"),
        *("no password", "not a string"),
    ],
)
def test_a_malformed_secret_is_refused_and_never_quoted(client: Any, content: str | bytes) -> None:
    kind = "SecretString" if isinstance(content, str) else "SecretBinary"
    client.create_secret(Name="shop", **{kind: content})
    with pytest.raises(ConfigError, match="must be a JSON object with two strings") as raised:
        list(SecretCredentials(client, "shop").candidates())
    assert "hunter2" not in "".join(traceback.format_exception(raised.value))
    assert raised.value.__cause__ is raised.value.__context__ is None


def test_no_repr_shows_a_password(source: SecretCredentials) -> None:
    (found,) = source.candidates()
    source.remember(found)
    assert isinstance(found, Credentials)
    assert found.password == FIRST
    for shown in (found, source, FixedCredentials(found), [found], {"login": found}):
        assert FIRST not in f"{shown!r} {shown}"


@pytest.mark.parametrize("fixed", [None, login(FIRST)], ids=["none", "one"])
def test_a_fixed_login_is_the_only_candidate(fixed: Credentials | None) -> None:
    source = FixedCredentials(fixed)
    source.remember(login(SECOND))
    assert list(source.candidates()) == [fixed]
    assert list(source.others()) == []
