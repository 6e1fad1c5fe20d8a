# SPDX-License-Identifier: Apache-2.0
"""The dashboards in docs/grafana, and the metrics that sinks and views publish for them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import Snapshot
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import health_set, lag_sets, success_set
from tests.builders import NOON, a_snapshot
from tests.fakes import MemoryStore
from tests.functions.sinks.reports import a_report
from tests.functions.views.prometheus.scrapes import scrape, stored

Json = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "docs" / "grafana"
FILES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.json"))}
PAGES: dict[str, Json] = {name: json.loads(text) for name, text in FILES.items()}
CLOUDWATCH, PROMETHEUS = "cloudwatch", "prometheus"

CLUSTER, GROUP = contract.DIMENSION_CLUSTER, contract.DIMENSION_GROUP
TOPIC, PARTITION = contract.DIMENSION_TOPIC, contract.DIMENSION_PARTITION
BROKER = "Broker ID"
# Variables by the dimension and the label whose value they hold.
VARIABLES = {
    CLUSTER: "cluster",
    GROUP: "group",
    TOPIC: "topic",
    BROKER: "broker",
    exposition.LABEL_CLUSTER: "cluster",
    exposition.LABEL_GROUP: "group",
    exposition.LABEL_TOPIC: "topic",
}
COLOURS = {
    **dict.fromkeys(contract.PARTITION_STATUS_VALUES, "red"),
    contract.OK: "green",
    contract.WARN: "yellow",
}
UNITS = {
    contract.COUNT: "short",
    contract.SECONDS: "s",
    contract.PER_SECOND: "cps",
    contract.NO_UNIT: "short",
}
COUNTED = "Groups in ERR and in WARN: $cluster"

FAMILY = re.compile(r"kafka_\w+")


def panels(name: str) -> list[Json]:
    """All of a page, rows included, and those that lie in a row that is folded."""
    top: list[Json] = PAGES[name]["panels"]
    return [each for panel in top for each in (panel, *panel.get("panels", ()))]


def drawn(name: str) -> list[Json]:
    return [each for each in panels(name) if each["type"] != "row"]


def panel_named(name: str, title: str) -> Json:
    (panel,) = (each for each in drawn(name) if each["title"] == title)
    return panel


def variables(name: str) -> dict[str, Json]:
    return {each["name"]: each for each in PAGES[name]["templating"]["list"]}


def queries(source: str) -> list[Any]:
    """Every query of a source as a case of a test: page, panel, query."""
    return [
        pytest.param(name, panel, target, id=f"{name}: {panel['title']} {target['refId']}")
        for name in PAGES
        for panel in drawn(name)
        for target in panel["targets"]
        if target["datasource"]["type"] == source
    ]


def variable_queries(source: str) -> list[Any]:
    return [
        pytest.param(name, each, id=f"{name}: {each['name']}")
        for name in PAGES
        for each in variables(name).values()
        if each["type"] == "query" and each["datasource"]["type"] == source
    ]


def defaults(panel: Json) -> Json:
    found: Json = panel["fieldConfig"]["defaults"]
    return found


def marks(thresholds: Json) -> list[tuple[float, str]]:
    """From which values on which colours; the first step is of all below."""
    return [(step["value"], step["color"]) for step in thresholds["steps"][1:]]


def published() -> dict[str, dict[frozenset[str], str]]:
    """What sinks get where all levels are on: Grafana's unit by metric and dimensions."""
    report = a_report({"billing": {"orders": 1}})
    on: dict[str, Any] = dict.fromkeys(contract.CHOSEN_METRICS, True)
    levels = Levels(partition_groups=NameFilter(), scaling=NameFilter(), **on)
    chosen = plan(report, Snapshot.empty(), levels)
    found: dict[str, dict[frozenset[str], str]] = defaultdict(dict)
    sets = lag_sets(report, chosen, levels, "shop")
    for one in (*sets, health_set(report, chosen.omitted, "shop", 1.0), success_set("shop")):
        for metric, _ in one.values:
            dimensions = frozenset(key for key, _ in one.dimensions)
            found[metric][dimensions] = UNITS[contract.METRIC_UNITS[metric]]
    return found


PUBLISHED = published()


def everything_known() -> MemoryStore:
    """A snapshot in which each number is known. The held statuses of its groups are ERR, WARN, OK
    and ERR, those of the last run differ, and the first group is being assigned partitions."""
    names = ("billing", "late", "quiet", "stuck")
    plain = a_snapshot({name: {"orders": [5, 9]} for name in names}, {"orders": [(0, 10), (0, 10)]})
    states = (contract.REBALANCING_STATES[0], *["Stable"] * 3)
    held = Strings.of([contract.ERR, contract.WARN, contract.OK, contract.ERR])
    last = Strings.of([contract.WARN, contract.WARN, contract.OK, contract.ERR])
    groups: dict[str, AnyColumn] = {
        column: Column.of(np.full(len(names), 3, plain.groups.numbers(column).values.dtype))
        for column, _ in exposition.GROUP_GAUGES.values()
    }
    words = Strings.of([contract.FALLING_BEHIND, contract.SLOW, None, contract.STALLED])
    groups |= {"status": last, "held_status": held, "group_state": Strings.of(states)}
    groups |= {"worst_status": words}
    rows = len(plain.group_partitions)
    partitions = plain.group_partitions.with_columns(
        time_lag_seconds=Column.of(np.full(rows, 60.0)),
        status=Strings.of([contract.STALL] * rows),
        leader=Column.of(np.full(rows, 2, np.int32)),
    )
    topics = plain.topic_partitions.with_columns(
        replicas=Strings.of([(0, 1)] * 2), in_sync_replicas=Strings.of([(0,)] * 2)
    )
    return stored(
        Snapshot(
            NOON,
            topics,
            partitions,
            plain.groups.with_columns(**groups),
        )
    )


def exposed(level: str) -> dict[str, set[str]]:
    """Labels by family."""
    found: dict[str, set[str]] = defaultdict(set)
    for family, labels in scrape(everything_known(), level=level):
        found[family] |= {label for label, _ in labels}
    return found


LEVELS = {level: exposed(level) for level in ("group", "topic", "partition")}
EXPOSED = LEVELS["partition"]
