# SPDX-License-Identifier: Apache-2.0
"""What the page says of itself, and where its links lead."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from kafka_lag_cdk.dashboard.console import Console
from kafka_lag_cdk.dashboard.header import header
from kafka_lag_cdk.dashboard.reporter import QUERY_LINES
from tests.infra.dashboard.page import Widgets
from tests.infra.dashboard.pages import CLUSTERS

DOCS = Path(__file__).parents[3] / "docs"
CONSOLE = Console("eu-west-1", "kafka-lag-Log0A1B", "staging")
HOME = "https://eu-west-1.console.aws.amazon.com/{}/home?region=eu-west-1#"


def state_of(link: str) -> str:
    """The state behind the '#' as the console reads it: '$' for '%', unescaped twice."""
    once = unquote(link.partition("#")[2].replace("$", "%"))
    return unquote(once)


def test_it_says_age_and_how_often() -> None:
    assert "every minute" in header(CLUSTERS["plain"], CONSOLE)
    assert "every 5 minutes" in header(CLUSTERS["full"], CONSOLE)
    assert "the **age** of the next record" in header(CLUSTERS["plain"], CONSOLE)


def test_every_place_in_the_manual_that_it_names_is_there() -> None:
    places = re.findall(r"`(?:docs/(\w+)\.md)?#([\w-]+)`", header(CLUSTERS["plain"], CONSOLE))
    assert {place for _, place in places} >= {"timetodataloss", "alarms"}
    for page, place in places:
        text = (DOCS / f"{page or 'metrics'}.md").read_text()
        titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
        assert place in {title.lower().replace(" ", "-") for title in titles}


def test_logs_insights_opens_on_this_log_with_the_query_of_the_page() -> None:
    assert CONSOLE.logs.startswith(HOME.format("cloudwatch") + "logsV2:logs-insights$3F")
    state = state_of(CONSOLE.logs)
    assert state.endswith("~source~(~'kafka-lag-Log0A1B))")
    (query,) = re.findall(r"~editorString~'([^~]*)~", state)
    plain = re.sub(r"\*([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), query)
    assert plain == "\n| ".join(QUERY_LINES)


def test_nothing_in_a_link_ends_it_in_markdown() -> None:
    for link in filter(None, (CONSOLE.logs, CONSOLE.alarms, CONSOLE.queries)):
        assert not set(link) & set(" ()<>[]\"'|")


def test_athena_opens_at_the_deployments_workgroup() -> None:
    assert CONSOLE.queries == HOME.format("athena") + "/workgroups/details/staging"


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-west-1", "eu-west-1.console.aws.amazon.com"),
        ("cn-north-1", "cn-north-1.console.amazonaws.cn"),
        ("us-gov-west-1", "us-gov-west-1.console.amazonaws-us-gov.com"),
    ],
)
def test_each_partition_has_a_console_of_its_own(region: str, host: str) -> None:
    assert Console(region, "log", "w").alarms.startswith(f"https://{host}/cloudwatch/home?")


def test_without_a_workgroup_nothing_leads_to_athena() -> None:
    text = header(CLUSTERS["plain"], Console("eu-west-1", "log", None))
    assert "Athena" not in text
    assert "None" not in text


def test_the_page_links_to_its_own_log_and_workgroup(widgets: dict[str, Widgets]) -> None:
    (markdown,) = [
        each["properties"]["markdown"]
        for each in widgets["full"]
        if "# Consumer lag on" in each["properties"].get("markdown", "")
    ]
    for link in (CONSOLE.logs, CONSOLE.alarms, CONSOLE.queries):
        assert f"]({link})" in markdown
