# SPDX-License-Identifier: Apache-2.0
"""The groups that are shown, their order, and the formats for programs."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import click
import pytest

from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag_cli.terminal.group_rows import (
    BY_GROUP,
    BY_PARTITION,
    SORTS,
    Selection,
    select_groups,
    write_rows,
)
from kafka_lag_cli.terminal.records import CSV, JSON, NDJSON
from kafka_lag_cli.terminal.selection_options import selection_options
from tests.builders import NOON
from tests.cli.snapshots import a_group, a_partition, a_snapshot_of

NOON_ISO = "2026-01-31T12:00:00.000Z"
EVERYTHING = Selection()
HOSTILE = ["a,b", 'a"b', "a\nb", "a\r\nb", "a;b", " a ", "", "a\rb", "größe", "\u202ea", "a'b"]


def names(snapshot: Snapshot, **selection: Any) -> list[str]:
    rows = select_groups(snapshot, Selection(**selection)).rows
    return [row["consumer_group"] for row in rows]


def text_of(
    snapshot: Snapshot,
    form: str,
    by: str = BY_GROUP,
    selection: Selection = EVERYTHING,
    **more: bool,
) -> str:
    out = StringIO(newline="")
    write_rows(snapshot, "shop", selection, by, form, out, **more)
    return out.getvalue()


def table_of(snapshot: Snapshot, by: str = BY_GROUP) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text_of(snapshot, CSV, by), newline="")))


SHOP = a_snapshot_of(
    a_group("late", status="ERR", lag=5, time_lag_seconds=900.0, seconds_until_loss=50.0),
    a_group("many", status="WARN", lag=5_000, time_lag_seconds=60.0, members=9, owner="payments"),
    a_group("unread", status=None, last_status="ERR", lag=None, time_lag_seconds=None)
    | {"seconds_until_loss": None, "members": None},
    a_group("well", status="OK", owner="payments"),
)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("status", ["late", "unread", "many", "well"]),
        ("lag", ["many", "late", "well", "unread"]),
        ("time-lag", ["late", "many", "well", "unread"]),
        ("loss", ["late", "many", "well", "unread"]),
        ("members", ["many", "late", "well", "unread"]),
        ("name", ["late", "many", "unread", "well"]),
    ],
)
def test_who_needs_somebody_comes_first_and_what_is_not_known_last(
    sort: str, expected: list[str]
) -> None:
    assert names(SHOP, sort=sort) == expected


@pytest.mark.parametrize("sort", SORTS)
def test_equals_are_sorted_by_name_and_a_zero_comes_before_what_is_not_known(sort: str) -> None:
    assert names(a_snapshot_of(*map(a_group, "cab")), sort=sort) == ["a", "b", "c"]
    zero = {"lag": 0, "time_lag_seconds": 0.0, "seconds_until_loss": 0.0, "members": 0}
    if sort in ("lag", "time-lag", "loss", "members"):
        snapshot = a_snapshot_of(a_group("a", **dict.fromkeys(zero)), a_group("b", **zero))
        assert names(snapshot, sort=sort) == ["b", "a"]


def test_the_first_of_them_can_be_shown_alone_and_the_others_are_counted() -> None:
    chosen = select_groups(SHOP, Selection(sort="lag", top=2, owner=None))
    assert [row["consumer_group"] for row in chosen.rows] == ["many", "late"]
    assert (chosen.matching, chosen.total) == (4, 4)
    both = select_groups(SHOP, Selection(top=1, owner="payments"))
    assert (len(both.rows), both.matching, both.total) == (1, 2, 4)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["ERR"], ["losing", "losing-stops", "stalls", "stops"]),
        (["stopped"], ["losing-stops", "stops"]),
        (["records_lost"], ["losing", "losing-stops"]),
        (["stalled", "WARN"], ["stalls", "warns"]),
        (["slow"], ["warns"]),
        (["UNKNOWN"], ["unread"]),
        (["OK", "UNKNOWN"], ["unread", "well"]),
        (["rewound"], []),
        ([], ["losing", "losing-stops", "stalls", "stops", "unread", "warns", "well"]),
    ],
    ids=str,
)
def test_groups_are_chosen_by_their_status_and_by_what_it_stands_for(
    statuses: list[str], expected: list[str]
) -> None:
    snapshot = a_snapshot_of(
        a_group("stops", status="ERR", worst_status="stopped"),
        a_group("stalls", status="ERR", worst_status="stalled"),
        a_group("losing", status="ERR", records_lost=4),
        a_group("losing-stops", status="ERR", records_lost=4, worst_status="stopped"),
        a_group("warns", status="WARN", worst_status="slow"),
        a_group("well"),
        a_group("unread", status=None, last_status="WARN"),
    )
    assert names(snapshot, sort="name", statuses=frozenset(statuses)) == expected


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({"owner": "payments"}, ["many", "well"]),
        ({"owner": "pay"}, []),
        ({"group": "well"}, ["well"]),
        ({"group": "wel"}, []),
        ({"owner": "payments", "statuses": frozenset({"OK"})}, ["well"]),
    ],
    ids=str,
)
def test_owners_and_groups_are_whole_names(selection: dict[str, Any], expected: list[str]) -> None:
    assert names(SHOP, **selection) == expected


PARTED = a_snapshot_of(
    a_group("late", status="ERR", taken_at=NOON, status_since=NOON, lag=7, unusual=True),
    a_group("well", taken_at=NOON, status=None, status_since=None, lag=None, time_lag_seconds=None),
    partitions=(
        a_partition("well", "t", 10, taken_at=NOON, lag=0),
        a_partition("well", "t", 2, taken_at=NOON, lag=0),
        a_partition("late", "u", 0, taken_at=NOON, lag=None, unread_reason="timeout"),
        a_partition("late", "t", 0, taken_at=NOON, lag=7, commit_changed_at=NOON + 1),
    ),
)


def test_a_row_has_the_cluster_and_then_the_snapshots_columns() -> None:
    late, well = rows = json.loads(text_of(PARTED, JSON))
    assert [list(row) for row in rows] == [["cluster", *contract.COLUMNS[contract.GROUPS]]] * 2
    assert [late[name] for name in ("cluster", "taken_at", "status_since")] == [
        *("shop", NOON_ISO, NOON_ISO)
    ]
    assert (late["consumer_group"], late["lag"], late["unusual"]) == ("late", 7, True)
    assert (well["status"], well["status_since"], well["lag"]) == (None, None, None)
    # JSON is one line, and NDJSON a line a row.
    assert len(text_of(PARTED, JSON).splitlines()) == 1
    assert [json.loads(line) for line in text_of(PARTED, NDJSON).splitlines()] == rows
    assert text_of(a_snapshot_of(), JSON) == "[]\n"
    assert text_of(a_snapshot_of(), NDJSON) == ""


def test_partitions_are_by_group_in_the_order_of_the_groups_then_topic_and_number() -> None:
    rows = json.loads(text_of(PARTED, JSON, BY_PARTITION))
    assert [(row["consumer_group"], row["topic"], row["partition_id"]) for row in rows] == [
        *(("late", "t", 0), ("late", "u", 0), ("well", "t", 2), ("well", "t", 10))
    ]
    assert list(rows[0]) == ["cluster", *contract.COLUMNS[contract.GROUP_PARTITIONS]]
    assert rows[0]["commit_changed_at"] == "2026-01-31T12:00:00.001Z"
    assert (rows[1]["lag"], rows[1]["unread_reason"]) == (None, "timeout")


def test_partitions_are_of_the_groups_that_are_chosen() -> None:
    text = text_of(PARTED, JSON, BY_PARTITION, Selection(group="well"))
    assert {row["consumer_group"] for row in json.loads(text)} == {"well"}
    first = text_of(PARTED, JSON, BY_PARTITION, Selection(group="well", top=1, sort="name"))
    assert [row["partition_id"] for row in json.loads(first)] == [2]


def _as_csv(value: Any) -> str:
    return (
        json.dumps(value) if isinstance(value, bool | list) else str("" if value is None else value)
    )


@pytest.mark.parametrize("by", [BY_GROUP, BY_PARTITION])
def test_csv_has_the_same_columns_and_nothing_for_what_is_not_known(by: str) -> None:
    lines = table_of(PARTED, by)
    rows = json.loads(text_of(PARTED, JSON, by))
    assert [list(line) for line in lines] == [list(row) for row in rows]
    for line, row in zip(lines, rows, strict=True):
        assert line == {name: _as_csv(value) for name, value in row.items()}


def test_csv_that_goes_on_has_no_heading_again() -> None:
    heading, *rest = text_of(PARTED, CSV).splitlines()
    assert heading.startswith("cluster,taken_at,")
    assert text_of(PARTED, CSV, heading=False).splitlines() == rest


def test_a_name_is_no_formula_in_a_spreadsheet_and_a_number_stays_one() -> None:
    formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "=HYPERLINK(1)"]
    snapshot = a_snapshot_of(*(a_group(name, lag=-5) for name in formulas))
    lines = table_of(snapshot)
    assert {line["consumer_group"] for line in lines} == {f"'{name}" for name in formulas}
    assert {line["lag"] for line in lines} == {"-5"}
    rows = json.loads(text_of(snapshot, JSON))
    assert {row["consumer_group"] for row in rows} == {*formulas}


def test_a_strangers_name_is_read_back_from_csv_and_json() -> None:
    snapshot = a_snapshot_of(
        *map(a_group, HOSTILE),
        partitions=tuple(a_partition(n, "t", 0, client_id=n, member_id=n) for n in HOSTILE),
    )
    lines, parts = table_of(snapshot), table_of(snapshot, BY_PARTITION)
    rows = [json.loads(line) for line in text_of(snapshot, NDJSON).split("\n")[:-1]]
    for found in (lines, parts, rows):
        assert sorted(each["consumer_group"] for each in found) == sorted(HOSTILE)
    assert all(part["client_id"] == part["member_id"] == part["consumer_group"] for part in parts)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_csv_on_a_terminal_shows_what_nobody_sees_of_a_name() -> None:
    name = "evil\x1b[31m\u202e "
    out = Terminal(newline="")
    write_rows(a_snapshot_of(a_group(name)), "shop", EVERYTHING, BY_GROUP, CSV, out)
    heading, row = out.getvalue().splitlines()
    (line,) = csv.DictReader([heading, row])
    assert line["consumer_group"] == r"evil\x1b[31m\u202e\x20"
    assert line["owner"] == ""


@pytest.mark.parametrize(
    ("typed", "statuses"),
    [
        ("ERR,warn", {"ERR", "WARN"}),
        ("stopped", {"stopped"}),
        ("STOP,Stall,REWIND", {"stopped", "stalled", "rewound"}),
        ("BEYOND_END,records_lost", {"beyond_end", "records_lost"}),
    ],
)
def test_statuses_are_typed_in_any_case_and_in_burrows_words_too(
    typed: str, statuses: set[str]
) -> None:
    @click.command()
    @selection_options
    def show(**options: Any) -> dict[str, Any]:
        return options

    found = show.main(["--status", typed], standalone_mode=False)
    assert found["statuses"] == statuses
