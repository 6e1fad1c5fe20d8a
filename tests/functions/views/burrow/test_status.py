# SPDX-License-Identifier: Apache-2.0
"""A group's status and lag say as Burrow does what the newest snapshot knows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Shop, a_group, a_partition

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
    rows = [a_partition(0, 4, 10, start_offset=0, **unread), a_partition(1)]
    deleted = a_partition(0, 4, 10, start_offset=7, **unread)

    result = Shop(rows, [a_group(status="ERR", complete=0.5)]).status("status")

    (partition,) = result["partitions"]
    assert (partition["status"], partition["current_lag"], partition["complete"]) == ("STOP", 6, 0)
    assert partition["end"]["lag"] is None
    assert (result["totallag"], result["complete"]) == (11, 0.5)
    # Records that were deleted are no longer lag.
    assert Shop([deleted], [a_group()]).status()["totallag"] == 3


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
