# SPDX-License-Identifier: Apache-2.0
"""Dollars of a configuration: sums that add up, in a table within 100 columns, as in the README."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kafka_lag_cli.command import main
from kafka_lag_cli.cost import format_units, format_usd, print_cost
from kafka_lag_config.cost.cost import Cost, compare_ways, cost_of, sum_usd
from kafka_lag_config.cost.usage import Part
from kafka_lag_config.reading import read
from tests.infra.configured import cluster_json, moved
from tests.infra.cost.documents import NOTIFY, PRICES, cost


def us(name: str, **changes: Any) -> dict[str, Any]:
    return moved(cluster_json(name=name, **changes), "us-east-1")


def test_the_records_have_every_line_rounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clusters = [cluster_json(levels={"topics": True}), us("us")]
    file = tmp_path / "lag.json"
    file.write_text(json.dumps({"clusters": clusters, "shared": {"notify": NOTIFY}}))
    found = cost(*clusters)
    assert main(["cost", "--config", str(file), "--output", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["lines"]) == len(found.lines)
    assert document["total"] == round(found.usd, 4)
    assert document["total"] == pytest.approx(sum(each["usd"] for each in document["lines"]), 1e-4)
    assert document["warnings"] == list(found.warnings)
    (topics,) = [
        each
        for each in document["lines"]
        if "topics" in each["part"] and each["region"] == "eu-west-1"
    ]
    assert topics == {
        "account": "111122223333",
        "region": "eu-west-1",
        "cluster": "orders",
        "part": "metrics of topics and partitions",
        "most": "120 metrics",
        "usd": 36.0,
        "lever": "levels",
    }


WIDTH = 100


def printed(found: Cost) -> str:
    screen = io.StringIO()
    print_cost(found, Console(file=screen, width=WIDTH))
    return screen.getvalue()


def twenty() -> Cost:
    made: list[dict[str, Any]] = []
    for number in range(20):
        one = cluster_json(name=f"orders-production-{number:02}", auth={"type": "iam"})
        made.append(moved(one, ("eu-west-1", "us-east-1")[number % 2]))
    return cost(*made)


@pytest.mark.parametrize("found", [cost(), twenty()], ids=["one", "twenty"])
def test_no_line_is_longer_than_a_hundred_columns(found: Cost) -> None:
    assert max(map(len, printed(found).splitlines())) <= WIDTH


def test_twenty_clusters_are_a_row_each() -> None:
    text = printed(twenty())
    rows = [line for line in text.splitlines() if line.lstrip().startswith("orders-production-")]
    assert len(rows) == 20
    assert "metrics of groups" not in text
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
        (0.123456, "GB", "0.123 GB"),
        (99.96, "hour", "100 hours"),
        (4321.9, "hour", "4,322 hours"),
    ],
)
def test_quantities_have_the_digits_that_matter(units: float, unit: str, text: str) -> None:
    assert format_units(units, unit) == text


ROOT = Path(__file__).parents[3]


def test_the_readme_has_the_cost_of_its_first_example() -> None:
    text = (ROOT / "README.md").read_text().split("## What it costs")[1]
    in_readme = {int(number) for number in re.findall(r"\$(\d+)", text)}
    example = read("examples/one-scram-cluster.json", ROOT)
    cost = cost_of(example, PRICES)
    own = [line for line in cost.lines if line.cluster]
    metrics = sum_usd(x for x in own if x.part in (Part.GROUPS, Part.DETAILS))
    alarms = sum_usd(x for x in own if x.part in (Part.ALARMS, Part.REST))
    runs = sum_usd(own) - metrics - alarms
    groups, topics, partitions = compare_ways(example, PRICES)
    by_otlp = (groups[2], partitions[2])
    assert by_otlp[0] <= 28
    assert by_otlp[1] <= 30
    computed = (cost.usd, metrics, alarms, runs, cost.usd - sum_usd(own), topics[1], *by_otlp)
    assert {round(each) for each in computed} <= in_readme
