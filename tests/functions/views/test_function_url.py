# SPDX-License-Identifier: Apache-2.0
"""Payload 2.0 of a function URL becomes a request, and an answer what Lambda takes."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from kafka_lag.errors import ConfigError
from kafka_lag.views.function_url import checked, is_signed, reply, resolver
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.snapshots import Snapshots
from tests.functions.views.burrow.asking import Shop, a_group, a_partition

REQUEST = Request.of("GET", "/v3/kafka", "", {"host": "lag.example"})


def an_event(path: str = "/", query: str = "", method: str = "GET", **more: Any) -> dict[str, Any]:
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "x.lambda-url.eu-west-1.on.aws", "Accept-Encoding": "gzip"},
        "requestContext": {
            "stage": "$default",
            "http": {"method": method, "path": path},
            **more,
        },
        "isBase64Encoded": False,
    }


def asked(event: dict[str, Any], *, allowed: bool = True) -> dict[str, Any]:
    """What the URL answers for a shop with one group called a/b%20, its body unpacked."""
    shop = Shop([a_partition(consumer_group="a/b%20")], [a_group("a/b%20")])
    snapshots = Snapshots(shop.store, lambda: shop.now_ms / 1000)
    views = resolver(snapshots, lambda _: allowed, lambda: shop.now_ms)
    told = views.resolve(event, LambdaContext())
    assert told["isBase64Encoded"] is True
    body = b64decode(told["body"])
    packed = told["headers"].get("Content-Encoding") == "gzip"
    return {**told, "body": gzip.decompress(body) if packed else body}


def test_a_path_comes_encoded_and_is_decoded_once() -> None:
    told = asked(an_event("/v3/kafka/shop/consumer/a%2Fb%2520/status"))

    assert told["statusCode"] == 200
    assert json.loads(told["body"])["status"]["group"] == "a/b%20"


def test_query_and_host_come_along() -> None:
    told = asked(an_event("/metrics", "level=nonsense"))
    burrow = asked(an_event("/v3/kafka"))

    assert told["statusCode"] == 400
    assert json.loads(burrow["body"])["request"]["host"] == "x.lambda-url.eu-west-1.on.aws"


def test_who_accepts_gzip_gets_it() -> None:
    assert asked(an_event("/metrics"))["headers"]["Content-Encoding"] == "gzip"


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get it"]
)
def test_nothing_can_be_changed(method: str) -> None:
    told = asked(an_event("/v3/kafka/shop/consumer/a", method=method))

    assert told["statusCode"] == 405
    assert told["headers"]["Allow"] == "GET, HEAD"
    assert b"nothing can be changed or deleted here" in told["body"]


@pytest.mark.parametrize("path", ["/metrics\n", "/a\nb", "/\n"])
def test_a_path_with_a_raw_line_break_is_not_there(path: str) -> None:
    told = asked(an_event(path))

    assert told["statusCode"] == 404
    assert told["headers"]["X-Content-Type-Options"] == "nosniff"
    assert told["headers"]["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PROPFIND"])
def test_who_is_not_allowed_is_told_nothing_whatever_the_method(method: str) -> None:
    told = asked(an_event("/metrics", method=method), allowed=False)

    assert told["statusCode"] == 401
    assert told["headers"]["WWW-Authenticate"] == "Bearer"
    assert b"kafka_" not in told["body"]


@pytest.mark.parametrize("event", [{}, None, [], {"cluster": "a"}, {"requestContext": {}}])
def test_an_event_of_something_else_is_one_sentence(event: Any) -> None:
    with pytest.raises(ConfigError, match="not a request of a function URL"):
        checked(event)


@pytest.mark.parametrize(
    ("authorizer", "signed"),
    [({"iam": {"userArn": "arn"}}, True), ({"iam": None}, False), ({}, False), (None, False)],
)
def test_a_signature_is_one_that_lambda_checked(authorizer: Any, signed: bool) -> None:
    assert is_signed(an_event(authorizer=authorizer)) is signed


def test_a_body_travels_in_base64() -> None:
    body = bytes(range(256))

    told = reply(REQUEST, Answer(200, "application/json", body, {"Vary": "x"}))

    assert (told.status_code, told.headers) == (
        200,
        {"Content-Type": "application/json", "Vary": "x"},
    )
    assert told.base64_encoded
    assert b64decode(str(told.body)) == body


@pytest.mark.parametrize(("size", "status"), [(4_653_056, 200), (4_653_057, 413)])
def test_what_lambda_would_not_take_becomes_a_sentence(size: int, status: int) -> None:
    told = reply(REQUEST, Answer(200, "application/json", bytes(size)))

    assert told.status_code == status
    # the rest is for headers
    assert len(str(told.body)) < 6 * 1024 * 1024 - 64 * 1024
    assert (b"Accept-Encoding: gzip" in b64decode(str(told.body))) is (status == 413)


@pytest.mark.parametrize("allowed", [True, False])
def test_to_head_the_url_itself_tells_a_length(*, allowed: bool) -> None:
    told = asked(an_event("/metrics", method="HEAD"), allowed=allowed)

    assert "Content-Length" not in told["headers"]
    assert told["body"] == b""
