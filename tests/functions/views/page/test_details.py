# SPDX-License-Identifier: Apache-2.0
"""One group's and one topic's page, under any name."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from kafka_lag.views.page import link
from tests.fakes import MemoryStore
from tests.functions.views.page.reading import UNKNOWN, Seen, read
from tests.functions.views.page.rows import a_group, a_log, a_partition
from tests.functions.views.page.shop import NAMES, NASTY, opened, put, six_hours, text_of

STATUS, LAG, AGE, COMMITTED, END, LEADER, MEMBER, RETENTION = range(1, 9)
GROUP = "/cluster/shop/group/g"
BILLING, ORDERS = "/cluster/shop/group/billing", "/cluster/shop/topic/orders"


@pytest.fixture(name="store", scope="module")
def _store() -> MemoryStore:
    return six_hours(MemoryStore())


@pytest.fixture(name="billing", scope="module")
def _billing(store: MemoryStore) -> Seen:
    return read(opened(store, BILLING))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["group", "topic"])
def test_a_page_is_found_under_any_name(store: MemoryStore, name: str, kind: str) -> None:
    path, _, query = link("shop", kind, name).partition("?")

    given = opened(store, path, query)

    assert given.status == 200
    assert read(given).tags.count("script") == 1


def test_a_stalled_partition_is_shown_in_full(billing: Seen) -> None:
    assert billing.tables[-1][1] == [
        "orders 2",
        "STALL",
        "40,100",
        "1 h 30 min ± 6 s",
        "1,002",
        "1,006",
        "3",
        "client-0/10.0.0.0client-0-6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "AT RISKloss in 13 h 53 min",
    ]


def test_a_partition_that_was_not_read_is_as_bad_as_it_was(billing: Seen) -> None:
    cells = billing.tables[-1][2]

    assert cells[0] == "invoices 0"
    assert cells[STATUS] == "unknown, was STOPnot read: no leader"
    assert [cells[place] for place in (LAG, AGE, LEADER)] == [UNKNOWN] * 3


def test_a_partition_without_a_commit_has_no_lag(billing: Seen) -> None:
    cells = billing.cells("refunds 0")

    assert [cells[place] for place in (STATUS, LAG, COMMITTED, MEMBER)] == [
        "unknown",
        *[UNKNOWN] * 2,
        "nobody",
    ]


def test_topics_are_summed_where_all_of_them_is_known(billing: Seen) -> None:
    topics = billing.tables[0]

    assert topics[1] == ["orders", "ERR", "40,108", "1 h 30 min ± 6 s", "0", "3"]
    assert topics[2] == ["invoices", "ERR", UNKNOWN, UNKNOWN, "0", "11 not read"]
    assert topics[3] == ["refunds", "unknown", UNKNOWN, UNKNOWN, "0", "11 without a commit"]


def test_a_sum_with_a_part_missing_is_unknown() -> None:
    unread = a_partition("g", "t", 1, unread_reason="timeout", lag=None)
    uncommitted = a_partition("g", "u", 1, lag=None, uncounted="uncommitted")
    rows = [a_partition("g", "t", 0), unread, a_partition("g", "u", 0), uncommitted]
    store = put(MemoryStore(), groups=[a_group("g")], partitions=rows)

    page = read(opened(store, "/cluster/shop/group/g"))

    assert [row[2] for row in sorted(page.tables[0][1:])] == [UNKNOWN, "4"]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("q=INVOI", ["invoices 0"]),
        ("q=10.0.0.1", ["orders 1"]),
        ("status=STALL", ["orders 2"]),
        ("status=STOP", ["invoices 0"]),
        ("status=UNKNOWN", ["refunds 0"]),
        ("status=OK&sort=-partition", ["orders 1", "orders 0"]),
        ("q=nothing", None),
    ],
)
def test_partitions_are_found_and_ordered(
    store: MemoryStore, query: str, rows: list[str] | None
) -> None:
    page = read(opened(store, BILLING, query))

    assert (page.column() if len(page.tables) == 3 else None) == rows


def test_a_partition_that_was_well_and_is_unread_is_unknown_and_not_well() -> None:
    unread = a_partition("g", "t", 1, unread_reason="timeout", lag=None, status=None)
    rows = [a_partition("g", "t", 0), unread]
    store = put(MemoryStore(), groups=[a_group("g")], partitions=rows)

    found = {
        status: read(opened(store, "/cluster/shop/group/g", f"status={status}")).column()
        for status in ("OK", "UNKNOWN")
    }

    assert found == {"OK": ["t 0"], "UNKNOWN": ["t 1"]}


def test_partitions_are_paged_on_the_server() -> None:
    rows = [a_partition("g", "wide", number) for number in range(1_000)]
    logs = [a_log("wide", number) for number in range(1_000)]
    store = put(MemoryStore(), groups=[a_group("g")], partitions=rows, logs=logs)

    group = read(opened(store, "/cluster/shop/group/g", "page=2&sort=partition"))
    topic = read(opened(store, "/cluster/shop/topic/wide", "page=5"))

    assert group.column() == [f"wide {number}" for number in range(200, 400)]
    assert topic.column() == [str(number) for number in range(800, 1_000)]
    assert "?sort=partition&page=3" in group.links


def test_a_topic_shows_its_groups_and_its_log(store: MemoryStore) -> None:
    page = read(opened(store, ORDERS))

    assert page.tables[0][1:] == [
        ["billing", "ERR", "40,108", "1 h 30 min ± 6 s", "0", "3"],
        ["mailer", "OK", "4", "4 s ± 1 s", "0", "1"],
    ]
    assert page.tables[1][1] == ["0", "1use1-az1", "3 of 3", "10", "1,004", "994", "14/s"]
    assert page.tables[1][3][0].startswith("2not read: timed out, last read 12:00 UTC")
    assert page.tables[1][3][2] == "1 of 3"
    assert "7 d" in page.texts["dd"]


@pytest.mark.parametrize(
    ("query", "caption"),
    [
        ("", "The log of each partition."),
        ("sort=-kept", "The log of each partition, by records kept."),
    ],
)
def test_a_topics_log_says_its_order_where_it_is_not_the_usual_one(
    store: MemoryStore, query: str, caption: str
) -> None:
    assert read(opened(store, ORDERS, query)).texts["caption"].endswith(caption)


@pytest.mark.parametrize(("path", "kind"), [(BILLING, "Consumer group"), (ORDERS, "Topic")])
def test_a_page_says_what_its_name_is_of(store: MemoryStore, path: str, kind: str) -> None:
    assert f'<p class="kicker">{kind}</p>' in text_of(opened(store, path))


def test_replicas_that_are_unknown_are_a_dash() -> None:
    logs = [a_log("orders", 0, replicas=None), a_log("orders", 1, in_sync_replicas=None)]

    given = opened(put(MemoryStore(), logs=logs), ORDERS)

    assert given.status == 200
    assert [row[2] for row in read(given).tables[-1][1:]] == [UNKNOWN, UNKNOWN]


def test_a_topic_whose_log_is_unknown_shows_its_groups() -> None:
    store = put(MemoryStore(), logs=[])

    page = read(opened(store, ORDERS))

    assert [row[0] for row in page.tables[0][1:]] == ["billing", "mailer"]
    assert "Nothing is known of its partitions." in page.texts["p"]


@pytest.mark.parametrize("kind", ["group", "topic"])
def test_a_name_that_there_is_not_is_not_found(store: MemoryStore, kind: str) -> None:
    given = opened(store, f"/cluster/shop/{kind}/{quote(NASTY + 'x', safe='')}")

    assert given.status == 404
    assert f"The {kind} {NASTY}x is not in the newest snapshot" in read(given).texts["main"]
    assert "script" not in read(given).tags


def test_a_group_without_partitions_has_none_that_a_search_could_miss() -> None:
    store = put(MemoryStore(), groups=[a_group("g")], partitions=[])

    page = read(opened(store, "/cluster/shop/group/g"))

    assert "Nothing is known of its partitions." in page.texts["p"]
    assert "No partition is like that." not in page.texts["p"]


@pytest.mark.parametrize(
    ("worst", "members", "word"),
    [
        *(("STOP", 0, "stopped"), ("STALL", 3, "stalled"), ("REWIND", 3, "rewound")),
        *(("ERR", 3, ""), (None, 0, "no member"), (None, 3, "")),
    ],
)
def test_a_group_in_error_says_what_its_worst_partition_does(
    worst: str | None, members: int, word: str
) -> None:
    group = a_group("g", status="ERR", members=members, worst_topic="t", worst_partition=1)
    others = [a_partition("g", "t", 0, status="STALL"), a_partition("g", "u", 1, status="STALL")]
    rows = [*others, a_partition("g", "t", 1, status=worst)]

    page = read(opened(put(MemoryStore(), groups=[group], partitions=rows), GROUP))

    assert f"ERR{word}Read at" in page.texts["p"]


def test_a_group_that_names_no_worst_partition_says_no_more_than_its_status() -> None:
    rows = [a_partition("g", "t", 0, status="STALL")]
    store = put(MemoryStore(), groups=[a_group("g", status="ERR")], partitions=rows)

    assert "ERRRead at" in read(opened(store, GROUP)).texts["p"]
