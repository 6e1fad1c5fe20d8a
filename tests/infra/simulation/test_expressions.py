# SPDX-License-Identifier: Apache-2.0
"""Metric math at one time."""

from __future__ import annotations

import pytest

from kafka_lag_cdk.simulation.expressions import Expression

VALUES = {"one": 1.0, "two": 2.0, "none": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two", 2),
        ("two + 3 * one - 1", 4),
        ("-two / 4", -0.5),
        ("two / 0", None),
        ("two >= 2", 1),
        ("two > 2", 0),
        ("two != one", 1),
        ("none", None),
        ("one + 0 * none", None),
        ("-none", None),
        ("none > 1", None),
        ("FILL(none, 7)", 7),
        ("FILL(one, 7)", 1),
        ("FILL(none, -1) < 0", 1),
        ("IF(one, two, 9)", 2),
        ("IF(one > 1, two, 9)", 9),
        ("IF(none, two, 9)", None),
        ("IF(one, two, none)", 2),
        ("IF(one > 1, two, none)", None),
        ("MAX([one, two])", 2),
        ("MIN([one, two, none])", 1),
        ("MAX([none, none])", None),
    ],
)
def test_an_expression_has_the_value_that_the_guide_gives_it(
    text: str, expected: float | None
) -> None:
    assert Expression(text).value(VALUES) == expected


def test_a_metric_that_fill_cannot_see_stays_without_a_value() -> None:
    assert Expression("FILL(none, 7)").value(VALUES, frozenset({"none"})) is None


def test_its_metrics_are_those_that_it_names() -> None:
    assert set(Expression("IF(FILL(one, 0) > 1, MAX([two]), 3)").names()) == {"one", "two"}


@pytest.mark.parametrize(
    "text", ["RATE(one)", "one ^ 2", "FILL(none, REPEAT)", "one AND two", "three", "MAX(one)", "(("]
)
def test_what_is_not_modelled_is_an_error_that_names_the_expression(text: str) -> None:
    with pytest.raises(ValueError, match="not modelled: "):
        Expression(text).value(VALUES)
