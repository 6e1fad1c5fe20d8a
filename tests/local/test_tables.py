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
    Console(file=out, width=width).print(groups_table(groups, NOON))
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
    assert "1 of 2 without commit" in line
    assert "4 records lost" in line


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
    assert "no consumer group yet" in shown(Frame.empty(contract.GROUPS))
