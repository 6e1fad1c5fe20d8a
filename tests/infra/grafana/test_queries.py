# SPDX-License-Identifier: Apache-2.0
"""Queries ask for what is published under exactly these names, dimensions and labels."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.contract import exposition
from tests.infra.grafana.documents import NAMES, documents, drawn, targets

CLUSTER, GROUP, TOPIC = (
    contract.DIMENSION_CLUSTER,
    contract.DIMENSION_GROUP,
    contract.DIMENSION_TOPIC,
)
OF_GROUP = (CLUSTER, GROUP)
OF_TOPIC = (*OF_GROUP, TOPIC)
OF_PARTITION = (*OF_TOPIC, contract.DIMENSION_PARTITION)
BROKER = (CLUSTER, "Broker ID")
COUNTED = "Groups in ERR and in WARN: $cluster"

# MSK's free level [MSK developer guide, "DEFAULT Level monitoring"].
MSK = {
    **dict.fromkeys(("ActiveControllerCount", "OfflinePartitionsCount"), (CLUSTER,)),
    **dict.fromkeys(("CpuUser", "CpuSystem", "CpuIoWait", "MemoryUsed", "MemoryFree"), BROKER),
    **dict.fromkeys(("KafkaDataLogsDiskUsed", "KafkaAppLogsDiskUsed", "RootDiskUsed"), BROKER),
    **dict.fromkeys(("BytesInPerSec", "BytesOutPerSec", "MessagesInPerSec"), BROKER),
    **dict.fromkeys(("ConnectionCount", "LeaderCount", "PartitionCount"), BROKER),
    **dict.fromkeys(("UnderReplicatedPartitions", "UnderMinIsrPartitionCount"), BROKER),
    **dict.fromkeys(("SumOffsetLag", "EstimatedMaxTimeLag"), OF_TOPIC),
}

_C, _G, _T = exposition.LABEL_CLUSTER, exposition.LABEL_GROUP, exposition.LABEL_TOPIC
FAMILIES: dict[str, frozenset[str]] = {
    exposition.SNAPSHOT_AGE: frozenset({_C}),
    **dict.fromkeys(
        (exposition.GROUP_INFO, *exposition.GROUP_STATUSES, *exposition.GROUP_GAUGES),
        frozenset({_C, _G}),
    ),
    **dict.fromkeys(
        (exposition.TOPIC_LAG, exposition.TOPIC_TIME_LAG, *exposition.PARTITION_GAUGES),
        frozenset({_C, _G, _T}),
    ),
    **dict.fromkeys(
        (*exposition.LOG_GAUGES, exposition.LOG_REPLICAS, exposition.LOG_IN_SYNC),
        frozenset({_C, _T}),
    ),
    exposition.LOG_UNDER_REPLICATED: frozenset({_C, _T}),
}
_SELECTOR = re.compile(r"(kafka_\w+)\{([^}]*)\}")
_MATCHER = re.compile(r"(\w+)(=~?)\"([^\"]*)\"")


def published(metric: str) -> set[tuple[str, ...]]:
    """The sets of dimensions that a metric of ours has."""
    if metric in contract.HEALTH_UNITS:
        return {(CLUSTER,)}
    finer = {OF_TOPIC, OF_PARTITION} if metric in contract.LAG_METRICS else set()
    return {OF_GROUP} | finer if metric in contract.METRIC_UNITS else set()


def math(target: dict[str, Any]) -> bool:
    """Whether a query is metric math upon another."""
    return bool(target.get("expression"))


@pytest.mark.parametrize(
    ("where", "target"), [each for each in targets("cloudwatch") if not math(each[1])]
)
def test_cloudwatch_is_asked_for_what_is_there(where: str, target: dict[str, Any]) -> None:
    metric, dimensions = target["metricName"], tuple(target["dimensions"])
    if target["namespace"] == "AWS/Kafka":
        assert MSK[metric] == dimensions, where
    else:
        assert target["namespace"] == contract.NAMESPACE
        assert dimensions in published(metric), where
    assert (target["matchExact"], target["statistic"]) == (True, "Maximum")


@given(st.lists(st.sampled_from(sorted(contract.GROUP_STATUS_VALUES)), min_size=1))
def test_groups_are_counted_by_their_status(words: list[str]) -> None:
    _, *counts = lines("clusters", "cloudwatch", COUNTED)
    # a line a group, of one moment
    statuses = np.array([[contract.GROUP_STATUS_VALUES[word]] for word in words])

    for target in counts:
        assert calculated(target["expression"], statuses) == [words.count(target["label"])]


def test_groups_that_are_counted_are_all_of_one_cluster() -> None:
    """So that runs at different times, of which each has a moment of its own, are not one sum."""
    statuses, *counts = lines("clusters", "cloudwatch", COUNTED)

    assert statuses["dimensions"] == {CLUSTER: "$cluster", GROUP: "*"}
    assert [target["label"] for target in counts] == [contract.ERR, contract.WARN]
    assert re.fullmatch("[a-z]+", statuses["id"])
    assert all(statuses["id"] in target["expression"] for target in counts)


def test_of_the_counted_groups_only_the_counts_are_shown() -> None:
    panel = found("clusters", "cloudwatch", COUNTED)
    shown = panel["options"]["reduceOptions"]["fields"].strip("/")
    _, *counts = panel["targets"]

    assert panel["repeat"] == "cluster"
    assert all(re.search(shown, target["label"]) for target in counts)
    assert not re.search(shown, "shop ERR WARN")
    colours = {
        each["matcher"]["options"]: each["properties"][0]["value"]["steps"][-1]
        for each in panel["fieldConfig"]["overrides"]
    }
    assert colours == {"ERR": {"color": "red", "value": 1}, "WARN": {"color": "yellow", "value": 1}}


def calculated(expression: str, statuses: Any) -> list[float]:
    """What CloudWatch makes of it [CloudWatch user guide, "Metric math syntax and functions"]."""
    known = {"SUM": lambda lines: lines.sum(axis=0), "FLOOR": np.floor, "ABS": np.abs}
    known["statuses"] = statuses
    return list(eval(expression, {"__builtins__": {}}, known))  # noqa: S307  # our own


@pytest.mark.parametrize(("where", "target"), list(targets("prometheus")))
def test_prometheus_is_asked_for_what_is_exposed(where: str, target: dict[str, str]) -> None:
    found = _SELECTOR.findall(target["expr"])
    assert found, where
    for family, matchers in found:
        labels = {label for label, *_ in _MATCHER.findall(matchers)}
        assert labels - {exposition.LABEL_STATE} == FAMILIES[family], where
    assert set(re.findall(r"kafka_\w+", target["expr"])) == {family for family, _ in found}


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("prometheus")])
def test_one_choice_is_compared_as_it_is_and_several_as_an_expression(name: str) -> None:
    document = documents()[name]
    several = {each["name"]: each["multi"] for each in document["templating"]["list"]}
    texts = [target["expr"] for panel in drawn(document) for target in panel["targets"]]
    texts += [str(each["query"]) for each in document["templating"]["list"]]
    for text in texts:
        for _, operator, value in _MATCHER.findall(text):
            if value.startswith("$"):
                assert (operator == "=~") == several[value[1:]], text


def found(page: str, source: str, title: str) -> dict[str, Any]:
    (panel,) = (p for p in drawn(documents()[f"kafka-lag-{page}-{source}"]) if p["title"] == title)
    return panel


def lines(page: str, source: str, title: str) -> list[dict[str, Any]]:
    queries: list[dict[str, Any]] = found(page, source, title)["targets"]
    return queries


@pytest.mark.parametrize("source", ["cloudwatch", "prometheus"])
def test_each_line_of_many_tells_its_cluster_and_its_group(source: str) -> None:
    (target,) = lines("clusters", source, "Time lag by group")
    label = target.get("legendFormat") or target["label"]
    assert label in (
        "{{cluster}} {{consumergroup}}",
        "${PROP('Dim.Cluster Name')} ${PROP('Dim.Consumer Group')}",
    )


def test_the_least_time_until_loss_is_the_worst() -> None:
    (target,) = lines("clusters", "prometheus", "Time until unread records are deleted, by group")
    assert target["expr"].startswith("bottomk(50, ")


def test_a_line_of_a_group_leads_to_its_page() -> None:
    overview = documents()["kafka-lag-clusters-prometheus"]
    (panel,) = (p for p in drawn(overview) if p["title"] == "Lag by group")
    (link,) = panel["fieldConfig"]["defaults"]["links"]
    assert link["url"].startswith("/d/kafka-lag-group-prometheus?")
    for variable, label in (("cluster", "cluster"), ("group", "consumergroup")):
        assert f"var-{variable}=${{__field.labels.{label}:percentencode}}" in link["url"]


@pytest.mark.parametrize("source", ["cloudwatch", "prometheus"])
@pytest.mark.parametrize(
    "title", ["Status", "Lag", "Time lag", "Members", "Rebalancing", "Time to drain"]
)
def test_a_groups_page_has_all_that_tells_how_it_is(source: str, title: str) -> None:
    document = documents()[f"kafka-lag-group-{source}"]
    assert title in {panel["title"] for panel in drawn(document)}


@pytest.mark.parametrize("name", NAMES)
def test_statuses_are_told_in_words_wherever_they_are_shown(name: str) -> None:
    for panel in drawn(documents()[name]):
        if any("tatus" in str(t.get("metricName") or t.get("expr")) for t in panel["targets"]):
            if panel["title"].startswith("Groups in"):
                continue
            (mapping,) = panel["fieldConfig"]["defaults"]["mappings"]
            told = {word["text"]: int(value) for value, word in mapping["options"].items()}
            assert told == contract.GROUP_STATUS_VALUES


@pytest.mark.parametrize("source", ["cloudwatch", "prometheus"])
@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("group", "Until data loss"),
        ("group", "Time until unread records are deleted"),
        ("clusters", "Time until unread records are deleted, by group"),
    ],
)
def test_where_no_data_loss_is_near_it_says_so(page: str, source: str, title: str) -> None:
    (mapping,) = found(page, source, title)["fieldConfig"]["defaults"]["mappings"]
    ((value, told),) = mapping["options"].items()
    assert (float(value), told["text"]) == (contract.NO_LOSS_SECONDS, "no risk")


@pytest.mark.parametrize(
    ("source", "strange"),
    [("prometheus", ("CloudWatch", "levels.")), ("cloudwatch", ("Prometheus", "scrape", "rror"))],
)
def test_a_source_is_described_in_its_own_words(source: str, strange: tuple[str, ...]) -> None:
    told = [
        f"{panel['title']}: {panel['description']}"
        for page in ("clusters", "group")
        for panel in drawn(documents()[f"kafka-lag-{page}-{source}"])
    ]
    assert [each for each in told for word in strange if word in each] == []


@pytest.mark.parametrize(
    ("source", "title", "told"),
    [
        ("cloudwatch", "Members", "Published with levels.members."),
        ("cloudwatch", "Time to drain", "worked off. Published with levels.drain_time."),
        ("prometheus", "Time to drain", "None where the lag is not being worked off."),
        ("prometheus", "Time lag", "Without an error the true age is at least the one told."),
    ],
)
def test_what_a_panel_needs_is_told_once(source: str, title: str, told: str) -> None:
    panels = drawn(documents()[f"kafka-lag-group-{source}"])
    descriptions = [panel["description"] for panel in panels if panel["title"] == title]
    assert [each for each in descriptions if each.endswith(told) and each.count(told) == 1]
