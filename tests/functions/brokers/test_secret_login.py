# SPDX-License-Identifier: Apache-2.0
"""Logins from Secrets Manager: in which order they are tried, and that none is ever shown."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from kafka_lag.brokers.access import Credentials
from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.errors import ConfigError

FIRST, SECOND, THIRD = "first-pass", "second-pass", "third-pass"


def login(password: str) -> Credentials:
    return Credentials("reporter", password)


def as_secret(password: str) -> str:
    return json.dumps({"username": "reporter", "password": password})


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


def test_a_secret_never_rotated_is_one_candidate(source: SecretCredentials) -> None:
    assert list(source.candidates()) == [login(FIRST)]


def test_after_a_rotation_the_current_comes_before_the_previous(
    client: Any, source: SecretCredentials
) -> None:
    rotate(client, SECOND)
    assert list(source.candidates()) == [login(SECOND), login(FIRST)]


def test_what_was_accepted_comes_first_and_once(client: Any, source: SecretCredentials) -> None:
    source.remember(login(FIRST))
    rotate(client, SECOND)
    assert list(source.candidates()) == [login(FIRST), login(SECOND)]


def test_what_was_accepted_long_ago_is_followed_by_current_and_previous(
    client: Any, source: SecretCredentials
) -> None:
    source.remember(login(FIRST))
    rotate(client, SECOND)
    rotate(client, THIRD)
    assert list(source.candidates()) == [login(FIRST), login(THIRD), login(SECOND)]


def test_the_secret_is_not_read_while_the_accepted_login_works(client: Any) -> None:
    source = SecretCredentials(client, "absent")
    source.remember(login(FIRST))
    assert next(source.candidates()) == login(FIRST)


def test_the_current_version_is_read_anew_each_time(client: Any, source: SecretCredentials) -> None:
    assert next(source.candidates()) == login(FIRST)
    rotate(client, SECOND)
    assert next(source.candidates()) == login(SECOND)


def test_a_missing_secret_says_what_to_check(client: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"secret absent cannot be read \(ResourceNotFoundException\)"
    ):
        list(SecretCredentials(client, "absent").candidates())


class Refusing:
    """A Secrets Manager that raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def get_secret_value(self, **_: str) -> dict[str, Any]:
        raise self._error


def test_a_forbidden_secret_says_what_to_check() -> None:
    client = Refusing(ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetSecretValue"))
    with pytest.raises(ConfigError, match=r"AccessDeniedException.*may get and decrypt"):
        list(SecretCredentials(client, "shop").candidates())


def test_an_unreachable_secrets_manager_says_what_to_check() -> None:
    client = Refusing(EndpointConnectionError(endpoint_url="https://secrets.invalid"))
    with pytest.raises(ConfigError, match=r"EndpointConnectionError.*VPC's endpoint"):
        list(SecretCredentials(client, "shop").candidates())


MALFORMED = pytest.mark.parametrize(
    "text",
    [
        pytest.param("hunter2", id="bare-word"),
        pytest.param('{"username": "reporter", "password": hunter2}', id="not-json"),
        pytest.param('["reporter", "hunter2"]', id="list"),
        pytest.param('"hunter2"', id="string"),
        pytest.param('{"user": "reporter", "password": "hunter2"}', id="other-keys"),
        pytest.param('{"username": "", "password": "hunter2"}', id="no-user"),
        pytest.param('{"username": "hunter2", "password": ""}', id="no-password"),
        pytest.param('{"username": "reporter", "password": ["hunter2"]}', id="not-a-string"),
    ],
)


@MALFORMED
def test_a_malformed_secret_is_refused_and_never_quoted(client: Any, text: str) -> None:
    client.create_secret(Name="shop", SecretString=text)
    with pytest.raises(ConfigError, match="must be a JSON object with two strings") as raised:
        list(SecretCredentials(client, "shop").candidates())
    assert "hunter2" not in "".join(traceback.format_exception(raised.value))
    assert raised.value.__cause__ is raised.value.__context__ is None


def test_a_binary_secret_is_refused(client: Any) -> None:
    client.create_secret(Name="shop", SecretBinary=b"hunter2")
    with pytest.raises(ConfigError, match="must be a JSON object"):
        list(SecretCredentials(client, "shop").candidates())


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


def test_others_are_what_the_secret_holds_beside_the_accepted(
    client: Any, source: SecretCredentials
) -> None:
    source.remember(login(FIRST))
    assert list(source.others()) == []
    rotate(client, SECOND)
    assert list(source.others()) == [login(SECOND)]


def test_a_fixed_login_has_no_others() -> None:
    assert list(FixedCredentials(login(FIRST)).others()) == []
