# SPDX-License-Identifier: Apache-2.0
"""Clusters, topics and groups are listed as Burrow lists them, but in order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Row, Shop, a_group, a_partition


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


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none", "cluster module not found"),
        ("none/topic", "cluster not found"),
        ("none/topic/orders", "cluster or topic not found"),
        ("shop/topic/nothing", "cluster or topic not found"),
        ("none/topic/orders/consumers", "cluster not found"),
        ("none/consumer", "cluster not found"),
        ("none/consumer/zeta", "cluster or consumer not found"),
    ],
)
def test_what_is_not_there_is_burrows_error(path: str, message: str) -> None:
    body = Shop(PARTITIONS, GROUPS, LOGS).body(f"/v3/kafka/{path}", code=404)

    about = {"url": f"/v3/kafka/{path}", "host": "lag.example"}
    assert body == {"error": True, "message": message, "request": about}


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
