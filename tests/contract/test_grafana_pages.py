# SPDX-License-Identifier: Apache-2.0
"""The dashboards in docs/grafana: any Grafana takes them, and what they show is in our words."""

from __future__ import annotations

import itertools
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from dev.grafana_export import tidy
from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag_cdk.alarm_rules import BROKER_CPU, BROKER_DISK
from tests.contract.grafana_pages import (
    CLOUDWATCH,
    COLOURS,
    COUNTED,
    FAMILY,
    FILES,
    LEVELS,
    MANUAL,
    PAGES,
    PARTITION,
    PROMETHEUS,
    TOPIC,
    VARIABLES,
    Json,
    defaults,
    drawn,
    marks,
    panel_named,
    panels,
    variables,
)

# Grafana's own, and CloudWatch's placeholder in labels.
BUILT_IN = {"__url_time_range", "__field", "PROP"}
# In every Grafana, without a plugin.
KINDS = {"timeseries", "stat", "state-timeline", "row"}

_VARIABLE = re.compile(r"\$\{?(\w+)")

every_page = pytest.mark.parametrize("name", sorted(PAGES))


@every_page
def test_a_file_is_as_the_command_for_exports_leaves_it(name: str) -> None:
    assert FILES[name] == tidy(FILES[name]), "run python -m dev.grafana_export docs/grafana/*.json"


def test_an_export_keeps_nothing_of_the_grafana_that_it_is_from() -> None:
    for name, text in FILES.items():
        page = json.loads(text)
        page |= {"id": 7, "version": 12, "__requires": [{"type": "grafana"}]}
        page["panels"][1]["pluginVersion"] = "11.6.0"
        for each in page["templating"]["list"]:
            each["current"] = {"text": "mine", "value": "mine"}
            each["options"] = [{"text": "mine", "value": "mine"}]
        assert tidy(json.dumps(page)) == text, name


@every_page
def test_it_is_of_the_schema_and_named_by_its_uid(name: str) -> None:
    page = PAGES[name]
    assert (page["uid"], page["schemaVersion"]) == (name, 39)
    assert len(name) <= 40, "more than Grafana takes"
    assert name.rpartition("-")[2] in page["tags"]
    assert (page["time"]["from"], page["time"]["to"]) == ("now-6h", "now")
    assert f"(grafana/{name}.json)" in MANUAL


def test_titles_of_pages_are_unique() -> None:
    assert len({page["title"] for page in PAGES.values()}) == len(PAGES)


