# SPDX-License-Identifier: Apache-2.0
"""The queries in docs/grafana use published metrics, under exactly these names."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.views.auth import Bearer
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.local_server import LocalServer
from kafka_lag_config.alarm_rules import MSK
from tests.contract.grafana_pages import (
    BROKER,
    CLOUDWATCH,
    CLUSTER,
    COLOURS,
    COUNTED,
    EXPOSED,
    FAMILY,
    GROUP,
    PROMETHEUS,
    PUBLISHED,
    TOPIC,
    VARIABLES,
    Json,
    defaults,
    everything_known,
    marks,
    panel_named,
    queries,
    variable_queries,
    variables,
)
from tests.contract.prometheus_programs import LONGEST_WAIT, Prometheus, clock, job, running

# MSK's free level, with its units [MSK developer guide, "DEFAULT Level monitoring"].
_MSK_METRICS = {
    name: {frozenset(dimensions): unit}
    for unit, dimensions, names in (
        ("short", (CLUSTER,), "ActiveControllerCount OfflinePartitionsCount"),
        ("percent", (CLUSTER, BROKER), "CpuUser CpuSystem CpuIoWait"),
        ("percent", (CLUSTER, BROKER), "KafkaDataLogsDiskUsed KafkaAppLogsDiskUsed RootDiskUsed"),
        ("bytes", (CLUSTER, BROKER), "MemoryUsed MemoryFree"),
        ("Bps", (CLUSTER, BROKER), "BytesInPerSec BytesOutPerSec"),
        ("cps", (CLUSTER, BROKER), "MessagesInPerSec"),
        ("short", (CLUSTER, BROKER), "ConnectionCount LeaderCount PartitionCount"),
        ("short", (CLUSTER, BROKER), "UnderReplicatedPartitions UnderMinIsrPartitionCount"),
        ("short", (CLUSTER, GROUP, TOPIC), "SumOffsetLag"),
        ("s", (CLUSTER, GROUP, TOPIC), "EstimatedMaxTimeLag"),
    )
    for name in names.split()
}
METRICS = {contract.NAMESPACE: PUBLISHED, MSK: _MSK_METRICS}

_SELECTOR = re.compile(r"(kafka_\w+)\{([^}]*)\}")
_MATCHER = re.compile(r"(\w+)(=~?)\"([^\"]*)\"")
_VALUES_OF = re.compile(r"label_values\((.*), (\w+)\)")
_LABEL_SHOWN = re.compile(r"\{\{(\w+)\}\}")
_LABEL_LINKED = re.compile(r"__field\.labels\.(\w+)")


# Queries of CloudWatch.


@pytest.mark.parametrize(("name", "panel", "target"), queries(CLOUDWATCH))
def test_a_query_of_cloudwatch_is_of_what_is_published(
    name: str, panel: Json, target: Json
) -> None:
    assert (target["region"], target["statistic"]) == ("$region", "Maximum")
    if target.get("expression"):
        ids = {each["id"] for each in panel["targets"]} - {""}
        assert set(re.findall("[a-z]+", target["expression"])) <= ids
        return
    dimensions = target["dimensions"]
    sets = METRICS[target["namespace"]][target["metricName"]]
    assert sets[frozenset(dimensions)] == defaults(panel).get("unit", "short")
    assert target["matchExact"]
    assert dimensions[CLUSTER] == "$cluster"
    for dimension, value in dimensions.items():
        assert value in ("*", f"${VARIABLES.get(dimension)}")
        if value == "*" or variables(name)[value[1:]].get("multi"):
            assert f"${{PROP('Dim.{dimension}')}}" in target["label"], "lines of one name"


@pytest.mark.parametrize(("name", "variable"), variable_queries(CLOUDWATCH))
def test_a_variable_of_cloudwatch_has_the_values_of_a_published_dimension(
    name: str, variable: Json
) -> None:
    assert name.endswith(CLOUDWATCH)
    query = variable["query"]
    if query["queryType"] == "regions":
        assert variable["name"] == "region"
        return
    filters = query["dimensionFilters"]
    sets = METRICS[query["namespace"]][query["metricName"]]
    assert any({*filters, query["dimensionKey"]} <= dimensions for dimensions in sets)
    assert filters == {key: f"${VARIABLES[key]}" for key in filters}
    assert VARIABLES[query["dimensionKey"]] == variable["name"]
    assert query["region"] == "$region"


@given(st.lists(st.sampled_from(sorted(contract.GROUP_STATUS_VALUES)), min_size=1))
def test_metric_math_counts_groups_by_their_status(words: list[str]) -> None:
    _, *counts = panel_named("kafka-lag-clusters-cloudwatch", COUNTED)["targets"]
    # a line a group, of one moment
    statuses = np.array([[contract.GROUP_STATUS_VALUES[word]] for word in words])

    for target in counts:
        assert _calculate(target["expression"], statuses) == [words.count(target["label"])]


def _calculate(expression: str, statuses: Any) -> list[float]:
    """As CloudWatch does [CloudWatch user guide, "Metric math syntax and functions"]."""
    known = {"SUM": lambda lines: lines.sum(axis=0), "FLOOR": np.floor, "ABS": np.abs}
    known["statuses"] = statuses
    return list(eval(expression, {"__builtins__": {}}, known))  # noqa: S307  # our own


def test_groups_that_are_counted_are_of_one_cluster_and_only_counts_are_shown() -> None:
    """Runs of two clusters at different times would be two moments, and no sum."""
    panel = panel_named("kafka-lag-clusters-cloudwatch", COUNTED)
    statuses, *counts = panel["targets"]
    assert statuses["dimensions"] == {CLUSTER: "$cluster", GROUP: "*"}
    assert panel["repeat"] == "cluster"
    assert [target["label"] for target in counts] == [contract.ERR, contract.WARN]
    shown = panel["options"]["reduceOptions"]["fields"].strip("/")
    assert all(re.search(shown, target["label"]) for target in counts)
    assert not re.search(shown, "shop ERR WARN")
    colours = {
        each["matcher"]["options"]: marks(each["properties"][0]["value"])
        for each in panel["fieldConfig"]["overrides"]
    }
    assert colours == {word: [(1, COLOURS[word])] for word in (contract.ERR, contract.WARN)}


# Queries of Prometheus.


def expected_unit(expression: str) -> str:
    """By the family's name, as Prometheus has them, unless series are counted or rates taken."""
    if "deriv(" in expression or "_per_second{" in expression:
        return "cps"
    return "s" if "_seconds{" in expression else "short"


