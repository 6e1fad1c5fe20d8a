# SPDX-License-Identifier: Apache-2.0
"""A group's offsets are those of the ten newest runs, and only this answer reads them all."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.snapshots.keys import object_key
from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Row, Shop, a_group, a_partition

PATH = "/v3/kafka/shop/consumer/billing"
DAY = 86_400_000


def topics(shop: Shop, query: str = "") -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = shop.body(PATH, query)["topics"]
    return found


def offsets(partition: dict[str, Any]) -> list[int | None]:
    return [each and each["offset"] for each in partition["offsets"]]


def shop_of(runs: int, minutes: int = 1, **more: Any) -> Shop:
    shop = Shop()
    for run in range(runs):
        rows = [a_partition(0, 100 - run, 200, **more)]
        shop.run(NOON - run * minutes * MINUTE, rows, [a_group()])
    return shop


@pytest.mark.parametrize(("runs", "minutes"), [(12, 1), (11, 60), (3, 1)])
def test_the_ten_newest_readings_are_shown_the_oldest_first_after_nulls(
    runs: int, minutes: int
) -> None:
    shop = shop_of(runs, minutes, client_id="app", client_host="/h")
    (partition,) = topics(shop)["orders"]
    reads = shop.store.calls.count("read")
    (status,) = shop.status()["partitions"]

    shown = min(runs, 10)
    assert offsets(partition) == [None] * (10 - shown) + list(range(101 - shown, 101))
    newest = {"offset": 100, "timestamp": NOON - MINUTE, "observedAt": NOON + 150, "lag": 100}
    assert partition["offsets"][-1] == newest
    assert (partition["owner"], partition["client_id"]) == ("/h", "app")
    assert partition["current-lag"] == 100
    assert (status["start"]["offset"], status["end"]["offset"]) == (101 - shown, 100)
    # A status needs the ends of the window only.
    assert shop.store.calls.count("read") - reads == 1 + 2


def test_readings_that_failed_leave_no_gap_between_offsets() -> None:
    shop = shop_of(3)
    unread = a_partition(0, 99, 200, unread_reason="timeout", lag=None)
    shop.run(NOON - MINUTE, [unread], [a_group()])

    (partition,) = topics(shop)["orders"]

    assert offsets(partition) == [None] * 8 + [98, 100]


def test_the_place_in_the_list_is_the_number_of_the_partition() -> None:
    rows: list[Row] = [a_partition(2, 7), a_partition(0, None)]

    result = topics(Shop(rows, [a_group()]))["orders"]

    assert [offsets(each)[-1:] for each in result] == [[], [], [7]]
    assert result[1] == {"offsets": [], "owner": "", "client_id": "", "current-lag": 0}


def test_of_an_old_snapshot_only_itself_is_shown() -> None:
    shop = shop_of(3)
    shop.now_ms = NOON + DAY + MINUTE

    (partition,) = topics(shop)["orders"]

    assert offsets(partition) == [None] * 9 + [100]
    assert shop.store.calls.count("keys") <= 2


def test_an_earlier_run_that_is_unreadable_is_left_out() -> None:
    shop = shop_of(3)
    for run in (1, 2):
        shop.store.objects[object_key("group_partitions", "shop", NOON - run * MINUTE)] = b"torn"

    (partition,) = topics(shop)["orders"]

    assert offsets(partition) == [None] * 9 + [100]
    assert shop.status()["partitions"][0]["start"]["offset"] == 100


def test_a_snapshot_from_a_clock_hours_ahead_hides_none_of_ours() -> None:
    shop = shop_of(3)
    shop.run(NOON + 300 * MINUTE, [a_partition(committed_offset=900)], [a_group()])

    assert offsets(topics(shop)["orders"][0])[-1] == 100
    # A clock ten minutes ahead is believed.
    shop.now_ms = NOON - 10 * MINUTE
    assert offsets(topics(shop)["orders"][0])[-1] == 100


def test_topics_come_in_pages() -> None:
    rows = [a_partition(0, topic=name) for name in ("c", "a", "b")]

    assert list(topics(Shop(rows, [a_group()]), "offset=1&limit=1")) == ["b"]


def test_a_group_that_is_not_there_is_an_error() -> None:
    gone = a_group("deleted", status=None, status_reason="gone")
    shop = Shop([a_partition()], [a_group(), gone])

    for path in ("shop/consumer/nobody", "shop/consumer/deleted", "none/consumer/billing"):
        body = shop.body(f"/v3/kafka/{path}", code=404)
        assert (body["error"], body["message"]) == (True, "cluster or consumer not found")
