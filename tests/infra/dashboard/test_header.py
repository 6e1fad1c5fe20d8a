# SPDX-License-Identifier: Apache-2.0
"""What the page says of itself, and where its links lead."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from kafka_lag_cdk.dashboard import console_url
from tests.infra.dashboard.page import Widgets
from tests.infra.dashboard.pages import NAME

DOCS = Path(__file__).parents[3] / "docs"
HOME = "https://eu-west-1.console.aws.amazon.com/{}/home?region=eu-west-1#"


def header_of(page: Widgets) -> str:
    (markdown,) = [
        each["properties"]["markdown"]
        for each in page
        if "# Consumer lag on" in each["properties"].get("markdown", "")
    ]
    return str(markdown)


def links_of(page: Widgets) -> dict[str, str]:
    """Where each link leads, by its text."""
    return dict(re.findall(r"\[([^\]]*)\]\(([^)]*)\)", header_of(page)))


def state_of(link: str) -> str:
    """The state behind the '#' as the console reads it: '$' for '%', unescaped twice."""
    once = unquote(link.partition("#")[2].replace("$", "%"))
    return unquote(once)


def test_it_says_age_and_how_often(widgets: dict[str, Widgets]) -> None:
    assert "every minute" in header_of(widgets["plain"])
    assert "every 5 minutes" in header_of(widgets["full"])
    assert "the **age** of the next record" in header_of(widgets["plain"])


def test_every_place_in_the_manual_that_it_names_is_there(widgets: dict[str, Widgets]) -> None:
    places = re.findall(r"`(?:docs/(\w+)\.md)?#([\w-]+)`", header_of(widgets["plain"]))
    assert {place for _, place in places} >= {"timetodataloss", "alarms"}
    for page, place in places:
        text = (DOCS / f"{page or 'metrics'}.md").read_text()
        titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
        assert place in {title.lower().replace(" ", "-") for title in titles}


def test_logs_insights_opens_on_this_log_with_the_query_of_the_page(
    widgets: dict[str, Widgets],
) -> None:
    link = links_of(widgets["full"])["its log"]
    assert link.startswith(HOME.format("cloudwatch") + "logsV2:logs-insights$3F")
    state = state_of(link)
    assert state.endswith("~source~(~'kafka-lag-Log0A1B))")
    (query,) = re.findall(r"~editorString~'([^~]*)~", state)
    plain = re.sub(r"\*([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), query)
    (log,) = [each["properties"]["query"] for each in widgets["full"] if each["type"] == "log"]
    assert log == f"SOURCE 'kafka-lag-Log0A1B' | {plain}"


def test_nothing_in_a_link_ends_it_in_markdown(widgets: dict[str, Widgets]) -> None:
    links = links_of(widgets["full"])
    assert set(links) == {"Alarms", "its log", f"Athena, workgroup {NAME}"}
    for link in links.values():
        assert not set(link) & set(" ()<>[]\"'|")


def test_the_alarms_of_the_region_are_a_link_away(widgets: dict[str, Widgets]) -> None:
    assert links_of(widgets["full"])["Alarms"] == HOME.format("cloudwatch") + "alarmsV2:"


def test_athena_opens_at_the_deployments_workgroup(widgets: dict[str, Widgets]) -> None:
    link = links_of(widgets["full"])[f"Athena, workgroup {NAME}"]
    assert link == HOME.format("athena") + f"/workgroups/details/{NAME}"


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-west-1", "eu-west-1.console.aws.amazon.com"),
        ("cn-north-1", "cn-north-1.console.amazonaws.cn"),
        ("us-gov-west-1", "us-gov-west-1.console.amazonaws-us-gov.com"),
    ],
)
def test_each_partition_has_a_console_of_its_own(region: str, host: str) -> None:
    url = console_url(region, "cloudwatch", "alarmsV2:")
    assert url == f"https://{host}/cloudwatch/home?region={region}#alarmsV2:"


def test_without_a_workgroup_nothing_leads_to_athena(widgets: dict[str, Widgets]) -> None:
    assert set(links_of(widgets["plain"])) == {"Alarms", "its log"}
    assert "Athena" not in header_of(widgets["plain"])
    assert "None" not in header_of(widgets["plain"])
