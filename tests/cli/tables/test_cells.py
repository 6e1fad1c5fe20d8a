# SPDX-License-Identifier: Apache-2.0
"""What each cell says: unknown is a question mark, names act on nothing."""

from __future__ import annotations

from typing import Any

import pytest
from rich.text import Text

from kafka_lag import contract
from kafka_lag.cli.tables.cells import cells
from tests.cli.tables.shown import a_group, a_partition, a_snapshot_of, lines_of, text_of

DAY = 86_400.0
_ABSENT = dict.fromkeys(contract.COLUMNS[contract.GROUPS])


def cell(column: str, worst_status: str | None = None, **columns: Any) -> Text:
    return cells({**_ABSENT, **a_group("g", **columns), "worst_status": worst_status}, DAY)[column]


def said(column: str, worst_status: str | None = None, **columns: Any) -> str:
    return cell(column, worst_status, **columns).plain


@pytest.mark.parametrize(
    ("status", "worst", "columns", "told"),
    [
        ("OK", "OK", {}, "OK"),
        ("OK", "OK", {"status_reason": "pausing"}, "OK pausing"),
        ("WARN", "WARN", {"status_reason": "slow"}, "WARN slow"),
        ("ERR", "STALL", {}, "ERR STALL"),
        ("ERR", "STOP", {"status_reason": "inactive"}, "ERR STOP inactive"),
        ("ERR", "ERR", {"status_reason": "records_lost"}, "ERR records_lost"),
        (None, None, {}, "?"),
        (None, None, {"status_reason": "no_member"}, "? no_member"),
        (None, "OK", {"last_status": "OK", "unread_reason": "timeout"}, "OK? timeout"),
        (None, None, {"last_status": "ERR", "status_reason": "gone"}, "ERR? gone"),
    ],
)
def test_the_status_says_what_it_stands_for(
    status: str | None, worst: str | None, columns: dict[str, Any], told: str
) -> None:
    assert said("status", worst_status=worst, status=status, **columns) == told


@pytest.mark.parametrize(
    ("status", "colour"), [("OK", "green"), ("WARN", "yellow"), ("ERR", "red"), (None, "dim")]
)
def test_the_status_has_a_colour(status: str | None, colour: str) -> None:
    told = cell("status", status=status)
    assert {str(span.style) for span in told.spans} == {colour}


@pytest.mark.parametrize(
    ("seconds", "error", "told"),
    [
        (0.0, 0.0, "0"),
        (7_800.0, 1.0, "2 h 10 min ± 1 s"),
        (7_800.0, 0.0, "2 h 10 min"),
        (3.0, 0.01, "3 s ± 0.1 s"),
        (0.0, 30.0, "0 s ± 30 s"),
        (3 * 3_600.0 + 59, None, "≥ 3 h"),
        (0.0, None, "?"),
        (None, None, "?"),
    ],
)
def test_a_time_lag_has_its_error(seconds: float | None, error: float | None, told: str) -> None:
    assert said("time lag", time_lag_seconds=seconds, time_lag_error_seconds=error) == told


@pytest.mark.parametrize(
    ("seconds", "told", "style"),
    [
        (contract.NO_LOSS_SECONDS, "", ""),
        (25 * 3_600.0, "in 25 h", ""),
        (3 * 3_600.0 + 1, "in 3 h", "bold red"),
        (0.4, "now", "bold red"),
        (None, "?", "dim"),
    ],
)
def test_a_loss_within_the_horizon_stands_out(seconds: float | None, told: str, style: str) -> None:
    loss = cell("to loss", seconds_until_loss=seconds)
    assert (loss.plain, str(loss.style)) == (told, style)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("Stable", "Stable"),
        ("PreparingRebalance", "Rebalancing"),
        ("Reconciling", "Rebalancing"),
        (None, "?"),
    ],
)
def test_every_step_of_a_rebalance_has_one_word(state: str | None, told: str) -> None:
    assert said("state", group_state=state) == told


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"records_lost": 1_204}, "1,204 lost"),
        ({"partitions_unknown": 1}, "1 of 3 unread"),
        ({"partitions_uncommitted": 2, "records_lost": 4}, "4 lost, 2 of 3 uncommitted"),
        ({"group_type": "share", "partitions": 0}, "share group: no lag"),
        ({"partitions": 0}, "no commit, owns nothing"),
        ({}, ""),
    ],
    ids=str,
)
def test_what_the_numbers_leave_out_is_remarked(columns: dict[str, Any], told: str) -> None:
    assert said("remarks", **columns) == told


def test_a_zero_beside_uncounted_records_is_no_green_zero() -> None:
    assert str(cell("lag", lag=0).style) == "green"
    assert str(cell("lag", lag=0, partitions_uncommitted=1).style) == "bold"


@pytest.mark.parametrize(
    "column", ["lag", "time lag", "to loss", "state", "members", "status"], ids=str
)
def test_nothing_known_is_a_question_mark(column: str) -> None:
    row = {**_ABSENT, "consumer_group": "g", "worst_status": None}
    assert cells(row, DAY)[column].plain == "?"


@pytest.mark.parametrize(
    ("name", "seen"),
    [("[red]x[/]", "[red]x[/]"), ("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\nb", "a\\nb"), ("", "''")],
)
def test_a_strangers_name_is_shown_and_does_nothing(name: str, seen: str) -> None:
    (line,) = lines_of(a_snapshot_of(a_group(name)))
    assert line.startswith(f"{seen} ")


def test_the_partition_to_blame_says_what_is_wrong_with_the_group() -> None:
    sick = a_group("g", status="ERR", worst_topic="t", worst_partition=7)
    parts = tuple(a_partition("g", "t", n, "STALL" if n == 7 else "OK") for n in range(9))
    assert "ERR STALL" in text_of(a_snapshot_of(sick, blame=parts))
