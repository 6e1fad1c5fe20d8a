# SPDX-License-Identifier: Apache-2.0
"""What people read: all of it within 100 columns, one cluster as well as twenty."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from kafka_lag_cdk.cost.cost import Cost
from kafka_lag_cdk.cost.table import format_units, format_usd, print_cost
from tests.infra.configured import cluster_json, moved
from tests.infra.cost.documents import cost

WIDTH = 100


def printed(found: Cost, *, every_line: bool = False) -> str:
    screen = io.StringIO()
    print_cost(found, Console(file=screen, width=WIDTH), every_line=every_line)
    return screen.getvalue()


def twenty() -> Cost:
    made: list[dict[str, Any]] = []
    for number in range(20):
        one = cluster_json(name=f"orders-production-{number:02}", auth={"type": "iam"})
        made.append(moved(one, ("eu-west-1", "us-east-1")[number % 2]))
    return cost(*made)


@pytest.mark.parametrize("every_line", [False, True], ids=["rows", "lines"])
@pytest.mark.parametrize("found", [cost(), twenty()], ids=["one", "twenty"])
def test_no_line_is_longer_than_a_hundred_columns(found: Cost, every_line: bool) -> None:
    lines = printed(found, every_line=every_line).splitlines()
    assert max(map(len, lines)) <= WIDTH


def test_twenty_clusters_are_a_row_each() -> None:
    text = printed(twenty())
    rows = [line for line in text.splitlines() if line.lstrip().startswith("orders-production-")]
    assert len(rows) == 20
    assert "reporter's own" not in text
    assert text.count("shared ") == 2
    assert "All regions: $" in text


@pytest.mark.parametrize(
    ("usd", "text"), [(0, "0.00"), (0.004, "<0.01"), (0.005, "0.01"), (1234.5, "1,234.50")]
)
def test_dollars_have_cents(usd: float, text: str) -> None:
    assert format_usd(usd) == text


@pytest.mark.parametrize(
    ("units", "unit", "text"),
    [
        (0, "metric", "0 metrics"),
        (1, "metric", "1 metric"),
        (2, "GB", "2 GB"),
        (0.123456, "TB", "0.123 TB"),
        (99.96, "hour", "100 hours"),
        (4321.9, "hour", "4,322 hours"),
    ],
)
def test_quantities_have_the_digits_that_matter(units: float, unit: str, text: str) -> None:
    assert format_units(units, unit) == text
