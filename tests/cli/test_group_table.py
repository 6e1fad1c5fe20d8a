# SPDX-License-Identifier: Apache-2.0
"""The table of groups on a terminal: what each cell says, the order, and what has room."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag_cli.terminal.group_rows import Selection
from kafka_lag_cli.terminal.group_table import cells, groups_table
from tests.cli.snapshots import ABSENT, a_group, a_snapshot_of

DAY = 86_400.0
HEAD = ["group", "status", "lag", "time lag", "to loss"]


def text_of(snapshot: Snapshot, width: int = 160, **more: Any) -> str:
    out = StringIO()
    Console(file=out, width=width).print(groups_table(snapshot, width, **more))
    return out.getvalue()


def lines_of(snapshot: Snapshot, width: int = 160) -> list[str]:
    """The lines of the groups, without title, heading and what had no room."""
    lines = [line.strip() for line in text_of(snapshot, width).splitlines() if line.strip()][3:]
    return [line for line in lines if not line.startswith("no room here")]


def cell(column: str, worst_status: str | None = None, **columns: Any) -> Text:
    return cells({**ABSENT, **a_group("g", **columns), "worst_status": worst_status}, DAY)[column]


def said(column: str, worst_status: str | None = None, **columns: Any) -> str:
    return cell(column, worst_status, **columns).plain


LONG = a_group(
    "a-group-with-a-name",
    status="ERR",
    status_reason="records_lost",
    lag=1_234_567,
    time_lag_seconds=7_800.0,
    time_lag_error_seconds=30.0,
    seconds_until_loss=7_199.0,
    worst_topic="a-topic-with-a-name",
    worst_partition=117,
    worst_leader=2,
    records_lost=1_204,
    partitions_uncommitted=2,
)


@pytest.mark.parametrize(
    ("status", "worst", "columns", "expected"),
    [
        ("OK", None, {}, "OK"),
        ("OK", None, {"status_reason": "pausing"}, "OK pausing"),
        ("WARN", "slow", {"status_reason": "slow"}, "WARN too slow"),
        ("ERR", "stalled", {}, "ERR stalled"),
        ("ERR", "stopped", {"status_reason": "inactive"}, "ERR stopped, inactive"),
        ("ERR", None, {"status_reason": "records_lost", "records_lost": 9}, "ERR records lost"),
        ("ERR", "stopped", {"status_reason": "records_lost", "records_lost": 9}, "ERR stopped"),
        ("ERR", "beyond_end", {"status_reason": "beyond_end"}, "ERR beyond the end"),
        (None, None, {}, "?"),
        (None, "no_member", {"status_reason": "no_member"}, "? no member"),
        (None, None, {"last_status": "OK", "unread_reason": "timeout"}, "OK? not read: timed out"),
        (
            *(None, "stopped", {"last_status": "ERR", "unread_reason": "timeout"}),
            "ERR? not read: timed out",
        ),
        (None, None, {"last_status": "ERR", "status_reason": "gone"}, "ERR? group deleted"),
    ],
)
def test_the_status_says_what_it_stands_for(
    status: str | None, worst: str | None, columns: dict[str, Any], expected: str
) -> None:
    assert said("status", worst_status=worst, status=status, **columns) == expected


@pytest.mark.parametrize(
    ("status", "colour"), [("OK", "green"), ("WARN", "yellow"), ("ERR", "red"), (None, "dim")]
)
def test_the_status_has_a_colour(status: str | None, colour: str) -> None:
    result = cell("status", status=status)
    assert {str(span.style) for span in result.spans} == {colour}


@pytest.mark.parametrize(
    ("seconds", "error", "expected"),
    [
        (0.0, 0.0, "0"),
        (7_800.0, 1.1, "2 h 10 min ± 1.1 s"),
        (7_800.0, 1.0, "2 h 10 min"),
        (60.0, 1.0, "1 min"),
        (59.0, 1.0, "59 s ± 1 s"),
        (7_800.0, 0.0, "2 h 10 min"),
        (3.0, 0.01, "3 s ± 0.1 s"),
        (0.0, 30.0, "0 s ± 30 s"),
        (3 * 3_600.0 + 59, None, "≥ 3 h"),
        (0.0, None, "?"),
        (None, None, "?"),
    ],
)
def test_a_time_lag_has_its_error(
    seconds: float | None, error: float | None, expected: str
) -> None:
    assert said("time lag", time_lag_seconds=seconds, time_lag_error_seconds=error) == expected


@pytest.mark.parametrize(
    ("seconds", "expected", "style"),
    [
        (contract.NO_LOSS_SECONDS, "", ""),
        (25 * 3_600.0, "in 25 h", ""),
        (3 * 3_600.0 + 1, "in 3 h", "bold red"),
        (0.4, "now", "bold red"),
        (None, "?", "dim"),
    ],
)
def test_a_loss_within_the_horizon_stands_out(
    seconds: float | None, expected: str, style: str
) -> None:
    loss = cell("to loss", seconds_until_loss=seconds)
    assert (loss.plain, str(loss.style)) == (expected, style)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("Stable", "Stable"),
        ("PreparingRebalance", "Rebalancing"),
        ("Reconciling", "Rebalancing"),
        (None, "?"),
    ],
)
def test_every_step_of_a_rebalance_has_one_word(state: str | None, expected: str) -> None:
    assert said("state", group_state=state) == expected


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"partitions_unknown": 1}, "1 of 3 unread"),
        ({"partitions_uncommitted": 2, "records_lost": 4}, "2 of 3 uncommitted"),
        ({"unusual": True}, "unusual at this hour"),
        ({"unusual": False, "rebalancing_share": 0.59}, ""),
        ({"rebalancing_share": 0.6}, "rebalancing all the time"),
        (
            {
                "held_up_records": 1_200,
                "open_transaction_topic": "t\x1b",
                "open_transaction_partition": 3,
            },
            "1,200 held up by a transaction in t\\x1b-3",
        ),
        ({"group_type": "share", "partitions": 0}, "share group: no lag"),
        ({"partitions": 0}, "no partition that is read"),
        ({}, ""),
    ],
    ids=str,
)
def test_what_the_numbers_leave_out_is_remarked(columns: dict[str, Any], expected: str) -> None:
    assert said("remarks", **columns) == expected


def test_a_zero_beside_uncounted_records_is_no_green_zero() -> None:
    assert str(cell("lag", lag=0).style) == "green"
    assert str(cell("lag", lag=0, partitions_uncommitted=1).style) == "bold"


@pytest.mark.parametrize(
    "column", ["lag", "time lag", "to loss", "state", "members", "status"], ids=str
)
def test_nothing_known_is_a_question_mark(column: str) -> None:
    row = {**ABSENT, "consumer_group": "g", "worst_status": None}
    assert cells(row, DAY)[column].plain == "?"


@pytest.mark.parametrize(
    ("name", "seen"),
    [("[red]x[/]", "[red]x[/]"), ("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\nb", "a\\nb"), ("", "''")],
)
def test_a_strangers_name_is_shown_and_does_nothing(name: str, seen: str) -> None:
    (line,) = lines_of(a_snapshot_of(a_group(name)))
    assert line.startswith(f"{seen} ")


def test_a_loss_has_its_number_and_hides_not_that_nobody_reads() -> None:
    bad = {"status": "ERR", "status_reason": "records_lost", "records_lost": 383_938}
    (line,) = lines_of(a_snapshot_of(a_group("g", **bad, worst_status="stopped")), 80)
    assert "ERR stopped" in line
    assert "383,938 lost" in line


@pytest.mark.parametrize(
    ("seconds", "promised", "expected", "style"),
    [
        (60.0, 60.0, "100%", ""),
        (60.1, 60.0, "101%", "bold red"),
        (900.0, 60.0, "1,500%", "bold red"),
        (0.0, 60.0, "0%", ""),
        (None, 60.0, "?", "dim"),
        (900.0, None, "", ""),
    ],
)
def test_a_promise_shows_how_much_of_it_is_used(
    seconds: float | None, promised: float | None, expected: str, style: str
) -> None:
    used = cell("sla", time_lag_seconds=seconds, sla_seconds=promised)
    assert (used.plain, str(used.style)) == (expected, style)


def test_promises_have_a_column_where_there_are_any() -> None:
    promised = a_group("g", sla_seconds=60.0)
    heads = [
        [str(column.header) for column in groups_table(a_snapshot_of(*groups), 80).columns]
        for groups in ([promised, a_group("h")], [a_group("h")])
    ]
    assert ["sla" in head for head in heads] == [True, False]


def test_groups_can_be_sorted_by_how_much_of_their_promise_is_used() -> None:
    groups = a_snapshot_of(
        a_group("a", sla_seconds=300.0, time_lag_seconds=90.0),
        a_group("b", sla_seconds=60.0, time_lag_seconds=80.0),
        a_group("c", time_lag_seconds=900.0),
    )
    table = groups_table(groups, 200, selection=Selection(sort="sla"))
    assert [str(name) for name in table.columns[0].cells] == ["b", "a", "c"]


def test_the_worst_status_comes_first_then_the_age_then_the_lag() -> None:
    groups = a_snapshot_of(
        a_group("well", time_lag_seconds=900.0, lag=9),
        a_group("unread", status=None, last_status="OK", unread_reason="timeout"),
        a_group("young", status="ERR", time_lag_seconds=5.0, lag=99),
        a_group("few", status="WARN", time_lag_seconds=60.0, lag=7),
        a_group("many", status="WARN", time_lag_seconds=60.0, lag=8),
        a_group("last-seen-sick", status=None, last_status="ERR", time_lag_seconds=None, lag=None),
        a_group("old", status="ERR", time_lag_seconds=50.0, lag=1),
    )
    names = [line.split()[0] for line in lines_of(groups)]
    assert names == ["old", "young", "last-seen-sick", "many", "few", "unread", "well"]


def test_a_loss_comes_before_any_age_and_the_nearest_of_those_to_come_before_a_far_one() -> None:
    bad = {"status": "ERR", "lag": 1}
    groups = a_snapshot_of(
        a_group("stopped", **bad, time_lag_seconds=2_100.0),
        a_group("in-a-day", **bad, time_lag_seconds=9_000.0, seconds_until_loss=80_000.0),
        a_group("in-an-hour", **bad, time_lag_seconds=60.0, seconds_until_loss=3_600.0),
        a_group("not-known", **bad, time_lag_seconds=2_000.0) | {"seconds_until_loss": None},
        a_group("losing", **bad, time_lag_seconds=6.0, seconds_until_loss=0.0, records_lost=44),
        a_group("warned", status="WARN", lag=1, seconds_until_loss=60.0),
    )
    names = [line.split()[0] for line in lines_of(groups)]
    assert names == ["losing", "in-an-hour", "in-a-day", "stopped", "not-known", "warned"]


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (80, HEAD),
        (90, [*HEAD, "remarks"]),
        (100, [*HEAD, "members", "remarks"]),
        (110, [*HEAD, "members", "state", "broker", "remarks"]),
        (120, [*HEAD, "members", "state", "worst partition", "remarks"]),
        (140, [*HEAD, "members", "state", "worst partition", "broker", "remarks"]),
    ],
)
def test_what_matters_most_has_room_first(width: int, columns: list[str]) -> None:
    table = groups_table(a_snapshot_of(LONG), width)
    assert [str(column.header) for column in table.columns] == columns


@pytest.mark.parametrize("width", [40, 60, 80, 90, 100, 110, 120, 140, 200])
def test_each_group_has_one_line_however_narrow_the_terminal(width: int) -> None:
    endless = {**LONG, "consumer_group": "g" * 249, "worst_topic": "t" * 249}
    text = text_of(a_snapshot_of(endless, LONG), width)
    assert len(lines_of(a_snapshot_of(endless, LONG), width)) == 2
    assert text.count("no room here") == (width < 140)
    assert max(len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("width", [72, 80, 100, 120])
def test_numbers_and_status_are_whole_on_usual_terminals(width: int) -> None:
    (line,) = lines_of(a_snapshot_of(LONG), width)
    for result in ("ERR records lost", "1,234,567", "2 h 10 min ± 30 s", "1,204 lost"):
        assert result in line


@pytest.mark.parametrize("width", [72, 80, 90, 100, 110])
def test_what_was_lost_is_never_cut(width: int) -> None:
    losing = {**LONG, "records_lost": 91_065_383, "partitions_unknown": 1}
    (line,) = lines_of(a_snapshot_of(losing), width)
    assert "91,065,383 lost" in line


def test_columns_that_have_no_room_are_named() -> None:
    said = "no room here, but in --output csv: members, state, worst partition, bro"
    assert said in text_of(a_snapshot_of(LONG), 80)
    assert "no room" not in text_of(a_snapshot_of(LONG), 160)


def test_gaps_are_narrowed_before_a_column_is_left_out() -> None:
    groups = a_snapshot_of({**LONG, "partitions_uncommitted": 0})
    wide, narrow = (lines_of(groups, width)[0] for width in (160, 120))
    assert "2 h 10 min ± 30 s  1,204 lost" in wide
    assert "2 h 10 min ± 30 s 1,204 lost" in narrow


def test_a_long_topic_keeps_its_beginning_and_the_partition() -> None:
    (line,) = lines_of(a_snapshot_of(LONG), 120)
    assert "a-topi…me-117" in line


@pytest.mark.parametrize("width", range(60, 140))
def test_no_broker_takes_the_room_of_the_members(width: int) -> None:
    heads = [str(column.header) for column in groups_table(a_snapshot_of(LONG), width).columns]
    assert "members" in heads or "broker" not in heads


def test_a_long_group_keeps_its_beginning_and_its_end() -> None:
    name = "payments-" + "x" * 60 + "-blue"
    (line,) = lines_of(a_snapshot_of({**LONG, "consumer_group": name}), 120)
    shown = line.split()[0]
    assert shown.startswith("payments-")
    assert shown.endswith("-blue")
    assert "…" in shown


def test_a_column_that_says_nothing_gives_way_to_one_that_does() -> None:
    without_remarks = {**LONG, "records_lost": 0, "partitions_uncommitted": 0}
    table = groups_table(a_snapshot_of(without_remarks), 100)
    assert "remarks" not in [column.header for column in table.columns]
    assert "members" in [column.header for column in table.columns]


@pytest.mark.parametrize("width", [80, 90, 100, 120])
def test_a_rebalance_changes_no_columns(width: int) -> None:
    stable, rebalancing = (
        groups_table(a_snapshot_of({**LONG, "group_state": state}), width)
        for state in ("Stable", "PreparingRebalance")
    )
    assert [c.header for c in stable.columns] == [c.header for c in rebalancing.columns]


def test_without_colours_the_text_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = StringIO()
    terminal = Console(file=out, width=120, force_terminal=True, color_system="standard")
    terminal.print(groups_table(a_snapshot_of(LONG)))
    assert "ERR records lost" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()


def test_the_horizon_decides_what_stands_out() -> None:
    def shown(horizon: float) -> str:
        out = StringIO()
        terminal = Console(file=out, width=120, force_terminal=True, color_system="standard")
        near = {**LONG, "records_lost": 0}
        terminal.print(groups_table(a_snapshot_of(near), 120, horizon))
        return out.getvalue()

    assert "\x1b[1;31min 119 min" in shown(7_200)
    assert "\x1b[1;31min 119 min" not in shown(7_100)


def test_no_groups_are_said_to_be_none() -> None:
    said = text_of(a_snapshot_of(), has_filters=True)
    assert "no consumer group that the filters allow" in said


def test_without_filters_it_is_the_cluster_that_lists_no_group() -> None:
    assert "the cluster lists no groups" in text_of(a_snapshot_of())


def test_a_group_that_cannot_be_judged_yet_is_explained() -> None:
    unsure, well = a_group("new", status=None, lag=5), a_group("old", status="OK", lag=5)
    assert "a status takes two runs" in text_of(a_snapshot_of(unsure, well))
    assert "a status takes two runs" not in text_of(a_snapshot_of(well))


@pytest.mark.parametrize(
    ("selection", "caption"),
    [
        (Selection(), None),
        (Selection(top=1), "and 2 more"),
        (Selection(top=1, owner="us"), "and 1 more"),
        (Selection(owner="nobody"), "none of 3 groups is like that"),
    ],
)
def test_what_is_not_shown_is_counted(selection: Selection, caption: str | None) -> None:
    groups = (a_group("a"), a_group("b", owner="us"), a_group("c", owner="us"))
    table = groups_table(a_snapshot_of(*groups), selection=selection)
    assert table.caption is None if caption is None else str(table.caption) == caption


def test_who_reads_the_table_can_remark_on_a_group() -> None:
    remark = {"a": "idle 7 s"}
    first, second = (
        cells({**ABSENT, **a_group(name, partitions_unknown=1)}, DAY, said)
        for name, said in (("a", remark["a"]), ("b", None))
    )
    assert (first["remarks"].plain, second["remarks"].plain) == (
        "1 of 3 unread, idle 7 s",
        "1 of 3 unread",
    )
    assert "idle 7 s" in text_of(a_snapshot_of(a_group("a"), a_group("b")), remarks=remark)
