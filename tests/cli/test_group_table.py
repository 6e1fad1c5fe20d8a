# SPDX-License-Identifier: Apache-2.0
"""The table of groups on a terminal: its cells, its order, and its width."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag_cli.terminal.group_rows import Selection
from kafka_lag_cli.terminal.group_table import cells, groups_table
from tests.cli.snapshots import ABSENT, a_group, a_snapshot_of
from tests.golden import Golden

HOUR, DAY = 3_600.0, 86_400.0
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
UNREAD = {"status": None, "unread_reason": "timeout", "lag": None, "time_lag_seconds": None}
TRANSACTION: dict[str, Any] = {
    "held_up_records": 1_200,
    "open_transaction_topic": "t\x1b",
    "open_transaction_partition": 3,
}
# Each thing that a cell can say, once.
SHOP = a_snapshot_of(
    LONG,
    a_group("well"),
    a_group("pauses", status_reason="pausing", sla_seconds=60.0, time_lag_seconds=60.0),
    a_group("slow", status="WARN", status_reason="slow", worst_status="slow", lag=7)
    | {"sla_seconds": 60.0, "time_lag_seconds": 60.1},
    a_group("late", sla_seconds=60.0, time_lag_seconds=471.0, held_sla_broken_since=1)
    | {"trend": "growing"},
    a_group("steady", lag=7, trend="steady"),
    a_group("shrinks", lag=7, trend="shrinking"),
    a_group("stalls", status="ERR", worst_status="stalled", lag=9, time_lag_seconds=59.0)
    | {"time_lag_error_seconds": 1.0, "seconds_until_loss": 25 * HOUR},
    a_group("stopped", status="ERR", worst_status="stopped", status_reason="inactive", lag=9)
    | {"time_lag_seconds": 7_800.0, "time_lag_error_seconds": 1.1, "seconds_until_loss": 0.4},
    a_group("stops-and-loses", status="ERR", worst_status="stopped", records_lost=383_938)
    | {"status_reason": "records_lost"},
    a_group("beyond", status="ERR", status_reason="beyond_end", worst_status="beyond_end"),
    a_group("at-least", status="OK", lag=3, time_lag_seconds=3 * HOUR + 59)
    | {"time_lag_error_seconds": None},
    a_group("at-least-0", lag=3, time_lag_error_seconds=None),
    a_group("roughly-0", lag=3, time_lag_error_seconds=30.0),
    a_group("precise", lag=3, time_lag_seconds=3.0, time_lag_error_seconds=0.01),
    a_group("exact", lag=3, time_lag_seconds=60.0, time_lag_error_seconds=1.0),
    a_group("new", status=None, lag=5, time_lag_seconds=None, seconds_until_loss=None),
    a_group("nobody", status=None, worst_status="no_member", status_reason="no_member", members=0),
    a_group("unread", **UNREAD, last_status="OK", sla_seconds=60.0),
    a_group("unread-ill", **UNREAD, worst_status="stopped") | {"last_status": "ERR"},
    a_group("deleted", status=None, status_reason="gone", lag=None) | {"last_status": "ERR"},
    a_group("unknown", group_state=None, members=None, lag=None, status=None),
    a_group("joins", group_state="PreparingRebalance", rebalancing_share=0.59),
    a_group("assigns", group_state="Reconciling", rebalancing_share=0.6),
    a_group("part", partitions_unknown=1, unusual=True),
    a_group("uncommitted", partitions_uncommitted=2, unusual=False),
    a_group("held-up", **TRANSACTION),
    a_group("skips", skip_reason="gone", records_skipped=40),
    a_group("share", group_type="share", partitions=0, status=None, lag=None),
    a_group("reads-nothing", partitions=0),
    a_group("evil\x1b[31m\n[red]x[/]", owner="us", group_state="s\x1b"),
    a_group(""),
)


def text_of(snapshot: Snapshot, width: int = 160, **more: Any) -> str:
    out = StringIO()
    Console(file=out, width=width).print(groups_table(snapshot, width, **more))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def lines_of(snapshot: Snapshot, width: int = 160) -> list[str]:
    """The lines of the groups without title and heading."""
    return [line.strip() for line in text_of(snapshot, width).splitlines() if line.strip()][3:]


def test_groups_are_shown_with_all_that_is_known_of_them(golden: Golden) -> None:
    few = a_snapshot_of(a_group("a"), a_group("b", owner="us"), a_group("c", owner="us"))
    golden.holds_cases(
        "show-groups.txt",
        {
            "every cell, 200 columns": text_of(SHOP, 200, wide=True),
            "100 columns, a group that is idle": text_of(
                a_snapshot_of(LONG, a_group("well")), 100, notes={"well": "idle 7 s"}
            ),
            "80 columns": text_of(a_snapshot_of(LONG, a_group("well")), 80),
            "the first one": text_of(few, selection=Selection(top=1, owner="us")),
            "none of these": text_of(few, selection=Selection(owner="nobody")),
        },
    )


@pytest.mark.parametrize(
    ("column", "style", "columns"),
    [
        ("status", "green", {"status": "OK"}),
        ("status", "yellow", {"status": "WARN"}),
        ("status", "yellow", {"status": "OK", "held_sla_broken_since": 1}),
        ("status", "red", {"status": "ERR", "held_sla_broken_since": 1}),
        ("status", "dim", {"status": None}),
        ("lag", "green", {"lag": 0}),
        ("lag", "bold", {"lag": 0, "partitions_uncommitted": 1}),
        ("to loss", "", {"seconds_until_loss": DAY}),
        ("to loss", "bold red", {"seconds_until_loss": DAY - 1}),
        ("to loss", "dim", {"seconds_until_loss": None}),
        ("sla", "", {"time_lag_seconds": 60.0, "sla_seconds": 60.0}),
        ("sla", "bold red", {"time_lag_seconds": 60.1, "sla_seconds": 60.0}),
        ("sla", "dim", {"time_lag_seconds": None, "sla_seconds": 60.0}),
    ],
)
def test_what_needs_somebody_stands_out(column: str, style: str, columns: dict[str, Any]) -> None:
    cell = cells({**ABSENT, **a_group("g", **columns)}, DAY)[column]
    assert style in {str(cell.style), *(str(span.style) for span in cell.spans)}


@pytest.mark.parametrize("width", [72, 80, 90, 100, 120, 200])
def test_however_narrow_each_group_has_one_line_and_its_numbers_are_whole(width: int) -> None:
    endless = {**LONG, "consumer_group": "g" * 249, "worst_topic": "t" * 249}
    losing = {**LONG, "records_lost": 91_065_383, "partitions_unknown": 1}
    snapshot = a_snapshot_of(endless, losing)
    assert len(lines_of(snapshot, width)) == 2
    assert max(map(len, text_of(snapshot, width).splitlines())) <= max(width, 76)
    if width >= 80:
        (line,) = lines_of(a_snapshot_of(losing), width)
        for result in ("ERR records lost", "1,234,567", "2 h 10 min ± 30 s", "91,065,383 lost"):
            assert result in line


def test_the_columns_are_the_same_at_each_width_but_for_remarks_and_wide_ones() -> None:
    def names(width: int, *, wide: bool = False) -> list[str]:
        table = groups_table(a_snapshot_of(LONG), width, wide=wide)
        return [str(column.header) for column in table.columns]

    narrow = ["group", "status", "lag", "time lag", "to loss"]
    assert (names(80), names(100)) == (narrow, [*narrow, "notes"])
    added = ["members", "state", "worst partition", "broker"]
    assert names(1_000, wide=True) == [*narrow, *added, "notes"]


@pytest.mark.parametrize("colours", [True, False])
def test_colours_can_be_left_out(colours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not colours:
        monkeypatch.setenv("NO_COLOR", "1")
    out = StringIO()
    terminal = Console(file=out, width=120, force_terminal=True, color_system="standard")
    terminal.print(groups_table(a_snapshot_of({**LONG, "records_lost": 0}), 120, 7_200))
    assert ("\x1b[1;31min 119 min" in out.getvalue()) is colours
    assert contract.ERR in out.getvalue()
