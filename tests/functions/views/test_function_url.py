# SPDX-License-Identifier: Apache-2.0
"""Payload 2.0 of a function URL becomes a request, and an answer what Lambda takes."""

from __future__ import annotations

import random
from base64 import b64decode
from typing import Any

import pytest

from functions.errors import ConfigError
from functions.views.function_url import is_signed, reply_of, request_of
from functions.views.http import Answer, Request

REQUEST = Request.of("GET", "/v3/kafka", "", {"host": "lag.example"})


def an_event(path: str = "/", query: str = "", **more: Any) -> dict[str, Any]:
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "x.lambda-url.eu-west-1.on.aws", "Accept-Encoding": "gzip"},
        "requestContext": {"http": {"method": "GET", "path": path}, **more},
        "isBase64Encoded": False,
    }


def test_a_path_comes_encoded_and_is_decoded_once() -> None:
    found = request_of(an_event("/group/a%2Fb%2520", "q=x%26y"))

    assert (found.path, found.query) == ("/group/a/b%20", {"q": "x&y"})
    assert found.host == "x.lambda-url.eu-west-1.on.aws"
    assert found.accepts_gzip


@pytest.mark.parametrize("event", [{}, None, [], {"cluster": "a"}, {"requestContext": {}}])
def test_an_event_of_something_else_is_one_sentence(event: Any) -> None:
    with pytest.raises(ConfigError, match="not a request of a function URL"):
        request_of(event)


@pytest.mark.parametrize(
    ("authorizer", "signed"),
    [({"iam": {"userArn": "arn"}}, True), ({"iam": None}, False), ({}, False), (None, False)],
)
def test_a_signature_is_one_that_lambda_checked(authorizer: Any, signed: bool) -> None:
    assert is_signed(an_event(authorizer=authorizer)) is signed


def test_a_body_travels_in_base64() -> None:
    body = bytes(range(256))

    told = reply_of(REQUEST, Answer(200, "application/json", body, {"Vary": "x"}))

    assert told == {
        "statusCode": 200,
        "headers": {"Content-Type": "application/json", "Vary": "x"},
        "body": told["body"],
        "isBase64Encoded": True,
    }
    assert b64decode(told["body"]) == body


@pytest.mark.parametrize(("megabytes", "status"), [(4.4, 200), (4.5, 413)])
def test_what_lambda_would_not_take_becomes_a_sentence(megabytes: float, status: int) -> None:
    body = random.Random(1).randbytes(int(megabytes * 1024 * 1024))  # noqa: S311

    told = reply_of(REQUEST, Answer(200, "application/json", body))

    assert told["statusCode"] == status
    assert len(told["body"]) < 6 * 1024 * 1024
    assert (b"Accept-Encoding: gzip" in b64decode(told["body"])) is (status == 413)
