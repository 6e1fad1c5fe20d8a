# SPDX-License-Identifier: Apache-2.0
"""The page of all groups: the worst first, nothing unknown shown as a number, old data loudly."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from tests.fakes import MemoryStore
from tests.functions.views.page.reading import UNKNOWN, read
from tests.functions.views.page.rows import DAY, HOUR, MINUTE, NOON, a_group
from tests.functions.views.page.shop import NASTY, many, opened, put, six_hours, text_of

STATUS, AGE, CURVE, LAG = range(1, 5)
# The column of promises is there where a group has one.
PROMISE, LOSS, MEMBERS, HELD = range(-4, 0)


@pytest.fixture(name="store", scope="module")
def _store() -> MemoryStore:
    return six_hours(MemoryStore())


def test_the_worst_group_comes_first(store: MemoryStore) -> None:
    first, second, *_ = read(opened(store)).column()

    assert first.startswith("search-indexer")
    assert second.startswith("billing")


def test_a_group_that_loses_records_comes_before_one_that_stopped_longer_ago() -> None:
    bad = {"status": "ERR", "last_status": "ERR"}
    groups = [
        a_group("stopped", **bad, time_lag_seconds=2_100.0),
        a_group("near", **bad, time_lag_seconds=60.0, seconds_until_loss=3_600.0),
        a_group("losing", **bad, time_lag_seconds=6.0, seconds_until_loss=0.0, records_lost=44),
    ]

    page = read(opened(put(MemoryStore(), groups=groups)))

    assert [name for name, *_ in page.tables[0][1:]] == ["losing", "near", "stopped"]


def test_a_group_that_stalls_is_shown_in_full(store: MemoryStore) -> None:
    assert read(opened(store)).cells("billing") == [
        "billing" + "ledger team" + "worst: orders, partition 2",
        "ERRstalled",
        "1 h 30 min ± 6 s",
        "at most 3 h",
        "48,200",
        "1,800%of 5 minbroken since 10:35 UTC",
        "in 13 h",
        "3Stable",
        "ERR for 1 h 20 minsince 10:40 UTC",
    ]


def test_what_is_unknown_is_a_dash_with_its_word(store: MemoryStore) -> None:
    cells = read(opened(store)).cells("reports")

    assert cells[STATUS] == "unknown, was OKnot read: no coordinator"
    assert [cells[place] for place in (LAG, AGE, CURVE, MEMBERS)] == [UNKNOWN] * 4


@pytest.mark.parametrize(
    ("group", "place", "text"),
    [
        ("search-indexer", AGE, "at least 6 d 23 h"),
        ("search-indexer", LOSS, "1,234 lostsince 11:00 UTCnext in 83 min"),
        ("search-indexer", STATUS, "ERRstopped, records lost"),
        ("mailer", LOSS, "in 19 h"),
        ("mailer", HELD, "OK for 3 dsince 2026-01-28 12:00 UTC"),
        ("old-import", STATUS, "gonegroup deleted"),
        ("old-import", LOSS, UNKNOWN),
    ],
)
def test_each_state_has_its_wording(store: MemoryStore, group: str, place: int, text: str) -> None:
    assert read(opened(store)).cells(group)[place] == text


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"status": "ERR", "status_reason": "records_lost"}, "ERRrecords lost"),
        (
            {"status": "ERR", "status_reason": "records_lost", "worst_status": "stopped"},
            "ERRstopped, records lost",
        ),
        ({"status": "ERR", "worst_status": "rewound"}, "ERRrewound"),
        (
            {"status": "ERR", "status_reason": "beyond_end", "worst_status": "beyond_end"},
            "ERRbeyond the end",
        ),
        (
            {"status": None, "last_status": "ERR", "unread_reason": "timeout"}
            | {"worst_status": "stopped"},
            "unknown, was ERRnot read: timed out, was stopped",
        ),
        ({"status": "WARN", "status_reason": "falling_behind"}, "WARNfalling behind"),
        ({"status": "WARN", "status_reason": "slow"}, "WARNtoo slow"),
        ({"status": "WARN", "status_reason": "no_member", "members": 0}, "WARNno member"),
        (
            {"status": None, "last_status": None, "status_reason": "no_member", "members": 0},
            "unknownno member",
        ),
        ({"status": "OK", "members": 0}, "OK"),
        ({"status": "OK", "unusual": True}, "OKunusual at this hour"),
        ({"status": "OK", "rebalancing_share": 0.6}, "OKrebalancing all the time"),
        (
            {"status": "ERR", "worst_status": "stalled", "cause": "stuck_record"},
            "ERRstalledcause: stuck record",
        ),
        ({"status": "ERR", "worst_status": "stopped", "cause": "stopped"}, "ERRstopped"),
        ({"status": "WARN", "worst_status": "slow", "cause": "unexplained"}, "WARNtoo slow"),
        (
            {"status": "WARN", "rebalancing_share": 0.6, "cause": "rebalances"},
            "WARNrebalancing all the time",
        ),
        (
            {
                "status": "OK",
                "status_reason": "open_transaction",
                "held_up_records": 1_200,
                "open_transaction_since": NOON,
                "open_transaction_topic": "<b>",
                "open_transaction_partition": 3,
            },
            "OKopen transaction1,200 held up since 12:00 UTC by a transaction in <b>-3",
        ),
        ({"status": "OK", "unusual": False, "rebalancing_share": 0.5}, "OK"),
    ],
)
def test_a_group_that_is_not_well_says_why(more: dict[str, Any], text: str) -> None:
    page = read(opened(put(MemoryStore(), groups=[a_group("g", **more)])))

    assert page.cells("g")[STATUS] == text


@pytest.mark.parametrize(
    ("minutes", "held"),
    [
        ((2, 1, 0), "OK for at least 1 minsince 11:59 UTC"),
        ((1, 0), "OK for at least 1 minsince 11:59 UTC"),
        ((3, 2, 1, 0), "OK for 1 minsince 11:59 UTC"),
        ((361, 360, 1, 0), "OK for 1 minsince 11:59 UTC"),
        (tuple(range(360, -1, -1)), "OK for 1 minsince 11:59 UTC"),
    ],
    ids=["second run", "first run", "third run", "long ago", "always"],
)
def test_a_status_as_old_as_the_first_runs_may_be_older(
    minutes: tuple[int, ...], held: str
) -> None:
    store = MemoryStore()
    for minute in minutes:
        at = NOON - minute * MINUTE
        put(
            store, at, groups=[a_group("g", held_since=NOON - MINUTE, incident_since=NOON - MINUTE)]
        )

    page = read(opened(store, "/cluster/shop/group/g"))

    assert read(opened(store)).cells("g")[HELD] == held
    assert ("at least 1 minsince" in page.texts["dd"]) == ("at least" in held)


def test_an_error_is_explained_without_its_partitions() -> None:
    group = a_group("g", status="ERR", worst_status="stopped")
    store = put(MemoryStore(), groups=[group])
    store.objects[object_key(contract.GROUP_PARTITIONS, "shop", NOON)] = b"no Parquet"

    assert read(opened(store)).cells("g")[STATUS] == "ERRstopped"


@pytest.mark.parametrize(
    ("seconds", "more", "text"),
    [
        (60.0, {}, "100%of 1 min"),
        (60.1, {"sla_broken_since": NOON - HOUR}, "101%of 1 minbroken since 11:00 UTC"),
        (60.1, {}, "101%of 1 minbroken"),
        (60.1, {"time_lag_error_seconds": None}, "at least 101%of 1 minbroken"),
        (30.0, {"time_lag_error_seconds": None}, "at least 50%of 1 min"),
        (0.0, {}, "0%of 1 min"),
        (None, {}, f"{UNKNOWN}of 1 min"),
    ],
)
def test_a_promise_shows_how_much_of_it_is_used(
    seconds: float | None, more: dict[str, Any], text: str
) -> None:
    group = a_group("g", sla_seconds=60.0, time_lag_seconds=seconds, **more)
    page = read(opened(put(MemoryStore(), groups=[group, a_group("h")])))

    assert page.cells("g")[PROMISE] == text
    assert page.cells("h")[PROMISE] == ""


def test_a_broken_promise_is_red_and_a_kept_one_is_not() -> None:
    ages = {"broken": 61.0, "kept": 59.0}
    pages = {
        name: text_of(
            opened(
                put(MemoryStore(), groups=[a_group("g", sla_seconds=60.0, time_lag_seconds=age)])
            )
        )
        for name, age in ages.items()
    }

    assert '<strong class="late">102%</strong>' in pages["broken"]
    assert 'class="late"' not in pages["kept"]


def test_promises_can_be_sorted_by_and_have_no_column_where_there_is_none() -> None:
    groups = [
        a_group("a", sla_seconds=300.0, time_lag_seconds=90.0),
        a_group("b", sla_seconds=60.0, time_lag_seconds=80.0),
        a_group("c", time_lag_seconds=900.0),
    ]
    store = put(MemoryStore(), groups=groups)

    assert [row[0] for row in read(opened(store, "/", "sort=sla")).tables[0][1:]] == ["b", "a", "c"]
    assert [row[0] for row in read(opened(store, "/", "sort=-sla")).tables[0][1:]] == [
        *("a", "b", "c")
    ]
    without = read(opened(put(MemoryStore(), groups=groups[2:])))
    assert "Promise" not in without.tables[0][0]


def test_a_group_of_a_kind_without_lag_is_no_riddle() -> None:
    row = a_group("s", group_type="share", status=None, last_status=None)

    page = read(opened(put(MemoryStore(), groups=[row])))

    assert page.cells("s")[STATUS] == "unknownshare group, has no lag"


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        ("status=ERR", ["search-indexer", "billing", "old-import"]),
        ("status=unknown", ["reports"]),
        ("owner=ledger+team", ["billing", "mailer"]),
        ("q=BILL", ["billing"]),
        ("q=clicks", ["search-indexer"]),
        ("owner=ledger+team&sort=-severity", ["mailer", "billing"]),
    ],
)
def test_the_address_narrows_and_orders(store: MemoryStore, query: str, groups: list[str]) -> None:
    names = read(opened(store, "/", query)).column()

    assert len(names) == len(groups)
    assert all(map(str.startswith, names, groups))


def test_a_filter_that_nobody_has_is_still_seen_in_the_form(store: MemoryStore) -> None:
    page = read(opened(store, "/", "owner=nobody&sort=-lag"))

    assert page.chosen == ["", "nobody", "-lag"]
    assert "No group is like that." in page.texts["p"]


def test_unknown_comes_last_whichever_way_round(store: MemoryStore) -> None:
    for sort in ("lag", "-lag", "time_lag", "-time_lag", "members"):
        last = read(opened(store, "/", f"sort={sort}")).column()[-2:]
        assert {name[:7] for name in last} == {"reports", "old-imp"}, sort


def test_pages_are_cut_on_the_server() -> None:
    store = put(MemoryStore(), groups=many(250))

    pages = [read(opened(store, "/", f"sort=group&page={page}")).column() for page in (1, 3, 99)]

    assert [len(page) for page in pages] == [100, 50, 50]
    assert pages[0][0] == "group-00000"
    assert pages[2] == pages[1]


def test_the_tally_counts_what_the_filter_hides(store: MemoryStore) -> None:
    page = read(opened(store, "/", "status=OK&q=i"))

    assert page.texts["li"] == "3 ERR1 WARN0 unknown1 OK"


def test_no_snapshot_yet_is_said_aloud() -> None:
    page = read(opened(MemoryStore()))

    assert "There is no snapshot yet" in page.texts["alarm"]
    assert page.tables == []


def test_a_snapshot_that_cannot_be_read_gives_way_to_the_one_before() -> None:
    store = put(put(MemoryStore(), NOON - MINUTE), NOON)
    store.objects[object_key(contract.GROUPS, "shop", NOON)] = b"PAR1 of a kind"

    page = read(opened(store))

    assert "the newest 1 snapshot of shop cannot be read" in page.texts["alarm"]
    assert page.cells("billing")[LAG] == "48,200"


def test_a_cluster_with_nothing_readable_hides_no_other() -> None:
    store = put(MemoryStore())
    store.objects[object_key(contract.GROUPS, "broken", NOON)] = b""

    page = read(opened(store))

    assert "Nothing can be shown of broken" in page.texts["alarm"]
    assert page.cells("billing")


def test_several_clusters_are_one_table_or_one_by_choice() -> None:
    store = put(put(MemoryStore(), cluster="a", groups=[a_group("same")]), cluster="b")

    both, one = read(opened(store)), read(opened(store, "/", "cluster=a"))

    assert both.cells("same")[0] == "samea"
    assert "/cluster/b/group/billing" in both.links
    assert [both.texts["h1"], one.texts["h1"]] == ["All clusters", "a"]
    assert one.column() == ["same"]


def test_a_cluster_that_nobody_reads_any_more_is_named_and_left_out() -> None:
    store = put(put(MemoryStore()), NOON - 8 * DAY, cluster="left", groups=[a_group("ghost")])

    both, alone = read(opened(store)), read(opened(store, "/", "cluster=left"))

    assert "Not shown, as not read for long: left, 8 d ago." in both.texts["p"]
    assert "alarm" not in both.texts
    assert "ghost" not in both.column()
    assert alone.column() == ["ghost"]
    assert "Old: these numbers are 8 d old." in alone.texts["alarm"]


def test_a_cluster_that_there_is_not_is_not_found(store: MemoryStore) -> None:
    given = opened(store, "/", "cluster=nope")

    assert given.status == 404
    assert "There are no snapshots of nope" in read(given).texts["alarm"]


def test_a_cluster_without_groups_says_so() -> None:
    assert (
        "The cluster has no consumer groups."
        in read(opened(put(MemoryStore(), groups=[]))).texts["p"]
    )


def test_a_hostile_name_stays_text(store: MemoryStore) -> None:
    page = read(opened(store))

    assert page.tags.count("script") == 1
    assert NASTY in page.column()
    assert "/cluster/shop/group/%3Cscript%3Ealert%281%29%3C%2Fscript%3E" in page.links


def test_sparklines_read_a_bounded_number_of_runs() -> None:
    store = MemoryStore()
    for at in range(NOON - 6 * HOUR, NOON + 1, 5 * MINUTE):
        put(store, at, groups=[a_group("g")], partitions=[], logs=[])

    opened(store)

    assert store.calls.count("read") <= 24


def test_one_empty_cluster_among_others_has_no_groups() -> None:
    store = put(put(MemoryStore()), cluster="empty", groups=[])

    page = read(opened(store, "/", "cluster=empty"))

    assert "The cluster has no consumer groups." in page.texts["p"]
    assert "No group is like that." not in page.texts["p"]
