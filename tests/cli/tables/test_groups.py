# SPDX-License-Identifier: Apache-2.0
"""The order of the groups, and what a narrow terminal shows of them."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from kafka_lag.cli.tables import groups_table
from tests.cli.tables.shown import a_group, a_snapshot_of, lines_of, text_of

HEAD = ["group", "status", "lag", "time lag", "to loss"]
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


def test_the_worst_status_comes_first_then_the_age_then_the_lag() -> None:
    groups = a_snapshot_of(
        a_group("well", time_lag_seconds=900.0, lag=9),
        a_group("unread", status=None, last_status="OK"),
        a_group("young", status="ERR", time_lag_seconds=5.0, lag=99),
        a_group("few", status="WARN", time_lag_seconds=60.0, lag=7),
        a_group("many", status="WARN", time_lag_seconds=60.0, lag=8),
        a_group("last-seen-sick", status=None, last_status="ERR", time_lag_seconds=None, lag=None),
        a_group("old", status="ERR", time_lag_seconds=50.0, lag=1),
    )
    names = [line.split()[0] for line in lines_of(groups)]
    assert names == ["old", "young", "last-seen-sick", "many", "few", "unread", "well"]


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (80, HEAD),
        (90, [*HEAD, "state"]),
        (100, [*HEAD, "state", "remarks"]),
        (110, [*HEAD, "worst partition", "remarks"]),
        (120, [*HEAD, "state", "worst partition", "remarks"]),
        (140, [*HEAD, "state", "members", "worst partition", "broker", "remarks"]),
    ],
)
def test_what_matters_most_has_room_first(width: int, columns: list[str]) -> None:
    table = groups_table(a_snapshot_of(LONG), width)
    assert [str(column.header) for column in table.columns] == columns


@pytest.mark.parametrize("width", [40, 60, 80, 90, 100, 110, 120, 140, 200])
def test_each_group_has_one_line_however_narrow_the_terminal(width: int) -> None:
    endless = {**LONG, "consumer_group": "g" * 249, "worst_topic": "t" * 249}
    text = [line for line in text_of(a_snapshot_of(endless, LONG), width).splitlines() if line]
    assert len([line for line in text if line.strip()]) == 5
    assert max(len(line) for line in text) <= width


@pytest.mark.parametrize("width", [72, 80, 100, 120])
def test_numbers_and_status_are_whole_on_usual_terminals(width: int) -> None:
    (line,) = lines_of(a_snapshot_of(LONG), width)
    for told in ("ERR records_lost", "1,234,567", "2 h 10 min ± 30 s", "in 119 min"):
        assert told in line


def test_a_long_topic_loses_its_beginning_and_not_the_partition() -> None:
    (line,) = lines_of(a_snapshot_of(LONG), 110)
    assert "…" in line
    assert "-name-117" in line


def test_a_column_that_says_nothing_gives_way_to_one_that_does() -> None:
    silent = {**LONG, "records_lost": 0, "partitions_uncommitted": 0}
    table = groups_table(a_snapshot_of(silent), 100)
    assert "remarks" not in [column.header for column in table.columns]
    assert "worst partition" in [column.header for column in table.columns]


@pytest.mark.parametrize("width", [80, 90, 100, 120])
def test_a_rebalance_changes_no_columns(width: int) -> None:
    stable, rebalancing = (
        groups_table(a_snapshot_of({**LONG, "group_state": state}), width)
        for state in ("Stable", "PreparingRebalance")
    )
    assert [c.header for c in stable.columns] == [c.header for c in rebalancing.columns]


def test_without_colours_the_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = StringIO()
    terminal = Console(file=out, width=120, force_terminal=True, color_system="standard")
    terminal.print(groups_table(a_snapshot_of(LONG)))
    assert "ERR records_lost" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()


def test_the_horizon_decides_what_stands_out() -> None:
    def shown(horizon: float) -> str:
        out = StringIO()
        terminal = Console(file=out, width=120, force_terminal=True, color_system="standard")
        terminal.print(groups_table(a_snapshot_of(LONG), 120, horizon))
        return out.getvalue()

    assert "\x1b[1;31min 119 min" in shown(7_200)
    assert "\x1b[1;31min 119 min" not in shown(7_100)


def test_no_groups_are_said_to_be_none() -> None:
    assert "no consumer group that the filters allow" in text_of(a_snapshot_of())


def test_a_group_that_cannot_be_judged_yet_is_explained() -> None:
    unsure, well = a_group("new", status=None, lag=5), a_group("old", status="OK", lag=5)
    assert "a status takes two runs" in text_of(a_snapshot_of(unsure, well))
    assert "a status takes two runs" not in text_of(a_snapshot_of(well))
