# SPDX-License-Identifier: Apache-2.0
"""Only the token lets anybody in; it is read now and then, and never shown."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from kafka_lag.errors import ConfigError
from kafka_lag.views.auth import Bearer
from kafka_lag.views.secret_token import read_secret_token

TOKEN = "correct-horse"


class Vault:
    """Gives the token it holds, and counts."""

    def __init__(self, token: str = TOKEN) -> None:
        self.token = token
        self.reads = 0
        self.now = 0.0

    def __call__(self) -> str:
        self.reads += 1
        return self.token


class Secrets:
    """Secrets Manager with one secret, or an error."""

    def __init__(self, found: dict[str, Any] | Exception) -> None:
        self.found = found

    def get_secret_value(self, *, SecretId: str) -> dict[str, Any]:  # noqa: N803
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def bearer(vault: Vault) -> Bearer:
    return Bearer(vault, lambda: vault.now)


@pytest.mark.parametrize(
    "header", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f" Bearer   {TOKEN} ", f"BEARER {TOKEN}"]
)
def test_the_token_is_let_in(header: str) -> None:
    assert bearer(Vault(f"{TOKEN}\n")).allows(header)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Bearer Bearer {TOKEN}",
        "Bearer \udcff\u00ff",
        "Bearer \ud800",
        "Bearer " + "x" * 100_000,
    ],
)
def test_whatever_else_is_not(header: str) -> None:
    assert not bearer(Vault()).allows(header)


def test_the_token_is_read_every_five_minutes() -> None:
    vault = Vault()
    door = bearer(vault)

    for vault.now in (0.0, 1.0, 299.0):
        assert door.allows(f"Bearer {TOKEN}")
    assert vault.reads == 1

    vault.now, vault.token = 300.0, "rotated"
    assert not door.allows(f"Bearer {TOKEN}")
    assert door.allows("Bearer rotated")
    assert vault.reads == 2


def test_a_token_that_cannot_be_read_is_not_read_again_at_every_request() -> None:
    requested, now = [], [0.0]

    def read() -> str:
        requested.append(now[0])
        raise ConfigError("denied")

    bearer = Bearer(read, lambda: now[0])
    for now[0] in (0.0, 1.0, 4.9, 5.0):
        with pytest.raises(ConfigError, match="denied"):
            bearer.allows("Bearer x")

    assert requested == [0.0, 5.0]


def test_the_token_is_held_nowhere() -> None:
    vault = Vault()
    door = bearer(vault)
    door.allows(f"Bearer {TOKEN}")

    attributes = {name: value for name, value in vars(door).items() if not callable(value)}
    assert TOKEN.encode() not in pickle.dumps(attributes)
    assert TOKEN not in repr(door)


def test_a_secrets_text_is_the_token() -> None:
    assert read_secret_token(Secrets({"SecretString": TOKEN}), "arn") == TOKEN


@pytest.mark.parametrize("found", [{}, {"SecretString": ""}, {"SecretString": " \n"}])
def test_a_secret_without_a_text_lets_nobody_in(found: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="arn must be a text"):
        read_secret_token(Secrets(found), "arn")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "Get"), "AccessDeniedException"),
        (EndpointConnectionError(endpoint_url="x"), "EndpointConnectionError"),
    ],
)
def test_a_secret_that_cannot_be_read_is_one_sentence(error: Exception, code: str) -> None:
    with pytest.raises(ConfigError, match=rf"secret arn \({code}\)\. Check"):
        read_secret_token(Secrets(error), "arn")


@pytest.mark.parametrize("held", ["two\nlines", "with blank", "tok\u00e9n", "a\tb", "a\x7fb"])
def test_a_secret_that_no_header_can_bring_is_one_sentence(held: str) -> None:
    with pytest.raises(
        ConfigError, match=r"secret arn must hold .* one line of visible ASCII"
    ) as e:
        read_secret_token(Secrets({"SecretString": held}), "arn")

    assert held not in str(e.value)


def test_blanks_around_a_token_are_none_of_it() -> None:
    assert read_secret_token(Secrets({"SecretString": f" {TOKEN}\n"}), "arn") == TOKEN
