# SPDX-License-Identifier: Apache-2.0
"""The dashboards in docs/grafana: any Grafana accepts them, and their words are ours."""

from __future__ import annotations

import itertools
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag_config.alarm_rules import BROKER_CPU, BROKER_DISK
from tests.contract.grafana_pages import (
    COLOURS,
    COUNTED,
    FAMILY,
    FILES,
    LEVELS,
    PAGES,
    PARTITION,
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
def test_a_file_has_nothing_of_the_grafana_that_it_was_edited_in(name: str) -> None:
    page = PAGES[name]
    assert FILES[name] == json.dumps(page, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert page["id"] is None
    assert not {"__elements", "__inputs", "__requires", "iteration", "version"} & set(page)


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
