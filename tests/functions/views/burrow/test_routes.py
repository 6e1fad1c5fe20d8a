# SPDX-License-Identifier: Apache-2.0
"""Each of Burrow's paths finds its answer, whatever a group is called."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from kafka_lag.errors import StoreError
from tests.builders import NOON
from tests.functions.views.burrow.snapshots import Shop, a_group, a_partition

HOSTILE = [
    "a/b",
    "a/",
    "/",
    "a b",
    "<script>",
    "läg",
    "a/../b",
    "%2e",
    "lag",
    "status",
    "x\ny",
    "a?b#c",
    "😀",
]


@pytest.mark.parametrize("name", [*HOSTILE, ""])
def test_a_group_is_found_by_its_encoded_name(name: str) -> None:
    shop = Shop([a_partition(consumer_group=name)], [a_group(name)])

    assert shop.status("lag", quote(name, safe=""))["group"] == name


@pytest.mark.parametrize("name", HOSTILE)
def test_the_offsets_of_a_group_are_found_by_its_encoded_name(name: str) -> None:
    shop = Shop([a_partition(consumer_group=name)], [a_group(name)])

    body = shop.body(f"/v3/kafka/shop/consumer/{quote(name, safe='')}")

    assert list(body["topics"]) == ["orders"]
    assert body["request"]["url"] == f"/v3/kafka/shop/consumer/{name}"


@pytest.mark.parametrize("name", ["x/lag", "x/status", "lag/", "a/consumers"])
def test_a_slash_that_was_sent_encoded_is_part_of_one_name(name: str) -> None:
    shop = Shop(
        [a_partition(consumer_group=name), a_partition(consumer_group="x")],
        [a_group(name), a_group("x")],
    )

    body = shop.body(f"/v3/kafka/shop/consumer/{quote(name, safe='')}")

    assert body["message"] == "consumer detail returned"
    assert list(body["topics"]) == ["orders"]
    assert shop.status("lag", quote(name, safe=""))["group"] == name
    assert shop.status("lag", name)["group"] == name


@pytest.mark.parametrize(
    "path", ["/v3%2Fkafka", "/v3/kafka%2Fshop", "/v3/kafka/shop%2Ftopic", "/burrow%2Fadmin"]
)
def test_a_slash_that_was_sent_encoded_separates_nothing(path: str) -> None:
    assert Shop(groups=[a_group()]).ask(path).status == 404


# docs/burrow.md says so beside what Burrow does.
@pytest.mark.parametrize(
    "path",
    [
        *(
            "/v3//kafka",
            "/v3/kafka//shop",
            "/v3/kafka/shop//consumer",
            "/v3/kafka/shop/topic//orders",
        ),
        *("/v3/Kafka", "/v3/kafka/shop/Topic", "/v3/kafka/shop/TOPIC/orders"),
    ],
)
def test_doubled_slashes_and_another_case_are_other_paths(path: str) -> None:
    answer = Shop([a_partition()], [a_group()]).ask(path)

    assert (answer.status, answer.headers) == (404, {})
    assert b"invalid request type" in answer.body


def test_the_case_of_a_cluster_counts() -> None:
    shop = Shop([a_partition()], [a_group()])

    assert shop.body("/v3/kafka/Shop", code=404)["message"] == "cluster module not found"
    assert shop.body("/v3/kafka/Shop/consumer", code=404)["message"] == "cluster not found"


@pytest.mark.parametrize(
    ("sent", "name"), [("%zz", "%zz"), ("50%", "50%"), ("%e", "%e"), ("%ff", "\ufffd")]
)
def test_malformed_percent_encoding_is_taken_as_it_stands(sent: str, name: str) -> None:
    shop = Shop([a_partition(consumer_group=name)], [a_group(name)])

    assert shop.status("lag", sent)["group"] == name


@pytest.mark.parametrize("path", ["/v3/kafka/shop/lag", "/v3", "/v3/kafkas", "/burrow/adm", "/v3/"])
def test_a_path_that_burrow_lacks_is_answered_as_burrow_does(path: str) -> None:
    answer = Shop(groups=[a_group()]).ask(path)

    assert (answer.status, answer.content_type) == (404, "text/plain; charset=utf-8")
    assert answer.body == b'{"error":true,"message":"invalid request type","result":{}}\n'


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


@pytest.mark.parametrize("path", ["/v3/kafka/shop%2F", "/v3/kafka/shop/topic/orders%2F"])
def test_a_slash_of_a_name_is_not_redirected(path: str) -> None:
    assert Shop([a_partition()], [a_group()]).ask(path).status == 404


@pytest.mark.parametrize("path", ["/v3/config", "/v3/config/cluster/shop", "/v3/admin/loglevel"])
def test_burrows_own_settings_are_an_error_in_a_sentence(path: str) -> None:
    body = Shop(groups=[a_group()]).body(path, code=404)

    assert body["error"] is True
    assert body["message"] == "the collector's configuration is not served here"


def test_a_balancer_learns_that_somebody_answers() -> None:
    answer = Shop().ask("/burrow/admin")

    assert (answer.status, answer.body) == (200, b"GOOD")


def test_a_balancer_learns_whether_there_is_a_snapshot() -> None:
    empty, full = Shop().ask("/burrow/admin/ready"), Shop(groups=[a_group()])

    assert (empty.status, empty.body) == (503, b"STARTING")
    assert (full.ask("/burrow/admin/ready").status) == 200
    assert full.ask("/burrow/admin/ready").body == b"READY"


def test_the_time_of_the_snapshot_is_in_a_header() -> None:
    answer = Shop([a_partition()], [a_group()]).ask("/v3/kafka/shop/consumer/billing/lag")

    assert NOON == 1_769_860_800_000
    assert answer.headers["Last-Modified"] == "Sat, 31 Jan 2026 12:00:00 GMT"


@pytest.mark.parametrize("path", ["", "/shop", "/shop/topic", "/shop/consumer/billing/lag"])
def test_a_store_that_does_not_answer_is_for_others_to_report(path: str) -> None:
    shop = Shop([a_partition()], [a_group()])
    shop.store.down |= {"folders", "keys", "read"}

    with pytest.raises(StoreError):
        shop.ask(f"/v3/kafka{path}")
