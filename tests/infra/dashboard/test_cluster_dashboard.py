# SPDX-License-Identifier: Apache-2.0
"""The dashboard of a cluster with each option: CloudWatch accepts it, and its links lead somewhere.

Its contents are in `tests/golden/templates`.
"""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag_cdk.names import dashboard_name
from kafka_lag_config.cluster import Cluster
from tests.infra.configured import cluster
from tests.infra.conftest import Options
from tests.infra.resolve import of_type

DOCS = Path(__file__).parents[3] / "docs"

Widget = dict[str, Any]


@pytest.fixture(name="pages", scope="module")
def _pages(options: Options) -> list[tuple[Cluster, list[Widget]]]:
    """Each cluster that has a page, and what is on it."""
    found = [
        (each, json.loads(page["DashboardBody"])["widgets"])
        for each in options.deployment.clusters
        for page in of_type(options.resources(each), "AWS::CloudWatch::Dashboard").values()
    ]
    assert len(found) > 5
    return found


def test_no_two_widgets_overlap_and_none_leaves_the_grid(
    pages: list[tuple[Cluster, list[Widget]]],
) -> None:
    def cells(each: Widget) -> set[tuple[int, int]]:
        columns = range(each["x"], each["x"] + each["width"])
        rows = range(each["y"], each["y"] + each["height"])
        return {(x, y) for x in columns for y in rows}

    for _, page in pages:
        assert all(each["x"] >= 0 and each["x"] + each["width"] <= 24 for each in page)
        assert [pair for pair in combinations(page, 2) if cells(pair[0]) & cells(pair[1])] == []


def test_every_metric_that_levels_choose_has_a_graph_of_this_cluster_alone(
    pages: list[tuple[Cluster, list[Widget]]],
) -> None:
    chosen = {name for names in contract.CHOSEN_METRICS.values() for name in names}
    drawn = []
    for watched, page in pages:
        searches = re.findall(r"SEARCH\('[^']*'", json.dumps([each["properties"] for each in page]))
        own = f'\\"Cluster Name\\"=\\"{watched.name}\\"'
        of_msk = f'\\"Cluster Name\\"=\\"{watched.facts.reach.msk_name}\\"'
        assert [each for each in searches if own not in each and of_msk not in each] == []
        drawn.append({name for name in chosen if any(name in each for each in searches)})
    assert chosen in drawn
    assert set() in drawn


@pytest.fixture(name="header", scope="module")
def _header(pages: list[tuple[Cluster, list[Widget]]]) -> str:
    """What the first page says of itself."""
    (markdown,) = [
        each["properties"]["markdown"]
        for each in pages[0][1]
        if "# Consumer lag on" in each["properties"].get("markdown", "")
    ]
    return str(markdown)


def test_every_place_in_the_manual_that_it_names_is_there(header: str) -> None:
    places = re.findall(r"`(?:docs/(\w+)\.md)?#([\w-]+)`", header)
    assert {place for _, place in places} >= {"timetodataloss", "all-alarms"}
    for page, place in places:
        text = (DOCS / f"{page or 'metrics'}.md").read_text()
        titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
        assert place in {title.lower().replace(" ", "-") for title in titles}


def test_a_dashboard_is_named_as_cloudwatch_allows_and_apart() -> None:
    names = ["orders", "a.b", "a_b", "Shop-1", "a-b", "a.b.c", "x" * 128]
    assert len({dashboard_name(name) for name in names}) == len(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,255}", dashboard_name(name, "d" * 40))


@pytest.mark.parametrize("namespace", ["x'y", 'x"y', "x{y", "x\\y"])
def test_no_namespace_can_break_out_of_a_search(namespace: str) -> None:
    with pytest.raises(Exception, match="namespace"):
        cluster(namespace=namespace)
