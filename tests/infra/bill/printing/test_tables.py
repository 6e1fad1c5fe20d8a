# SPDX-License-Identifier: Apache-2.0
"""What people read: all of it within 100 columns, one cluster as well as twenty."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from kafka_lag_cdk.bill.lines import bill_of
from kafka_lag_cdk.bill.prices import price_lists
from kafka_lag_cdk.bill.printing.numbers import amount, counted, dollars
from kafka_lag_cdk.bill.printing.tables import show
from kafka_lag_cdk.config.deployment import Deployment
from tests.infra.configured import cluster_json, deployment, moved

LISTS = price_lists()
WIDTH = 100


def printed(found: Deployment, **more: Any) -> str:
    screen = io.StringIO()
    console = Console(file=screen, width=WIDTH)
    show(bill_of(found, LISTS), found.shared.report, console, **more)
    return screen.getvalue()


def twenty() -> Deployment:
    made = []
    for number in range(20):
        region = ("eu-west-1", "us-east-1")[number % 2]
        one = cluster_json(name=f"orders-production-{number:02}", auth={"type": "iam"})
        made.append(one | {"arn": one["arn"].replace("eu-west-1", region)})
    return deployment(*made)


@pytest.mark.parametrize("every_line", [False, True], ids=["rows", "lines"])
@pytest.mark.parametrize("found", [deployment(), twenty()], ids=["one", "twenty"])
def test_no_line_is_longer_than_a_hundred_columns(found: Deployment, every_line: bool) -> None:
    lines = printed(found, every_line=every_line).splitlines()
    assert max(map(len, lines)) <= WIDTH


def test_one_cluster_is_told_line_by_line() -> None:
    text = printed(deployment())
    assert "orders: 20 groups, 600 group-partitions" in text
    for words in ("CloudWatch metrics", "by topic", "60 x 2", "36.00", "any group", "daily report"):
        assert words in text


def test_twenty_clusters_are_a_row_each() -> None:
    text = printed(twenty())
    rows = [line for line in text.splitlines() if line.lstrip().startswith("orders-production-")]
    assert len(rows) == 20
    assert "by topic" not in text
    assert text.count("Shared in") == 2
    assert "All regions: $" in text


def test_twenty_clusters_are_told_line_by_line_on_demand() -> None:
    assert printed(twenty(), every_line=True).count("by topic") == 20


def test_a_sum_at_another_regions_prices_says_so() -> None:
    (sum_,) = [line for line in printed(deployment()).splitlines() if "a month, $" in line]
    assert sum_.startswith("eu-west-1")
    assert sum_.rstrip().endswith("a group, at the prices of us-east-1")
    known = deployment(moved(cluster_json(), "us-east-1"))
    assert "at the prices of" not in printed(known)


def test_nothing_but_text_is_printed_where_there_is_no_terminal() -> None:
    assert "\x1b" not in printed(deployment())


def test_what_is_not_verified_is_marked() -> None:
    (line,) = [line for line in printed(deployment()).splitlines() if "1 dashboard" in line]
    assert line.rstrip().endswith("3.00 ?")


def test_msks_levels_stand_beside_ours() -> None:
    text = printed(deployment())
    assert "PER_TOPIC_PER_PARTITION level: $540.00 for 1,800 metrics" in text
    assert "What MSK's DEFAULT level lacks" in text


def serverless() -> dict[str, Any]:
    arn = cluster_json()["arn"].removesuffix("-7") + "-s2"
    return cluster_json(name="less", arn=arn, auth={"type": "iam"})


def test_msk_serverless_is_told_to_have_no_level_by_partition() -> None:
    text = " ".join(printed(deployment(serverless())).split())
    assert "PER_TOPIC_PER_PARTITION level: none, as MSK Serverless does not have it" in text


def test_clusters_that_are_not_in_msks_level_by_partition_are_counted() -> None:
    text = " ".join(printed(deployment(cluster_json(), serverless())).split())
    assert "$540.00 for 1,800 metrics" in text
    assert "1 of 2 clusters are Serverless and do not have it" in text


def test_what_is_not_msk_is_not_compared() -> None:
    own = {"arn": None, "region": "eu-west-1", "bootstrap_servers": ["kafka.example:9096"]}
    assert "DEFAULT level" not in printed(deployment(cluster_json(name="own") | own))


@pytest.mark.parametrize(
    ("usd", "text"), [(0, "0.00"), (0.004, "<0.01"), (0.005, "0.01"), (1234.5, "1,234.50")]
)
def test_dollars_are_told_in_cents(usd: float, text: str) -> None:
    assert dollars(usd) == text


def test_thousands_may_be_told_without_cents() -> None:
    assert dollars(1234.5, brief=True) == "1,234"
    assert dollars(999.99, brief=True) == "999.99"


@pytest.mark.parametrize(
    ("quantity", "text"),
    [(0, "0"), (7, "7"), (0.123456, "0.123"), (99.96, "100"), (4321.9, "4,322")],
)
def test_amounts_have_the_digits_that_matter(quantity: float, text: str) -> None:
    assert amount(quantity) == text


def test_units_are_counted() -> None:
    assert [counted(1, "metric"), counted(2, "metric"), counted(2, "GB")] == [
        "1 metric",
        "2 metrics",
        "2 GB",
    ]
