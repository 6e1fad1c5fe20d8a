# SPDX-License-Identifier: Apache-2.0
"""One group on a terminal: its partitions, offsets and members."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from kafka_lag.lag.model import Snapshot
from kafka_lag_cli.terminal.group_details import group_details
from kafka_lag_cli.terminal.group_rows import Selection
from tests.builders import HOUR, NOON
from tests.cli.snapshots import a_group, a_partition, a_snapshot_of

KNOWN = {
    "committed_offset": 1_234_500,
    "start_offset": 1_000,
    "end_offset": 1_234_567,
    "lag": 67,
    "time_lag_seconds": 90.0,
    "time_lag_error_seconds": 0.0,
    "seconds_until_loss": 3 * 86_400.0,
    "status": "OK",
    "leader": 2,
}
ANN = {"member_id": "ann-1", "client_id": "ann", "client_host": "/10.0.0.1"}
BOB = {"member_id": "bob-1", "client_id": "bob", "client_host": "/10.0.0.2"}


def a_part(number: int, group: str = "g", **columns: Any) -> dict[str, Any]:
    return a_partition(group, columns.pop("topic", "orders"), number, **{**KNOWN, **columns})


def text_of(snapshot: Snapshot, name: str = "g", width: int = 200, **more: Any) -> str:
    out = StringIO()
    Console(file=out, width=width).print(group_details(snapshot, name, width, **more))
    return out.getvalue()


def details(*partitions: dict[str, Any], width: int = 200, **group: Any) -> str:
    return text_of(a_snapshot_of(a_group("g", **group), partitions=partitions), width=width)


def cells_of(text: str, title: str) -> list[list[str]]:
    """The lines of the table with this title, head first, by cell."""
    lines = [line.strip() for line in text.splitlines()]
    below = lines[lines.index(title) + 1 :]
    end = next((n for n, line in enumerate(below) if n and not line), len(below))
    return [re.split(r" {2,}", line) for line in below[:end] if line.strip(" ─╶╴")]


def row_of(text: str, title: str = "Partitions") -> dict[str, str]:
    head, row = cells_of(text, title)[:2]
    return dict(zip(head, row, strict=True))


def test_a_partition_has_its_offsets_and_who_reads_it() -> None:
    row = row_of(details(a_part(7, **ANN), members=1))
    assert row["topic"] == "orders"
    assert (row["partition"], row["leader"]) == ("7", "2")
    assert (row["log start"], row["committed"], row["log end"]) == (
        *("1,000", "1,234,500", "1,234,567"),
    )
    assert (row["lag"], row["time lag"], row["status"]) == ("67", "1 min 30 s", "OK")
    assert (row["client"], row["host"]) == ("ann", "/10.0.0.1")


@pytest.mark.parametrize(
    ("risk", "seconds", "shown"),
    [
        ("SAFE", 19 * 86_400.0, None),
        ("AT_RISK", 50_000.0, "in 13 h"),
        ("LOST", 0.0, "now"),
    ],
)
def test_a_loss_that_is_not_near_has_no_time(risk: str, seconds: float, shown: str | None) -> None:
    text = details(a_part(0, retention_risk=risk, seconds_until_loss=seconds))
    assert "19 d" not in text
    assert shown is None or row_of(text)["to loss"] == shown


def test_partitions_are_sorted_by_topic_and_number() -> None:
    text = details(a_part(10), a_part(2), a_part(0, topic="zebra"), a_part(0, topic="ant"))
    _, *rows = cells_of(text, "Partitions")
    assert [(row[0], row[1]) for row in rows] == [
        *(("ant", "0"), ("orders", "2"), ("orders", "10"), ("zebra", "0"))
    ]


def test_only_partitions_of_the_group_are_shown() -> None:
    snapshot = a_snapshot_of(
        a_group("g"), a_group("h"), partitions=(a_part(1), a_part(2, group="h"))
    )
    assert len(cells_of(text_of(snapshot), "Partitions")) == 2


@pytest.mark.parametrize(
    ("columns", "committed", "lag"),
    [
        ({"committed_offset": None, "lag": None}, "none", "?"),
        ({"committed_offset": None, "lag": None, "unread_reason": "timeout"}, "?", "?"),
        ({"committed_offset": 0, "lag": 0}, "0", "0"),
    ],
)
def test_no_commit_is_none_and_what_was_not_read_is_a_question_mark(
    columns: dict[str, Any], committed: str, lag: str
) -> None:
    row = row_of(details(a_part(0, **columns)))
    assert (row["committed"], row["lag"]) == (committed, lag)


def test_a_partition_that_was_not_read_says_why_and_what_was_known() -> None:
    row = row_of(details(a_part(0, status=None, last_status="STALL", unread_reason="no_leader")))
    assert row["status"] == "ERR? not read: no leader"


def test_a_partition_that_nobody_owns_has_no_client() -> None:
    row = row_of(details(a_part(0)))
    assert (row["client"], row["host"]) == ("-", "-")


def test_members_are_those_that_own_partitions_with_what_they_have_to_do() -> None:
    text = details(
        a_part(0, **BOB, lag=1),
        a_part(1, **ANN, lag=1_000, time_lag_seconds=7_200.0),
        a_part(2, **ANN, lag=200, time_lag_seconds=60.0),
        members=2,
    )
    head, ann, bob = cells_of(text, "Members")
    assert head == ["client", "host", "partitions", "lag", "longest time lag", "member"]
    assert ann == ["ann", "/10.0.0.1", "2", "1,200", "2 h", "ann-1"]
    assert bob == ["bob", "/10.0.0.2", "1", "1", "1 min 30 s", "bob-1"]
    assert "no partition" not in text


def test_a_lag_that_is_known_in_part_is_not_said_to_be_the_members() -> None:
    text = details(a_part(0, **ANN), a_part(1, **ANN, lag=None, time_lag_seconds=None), members=1)
    assert cells_of(text, "Members")[1][3:5] == ["?", "?"]


def test_two_members_of_one_client_are_two() -> None:
    text = details(a_part(0, **ANN), a_part(1, **{**ANN, "member_id": "ann-2"}), members=2)
    assert [row[-1] for row in cells_of(text, "Members")[1:]] == ["ann-1", "ann-2"]


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (1, None),
        (2, "1 member owns no partition that is read"),
        (5, "4 members own no partition that is read"),
        (None, None),
    ],
)
def test_members_without_a_partition_are_counted(members: int | None, sentence: str | None) -> None:
    text = details(a_part(0, **ANN), members=members)
    assert ("no partition" in text) == (sentence is not None)
    assert (sentence or "") in text


@pytest.mark.parametrize(
    "group",
    [
        {"protocol": "connect"},
        {"group_state": "PreparingRebalance"},
        {"group_type": "consumer", "group_state": "Assigning"},
    ],
    ids=str,
)
def test_members_whose_partitions_cannot_be_told_are_not_called_idle(group: dict[str, Any]) -> None:
    text = details(a_part(0, **ANN), members=3, **group)
    assert "what 2 members own is not known" in text
    assert "no partition" not in text
    assert "not known" not in details(a_part(0, **ANN), members=1, **group)


@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        ({"members": 0}, "no member"),
        ({"members": 3}, "what 3 members own is not known"),
        ({"members": 3, "group_type": "consumer"}, "3 members own no partition that is read"),
        ({"members": 1, "group_state": "PreparingRebalance"}, "what 1 member owns is not known"),
    ],
)
def test_a_group_that_nobody_is_in_says_so(group: dict[str, Any], sentence: str) -> None:
    text = details(a_part(0), **group)
    assert text.rstrip().endswith(sentence)


def test_a_group_without_partitions_has_no_empty_tables() -> None:
    text = details(group_type="share", members=0, status=None, lag=None, time_lag_seconds=None)
    assert "Partitions" not in text
    assert "Members" not in text
    assert "share group: no lag" in text


def test_the_first_lines_say_how_the_group_is() -> None:
    text = details(
        a_part(3, status="STALL"),
        status="ERR",
        worst_status="stalled",
        worst_status_since=NOON - 2 * HOUR,
        loss_since=NOON - HOUR // 2,
        sla_broken_since=NOON - 2 * HOUR,
        status_since=NOON - HOUR,
        lag=67,
        time_lag_seconds=7_800.0,
        time_lag_error_seconds=30.0,
        seconds_until_loss=7_200.0,
        worst_topic="orders",
        worst_partition=3,
        protocol="consumer",
        owner="payments",
        sla_seconds=300.0,
        records_lost=4,
    )
    name, status, state, remarks = text.splitlines()[:4]
    assert name == "g"
    assert status == (
        "status ERR since 11:00 UTC (stalled since 10:00 UTC), lag 67, time lag 2 h 10 min "
        "± 30 s, 4 lost since 11:30 UTC"
    )
    assert state == (
        "state Stable (classic, consumer), members 1, owner payments, promised 5 min: 2,600% used, "
        "broken since 10:00 UTC"
    )
    assert remarks == "lag and time lag are of what is left"


def test_a_kept_promise_and_a_loss_to_come_are_in_the_first_lines() -> None:
    _, status, state = details(
        sla_seconds=60.0, time_lag_seconds=30.0, seconds_until_loss=7_200.0
    ).splitlines()[:3]
    assert status.endswith(", first loss in 2 h")
    assert state.endswith(", promised 1 min: 50% used")


@pytest.mark.parametrize(
    ("observations", "since"),
    [([2, 1], "at least since 12:00"), ([2, 3], "OK since 12:00"), ([None], "OK since 12:00")],
)
def test_a_status_that_is_as_old_as_the_first_readings_may_be_older(
    observations: list[int | None], since: str
) -> None:
    parts = [a_part(n, observations=seen) for n, seen in enumerate(observations)]
    assert since in details(*parts, status_since=NOON)


def a_log(topic: str, number: int, **columns: Any) -> dict[str, Any]:
    return {"topic": topic, "partition_id": number, "produce_rate": 22.0, **columns}


BRIEF = {"retention_ms": 4_000, "retention_bytes": -1}


def test_a_loss_says_how_long_records_are_kept_and_how_fast_they_come_and_go() -> None:
    losing = [a_part(n, records_lost=600, consume_rate=0.6) for n in range(2)]
    other = [a_part(0, topic="big", records_lost=1_500, consume_rate=None), a_part(2)]
    snapshot = a_snapshot_of(
        a_group("g", records_lost=2_700),
        partitions=(*losing, *other),
        logs=(
            *(a_log("orders", n, **BRIEF) for n in range(3)),
            a_log("big", 0, retention_ms=-1, retention_bytes=1_048_576),
        ),
    )
    assert text_of(snapshot).splitlines()[4:6] == [
        "1,500 lost of big: kept up to 1 MiB a partition, produced 22/s",
        "1,200 lost of orders: kept for 4 s, produced 44/s, consumed 1.2/s",
    ]


def test_a_loss_of_which_nothing_is_known_is_not_explained() -> None:
    text = details(a_part(0, records_lost=4), records_lost=4)
    assert ", 4 lost" in text
    assert "4 lost of" not in text


def test_of_a_loss_the_log_start_has_room_and_what_has_none_is_named() -> None:
    part = a_part(0, **ANN, records_lost=4, status="ERR", status_reason="records_lost")
    lost, calm = (details(part, width=90, records_lost=n, members=1) for n in (4, 0))
    assert " log start " in lost
    assert re.search(r"no room here, but in --output csv: .*host", lost)
    assert re.search(r"no room here, but in --output csv: .*log start", calm)


def test_of_many_losses_the_largest_are_explained() -> None:
    topics = [f"t{n}" for n in range(5)]
    snapshot = a_snapshot_of(
        a_group("g", records_lost=10),
        partitions=tuple(a_part(0, topic=t, records_lost=n + 1) for n, t in enumerate(topics)),
        logs=tuple(a_log(topic, 0, **BRIEF) for topic in topics),
    )
    lines = text_of(snapshot).splitlines()[4:8]
    assert [line.partition(":")[0] for line in lines] == [
        *("5 lost of t4", "4 lost of t3", "3 lost of t2", "and of 2 more topics"),
    ]


def test_what_is_not_known_of_a_group_is_a_question_mark() -> None:
    names = ("status", "lag", "time_lag_seconds", "seconds_until_loss", "group_state", "members")
    unknown: dict[str, Any] = dict.fromkeys(names)
    _, status, state = details(**unknown, group_type=None, unread_reason="timeout").splitlines()[:3]
    assert status == "status ? (not read: timed out), lag ?, time lag ?, first loss ?"
    assert state == "state ?, members ?"


LONG: dict[str, Any] = {
    "topic": "a-topic-with-a-long-name-" * 4,
    "client_id": "a-client-with-a-long-name-" * 4,
    "client_host": "/2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff",
    "member_id": "a-member-" * 20,
    "status": None,
    "last_status": "REWIND",
    "unread_reason": "no_coordinator",
    "seconds_until_loss": 7_199.0,
    "time_lag_seconds": 100_000.0,
    "time_lag_error_seconds": 30.0,
}


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_tables_are_no_wider_than_the_terminal_and_have_a_line_a_partition(width: int) -> None:
    text = details(*(a_part(number, **LONG) for number in range(3)), width=width, members=1)
    assert max(map(len, text.splitlines())) <= width
    tables = text[text.index("\nPartitions") :]
    lines = [line.split()[0] for line in tables.splitlines() if line.split()]
    assert sum(line.startswith("a-top") for line in lines) == 3
    assert sum(line.startswith("a-c") for line in lines) == 1
    assert all("…" in line and line.endswith("-") for line in lines if line.startswith("a-"))


@pytest.mark.parametrize("width", [80, 120])
def test_numbers_are_whole_on_usual_terminals(width: int) -> None:
    text = details(a_part(117, **ANN), width=width, members=1)
    for number in ("117", "1,234,500", "1,234,567", "67", "1 min 30 s"):
        assert re.search(rf"(^| ){number}( |$)", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "seen"),
    [("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\nb", "a\\nb"), ("[red]x[/]", "[red]x[/]"), ("", "''")],
)
def test_a_strangers_names_are_shown_and_do_nothing(name: str, seen: str) -> None:
    snapshot = a_snapshot_of(
        a_group(name, members=1, owner=f"o{name}", group_state=f"s{name}", protocol=f"p{name}"),
        partitions=(a_part(0, name, topic=name, client_id=name, client_host=name, member_id=name),),
    )
    text = text_of(snapshot, name)
    assert all(line.isprintable() for line in text.splitlines())
    assert text.splitlines()[0] == seen
    (row,) = cells_of(text, "Partitions")[1:]
    assert row.count(seen) == 3
    (member,) = cells_of(text, "Members")[1:]
    assert member.count(seen) == 3


@pytest.mark.parametrize(
    ("selection", "numbers"),
    [
        (Selection(), ["0", "1", "2"]),
        (Selection(top=2), ["2", "0"]),
        (Selection(top=2, sort="lag"), ["1", "0"]),
        (Selection(sort="time-lag"), ["2", "0", "1"]),
    ],
)
def test_partitions_of_a_group_are_sorted_and_the_first_of_them_shown(
    selection: Selection, numbers: list[str]
) -> None:
    parts = (
        a_part(0, lag=67, time_lag_seconds=90.0),
        a_part(1, lag=5_000, time_lag_seconds=1.0),
        a_part(2, lag=3, time_lag_seconds=900.0, status="STALL"),
    )
    snapshot = a_snapshot_of(a_group("g"), partitions=parts)
    text = text_of(snapshot, selection=selection)
    assert [row[1] for row in cells_of(text, "Partitions")[1:] if len(row) > 1] == numbers
    assert ("and 1 more" in text) == (selection.top == 2)
