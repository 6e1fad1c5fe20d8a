# SPDX-License-Identifier: Apache-2.0
"""Values that differ have other lines, and those that mean the same have the same lines."""

from __future__ import annotations

from typing import Any

import pytest

from dev.compare.outputs import lines_of, opened


def lines(value: Any) -> list[str]:
    return list(lines_of(opened(value)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"value": 4}, {"value": 5}),
        ({"value": 4}, {"value": 4.0}),
        ({"value": 4}, {}),
        ({"members": None}, {"members": 0}),
        ({"order": ["a", "b"]}, {"order": ["b", "a"]}),
        ({"body": '{"a": [1, 2]}'}, {"body": '{"a": [1, 3]}'}),
        ({"body": "a 1\nb 2\n"}, {"body": "a 1\nb 3\n"}),
        ({"Subject": "1"}, {"Subject": 1}),
        ({"Input": '{"a": 1}'}, {"Input": '{"a": true}'}),
    ],
)
def test_what_differs_has_another_line(old: Any, new: Any) -> None:
    assert lines(old) != lines(new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        ({"body": '{"a": 1, "b": 2}'}, {"body": '{"b":2,"a":1}'}),
        ({"lag": float("nan")}, {"lag": float("nan")}),
    ],
)
def test_order_and_spaces_are_no_difference(old: Any, new: Any) -> None:
    assert lines(old) == lines(new)
