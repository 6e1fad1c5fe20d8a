# SPDX-License-Identifier: Apache-2.0
"""Every page is one that Grafana's dashboard model takes, and that works in any Grafana."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from tests.infra.grafana.documents import NAMES, Json, documents, drawn

pytestmark = pytest.mark.parametrize("name", NAMES)

_VARIABLE = re.compile(r"\$\{?(\w+)")
# Grafana's own, and CloudWatch's placeholder in labels.
_KNOWN = {"__url_time_range", "__field", "PROP"}
_KINDS = {"timeseries", "stat", "state-timeline"}


def variables(document: Json) -> list[Json]:
    found: list[Json] = document["templating"]["list"]
    return found


def test_it_is_of_the_schema_and_new_to_each_grafana(name: str) -> None:
    document = documents()[name]
    assert (document["schemaVersion"], document["id"]) == (39, None)
    assert document["uid"] == name
    assert len(name) <= 40


def test_no_two_panels_share_a_place_and_none_is_off_the_grid(name: str) -> None:
    panels = documents()[name]["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        spot = panel["gridPos"]
        rows = range(spot["y"], spot["y"] + spot["h"])
        columns = range(spot["x"], spot["x"] + spot["w"])
        cells = set(itertools.product(columns, rows))
        assert cells
        assert not cells & taken, panel["title"]
        assert 0 <= spot["x"] < columns.stop <= 24, panel["title"]
        taken |= cells


def test_panels_have_ids_and_queries_letters_of_their_own(name: str) -> None:
    panels = documents()[name]["panels"]
    ids = [panel["id"] for panel in panels]
    assert len(set(ids)) == len(ids)
    for panel in drawn(documents()[name]):
        letters = [target["refId"] for target in panel["targets"]]
        assert letters == list("ABCDEFGH"[: len(letters)])


def test_no_panel_and_no_row_is_empty(name: str) -> None:
    assert all(panel["targets"] for panel in drawn(documents()[name]))
    kinds = [panel["type"] for panel in documents()[name]["panels"]]
    assert "row" not in [b for a, b in itertools.pairwise(kinds) if a == "row"]
    assert kinds[-1] != "row"
    assert set(kinds) <= _KINDS | {"row"}


def test_all_ask_the_datasource_that_the_reader_chose(name: str) -> None:
    source = name.rpartition("-")[2]
    asked = [target["datasource"] for p in drawn(documents()[name]) for target in p["targets"]]
    asked += [each["datasource"] for each in variables(documents()[name]) if "datasource" in each]
    assert asked
    assert {each["uid"] for each in asked} == {"${datasource}"}
    assert {each["type"] for each in asked} == {source}


def test_every_variable_that_is_named_is_there(name: str) -> None:
    document = documents()[name]
    there = {each["name"] for each in variables(document)}
    named = set(_VARIABLE.findall(json.dumps(document["panels"])))
    assert named - there - _KNOWN == set()
    assert there - named - {"datasource"} == set(), "chosen, and nobody cares"


def test_a_variable_rests_only_on_those_before_it(name: str) -> None:
    known: set[str] = set()
    for each in variables(documents()[name]):
        asked = json.dumps([each["query"], each.get("datasource")])
        assert set(_VARIABLE.findall(asked)) <= known, each["name"]
        known.add(each["name"])


def test_what_can_be_several_can_be_all(name: str) -> None:
    several = [each for each in variables(documents()[name]) if each["multi"]]
    assert several
    assert all(each["includeAll"] and each["allValue"] in ("*", ".*") for each in several)
