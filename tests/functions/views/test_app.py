# SPDX-License-Identifier: Apache-2.0
"""Each path finds its view, and errors have the view's own shape.

Both pass through a function URL (payload 2.0).
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from kafka_lag.errors import ConfigError
from kafka_lag.views.app import answer
from kafka_lag.views.auth import is_signed
from kafka_lag.views.function_url import check_event, make_resolver, to_response
from kafka_lag.views.http import MAX_QUERY_BYTES, Answer, Request
from kafka_lag.views.latest_run import Snapshots
from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Shop, a_group, a_partition

JSON, TEXT, HTML = "application/json", "text/plain; charset=utf-8", "text/html; charset=utf-8"
SHAPES = [("/v3/kafka/shop/consumer", JSON), ("/metrics", TEXT), ("/", HTML)]


def ask(
    path: str,
    *,
    method: str = "GET",
    query: str = "",
    shop: Shop | None = None,
    packed: bool = False,
) -> Answer:
    headers = {"host": "lag.example"} | ({"accept-encoding": "gzip"} if packed else {})
    store = (shop or Shop([a_partition()], [a_group()])).store
    snapshots = Snapshots(store, lambda: (NOON + MINUTE) / 1000)
    return answer(Request.of(method, path, query, headers), snapshots, NOON + MINUTE)


def sentence(expected: Answer) -> str:
    text = expected.body.decode()
    return str(json.loads(text)["message"]) if expected.content_type == JSON else text


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v3/kafka", JSON),
        ("/burrow/admin", TEXT),
        ("/metrics", "text/plain"),
        ("/", "text/html"),
        ("/v3nothing", "text/html"),
    ],
)
def test_a_path_finds_its_view(path: str, kind: str) -> None:
    assert ask(path).content_type.startswith(kind)


@pytest.mark.parametrize(("path", "kind"), SHAPES)
def test_nothing_can_be_changed(path: str, kind: str) -> None:
    for method in ("DELETE", "POST", "BREW"):
        result = ask(path, method=method)

        expected = (405, kind, "GET, HEAD")
        assert (result.status, result.content_type, result.headers["Allow"]) == expected
        assert "nothing can be changed or deleted here" in sentence(result)


@pytest.mark.parametrize(("path", "kind"), SHAPES)
def test_ten_megabytes_of_query_are_an_error(path: str, kind: str) -> None:
    result = ask(path, query="q=" + "x" * 10_000_000)

    assert (result.status, result.content_type) == (414, kind)
    assert "8,192 bytes" in sentence(result)


@pytest.mark.parametrize(
    "path",
    [
        *(f"/v3/kafka/shop/consumer/{name}" for name in ("..", ".", "%2e%2e", "a%00b", "%00")),
        *("/v3/kafka/..%2F..%2Fetc", "/v3/kafka/..%2F..%2Fetc/topic", "/v3/%2e%2E/x", "/.%2e"),
        *("/cluster/..%2Fx/group/billing", "/metrics%2F", "//metrics/", "/metrics/x"),
    ],
)
def test_nothing_is_read_for_a_path_that_traverses_or_only_looks_like_one_of_ours(
    path: str,
) -> None:
    names = ("..", ".", "a\0b", "\0")
    shop = Shop([a_partition()], [a_group(name) for name in names])

    assert ask(path, shop=shop).status == 404
    assert "read" not in shop.store.calls
    # Dots within a name are no step up a path.
    for name in ("a..b", "...", "a%2F..%2Fb", ".a", "%252e%252e"):
        assert "no such path" not in sentence(ask(f"/v3/kafka/shop/consumer/{name}", shop=shop))


@pytest.mark.parametrize(("path", "kind"), SHAPES)
@pytest.mark.parametrize("verb", ["folders", "keys", "read"])
def test_a_store_that_is_down_is_one_sentence(
    path: str, kind: str, verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop([a_partition()], [a_group()])
    shop.store.down.add(verb)

    result = ask(path, shop=shop)

    assert (result.status, result.content_type) == (503, kind)
    assert "The snapshots cannot be read now" in sentence(result)
    assert f"the store cannot {verb}" in caplog.text
    assert "the store" not in sentence(result)


def test_a_long_answer_is_packed_where_that_was_requested() -> None:
    shop = Shop([a_partition(number) for number in range(50)], [a_group()])
    path = "/v3/kafka/shop/consumer/billing/lag"

    plain, packed = ask(path, shop=shop), ask(path, shop=shop, packed=True)
    short = ask("/burrow/admin", packed=True)

    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(packed.body) == plain.body
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    assert (short.body, "Content-Encoding" in short.headers) == (b"GOOD", False)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("path", ["/v3/kafka", "/metrics", "/", "/nothing", "/v3/../x"])
def test_no_answer_is_cached_and_a_head_says_how_long_it_would_be(
    path: str, *, packed: bool
) -> None:
    got, headed = ask(path, packed=packed), ask(path, method="HEAD", packed=packed)

    assert got.headers["Cache-Control"] == "no-store"
    assert got.headers["X-Content-Type-Options"] == "nosniff"
    assert (headed.status, headed.content_type) == (got.status, got.content_type)
    assert headed.body == b""
    assert headed.headers == {**got.headers, "Content-Length": str(len(got.body))}


@pytest.mark.parametrize(("path", "query"), [("/metrics/", ""), ("/metrics//", "level=topic")])
def test_a_slash_behind_metrics_is_redirected(path: str, query: str) -> None:
    result = ask(path, query=query)

    assert result.status == 301
    assert result.headers["Location"] == "/metrics" + (f"?{query}" if query else "")
    assert result.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "status"), [("/v3/kafka/shop/consumer", 503), ("/metrics", 200), ("/", 200)]
)
def test_a_snapshot_that_cannot_be_read_is_named_in_the_log(
    path: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop([a_partition()], [a_group()])
    (damaged,) = [key for key in shop.store.objects if "/groups/" in key]
    shop.store.objects[damaged] = b"PAR1"

    result = ask(path, shop=shop)

    assert result.status == status
    assert f"{damaged}: not a readable groups file" in caplog.text
    assert damaged not in result.body.decode()


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


def resolve(event: dict[str, Any], *, allowed: bool = True) -> dict[str, Any]:
    """What the URL answers for a shop with one group called a/b%20, its body unpacked."""
    shop = Shop([a_partition(consumer_group="a/b%20")], [a_group("a/b%20")])
    snapshots = Snapshots(shop.store, lambda: shop.now_ms / 1000)
    views = make_resolver(snapshots, lambda _: allowed, lambda: shop.now_ms)
    result = views.resolve(event, LambdaContext())
    assert result["isBase64Encoded"] is True
    body = b64decode(result["body"])
    packed = result["headers"].get("Content-Encoding") == "gzip"
    return {**result, "body": gzip.decompress(body) if packed else body}


def test_a_path_comes_encoded_and_is_decoded_once_and_query_and_host_come_along() -> None:
    result = resolve(an_event("/v3/kafka/shop/consumer/a%2Fb%2520/status"))
    metrics = resolve(an_event("/metrics"))

    assert result["statusCode"] == 200
    assert json.loads(result["body"])["status"]["group"] == "a/b%20"
    assert json.loads(result["body"])["request"]["host"] == "x.lambda-url.eu-west-1.on.aws"
    assert metrics["headers"]["Content-Encoding"] == "gzip"
    assert resolve(an_event("/metrics", "level=nonsense"))["statusCode"] == 400


@pytest.mark.parametrize("method", ["DELETE", "OPTIONS", "TRACE", "get it"])
def test_the_url_changes_nothing(method: str) -> None:
    result = resolve(an_event("/v3/kafka/shop/consumer/a", method=method))

    assert result["statusCode"] == 405
    assert result["headers"]["Allow"] == "GET, HEAD"
    assert b"nothing can be changed or deleted here" in result["body"]


@pytest.mark.parametrize("path", ["/metrics\n", "/a\nb", "/\n"])
def test_a_path_with_a_raw_line_break_is_not_there(path: str) -> None:
    result = resolve(an_event(path))

    assert result["statusCode"] == 404
    assert result["headers"]["X-Content-Type-Options"] == "nosniff"
    assert result["headers"]["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PROPFIND"])
def test_who_is_not_allowed_is_shown_nothing_whatever_the_method(method: str) -> None:
    result = resolve(an_event("/metrics", method=method), allowed=False)

    assert result["statusCode"] == 401
    assert result["headers"]["WWW-Authenticate"] == "Bearer"
    assert b"kafka_" not in result["body"]


@pytest.mark.parametrize("event", [{}, None, [], {"cluster": "a"}, {"requestContext": {}}])
def test_an_event_of_something_else_is_one_sentence(event: Any) -> None:
    with pytest.raises(ConfigError, match="not a request of a function URL"):
        check_event(event)


@pytest.mark.parametrize(
    ("authorizer", "signed"),
    [({"iam": {"userArn": "arn"}}, True), ({"iam": None}, False), ({}, False), (None, False)],
)
def test_a_signature_is_one_that_lambda_checked(authorizer: Any, signed: bool) -> None:
    assert is_signed(an_event(authorizer=authorizer)) is signed


@pytest.mark.parametrize(("size", "status"), [(4_653_056, 200), (4_653_057, 413)])
def test_what_lambda_would_not_take_becomes_a_sentence(size: int, status: int) -> None:
    result = to_response(REQUEST, Answer(200, "application/json", bytes(size)))

    assert result.status_code == status
    # the rest is for headers
    assert len(str(result.body)) < 6 * 1024 * 1024 - 64 * 1024
    assert (b"Accept-Encoding: gzip" in b64decode(str(result.body))) is (status == 413)


@pytest.mark.parametrize("allowed", [True, False])
def test_to_head_the_url_itself_names_a_length(*, allowed: bool) -> None:
    result = resolve(an_event("/metrics", method="HEAD"), allowed=allowed)

    assert "Content-Length" not in result["headers"]
    assert result["body"] == b""


# A request is what was sent, decoded once, and bounded.


def request(path: str = "/", query: str = "", **headers: str) -> Request:
    result = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request.of("get", path, query, result)


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        ("/group/a%2Fb", "/group/a/b"),
        ("/group/%252F", "/group/%2F"),
        ("/group/l%C3%A4g", "/group/läg"),
        ("/group/%ff", "/group/\ufffd"),
        ("/group/%zz", "/group/%zz"),
        ("", ""),
    ],
)
def test_a_path_is_decoded_once(sent: str, path: str) -> None:
    assert request(sent).path == path


def test_path_and_query_are_preserved_as_sent_too_and_so_are_host_and_method() -> None:
    found = request("/group/a%2F", "q=%2f", host="lag.example:8000")

    assert (found.sent_path, found.sent_query) == ("/group/a%2F", "q=%2f")
    assert (found.host, found.method) == ("lag.example:8000", "GET")


def test_halves_of_characters_become_text_as_they_enter() -> None:
    found = request("/group/\ud800%ED%A0%80", "q=\udfff%ED%A0%80")

    assert (found.path, found.query) == ("/group/?\ufffd\ufffd\ufffd", {"q": "?\ufffd\ufffd\ufffd"})
    assert (found.sent_path, found.sent_query) == ("/group/?%ED%A0%80", "q=?%ED%A0%80")


def test_the_last_value_of_a_parameter_counts_also_if_it_is_empty() -> None:
    assert request(query="a=1&a=2&b=&c=x+y%26").query == {"a": "2", "b": "", "c": "x y&"}


@pytest.mark.parametrize(("more", "read"), [(0, True), (1, False)])
def test_a_query_over_the_limit_is_not_parsed(more: int, read: bool) -> None:
    sent = "a=" + "x" * (MAX_QUERY_BYTES - 2 + more)

    found = request(query=sent)

    assert (found.query_bytes, bool(found.query)) == (len(sent), read)


@pytest.mark.parametrize(
    ("accepted", "gzip"),
    [
        ("", False),
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("identity, deflate", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("gzip;q=0.", False),
        ("gzip;\tq=0", False),
        ("gzip;q=0.001", True),
        ("xgzip", False),
        # what is named goes before what is not, in any order
        ("*;q=0, gzip", True),
        ("gzip, *;q=0", True),
        ("gzip;q=0, *", False),
        ("*, gzip;q=0", False),
        ("br, *;q=0", False),
    ],
)
def test_packing_is_for_those_who_ask(accepted: str, gzip: bool) -> None:
    assert request(accept_encoding=accepted).accepts_gzip is gzip
