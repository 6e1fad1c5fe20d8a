# SPDX-License-Identifier: Apache-2.0
"""A group's status and lag, from the newest snapshot, in Burrow's words."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.snapshots.keys import object_key
from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Row, Shop, a_group, a_partition

OWNED = {"client_host": "/10.0.0.7", "client_id": "app-1"}


def test_a_partition_has_burrows_fields_and_types() -> None:
    result = Shop(
        [a_partition(3, 5, 12, status="STALL", **OWNED)], [a_group(status="ERR")]
    ).status()

    offset = {"offset": 5, "timestamp": NOON - MINUTE, "observedAt": NOON + 150, "lag": 7}
    partition = {
        "topic": "orders",
        "partition": 3,
        "owner": "/10.0.0.7",
        "client_id": "app-1",
        "status": "STALL",
        "start": offset,
        "end": offset,
        "current_lag": 7,
        "complete": 1,
    }
    assert result == {
        "cluster": "shop",
        "group": "billing",
        "status": "ERR",
        "complete": 1,
        "partitions": [partition],
        "partition_count": 1,
        "maxlag": partition,
        "totallag": 7,
    }


def test_status_lists_what_is_not_well_and_lag_every_partition_by_topic_and_number() -> None:
    words = ("WARN", "STOP", "STALL", "REWIND", "ERR")
    bad = [a_partition(number, 0, 90, status=word) for number, word in enumerate(words, 10)]
    rows = [*bad, a_partition(2), a_partition(0, topic="clicks"), a_partition(1, None, status=None)]
    other = a_partition(0, 0, 900, consumer_group="other", status="ERR")
    shop = Shop([*rows, other], [a_group(status="ERR")])

    result, lag = shop.status("status"), shop.status("lag")["partitions"]

    assert [each["status"] for each in result["partitions"]] == [*words]
    assert (result["partition_count"], result["totallag"]) == (8, 5 * 90 + 2 * 5)
    assert (result["maxlag"]["partition"], result["maxlag"]["current_lag"]) == (10, 90)
    places = [(each["topic"], each["partition"]) for each in lag]
    assert places == [("clicks", 0), *(("orders", n) for n in (1, 2, 10, 11, 12, 13, 14))]
    without = lag[1]
    assert (without["start"], without["end"], without["current_lag"]) == (None, None, 0)
    assert without["complete"] == 0


@pytest.mark.parametrize(
    ("status", "consumer", "word"),
    [
        ("ERR", "stopped", "STOP"),
        ("ERR", "stalled", "STALL"),
        ("ERR", "rewound", "REWIND"),
        ("ERR", "slow", "ERR"),
        ("ERR", "beyond_end", "ERR"),
        ("ERR", None, "ERR"),
        ("WARN", "slow", "WARN"),
        ("STALL", "stalled", "STALL"),
    ],
)
@pytest.mark.parametrize("unread", [None, "timeout"])
def test_a_loss_hides_no_word_that_burrow_has(
    status: str, consumer: str | None, word: str, unread: str | None
) -> None:
    row = a_partition(0, status=None if unread else status, consumer_status=consumer)
    shop = Shop([{**row, "last_status": status, "unread_reason": unread}], [a_group(status="ERR")])

    assert [each["status"] for each in shop.status()["partitions"]] == [word]


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/v3/kafka/shop/consumer/nobody/lag", {"cluster": "shop", "group": "nobody"}),
        ("/v3/kafka/shop/consumer/nobody/status", {"cluster": "shop", "group": "nobody"}),
        ("/v3/kafka/none/consumer/billing/lag", {"cluster": "none", "group": "billing"}),
        ("/v3/kafka/shop/consumer/deleted/lag", {"cluster": "shop", "group": "deleted"}),
    ],
)
def test_a_group_that_is_not_there_is_notfound_without_an_error(
    path: str, known: dict[str, Any]
) -> None:
    gone = a_group("deleted", status=None, status_reason="gone")

    body = Shop([a_partition()], [a_group(), gone]).body(path, code=404)

    assert (body["error"], body["message"]) == (False, "consumer status returned")
    assert body["status"] == {
        **known,
        "status": "NOTFOUND",
        "complete": 1,
        "partitions": [],
        "partition_count": 0,
        "maxlag": None,
        "totallag": 0,
    }


def test_a_group_nobody_can_judge_is_notfound_with_its_partitions() -> None:
    rows = [a_partition(status=None, last_status=None)]

    result = Shop(rows, [a_group(status=None, complete=None)]).status(code=404)

    assert (result["status"], result["complete"], result["partition_count"]) == ("NOTFOUND", 0, 1)
    assert result["partitions"][0]["status"] == "NOTFOUND"


def test_a_partition_that_was_not_read_is_shown_as_it_was_last_known() -> None:
    unread = {"unread_reason": "no_leader", "lag": None, "status": None, "last_status": "STOP"}
    rows = [a_partition(0, 4, 10, last_lag=6, **unread), a_partition(1)]

    result = Shop(rows, [a_group(status="ERR", complete=0.5)]).status("status")

    (partition,) = result["partitions"]
    assert (partition["status"], partition["current_lag"], partition["complete"]) == ("STOP", 6, 0)
    assert partition["end"]["lag"] is None
    assert (result["totallag"], result["complete"]) == (11, 0.5)


def test_offsets_of_a_topic_that_was_recreated_are_another_log() -> None:
    shop = Shop([a_partition(0, 3)], [a_group()])
    shop.run(NOON - MINUTE, [a_partition(0, 900, 900, topic_id="id-0")], [a_group()])

    (partition,) = shop.status()["partitions"]

    assert partition["start"]["offset"] == 3


def test_a_long_list_comes_in_pages_with_the_whole_groups_sums() -> None:
    rows = [a_partition(number) for number in range(5)]
    path = "/v3/kafka/shop/consumer/billing/lag"

    result = Shop(rows, [a_group()]).body(path, "offset=3&limit=1")["status"]

    assert [each["partition"] for each in result["partitions"]] == [3]
    assert (result["partition_count"], result["totallag"]) == (5, 25)


# A group's offsets are those of the ten newest runs, and only this answer reads them all.

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
