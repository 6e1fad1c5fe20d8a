# SPDX-License-Identifier: Apache-2.0
"""Each of Burrow's paths finds its answer, even for odd names of groups."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Row, Shop, a_group, a_partition

HOSTILE = [
    *("a/b", "a/", "/", "a b", "<script>", "läg", "a/../b", "%2e", "lag", "status", "x\ny"),
    *("a?b#c", "😀", "x/lag", "x/status", "lag/", "a/consumers"),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_group_and_its_offsets_are_found_by_its_encoded_name(name: str) -> None:
    shop = Shop(
        [a_partition(consumer_group=name), a_partition(consumer_group="x")],
        [a_group(name), a_group("x"), a_group("")],
    )

    body = shop.body(f"/v3/kafka/shop/consumer/{quote(name, safe='')}")

    assert (body["message"], list(body["topics"])) == ("consumer detail returned", ["orders"])
    assert body["request"]["url"] == f"/v3/kafka/shop/consumer/{name}"
    assert shop.status("lag", quote(name, safe=""))["group"] == name
    assert shop.status("lag", "")["group"] == ""


def test_a_groups_slashes_need_not_be_encoded() -> None:
    for name in ("x/lag", "x/status", "lag/", "a/consumers"):
        shop = Shop([a_partition(consumer_group=name)], [a_group(name), a_group("x")])

        assert shop.status("lag", name)["group"] == name


@pytest.mark.parametrize(
    "path",
    [
        *("/v3%2Fkafka", "/v3/kafka%2Fshop", "/v3/kafka/shop%2Ftopic", "/burrow%2Fadmin"),
        *("/v3/kafka/shop%2F", "/v3/kafka/shop/topic/orders%2F"),
    ],
)
def test_a_slash_that_was_sent_encoded_separates_nothing_and_is_not_redirected(path: str) -> None:
    assert Shop([a_partition()], [a_group()]).ask(path).status == 404


# docs/api.md#burrows-api says so beside what Burrow does.
@pytest.mark.parametrize(
    "path",
    [
        *("/v3//kafka", "/v3/kafka//shop", "/v3/kafka/shop//consumer"),
        *("/v3/Kafka", "/v3/kafka/shop/Topic", "/v3/kafka/shop/TOPIC/orders"),
        *("/v3/kafka/shop/lag", "/v3", "/v3/kafkas", "/burrow/adm", "/v3/"),
    ],
)
def test_a_path_that_burrow_lacks_is_answered_as_burrow_does(path: str) -> None:
    answer = Shop([a_partition()], [a_group()]).ask(path)

    assert (answer.status, answer.headers) == (404, {})
    assert answer.content_type == "text/plain; charset=utf-8"
    assert answer.body == b'{"error":true,"message":"invalid request type","result":{}}\n'


@pytest.mark.parametrize(
    ("sent", "name"), [("%zz", "%zz"), ("50%", "50%"), ("%e", "%e"), ("%ff", "\ufffd")]
)
def test_malformed_percent_encoding_is_taken_as_it_stands(sent: str, name: str) -> None:
    shop = Shop([a_partition(consumer_group=name)], [a_group(name)])

    assert shop.status("lag", sent)["group"] == name


@pytest.mark.parametrize(
    ("sent", "query", "location"),
    [
        ("/v3/kafka/shop%0d%0aX:y/consumer/", "", "/v3/kafka/shop%0d%0aX%3Ay/consumer"),
        ("/v3/kafk%61/", "", "/v3/kafk%61"),
        ("/v3/kafka/shop/consumer//", "", "/v3/kafka/shop/consumer"),
        ("/v3/kafka/shop/consumer/a%2F/", "", "/v3/kafka/shop/consumer/a%2F"),
        ("/v3/kafka/shop/topic/", "limit=2&offset=1", "/v3/kafka/shop/topic?limit=2&offset=1"),
        (
            "/v3/kafka/shop/topic/",
            "a=%2f+b&c\r\nd: \xe9",
            "/v3/kafka/shop/topic?a=%2f+b&c%0D%0Ad:%20%C3%A9",
        ),
    ],
)
def test_a_trailing_slash_is_redirected_to_the_path_without(
    sent: str, query: str, location: str
) -> None:
    answer = Shop(groups=[a_group()]).ask(sent, query)

    assert answer.status == 301
    assert answer.headers == {"Location": location}


@pytest.mark.parametrize("path", ["/v3/config", "/v3/config/cluster/shop", "/v3/admin/loglevel"])
def test_burrows_own_settings_are_an_error_in_a_sentence(path: str) -> None:
    body = Shop(groups=[a_group()]).body(path, code=404)

    assert body["error"] is True
    assert body["message"] == "the collector's configuration is not served here"


def test_a_balancer_learns_whether_there_is_a_snapshot() -> None:
    empty, full = Shop().ask("/burrow/admin/ready"), Shop(groups=[a_group()])

    assert Shop().ask("/burrow/admin").body == b"GOOD"
    assert (empty.status, empty.body) == (503, b"STARTING")
    assert (full.ask("/burrow/admin/ready").status) == 200
    assert full.ask("/burrow/admin/ready").body == b"READY"


def test_the_time_of_the_snapshot_is_in_a_header() -> None:
    answer = Shop([a_partition()], [a_group()]).ask("/v3/kafka/shop/consumer/billing/lag")

    assert NOON == 1_769_860_800_000
    assert answer.headers["Last-Modified"] == "Sat, 31 Jan 2026 12:00:00 GMT"


# Clusters, topics and groups are listed as Burrow lists them, but in order.


def a_log(topic: str = "orders", number: int = 0, end: int | None = 10) -> Row:
    return {"topic": topic, "partition_id": number, "end_offset": end}


GROUPS = [a_group("zeta"), a_group("alpha"), a_group("old", status=None, status_reason="gone")]
LOGS = [a_log("zoo"), a_log(number=1, end=21), a_log(number=0, end=20), a_log(number=2, end=None)]
PARTITIONS = [
    a_partition(consumer_group="zeta"),
    a_partition(1, consumer_group="zeta"),
    a_partition(consumer_group="alpha"),
    a_partition(consumer_group="beta", topic="zoo"),
]


@pytest.mark.parametrize(
    ("path", "message", "name", "value"),
    [
        ("", "cluster list returned", "clusters", ["shop"]),
        ("/shop/topic", "topic list returned", "topics", ["orders", "zoo"]),
        ("/shop/topic/orders", "topic offsets returned", "offsets", [20, 21]),
        ("/shop/consumer", "consumer list returned", "consumers", ["alpha", "zeta"]),
        (
            "/shop/topic/orders/consumers",
            "consumers of topic returned",
            "consumers",
            ["alpha", "zeta"],
        ),
        ("/shop/topic/nothing/consumers", "consumers of topic returned", "consumers", []),
    ],
)
def test_a_list_is_answered(path: str, message: str, name: str, value: list[Any]) -> None:
    body = Shop(PARTITIONS, GROUPS, LOGS).body(f"/v3/kafka{path}")

    assert body == {
        "error": False,
        "message": message,
        name: value,
        "request": {"url": f"/v3/kafka{path}", "host": "lag.example"},
    }


@pytest.mark.parametrize("minutes", [1, 5, 90])
def test_a_cluster_has_its_refresh_and_the_servers_of_its_newest_run(minutes: int) -> None:
    shop = Shop(groups=[a_group()])
    first = shop.body("/v3/kafka/shop")["module"]
    shop.run(NOON + minutes * MINUTE, groups=[a_group()], servers=["b-1:9096", "b-2:9096"])
    shop.now_ms += minutes * MINUTE

    second = shop.body("/v3/kafka/shop")["module"]

    assert (first["offset-refresh"], first["servers"]) == (0, [])
    assert second == {
        "class-name": "kafka",
        "servers": ["b-1:9096", "b-2:9096"],
        "client-profile": first["client-profile"],
        "topic-refresh": minutes * 60,
        "offset-refresh": minutes * 60,
    }


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("offset=1", ["b", "c"]),
        ("limit=2", ["a", "b"]),
        ("offset=1&limit=1", ["b"]),
        ("offset=7", []),
        ("limit=0", []),
        ("limit=999999999", ["a", "b", "c"]),
        *((f"limit={word}", None) for word in ("-1", "", "1.5", "²", "1" * 5_000, "0x10", "٣")),
    ],
    ids=lambda value: str(value)[:16],
)
def test_a_list_comes_in_pages_and_one_that_makes_no_sense_is_rejected(
    query: str, names: list[str] | None
) -> None:
    shop = Shop(groups=[a_group(name) for name in "bca"])

    body = shop.body("/v3/kafka/shop/consumer", query, code=400 if names is None else 200)

    assert body.get("consumers") == names
    assert names is not None or body["message"] == "limit must be a whole number, 0 or more"
    assert Shop().body("/v3/kafka")["clusters"] == []
