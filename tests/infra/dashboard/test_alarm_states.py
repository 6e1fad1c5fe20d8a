# SPDX-License-Identifier: Apache-2.0
"""Alarms that page stand on top, those that scale with their services."""

from __future__ import annotations

from tests.infra.dashboard.page import Widgets, title_of
from tests.infra.dashboard.pages import ALARMS, SCALING_ALARMS


def states_of(page: Widgets, title: str) -> Widgets:
    return [each for each in page if each["type"] == "alarm" and title_of(each) == title]


def test_all_alarms_that_page_are_there_a_hundred_a_widget(widgets: dict[str, Widgets]) -> None:
    parts = [e["properties"]["alarms"] for e in states_of(widgets["full"], "Alarms")]
    assert [len(part) for part in parts] == [100, ALARMS - 100]
    assert len({arn for part in parts for arn in part}) == ALARMS


def test_alarms_that_scale_are_shown_with_the_services_and_not_among_those_that_page(
    widgets: dict[str, Widgets],
) -> None:
    page = widgets["full"]
    (scaling,) = states_of(
        page,
        "In ALARM is how they act: tasks-needed always, scale-in whenever there is little to do",
    )
    paging = {arn for e in states_of(page, "Alarms") for arn in e["properties"]["alarms"]}
    assert len(scaling["properties"]["alarms"]) == SCALING_ALARMS
    assert paging.isdisjoint(scaling["properties"]["alarms"])
    order = [title_of(each) or each["properties"].get("markdown", "") for each in page]
    assert order.index("## Services scaled by lag") < order.index(title_of(scaling))
    assert order.index(title_of(scaling)) < order.index("## The reporter")


def test_no_states_are_shown_where_there_are_no_alarms(widgets: dict[str, Widgets]) -> None:
    assert [each for each in widgets["tracked"] if each["type"] == "alarm"] == []
