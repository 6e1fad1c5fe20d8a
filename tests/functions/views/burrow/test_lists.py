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


def test_there_are_no_clusters_without_snapshots() -> None:
    assert Shop().body("/v3/kafka")["clusters"] == []


@pytest.mark.parametrize(("minutes", "seconds"), [(1, 60), (5, 300), (90, 5400)])
def test_a_clusters_refresh_is_the_time_between_runs(minutes: int, seconds: int) -> None:
    shop = Shop(groups=[a_group()])
    shop.run(NOON - minutes * MINUTE, groups=[a_group()])

    module = shop.body("/v3/kafka/shop")["module"]

    assert (module["topic-refresh"], module["offset-refresh"]) == (seconds, seconds)
    assert module["class-name"] == "kafka"
    assert module["client-profile"] == {
        "name": "",
        "client-id": "",
        "kafka-version": "",
        "tls": None,
        "sasl": None,
    }


def test_a_clusters_servers_are_those_of_its_newest_run() -> None:
    shop = Shop(groups=[a_group()])
    before = shop.body("/v3/kafka/shop")["module"]["servers"]
    shop.run(NOON + MINUTE, groups=[a_group()], servers=["b-1.shop:9096", "b-2.shop:9096"])
    shop.now_ms += MINUTE

    after = shop.body("/v3/kafka/shop")["module"]["servers"]

    assert (before, after) == ([], ["b-1.shop:9096", "b-2.shop:9096"])


def test_the_first_run_knows_no_refresh() -> None:
    assert Shop(groups=[a_group()]).body("/v3/kafka/shop")["module"]["offset-refresh"] == 0


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("offset=1", ["b", "c"]),
        ("limit=2", ["a", "b"]),
        ("offset=1&limit=1", ["b"]),
        ("offset=7", []),
        ("limit=0", []),
        ("limit=999999999", ["a", "b", "c"]),
    ],
)
def test_a_list_comes_in_pages(query: str, names: list[str]) -> None:
    shop = Shop(groups=[a_group(name) for name in "bca"])

    assert shop.body("/v3/kafka/shop/consumer", query)["consumers"] == names


@pytest.mark.parametrize("nonsense", ["-1", "", "1.5", "²", "1" * 5_000, "0x10", "٣"])
def test_a_page_that_makes_no_sense_is_rejected(nonsense: str) -> None:
    body = Shop(groups=[a_group()]).body("/v3/kafka/shop/consumer", f"limit={nonsense}", code=400)

    assert body["message"] == "limit must be a whole number, 0 or more"