@pytest.mark.parametrize(("name", "panel", "target"), queries(PROMETHEUS))
def test_a_query_of_prometheus_is_of_what_is_exposed(name: str, panel: Json, target: Json) -> None:
    selectors = _SELECTOR.findall(target["expr"])
    assert FAMILY.findall(target["expr"]) == [family for family, _ in selectors] != []
    for family, matchers in selectors:
        chosen = {label: (operator, value) for label, operator, value in _MATCHER.findall(matchers)}
        states = chosen.pop(exposition.LABEL_STATE, None)
        assert states in (None, ("=~", "|".join(contract.REBALANCING_STATES)))
        assert chosen == _chosen(name, EXPOSED[family] & set(VARIABLES))
    assert defaults(panel).get("unit", "short") == expected_unit(target["expr"])


def _chosen(name: str, labels: set[str]) -> dict[str, tuple[str, str]]:
    """One value is compared as it is and several as an expression: Grafana escapes the latter for
    an expression, and the former not."""
    several = {key for key, each in variables(name).items() if each.get("multi")}
    return {
        label: ("=~" if VARIABLES[label] in several else "=", f"${VARIABLES[label]}")
        for label in labels
    }


# A real Prometheus.


@pytest.fixture(name="prometheus", scope="module")
def _prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One that has scraped everything at its finest level, often enough for a rate."""
    folder = tmp_path_factory.mktemp("prometheus")
    token = folder / "token"
    token.write_text("a-token")
    snapshots = Snapshots(everything_known(), clock)
    with LocalServer(snapshots, clock, bearer=Bearer(lambda: "a-token", clock)) as server:
        target = server.url.removeprefix("http://")
        config = {"scrape_configs": [job("all", target, token, level="partition")]}
        # JSON is YAML, too.
        with running(json.dumps(config), folder) as prometheus:
            assert prometheus.targets()["all"]["lastError"] == ""
            ends = time.monotonic() + LONGEST_WAIT
            while not prometheus.value("min(count_over_time(kafka_lag_group_lag[1m])) > 2"):
                assert time.monotonic() < ends
                time.sleep(0.1)
            yield prometheus


def choose(name: str, text: str, *, every: bool = False) -> str:
    """A query as Grafana sends it: one value each, or all where all can be chosen."""
    one = {"cluster": "shop", "group": "billing", "topic": "orders"}
    for key, variable in variables(name).items():
        value = variable["allValue"] if every and variable.get("multi") else one.get(key, "")
        text = text.replace(f"${key}", value)
    return text


def ask(prometheus: Prometheus, query: str) -> list[Json]:
    found: list[Json] = prometheus.get(f"query?query={quote(query)}")["result"]
    return found


@pytest.mark.parametrize(("name", "panel", "target"), queries(PROMETHEUS))
def test_a_query_finds_lines_with_all_labels_that_name_and_link_them(
    prometheus: Prometheus, name: str, panel: Json, target: Json
) -> None:
    labels = set(_LABEL_SHOWN.findall(target["legendFormat"]))
    labels |= set(_LABEL_LINKED.findall(json.dumps(defaults(panel).get("links", ()))))
    for every in (False, True):
        lines = ask(prometheus, choose(name, target["expr"], every=every))
        assert lines
        assert all(labels <= set(line["metric"]) for line in lines)
        named = {tuple(line["metric"].get(label) for label in sorted(labels)) for line in lines}
        assert len(named) == len(lines), "lines of one name"


@pytest.mark.parametrize(("name", "variable"), variable_queries(PROMETHEUS))
def test_a_variable_finds_what_can_be_chosen(
    prometheus: Prometheus, name: str, variable: Json
) -> None:
    found = _VALUES_OF.fullmatch(variable["query"]["query"])
    assert found
    expression, label = found.groups()
    lines = ask(prometheus, f"count by ({label}) ({choose(name, expression)})")
    values = {line["metric"].get(label) for line in lines}
    groups = {"billing", "late", "quiet", "stuck"}
    assert values == {"cluster": {"shop"}, "group": groups, "topic": {"orders"}}[variable["name"]]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Groups in ERR", "2"),
        ("Groups in WARN", "1"),
        ("Groups read", "4"),
        ("Members by group", "3"),
    ],
)
def test_numbers_of_clusters_are_right(prometheus: Prometheus, title: str, expected: str) -> None:
    name = "kafka-lag-clusters-prometheus"
    (target,) = panel_named(name, title)["targets"]
    lines = ask(prometheus, choose(name, target["expr"], every=True))
    assert {line["value"][1] for line in lines} == {expected}
