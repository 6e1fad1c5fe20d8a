# SPDX-License-Identifier: Apache-2.0
"""Each path finds its view, and what no view is asked is told in the view's own shape."""

from __future__ import annotations

import gzip
import json

import pytest

from kafka_lag.views.http import Answer, Request
from kafka_lag.views.routing import answer
from kafka_lag.views.snapshots import Snapshots
from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.asking import Shop, a_group, a_partition

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


def sentence(told: Answer) -> str:
    text = told.body.decode()
    return str(json.loads(text)["message"]) if told.content_type == JSON else text


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
@pytest.mark.parametrize("method", ["DELETE", "POST", "PUT", "PATCH", "OPTIONS", "BREW"])
def test_nothing_can_be_changed(path: str, kind: str, method: str) -> None:
    told = ask(path, method=method)

    assert (told.status, told.content_type, told.headers["Allow"]) == (405, kind, "GET, HEAD")
    assert "nothing can be changed or deleted here" in sentence(told)


def test_to_delete_a_group_is_refused_in_burrows_shape() -> None:
    told = ask("/v3/kafka/shop/consumer/billing", method="DELETE")

    body = json.loads(told.body)
    assert (told.status, body["error"]) == (405, True)
    assert body["request"] == {"url": "/v3/kafka/shop/consumer/billing", "host": "lag.example"}


@pytest.mark.parametrize(("path", "kind"), SHAPES)
def test_ten_megabytes_of_query_are_refused(path: str, kind: str) -> None:
    told = ask(path, query="q=" + "x" * 10_000_000)

    assert (told.status, told.content_type) == (414, kind)
    assert "8,192 bytes" in sentence(told)


@pytest.mark.parametrize("sent", ["..", ".", "%2e%2e", "a%00b", "%00"])
def test_a_path_that_climbs_or_is_cut_is_not_there(sent: str) -> None:
    names = ("..", ".", "a\0b", "\0")
    shop = Shop([a_partition()], [a_group(name) for name in names])

    assert ask(f"/v3/kafka/shop/consumer/{sent}", shop=shop).status == 404
    assert shop.store.calls == []


@pytest.mark.parametrize(
    "path",
    ["/v3/kafka/..%2F..%2Fetc", "/v3/kafka/..%2F..%2Fetc/topic", "/cluster/..%2Fx/group/billing"],
)
def test_no_cluster_is_sought_by_a_name_that_climbs(path: str) -> None:
    shop = Shop([a_partition()], [a_group()])

    assert ask(path, shop=shop).status == 404
    assert "read" not in shop.store.calls


@pytest.mark.parametrize(("path", "kind"), SHAPES)
@pytest.mark.parametrize("verb", ["folders", "keys", "read"])
def test_a_store_that_is_down_is_one_sentence(
    path: str, kind: str, verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop([a_partition()], [a_group()])
    shop.store.down.add(verb)

    told = ask(path, shop=shop)

    assert (told.status, told.content_type) == (503, kind)
    assert "The snapshots cannot be read now" in sentence(told)
    assert f"the store cannot {verb}" in caplog.text
    assert "the store" not in sentence(told)


def test_an_unreadable_snapshot_is_one_sentence() -> None:
    shop = Shop([a_partition()], [a_group()])
    shop.store.objects = dict.fromkeys(shop.store.objects, b"<b>no parquet</b>")

    told = ask("/v3/kafka/shop/consumer", shop=shop)

    assert (told.status, told.content_type) == (503, JSON)
    assert sentence(told) == "The snapshots cannot be read now; ask again in a minute."


def test_an_answer_is_packed_where_that_was_asked_for() -> None:
    shop = Shop([a_partition(number) for number in range(50)], [a_group()])
    path = "/v3/kafka/shop/consumer/billing/lag"

    plain, packed = ask(path, shop=shop), ask(path, shop=shop, packed=True)

    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(packed.body) == plain.body
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"


def test_a_short_answer_is_not_packed() -> None:
    told = ask("/burrow/admin", packed=True)

    assert (told.body, "Content-Encoding" in told.headers) == (b"GOOD", False)


def test_a_head_is_an_answer_without_its_body() -> None:
    told = ask("/v3/kafka", method="HEAD")

    assert (told.status, told.content_type, told.body) == (200, JSON, b"")


@pytest.mark.parametrize("path", ["/v3/kafka", "/metrics", "/", "/nothing", "/v3/../x"])
def test_no_answer_is_kept_or_guessed_at(path: str) -> None:
    headers = ask(path).headers

    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("path", ["/v3/kafka", "/metrics", "/", "/nothing", "/v3/../x"])
def test_a_head_says_how_long_the_answer_would_be(path: str, *, packed: bool) -> None:
    got, headed = ask(path, packed=packed), ask(path, method="HEAD", packed=packed)

    assert headed.body == b""
    assert headed.headers == {**got.headers, "Content-Length": str(len(got.body))}


@pytest.mark.parametrize(("path", "query"), [("/metrics/", ""), ("/metrics//", "level=topic")])
def test_a_slash_behind_metrics_is_led_to_them(path: str, query: str) -> None:
    told = ask(path, query=query)

    assert told.status == 301
    assert told.headers["Location"] == "/metrics" + (f"?{query}" if query else "")
    assert told.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/metrics%2F", "//metrics/", "/metrics/x"])
def test_what_only_looks_like_metrics_is_not_there(path: str) -> None:
    assert ask(path).status == 404


@pytest.mark.parametrize(
    ("path", "status"), [("/v3/kafka/shop/consumer", 503), ("/metrics", 200), ("/", 200)]
)
def test_a_snapshot_that_cannot_be_read_is_named_in_the_log(
    path: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop([a_partition()], [a_group()])
    (damaged,) = [key for key in shop.store.objects if "/groups/" in key]
    shop.store.objects[damaged] = b"PAR1"

    assert ask(path, shop=shop).status == status
    assert f"{damaged}: not a readable groups file" in caplog.text
