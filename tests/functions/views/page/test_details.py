# SPDX-License-Identifier: Apache-2.0
"""One group's and one topic's page, under any name."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from kafka_lag.views.app import answer as answer_all
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page import link
from tests.fakes import MemoryStore
from tests.functions.views.page.reading import UNKNOWN, Seen, read
from tests.functions.views.page.rows import HOUR, NOON, a_group, a_log, a_partition
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
        "ERRstalled",
        "40,100",
        "1 h 30 min ± 6 s",
        "1,002",
        "1,006",
        "3",
        "client-0/10.0.0.0client-0-6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "AT RISKloss in 13 h",
    ]


@pytest.mark.parametrize(
    ("risk", "seconds", "text"),
    [
        ("SAFE", 19 * 86_400.0, "SAFE"),
        ("AT_RISK", 7_199.0, "AT RISKloss in 119 min"),
        ("AT_RISK", 0.4, "AT RISKloss due now"),
        ("LOST", 0.0, "LOST4 lost"),
    ],
)
def test_a_partition_says_when_it_will_lose_records_only_where_that_is_near(
    risk: str, seconds: float, text: str
) -> None:
    lost = 4 if risk == "LOST" else 0
    row = a_partition(
        *("g", "t", 0), retention_risk=risk, seconds_until_loss=seconds, records_lost=lost
    )
    page = read(opened(put(MemoryStore(), groups=[a_group("g")], partitions=[row]), GROUP))

    assert page.tables[-1][1][RETENTION] == text


def test_a_loss_says_how_long_records_are_kept_and_what_lag_is_of() -> None:
    group = a_group("g", status="ERR", status_reason="records_lost", records_lost=1_300)
    lost = a_partition("g", "t", 0, records_lost=1_300, consume_rate=1.2)
    store = put(
        MemoryStore(), groups=[group], partitions=[lost], logs=[a_log("t", 0, retention_ms=4_000)]
    )

    page = read(opened(store, GROUP))

    assert "1,300 lost of t: kept for 4 s, produced 14/s, consumed 1.2/s." in page.texts["p"]
    assert "Lag and time lag are of what is left." in page.texts["p"]


def test_a_group_that_lost_nothing_has_no_word_of_a_loss(billing: Seen) -> None:
    assert " lost" not in billing.texts["p"]
    assert "what is left" not in billing.texts["p"]


def test_a_partition_that_was_not_read_is_as_bad_as_it_was(billing: Seen) -> None:
    cells = billing.tables[-1][2]

    assert cells[0] == "invoices 0"
    assert cells[STATUS] == "unknown, was ERRnot read: no leader, was stopped"
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
    ("more", "words"),
    [
        ({"worst_status": "stopped"}, "stopped"),
        ({"worst_status": "stopped", "records_lost": 5}, "stopped, records lost"),
        (
            {"worst_status": "stopped", "worst_status_since": NOON - HOUR, "records_lost": 5}
            | {"loss_since": NOON - 2 * HOUR},
            "stopped since 11:00 UTC, records lost since 10:00 UTC",
        ),
        ({"status_reason": "records_lost", "records_lost": 5}, "records lost"),
        ({}, ""),
    ],
)
def test_a_group_in_error_says_what_its_consumer_does_beside_a_loss(
    more: dict[str, Any], words: str
) -> None:
    page = read(opened(put(MemoryStore(), groups=[a_group("g", status="ERR", **more)]), GROUP))

    assert f"ERR{words}Read at" in page.texts["p"]


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [
        ("https://wiki.example.com/r?a=1&b=<2>", True),
        ("javascript:alert(1)", False),
        (None, False),
    ],
)
def test_a_runbook_is_a_link_unless_it_is_a_script(url: str | None, is_shown: bool) -> None:
    page = opened(put(MemoryStore(), groups=[a_group("g", runbook_url=url)]), GROUP)
    escaped = "https://wiki.example.com/r?a=1&amp;b=&lt;2&gt;"

    assert ("Runbook: " in page.body.decode()) is is_shown
    assert (f'<a href="{escaped}"' in page.body.decode()) is is_shown
    assert "javascript:alert" not in page.body.decode()


@pytest.mark.parametrize(
    ("status", "more", "words"),
    [
        ("STOP", {"consumer_status": "stopped"}, "ERRstopped"),
        ("STALL", {"consumer_status": "stalled"}, "ERRstalled"),
        ("REWIND", {"consumer_status": "rewound"}, "ERRrewound"),
        (
            "ERR",
            {"consumer_status": "stopped", "status_reason": "records_lost", "records_lost": 2},
            "ERRstopped, records lost",
        ),
        ("WARN", {"consumer_status": "slow", "status_reason": "slow"}, "WARNtoo slow"),
        ("OK", {"status_reason": "pausing"}, "OKpausing"),
    ],
)
def test_a_partition_has_the_words_of_its_group(
    status: str, more: dict[str, Any], words: str
) -> None:
    row = a_partition("g", "t", 0, status=status, **more)
    page = read(opened(put(MemoryStore(), groups=[a_group("g")], partitions=[row]), GROUP))

    assert page.tables[-1][1][STATUS] == words


def test_partitions_are_chosen_by_the_same_words() -> None:
    page = read(opened(put(MemoryStore(), groups=[a_group("g")], partitions=[]), GROUP))

    assert "stalledstoppedrewound" in page.texts["option"]


def member_rows(*rows: dict[str, Any], members: int | None = 2, **group: Any) -> Seen:
    groups = [a_group("g", members=members, **group)]
    store = put(MemoryStore(), groups=groups, partitions=rows)
    return read(opened(store, GROUP))


def test_each_member_is_listed_with_what_it_reads_and_how_far_behind_it_is() -> None:
    ours = {"member_id": "m1", "client_id": "app-1", "client_host": "/10.0.0.7"}
    theirs = {"member_id": "m2", "client_id": None, "client_host": None}
    page = member_rows(
        *(a_partition("g", "t", n, **ours, lag=10) for n in (0, 1, 2, 5)),
        a_partition("g", "u", 7, **ours, lag=100, status="STALL", time_lag_seconds=90.0),
        a_partition("g", "t", 3, **theirs),
    )

    assert page.tables[1][1:] == [
        ["app-1m1", "/10.0.0.7", "5 partitionst 0\u20132, 5u 7", "ERR", "140", "1 min 30 s ± 1 s"],
        ["m2", UNKNOWN, "1 partitiont 3", "OK", "4", "4 s ± 1 s"],
    ]
    assert "2 members with partitions." in page.texts["caption"]
    assert "?q=m1#h-partitions" in page.links


def test_partitions_without_an_owner_come_before_the_members() -> None:
    nobody = dict.fromkeys(("member_id", "client_id", "client_host"))
    page = member_rows(
        a_partition("g", "t", 0, status="STALL"),
        *(a_partition("g", "t", n, **nobody, lag=5) for n in (1, 2)),
    )

    assert page.tables[1][1][:2] == ["Without an owner", "2 partitionst 1\u20132"]
    assert page.tables[1][1][3] == "10"
    assert "1 member with partitions; 1 more owns none that is read." in page.texts["caption"]


@pytest.mark.parametrize(
    "group", [{"protocol": "connect"}, {"group_state": "CompletingRebalance"}], ids=str
)
@pytest.mark.parametrize(
    ("members", "words"),
    [(1, "."), (2, "; what 1 more owns is not known."), (4, "; what 3 more own is not known.")],
)
def test_a_member_whose_partitions_cannot_be_told_is_not_said_to_have_none(
    group: dict[str, Any], members: int, words: str
) -> None:
    page = member_rows(a_partition("g", "t", 0), members=members, **group)

    assert f"1 member with partitions{words}" in page.texts["caption"]


def test_no_more_than_the_worst_members_are_listed() -> None:
    page = member_rows(
        *(a_partition("g", "t", n, member_id=f"m{n}", client_id="c", lag=n) for n in range(70)),
        a_partition("g", "t", 70, member_id=None),
        members=70,
    )

    assert len(page.tables[1][1:]) == 51
    assert page.tables[1][2][0] == "cm69"
    assert "70 members with partitions, of which the 50 worst." in page.texts["caption"]


def test_of_a_member_of_many_topics_the_first_are_named() -> None:
    page = member_rows(*(a_partition("g", f"t{n}", 0, member_id="m") for n in range(5)))

    assert page.tables[1][1][2] == "5 partitionst0 0t1 0t2 0and 2 more topics"


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (None, "Its members are unknown: the group could not be described."),
        (0, "Nobody reads: the group has no member, and no partition an owner."),
        (2, "No partition has an owner. What the 2 members will read is not assigned"),
    ],
)
def test_a_group_of_which_nobody_owns_a_partition_says_why(members: int | None, words: str) -> None:
    page = member_rows(a_partition("g", "t", 0, member_id=None), members=members)

    assert words in page.texts["p"]
    assert len(page.tables) == 2


def test_the_period_chosen_is_kept_in_links(store: MemoryStore) -> None:
    overview = read(opened(store, "/", "period=24h"))
    group = read(opened(store, BILLING, "period=24h&sort=lag"))
    topic = read(opened(store, ORDERS, "period=24h"))

    assert f"{BILLING}?period=24h" in overview.links
    assert f"{link('shop', 'group', '..')}&period=24h" not in overview.links
    assert "/cluster/shop/group/?period=24h&name=.." in overview.links
    assert {f"{ORDERS}?period=24h", "?sort=lag&period=7d", "?sort=lag", "/?period=24h"} <= {
        *group.links
    }
    assert "?sort=-lag&period=24h" in group.links
    assert f"{BILLING}?period=24h" in topic.links


@pytest.mark.parametrize(
    ("period", "title"), [("1h", "hour"), ("24h", "24 hours"), ("7d", "7 days"), ("9y", "6 hours")]
)
def test_a_groups_page_says_of_which_period_its_curves_are(
    store: MemoryStore, period: str, title: str
) -> None:
    page = read(opened(store, BILLING, f"period={period}"))

    assert f"Last {title}" in page.texts["h2"]


@pytest.mark.parametrize("name", ["billing", *NAMES])
def test_a_groups_page_links_the_same_as_json(store: MemoryStore, name: str) -> None:
    path, _, query = link("shop", "group", name).partition("?")
    links = read(opened(store, path, query)).links

    found = [each for each in links if each.startswith("/v3/")]

    assert "/metrics" in links
    assert found
    snapshots = Snapshots(store, lambda: NOON / 1000)
    for each in found:
        assert answer_all(Request.of("GET", each, "", {}), snapshots, NOON).status == 200


def test_a_long_name_is_cut_for_the_eye_alone() -> None:
    name = "a" * 40 + "b" * 40
    store = put(MemoryStore(), groups=[a_group(name)], partitions=[])

    text = text_of(opened(store))

    assert f'title="{name}">{"a" * 30}<span class="dots" aria-hidden="true"></span>' in text
    assert read(opened(store)).cells("a" * 30)[0] == name