@every_page
def test_no_two_panels_overlap_and_none_is_off_the_grid(name: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels(name):
        x, y, width, height = (panel["gridPos"][key] for key in "xywh")
        cells = set(itertools.product(range(x, x + width), range(y, y + height)))
        assert cells, panel["title"]
        assert not cells & taken, panel["title"]
        assert 0 <= x < x + width <= 24, panel["title"]
        taken |= cells


@every_page
def test_panels_have_ids_and_queries_letters_of_their_own(name: str) -> None:
    numbers = [panel["id"] for panel in panels(name)]
    assert len(set(numbers)) == len(numbers)
    for panel in drawn(name):
        letters = [target["refId"] for target in panel["targets"]]
        assert len(set(letters)) == len(letters), panel["title"]


@every_page
def test_no_panel_and_no_row_is_empty_and_none_needs_a_plugin(name: str) -> None:
    assert all(panel["targets"] for panel in drawn(name))
    kinds = [panel["type"] for panel in panels(name)]
    assert ("row", "row") not in itertools.pairwise([*kinds, "row"])
    assert set(kinds) <= KINDS


@every_page
def test_every_query_is_of_the_datasource_that_the_reader_chose(name: str) -> None:
    source = name.rpartition("-")[2]
    found = [each["datasource"] for panel in drawn(name) for each in (panel, *panel["targets"])]
    found += [each["datasource"] for each in variables(name).values() if "datasource" in each]
    assert found
    assert all(each == {"type": source, "uid": "${datasource}"} for each in found)
    assert variables(name)["datasource"]["query"] == source


@every_page
def test_every_variable_that_is_used_is_defined_and_each_defined_is_used(name: str) -> None:
    used = set(_VARIABLE.findall(json.dumps(PAGES[name]["panels"])))
    assert used - BUILT_IN == set(variables(name))


@every_page
def test_a_variable_depends_only_on_those_before_it(name: str) -> None:
    known: set[str] = set()
    for each in variables(name).values():
        used = set(_VARIABLE.findall(json.dumps([each["query"], each.get("datasource")])))
        assert used <= known, each["name"]
        known.add(each["name"])


@every_page
def test_what_can_be_several_can_be_all(name: str) -> None:
    several = [each for each in variables(name).values() if each.get("multi")]
    every = "*" if name.endswith(CLOUDWATCH) else ".*"
    assert several
    assert all(each.get("includeAll") and each["allValue"] == every for each in several)


@every_page
def test_pages_link_to_each_other_with_what_was_chosen(name: str) -> None:
    (link,) = PAGES[name]["links"]
    assert (link["type"], link["includeVars"], link["keepTime"]) == ("dashboards", True, True)
    assert all(set(link["tags"]) <= set(page["tags"]) for page in PAGES.values())


@every_page
def test_a_link_of_a_line_leads_to_a_page_and_sets_its_variables(name: str) -> None:
    for panel in drawn(name):
        for link in defaults(panel).get("links", ()):
            url = urlsplit(link["url"])
            target = url.path.removeprefix("/d/")
            chosen = {key for key in parse_qs(url.query) if key.startswith("var-")}
            assert chosen == {f"var-{key}" for key in variables(target)} - {"var-topic"}
            for key, label in re.findall(r"var-(\w+)=\$\{__field\.labels\.(\w+)", link["url"]):
                assert VARIABLES[label] == key
            assert "${__url_time_range}" in link["url"]


def test_every_line_of_groups_in_prometheus_leads_to_its_group() -> None:
    for panel in drawn("kafka-lag-clusters-prometheus"):
        of_groups = any("{{consumergroup}}" in each["legendFormat"] for each in panel["targets"])
        links = [urlsplit(link["url"]).path for link in defaults(panel).get("links", ())]
        assert links == (["/d/kafka-lag-group-prometheus"] if of_groups else []), panel["title"]


def status_values(panel: Json) -> dict[str, int]:
    """The statuses whose numbers a panel draws; none where it counts them, or draws no status."""
    if panel["title"] == COUNTED:
        return {}
    for target in panel["targets"]:
        text = target.get("metricName") or target.get("expr") or ""
        if re.match(r"GroupStatus$|kafka_lag_group_(held_)?status\{", text):
            return contract.GROUP_STATUS_VALUES
        if re.match(r"kafka_lag_partition_status\{", text):
            return contract.PARTITION_STATUS_VALUES
    return {}


@every_page
def test_statuses_are_shown_in_words_and_colours_and_nothing_else_is(name: str) -> None:
    for panel in drawn(name):
        words = {
            option["text"]: (int(value), option["color"])
            for mapping in defaults(panel).get("mappings", ())
            for value, option in mapping["options"].items()
            if option["text"] in COLOURS
        }
        values = status_values(panel)
        assert words == {word: (values[word], COLOURS[word]) for word in values}, panel["title"]


@pytest.mark.parametrize("word", [contract.ERR, contract.WARN])
def test_a_count_of_groups_in_a_status_has_its_number_and_its_colour(word: str) -> None:
    panel = panel_named("kafka-lag-clusters-prometheus", f"Groups in {word}")
    (target,) = panel["targets"]
    assert f"== bool {contract.GROUP_STATUS_VALUES[word]})" in target["expr"]
    assert FAMILY.findall(target["expr"]) == [exposition.GROUP_HELD_STATUS]
    assert marks(defaults(panel)["thresholds"]) == [(1, COLOURS[word])]


@every_page
def test_thresholds_rise_and_have_the_colours_of_statuses(name: str) -> None:
    for panel in drawn(name):
        steps = defaults(panel)["thresholds"]["steps"]
        assert steps[0]["color"] == COLOURS[contract.OK], panel["title"]
        found = marks(defaults(panel)["thresholds"])
        assert found == sorted(found), panel["title"]
        assert {colour for _, colour in found} <= set(COLOURS.values()), panel["title"]


def test_brokers_are_marked_where_their_alarms_fire() -> None:
    page = "kafka-lag-brokers-cloudwatch"
    disk, processor = (panel_named(page, title) for title in ("Disk used", "Processor"))
    assert marks(defaults(disk)["thresholds"]) == [(BROKER_DISK.threshold, "red")]
    assert BROKER_CPU.threshold is not None
    assert marks(defaults(processor)["thresholds"]) == [(100 - BROKER_CPU.threshold, "red")]


@every_page
def test_where_no_data_loss_is_near_it_says_so(name: str) -> None:
    for panel in drawn(name):
        text = json.dumps(panel["targets"])
        if contract.TIME_TO_DATA_LOSS in text or exposition.GROUP_TIME_TO_DATA_LOSS in text:
            (mapping,) = defaults(panel)["mappings"]
            ((value, option),) = mapping["options"].items()
            assert (float(value), option["text"]) == (contract.NO_LOSS_SECONDS, "no risk")


def test_of_many_groups_the_worst_are_drawn_and_the_least_time_until_loss_is_worst() -> None:
    for panel in drawn("kafka-lag-clusters-prometheus"):
        for target in panel["targets"]:
            first = target["expr"].split("(")[0]
            if first in ("topk", "bottomk"):
                least = exposition.GROUP_TIME_TO_DATA_LOSS in target["expr"]
                assert first == ("bottomk" if least else "topk"), panel["title"]
                assert target["expr"].startswith(f"{first}(50, ")


@pytest.mark.parametrize("source", [CLOUDWATCH, PROMETHEUS])
def test_a_groups_page_has_all_that_shows_how_it_is(source: str) -> None:
    titles = {panel["title"] for panel in drawn(f"kafka-lag-group-{source}")}
    wanted = {"Status", "Lag", "Time lag", "Members", "Rebalancing", "Time to drain"}
    wanted |= {"Until data loss", "Time until unread records are deleted"}
    if source == PROMETHEUS:
        wanted |= {"Status by partition and leader", "Committed offset by partition and leader"}
    assert wanted <= titles


def needed_level(target: Json) -> str:
    """What must be switched on for a query, in the words of a panel's description."""
    if "expr" in target:
        families = FAMILY.findall(target["expr"])
        level = next(key for key, known in LEVELS.items() if set(families) <= set(known))
        return "" if level == "group" else f"?level={level}"
    if target["namespace"] != contract.NAMESPACE:
        return ""
    finest = {PARTITION: "partitions", TOPIC: "topics"}
    keys = [key for dimension, key in finest.items() if dimension in target["dimensions"]]
    keys += [key for key, names in contract.CHOSEN_METRICS.items() if target["metricName"] in names]
    return f"levels.{keys[0]}" if keys else ""


@every_page
def test_a_graph_says_once_what_must_be_switched_on_for_it(name: str) -> None:
    everywhere = re.findall(r"\?level=\w+", PAGES[name]["description"])
    for panel in drawn(name):
        if panel["type"] != "stat":
            needed = {needed_level(target) for target in panel["targets"]} - {"", *everywhere}
            description = panel.get("description", "")
            said = re.findall(r"\?level=\w+|levels\.\w+", description)
            assert sorted(said) == sorted(needed), panel["title"]


def test_an_error_that_is_drawn_is_explained() -> None:
    graphs = [
        panel
        for panel in drawn("kafka-lag-group-prometheus")
        if any("time_lag_error" in target["expr"] for target in panel["targets"])
    ]
    assert graphs
    assert all("Without an error" in panel["description"] for panel in graphs)
