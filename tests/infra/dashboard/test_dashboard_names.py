# SPDX-License-Identifier: Apache-2.0
"""What a dashboard is called, and how what strangers named is quoted in it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafka_lag_cdk.names import dashboard_name
from tests.infra.configured import cluster
from tests.infra.dashboard.page import Widgets, title_of
from tests.infra.dashboard.pages import NAME


@pytest.mark.parametrize("name", ["orders", "a.b", "a_b", "Shop-1", "a-b", "a.b.c", "x" * 128])
def test_a_dashboard_is_named_as_cloudwatch_allows_and_apart(name: str) -> None:
    others = {"orders", "a.b", "a_b", "Shop-1", "a-b", "a.b.c"} - {name}
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,255}", dashboard_name(name, "d" * 40))
    assert dashboard_name(name) not in {dashboard_name(other) for other in others}


def test_the_name_of_a_plain_cluster_is_readable() -> None:
    assert dashboard_name("orders") == "kafka-lag-orders"


def test_a_dashboard_is_called_after_its_deployment(
    dashboards: dict[str, dict[str, Any]],
) -> None:
    assert dashboards["plain"]["DashboardName"] == "kafka-lag-plain"
    assert dashboards["full"]["DashboardName"].startswith(f"{NAME}-a_b_c-")


def test_a_search_quotes_all_that_it_names(widgets: dict[str, Widgets]) -> None:
    (status,) = [each for each in widgets["full"] if title_of(each).startswith("Status by group")]
    assert status["properties"]["metrics"][0][0]["expression"] == (
        'SORT(SEARCH(\'{"Our Lag/#1","Cluster Name","Consumer Group"} MetricName="GroupStatus"'
        ' "Cluster Name"="a.b_c"\', \'Maximum\'), MAX, DESC, 50)'
    )


@pytest.mark.parametrize("namespace", ["x'y", 'x"y', "x{y", "x\\y"])
def test_no_namespace_can_break_out_of_a_search(namespace: str) -> None:
    with pytest.raises(Exception, match="namespace"):
        cluster(namespace=namespace)
