# SPDX-License-Identifier: Apache-2.0
"""Only the token gives access; it is read again after some minutes, and never shown."""

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
        *("", "Bearer", "Bearer ", TOKEN, f"Basic {TOKEN}", f"Bearer Bearer {TOKEN}"),
        *(f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN.upper()}"),
        *("Bearer \udcff\u00ff", "Bearer \ud800", "Bearer " + "x" * 100_000),
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
    assert read_secret_token(Secrets({"SecretString": f" {TOKEN}\n"}), "arn") == TOKEN


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        *(({"SecretString": text}, "arn must be a text") for text in ("", " \n")),
        ({}, "arn must be a text"),
        *(
            ({"SecretString": text}, "secret arn must hold .* one line of visible ASCII")
            for text in ("two\nlines", "with blank", "tok\u00e9n", "a\tb", "a\x7fb")
        ),
        (
            ClientError({"Error": {"Code": "AccessDeniedException"}}, "Get"),
            r"secret arn \(AccessDeniedException\)\. Check",
        ),
        (
            EndpointConnectionError(endpoint_url="x"),
            r"secret arn \(EndpointConnectionError\)\. Check",
        ),
    ],
)
def test_a_secret_that_holds_no_token_is_one_sentence_that_does_not_quote_it(
    found: dict[str, Any] | Exception, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence) as raised:
        read_secret_token(Secrets(found), "arn")

    held = found.get("SecretString", "").strip() if isinstance(found, dict) else ""
    assert not held or held not in str(raised.value)
