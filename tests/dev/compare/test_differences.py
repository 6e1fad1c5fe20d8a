# SPDX-License-Identifier: Apache-2.0
"""A planted difference in each kind of answer is found, and what means the same is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dev.compare.differences import Difference, differences
from dev.compare.outputs import Outputs

METRIC = {"value": 4, "Unit": "Count"}
ROW = {"lag": 1.0, "members": None}
ANSWER = {"status": 200, "body": '{"a": [1, 2]}'}
TEMPLATE = {"Properties": {"MemorySize": 512, "Input": '{"a": 1}'}}


def found(folder: Path, kind: str, old: Any, new: Any) -> list[Difference]:
    """What differs where two commits make these of one place; None: nothing."""
    for side, value in (("old", old), ("new", new)):
        (folder / side).mkdir()
        outputs = Outputs([kind], folder / side)
        if value is not None:
            outputs.save(kind, "what", "where", value)
        outputs.write()
    return list(differences(folder / "old", folder / "new"))


@pytest.mark.parametrize(
    ("kind", "old", "new", "name"),
    [
        ("emf", {"Lag": METRIC}, {"Lag": METRIC | {"value": 5}}, ".Lag.value"),
        ("emf", {"Lag": METRIC}, {"Lag": METRIC | {"value": 4.0}}, ".Lag.value"),
        ("emf", {"Lag": METRIC}, {"Lag": METRIC | {"Unit": "Seconds"}}, ".Lag.Unit"),
        ("emf", {"Lag": METRIC}, {}, ".Lag"),
        ("parquet", ROW, ROW | {"members": 0}, ".members"),
        ("parquet", ROW, None, ""),
        ("parquet", {"order": ["a", "b"]}, {"order": ["b", "a"]}, ".order"),
        ("parquet", {"order": ["a"]}, {"order": ["a", "b"]}, ".order"),
        ("http", ANSWER, ANSWER | {"status": 404}, ".status"),
        ("http", ANSWER, ANSWER | {"body": '{"a": [1, 3]}'}, ".body.a"),
        ("http", ANSWER | {"body": "a 1\nb 2\n"}, ANSWER | {"body": "a 1\nb 3\n"}, ".body"),
        ("messages", {"Subject": "1"}, {"Subject": 1}, ".Subject"),
        ("templates", TEMPLATE, {"Properties": {"Input": '{"a": 1}'}}, ".Properties.MemorySize"),
        ("templates", {"Input": '{"a": 1}'}, {"Input": '{"a": true}'}, ".Input.a"),
    ],
)
def test_a_planted_difference_is_found(
    tmp_path: Path, kind: str, old: Any, new: Any, name: str
) -> None:
    assert {each.name for each in found(tmp_path, kind, old, new)} == {f"{kind}: what{name}"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        ({"body": '{"a": 1, "b": 2}'}, {"body": '{"b":2,"a":1}'}),
        ({"lag": float("nan")}, {"lag": float("nan")}),
    ],
)
def test_order_and_spaces_are_no_difference(tmp_path: Path, old: Any, new: Any) -> None:
    assert found(tmp_path, "http", old, new) == []
