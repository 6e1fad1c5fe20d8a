# SPDX-License-Identifier: Apache-2.0
"""The page of a cluster: what is on it, that nothing overlaps, that CloudWatch would take it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from kafka_lag import contract
from tests.infra.dashboard.page import Line, Widget, Widgets, lines_of, title_of
from tests.infra.dashboard.pages import CLUSTERS, STEPS

KINDS = tuple(CLUSTERS)
OURS = {
    "plain": "KafkaLag",
    "full": "Our Lag/#1",
    "tracked": "KafkaLag",
    "serverless": "KafkaLag",
}

# What AWS publishes of the metrics on the page, with the statistics that make sense of each
# [MSK developer guide, "Metrics for monitoring"; Lambda developer guide, "Types of metrics";
# ECS developer guide, "CloudWatch metrics"].
AWS_METRICS = {
    ("AWS/Kafka", "KafkaDataLogsDiskUsed", ("Cluster Name", "Broker ID")): "Maximum",
    ("AWS/Kafka", "CpuUser", ("Cluster Name", "Broker ID")): "Maximum",
    ("AWS/Kafka", "CpuSystem", ("Cluster Name", "Broker ID")): "Maximum",
    ("AWS/Kafka", "UnderReplicatedPartitions", ("Cluster Name", "Broker ID")): "Maximum",
    ("AWS/Kafka", "OfflinePartitionsCount", ("Cluster Name",)): "Maximum",
    ("AWS/Kafka", "ActiveControllerCount", ("Cluster Name",)): "Maximum",
    ("AWS/Lambda", "Invocations", ("FunctionName",)): "Sum",
    ("AWS/Lambda", "Errors", ("FunctionName",)): "Sum",
    ("AWS/Lambda", "Throttles", ("FunctionName",)): "Sum",
    ("AWS/Lambda", "AsyncEventsDropped", ("FunctionName",)): "Sum",
    ("AWS/Lambda", "Duration", ("FunctionName",)): "Maximum",
    ("AWS/ECS", "CPUUtilization", ("ClusterName", "ServiceName")): "SampleCount",
}
LEVELS = {
    ("Cluster Name",),
    ("Cluster Name", "Consumer Group"),
    ("Cluster Name", "Consumer Group", "Topic"),
}


def lines(page: Widgets) -> list[Line]:
    return [line for widget in page for line in lines_of(widget)]


def titled(page: Widgets, title: str) -> Widget:
    (found,) = [each for each in page if each["properties"].get("title") == title]
    return found


def marks(widget: Widget) -> list[tuple[str, float]]:
    horizontal = widget["properties"]["annotations"]["horizontal"]
    return [(mark["label"], mark["value"]) for mark in horizontal]


def headings(page: Widgets) -> list[str]:
    texts = [each["properties"]["markdown"] for each in page if each["type"] == "text"]
    return [text.removeprefix("## ") for text in texts if text.startswith("## ")]


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_widgets_overlap_and_none_leaves_the_grid(
    widgets: dict[str, Widgets], kind: str
) -> None:
    def cells(each: Widget) -> set[tuple[int, int]]:
        columns = range(each["x"], each["x"] + each["width"])
        rows = range(each["y"], each["y"] + each["height"])
        return {(x, y) for x in columns for y in rows}

    page = widgets[kind]
    assert all(each["x"] >= 0 and each["x"] + each["width"] <= 24 for each in page)
    assert [pair for pair in combinations(page, 2) if cells(pair[0]) & cells(pair[1])] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_metric_is_one_that_somebody_publishes(
    widgets: dict[str, Widgets], kind: str
) -> None:
    for line in lines(widgets[kind]):
        if line.namespace == OURS[kind]:
            assert line.metric in contract.METRIC_UNITS
            assert line.dimensions in LEVELS
            assert line.statistic == "Maximum"
        else:
            key = (line.namespace, line.metric, line.dimensions)
            assert AWS_METRICS[key] == line.statistic


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_is_of_this_cluster_and_no_other(widgets: dict[str, Widgets], kind: str) -> None:
    names = {OURS[kind]: CLUSTERS[kind].name, "AWS/Kafka": CLUSTERS[kind].msk_name}
    for line in lines(widgets[kind]):
        if line.namespace in names:
            assert line.cluster == names[line.namespace]


@pytest.mark.parametrize(("kind", "seconds"), [("plain", 60), ("full", 300)])
def test_a_period_of_our_metrics_is_one_run(
    widgets: dict[str, Widgets], kind: str, seconds: int
) -> None:
    ours = [line for line in lines(widgets[kind]) if line.namespace == OURS[kind]]
    assert {line.period for line in ours} == {seconds}


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_tells_the_reporters_health_is_shown(
    widgets: dict[str, Widgets], kind: str
) -> None:
    shown = {line.metric for line in lines(widgets[kind]) if line.dimensions == ("Cluster Name",)}
    assert shown >= {
        contract.COLLECTOR_SUCCESS,
        contract.COLLECTOR_DURATION,
        contract.GROUPS_READ,
        contract.PARTITIONS_UNKNOWN,
        contract.PARTITIONS_UNCOMMITTED,
        contract.PARTITIONS_UNDATED,
        contract.READ_ERRORS,
        contract.LAGS_CLAMPED,
        contract.TIME_LAG_LOOKUPS,
        contract.METRICS_OMITTED,
    }


@pytest.mark.parametrize(
    ("title", "metric", "dimensions"),
    [
        ("Status by group: 0 OK, 1 WARN, 2 ERR", "GroupStatus", 2),
        ("Lag by group", "OffsetLag", 2),
        ("Time lag by group", "EstimatedTimeLag", 2),
        ("Lag by group and topic", "OffsetLag", 3),
        ("Time lag by group and topic", "EstimatedTimeLag", 3),
    ],
)
def test_groups_that_come_later_are_found_by_search(
    widgets: dict[str, Widgets], title: str, metric: str, dimensions: int
) -> None:
    (line,) = lines_of(titled(widgets["full"], title))
    assert (line.metric, len(line.dimensions)) == (metric, dimensions)


def test_of_retention_risk_the_lowest_lines_are_drawn(widgets: dict[str, Widgets]) -> None:
    (risk,) = [each for each in widgets["full"] if "Retention risk: " in title_of(each)]
    assert ", MIN, ASC, 50)" in risk["properties"]["metrics"][0][0]["expression"]


@pytest.mark.parametrize(("kind", "hours"), [("plain", 24), ("full", 48)])
def test_the_horizon_of_the_risk_is_half_way_up_its_graph(
    widgets: dict[str, Widgets], kind: str, hours: int
) -> None:
    (risk,) = [each for each in widgets[kind] if "Retention risk: " in title_of(each)]
    assert marks(risk) == [("at risk below", hours * 3600)]
    assert risk["properties"]["yAxis"]["left"]["max"] == 2 * hours * 3600


def test_the_service_levels_of_named_groups_are_marked_where_all_groups_are_drawn(
    widgets: dict[str, Widgets],
) -> None:
    assert marks(titled(widgets["full"], "Time lag by group")) == [
        ("na%C3%AFve:${LABEL}", 60),
        ("billing", 300),
    ]


def test_groups_of_one_service_level_share_a_mark(widgets: dict[str, Widgets]) -> None:
    assert marks(titled(widgets["tracked"], "Time lag by group")) == [("g, h", 60)]


@pytest.mark.parametrize(
    ("title", "metric"),
    [
        ("Members by group", "Members"),
        ("Rebalancing by group: 1 while it does", "Rebalancing"),
        ("Time to drain by group", "EstimatedDrainTime"),
    ],
)
def test_metrics_that_levels_choose_are_shown_where_they_are_published(
    widgets: dict[str, Widgets], title: str, metric: str
) -> None:
    assert [line.metric for line in lines_of(titled(widgets["full"], title))] == [metric]
    assert metric not in {line.metric for line in lines(widgets["plain"])}


def test_every_metric_that_levels_choose_has_a_graph(widgets: dict[str, Widgets]) -> None:
    chosen = {name for names in contract.CHOSEN_METRICS.values() for name in names}
    assert chosen <= {line.metric for line in lines(widgets["full"])}
    assert chosen.isdisjoint(line.metric for line in lines(widgets["plain"]))


def test_produce_and_consume_rates_share_a_graph_and_are_told_apart(
    widgets: dict[str, Widgets],
) -> None:
    title = "Produce against consume by group"
    rates = titled(widgets["full"], title)
    assert [line.metric for line in lines_of(rates)] == ["ProduceRate", "ConsumeRate"]
    legends = [options["label"] for *_, options in rates["properties"]["metrics"]]
    assert legends == ["produce", "consume"]
    assert title not in {title_of(each) for each in widgets["plain"]}


def test_what_is_used_of_service_levels_is_drawn_where_there_are_any(
    widgets: dict[str, Widgets],
) -> None:
    title = "Time lag as a share of the service level, by group"
    used = titled(widgets["full"], title)
    assert marks(used) == [("broken above", 1)]
    assert [line.metric for line in lines_of(used)] == ["SlaUsed"]
    assert title not in {title_of(each) for each in widgets["plain"]}


def test_a_named_group_has_a_line_at_its_service_level(widgets: dict[str, Widgets]) -> None:
    assert marks(titled(widgets["full"], "billing")) == [("service level", 300)]
    assert marks(titled(widgets["full"], "na%C3%AFve:${LABEL}")) == [("service level", 60)]
    assert [each for each in widgets["full"] if title_of(each) == "unpromised"] == []


def test_a_service_is_shown_with_its_steps_and_its_tasks(widgets: dict[str, Widgets]) -> None:
    widget = titled(widgets["full"], "worker: ScalingLag")
    assert marks(widget) == [("+1", 1000), ("+3", 9000), ("-1 below", STEPS["below"])]
    assert [line.metric for line in lines_of(widget)] == ["ScalingLag", "CPUUtilization"]


def test_a_service_that_is_tracked_is_shown_with_its_target(widgets: dict[str, Widgets]) -> None:
    assert marks(titled(widgets["tracked"], "s: ScalingLagPerMember")) == [("target", 500)]


@pytest.mark.parametrize("kind", ["plain", "serverless"])
def test_a_cluster_without_brokers_of_msk_shows_nothing_of_msk(
    widgets: dict[str, Widgets], kind: str
) -> None:
    assert "AWS/Kafka" not in {line.namespace for line in lines(widgets[kind])}
    assert headings(widgets[kind]) == ["Groups", "The reporter"]


def test_without_topic_metrics_there_are_no_graphs_of_them(widgets: dict[str, Widgets]) -> None:
    assert 3 not in {len(line.dimensions) for line in lines(widgets["plain"])}


def test_the_parts_stand_in_the_order_of_a_persons_questions(widgets: dict[str, Widgets]) -> None:
    assert headings(widgets["full"]) == [
        "Groups",
        "Time lag against the service level",
        "Services scaled by lag",
        "The reporter",
        "The brokers, as MSK reports them",
    ]


def test_the_log_is_asked_for_warnings_and_for_functions_that_were_ended(
    widgets: dict[str, Widgets],
) -> None:
    (log,) = [each["properties"] for each in widgets["full"] if each["type"] == "log"]
    assert log["query"].startswith("SOURCE 'kafka-lag-Log0A1B' | fields @timestamp")
    assert '"WARNING", "ERROR"' in log["query"]
    assert "Task timed out" in log["query"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_body_is_within_the_limits_of_dashboards(
    dashboards: dict[str, dict[str, Any]], widgets: dict[str, Widgets], kind: str
) -> None:
    assert len(dashboards[kind]["DashboardBody"].encode()) < 1_000_000
    assert len(widgets[kind]) <= 500
    assert all(len(title_of(each)) <= 100 for each in widgets[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_every_widget_names_the_region_as_dashboards_are_of_all(
    widgets: dict[str, Widgets], kind: str
) -> None:
    drawn = [each for each in widgets[kind] if each["type"] in ("metric", "log")]
    assert {each["properties"]["region"] for each in drawn} == {"eu-west-1"}
