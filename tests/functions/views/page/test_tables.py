# SPDX-License-Identifier: Apache-2.0
"""Tables are searched, ordered and cut into pages on the server, by the page's address."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.views.page_tables import PageOptions
from tests.fakes import MemoryStore
from tests.functions.views.page.reading import UNKNOWN, read
from tests.functions.views.page.rows import HOUR, MINUTE, NOON, a_group, a_log, a_partition
from tests.functions.views.page.shop import many, opened, put, six_hours, text_of

GROUP = "/cluster/shop/group/g"
BILLING, ORDERS = "/cluster/shop/group/billing", "/cluster/shop/topic/orders"
ALL = ["search-indexer", "billing", "old-import", "mailer", "reports"]
LAG, AGE, HELD = 4, 2, -1


@pytest.fixture(name="store", scope="module")
def _store() -> MemoryStore:
    return six_hours(MemoryStore())


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        ("status=ERR", ["search-indexer", "billing", "old-import"]),
        ("status=unknown", ["reports"]),
        ("status=WORSE&q=e&owner=search", ["search-indexer"]),
        ("owner=ledger+team", ["billing", "mailer"]),
        ("q=BILL", ["billing"]),
        ("q=STRASSE", []),
        ("q=GRÖSSE", ["größe"]),
        ("q=clicks", ["search-indexer"]),
        ("owner=ledger+team&sort=-severity", ["mailer", "billing"]),
        ("owner=ledger+team&sort=lag", ["billing", "mailer"]),
        ("owner=ledger+team&sort=--lag", ["billing", "mailer"]),
        ("owner=ledger+team&sort=-time_lag", ["mailer", "billing"]),
        ("owner=ledger+team&sort=-group", ["mailer", "billing"]),
        ("owner=ledger+team&sort=-held", ["mailer", "billing"]),
        ("owner=ledger+team&sort=-loss", ["mailer", "billing"]),
        ("status=ERR&sort=-members", ["search-indexer", "billing", "old-import"]),
    ],
)
def test_the_address_narrows_and_orders_groups(
    store: MemoryStore, query: str, groups: list[str]
) -> None:
    page = read(opened(store, "/", query))
    names = page.column() if page.tables else []

    assert len(names) == len(groups)
    assert all(map(str.startswith, names, groups))


def test_the_worst_comes_first_and_the_unknown_last_whichever_way_round(store: MemoryStore) -> None:
    first = read(opened(store)).column()[:5]

    assert all(map(str.startswith, first, ALL))
    for sort in ("lag", "-lag", "time_lag", "-time_lag", "members"):
        last = read(opened(store, "/", f"sort={sort}")).column()[-2:]
        assert {name[:7] for name in last} == {"reports", "old-imp"}, sort


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("q=INVOI", ["invoices 0"]),
        ("q=10.0.0.1", ["orders 1"]),
        ("status=STALL", ["orders 2"]),
        ("status=STOP", ["invoices 0"]),
        ("status=UNKNOWN", ["refunds 0"]),
        ("status=OK&sort=-partition", ["orders 1", "orders 0"]),
        ("q=orders&sort=-leader", ["orders 2", "orders 1", "orders 0"]),
        ("q=orders&sort=-lag", ["orders 0", "orders 1", "orders 2"]),
        ("q=orders&sort=loss", ["orders 2", "orders 0", "orders 1"]),
    ],
)
def test_the_address_narrows_and_orders_partitions(
    store: MemoryStore, query: str, rows: list[str]
) -> None:
    assert read(opened(store, BILLING, query)).column() == rows


def test_a_partition_that_was_well_and_is_unread_is_unknown_and_not_well() -> None:
    unread = a_partition("g", "t", 1, unread_reason="timeout", lag=None, status=None)
    rows = [a_partition("g", "t", 0), unread]
    store = put(MemoryStore(), groups=[a_group("g")], partitions=rows)

    found = {
        status: read(opened(store, GROUP, f"status={status}")).column()
        for status in ("OK", "UNKNOWN")
    }

    assert found == {"OK": ["t 0"], "UNKNOWN": ["t 1"]}


def test_pages_are_cut_on_the_server() -> None:
    rows = [a_partition("g", "wide", number) for number in range(1_000)]
    logs = [a_log("wide", number) for number in range(1_000)]
    store = put(MemoryStore(), groups=many(250), partitions=rows, logs=logs)
    whole = put(MemoryStore(), groups=[a_group("g")], partitions=rows, logs=logs)

    pages = [read(opened(store, "/", f"sort=group&page={page}")).column() for page in (1, 2, 3, 99)]
    group = read(opened(whole, GROUP, "page=2&sort=partition"))
    topic = read(opened(whole, "/cluster/shop/topic/wide", "page=5"))

    assert [*pages[0], *pages[1], *pages[2]] == [f"group-{number:05d}" for number in range(250)]
    assert len(pages[0]) == 100
    assert pages[3] == pages[2]
    assert group.column() == [f"wide {number}" for number in range(200, 400)]
    assert topic.column() == [str(number) for number in range(800, 1_000)]
    assert "?sort=partition&page=3" in group.links


def test_a_sum_with_a_part_that_was_not_read_is_unknown() -> None:
    unread = a_partition("g", "t", 1, unread_reason="timeout", lag=None)
    uncommitted = a_partition("g", "u", 1, lag=None, uncounted="uncommitted")
    older = a_partition("g", "v", 1, time_lag_seconds=2.0, time_lag_error_seconds=None)
    rows = [*(a_partition("g", topic, 0) for topic in "tuv"), unread, uncommitted, older]
    store = put(MemoryStore(), groups=[a_group("g")], partitions=rows)

    page = read(opened(store, GROUP))

    assert [row[2] for row in sorted(page.tables[0][1:])] == [UNKNOWN, "4", "8"]
    # One that may be any older leaves the age of its topic a lower bound.
    assert page.cells("v", 0)[3] == "at least 4 s"


def test_promises_can_be_sorted_by_and_have_no_column_where_there_is_none() -> None:
    groups = [
        a_group("a", sla_seconds=300.0, time_lag_seconds=90.0),
        a_group("b", sla_seconds=60.0, time_lag_seconds=80.0),
        a_group("c", time_lag_seconds=900.0),
    ]
    store = put(MemoryStore(), groups=groups)

    orders = [read(opened(store, "/", f"sort={sort}")).column() for sort in ("sla", "-sla")]

    assert orders == [["b", "a", "c"], ["a", "b", "c"]]
    assert "SLA" not in read(opened(put(MemoryStore(), groups=groups[2:]))).tables[0][0]


def test_no_more_than_the_worst_members_are_listed() -> None:
    rows = [
        *(a_partition("g", "t", n, member_id=f"m{n}", client_id="c", lag=n) for n in range(70)),
        a_partition("g", "t", 70, member_id=None),
    ]
    page = read(opened(put(MemoryStore(), groups=[a_group("g")], partitions=rows), GROUP))

    assert [row[0] for row in page.tables[1][1:3]] == ["Without an owner", "cm69"]
    assert len(page.tables[1][1:]) == 51
    assert "?q=m69#h-partitions" in page.links


def test_an_error_is_explained_without_its_partitions() -> None:
    store = put(MemoryStore(), groups=[a_group("g", status="ERR", worst_status="stopped")])
    store.objects[object_key(contract.GROUP_PARTITIONS, "shop", NOON)] = b"no Parquet"

    assert read(opened(store)).cells("g")[1] == "ERRstopped"


def test_a_snapshot_that_cannot_be_read_gives_way_to_the_one_before() -> None:
    store = put(put(MemoryStore(), NOON - MINUTE), NOON)
    store.objects[object_key(contract.GROUPS, "shop", NOON)] = b"PAR1 of a kind"

    assert read(opened(store)).cells("billing")[LAG] == "48,200"


@pytest.mark.parametrize(("minutes", "old"), [(60, False), (61, True)])
def test_a_snapshot_three_intervals_old_is_said_aloud(
    store: MemoryStore, minutes: int, old: bool
) -> None:
    page = read(opened(store, now=NOON + minutes * MINUTE))

    assert ("Old: these numbers are 1 h 1 min old." in page.texts.get("alarm", "")) is old


@pytest.mark.parametrize(
    ("minutes", "least"),
    [
        ((2, 1, 0), True),
        ((1, 0), True),
        ((3, 2, 1, 0), False),
        ((361, 360, 1, 0), False),
        (tuple(range(360, -1, -1)), False),
    ],
    ids=["second run", "first run", "third run", "long ago", "always"],
)
def test_a_status_as_old_as_the_first_runs_may_be_older(
    minutes: tuple[int, ...], least: bool
) -> None:
    since = NOON - MINUTE
    group = a_group("g", held_since=since, incident_since=since)
    store = put(MemoryStore(), groups=[group], partitions=[], logs=[])
    for minute in minutes:
        at = object_key(contract.GROUPS, "shop", NOON - minute * MINUTE)
        store.objects[at] = store.objects[object_key(contract.GROUPS, "shop", NOON)]

    assert ("for at least 1 min" in read(opened(store)).cells("g")[HELD]) is least
    assert ("at least 1 minsince" in read(opened(store, GROUP)).texts["dd"]) is least


def test_several_clusters_are_one_table_or_one_by_choice() -> None:
    store = put(put(MemoryStore(), cluster="a", groups=[a_group("same")]), cluster="b")

    both, one = read(opened(store)), read(opened(store, "/", "cluster=a"))

    assert "/cluster/b/group/billing" in both.links
    assert both.cells("billing")
    assert (one.texts["h1"], one.column()) == ("a", ["same"])


def test_the_period_chosen_is_kept_in_links(store: MemoryStore) -> None:
    overview = read(opened(store, "/", "period=24h")).links
    group = read(opened(store, BILLING, "period=24h&sort=lag")).links
    topic = read(opened(store, ORDERS, "period=24h")).links

    assert {f"{BILLING}?period=24h", "/cluster/shop/group/?period=24h&name=.."} <= {*overview}
    assert {f"{ORDERS}?period=24h", "?sort=lag&period=7d", "?sort=lag", "/?period=24h"} <= {*group}
    assert "?sort=-lag&period=24h" in group
    assert f"{BILLING}?period=24h" in topic


def test_a_page_reads_a_bounded_number_of_runs_however_many_groups_it_shows() -> None:
    store = put(MemoryStore(), groups=[a_group("g")])
    for at in range(NOON - 6 * HOUR, NOON, 5 * MINUTE):
        data = store.objects[object_key(contract.GROUPS, "shop", NOON)]
        store.objects[object_key(contract.GROUPS, "shop", at)] = data

    opened(store)

    assert store.calls.count("read") <= 24


def test_a_number_and_its_unit_stay_on_a_line_and_a_long_name_is_cut_for_the_eye_alone() -> None:
    name = "a" * 40 + "b" * 40
    store = put(MemoryStore(), groups=[a_group(name, time_lag_seconds=11_520.0)])

    text = text_of(opened(store))

    assert "3\u00a0h\u00a012\u00a0min <small>±\u00a01\u00a0s</small>" in text
    assert f'title="{name}">{"a" * 30}<span class="dots" aria-hidden="true"></span>' in text
    assert read(opened(store)).cells("a" * 30)[0] == name
    assert max(map(len, re.findall(r"<option[^>]*>([^<]*)", text))) <= 61


SORTS, STATUSES = ("severity", "lag"), ("ERR", "OK")


@given(st.text(), st.text(), st.sampled_from(["lag", "-lag", "severity"]))
def test_an_address_asks_for_the_same_again(q: str, owner: str, sort: str) -> None:
    def of(**query: Any) -> PageOptions:
        return PageOptions.of(query, SORTS, STATUSES)

    wanted = of(q=q, owner=owner, sort=sort, status="err", refresh="off")

    result = parse_qs(wanted.address().removeprefix("?"))

    assert of(**{name: values[-1] for name, values in result.items()}) == wanted
    assert wanted.status == "ERR"
    assert wanted.page == of(page="-5").page == of(page="²").page == of(page="1e3").page == 1
    assert of(page="3", q="x" * 10_240).address(sort="lag") == f"?q={'x' * 200}&sort=lag"
