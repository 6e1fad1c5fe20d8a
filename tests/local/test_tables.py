# SPDX-License-Identifier: Apache-2.0
"""The table of groups on a terminal: unknown is a question mark, names act on nothing."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from functions import contract
from functions.lag.columns import Words
from functions.lag.frame import Frame
from local.tables import groups_table
from tests.builders import NOON, Groups, Topics, a_snapshot


def shown(groups: Frame, width: int = 120) -> str:
    out = StringIO()
    Console(file=out, width=width).print(groups_table(groups, NOON, width))
    return out.getvalue()


def lines(groups: Groups, topics: Topics) -> list[str]:
    text = shown(a_snapshot(groups, topics).groups)
    return [line for line in text.splitlines() if line.strip()][3:]


def test_the_most_lag_comes_first() -> None:
    groups: Any = {"a": {"t": [9]}, "b": {"t": [1]}, "c": {"t": [5]}}
    assert [line.split()[0] for line in lines(groups, {"t": [(0, 10)]})] == ["b", "c", "a"]


def test_a_group_with_an_unknown_part_shows_question_marks_and_says_why() -> None:
    (line,) = lines({"g": {"t": [5, 7]}}, {"t": [(0, 10), contract.NO_LEADER]})
    assert line.split()[:4] == ["g", "Stable", "1", "?"]
    assert "1 of 2 unread" in line


def test_records_lost_and_partitions_without_a_commit_are_remarked() -> None:
    (line,) = lines({"g": {"t": [1, None]}}, {"t": [(5, 10), (0, 3)]})
    assert "1 of 2 uncommitted" in line
    assert "4 lost" in line


def test_a_zero_beside_uncounted_records_is_no_green_zero() -> None:
    groups = a_snapshot({"g": {"t": [None, 0]}}, {"t": [(0, 9), (0, 0)]}).groups
    out = StringIO()
    Console(file=out, width=120, force_terminal=True).print(groups_table(groups, NOON))
    assert "\x1b[32m0" not in out.getvalue()


def test_each_group_has_one_line_however_narrow_the_terminal() -> None:
    name = "a-group-with-a-long-name-" * 9
    groups = a_snapshot({name: {"t" * 200: [1]}}, {"t" * 200: [(0, 1_000_000)]}).groups
    text = [line for line in shown(groups, width=80).splitlines() if line.strip()]
    assert len(text) == 4
    assert all(len(line) <= 80 for line in text)
    assert "999,999" in text[-1]


def test_a_share_group_says_that_it_has_no_lag() -> None:
    groups = a_snapshot({"g": {}}, {}).groups
    text = shown(groups.with_columns(group_type=Words.constant("share", len(groups))))
    assert "share group: no lag" in text


@pytest.mark.parametrize(
    ("name", "seen"),
    [("[red]x[/]", "[red]x[/]"), ("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\nb", "a\\nb"), ("", "''")],
)
def test_a_strangers_name_is_shown_and_does_nothing(name: str, seen: str) -> None:
    (line,) = lines({name: {"t": [9]}}, {"t": [(0, 10)]})
    assert line.strip().startswith(seen)


def test_no_groups_are_said_to_be_none() -> None:
    assert "no consumer group that the filters allow" in shown(Frame.empty(contract.GROUPS))
