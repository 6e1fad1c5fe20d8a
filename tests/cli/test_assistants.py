# SPDX-License-Identifier: Apache-2.0
"""Answers to an assistant over standard input and output, read by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from mcp import Client, StdioServerParameters

from kafka_lag_cli.command import main
from tests.cli.recorded_shop import CLUSTER, HOSTILE, write_shop

Call: TypeAlias = tuple[str, Mapping[str, Any]]
CALLS: dict[str, Call] = {
    "groups": ("groups", {}),
    "groups of another cluster": ("groups", {"cluster": "mall"}),
    "why": ("why", {"group": "billing"}),
    "why, a name like an option": ("why", {"group": "--all"}),
    "tasks": ("tasks", {"group": "audit", "cluster": CLUSTER}),
    "queries": ("query", {}),
    "query": ("query", {"name": "status_by_day", "parameters": {"day": "2026-01-31"}}),
}


async def _ask(folder: Path, calls: Sequence[Call]) -> tuple[list[Any], list[tuple[bool, str]]]:
    """The tools, and each call's answer with whether it is an error."""
    command = ["-m", "kafka_lag_cli.command", "serve", "--mcp", "--state", str(folder)]
    # A question is about the folder, whatever the environment names.
    environ = {"KAFKA_LAG_OUTPUT": "csv", "KAFKA_LAG_PROFILE": "ops"}
    parameters = StdioServerParameters(command=sys.executable, args=command, env=environ)
    async with Client(parameters) as client:
        tools = (await client.list_tools()).tools
        results = [await client.call_tool(name, dict(words)) for name, words in calls]
    return tools, [(bool(each.is_error), each.content[0].text) for each in results]  # type: ignore[union-attr]


@pytest.fixture(name="asked", scope="module")
def _asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("state")
    write_shop(folder)
    tools, answers = asyncio.run(_ask(folder, list(CALLS.values())))
    return tools, dict(zip(CALLS, answers, strict=True))


def answer(asked: tuple[list[Any], dict[str, Any]], call: str) -> Any:
    is_error, text = asked[1][call]
    assert not is_error, text
    return json.loads(text)


def test_all_tools_are_said_to_only_read(asked: tuple[list[Any], dict[str, Any]]) -> None:
    tools, _ = asked
    assert {each.name for each in tools} == {"groups", "why", "tasks", "query"}
    assert all(each.annotations.read_only_hint and each.description for each in tools)


def test_groups_are_told_with_status_cause_and_advice(
    asked: tuple[list[Any], dict[str, Any]],
) -> None:
    (shop,) = answer(asked, "groups")
    groups = {each["consumer_group"]: each for each in shop["groups"]}
    assert (shop["cluster"], shop["is_old"]) == (CLUSTER, True)
    assert groups.keys() == {"billing", "audit", HOSTILE}
    assert (groups["audit"]["status"], groups["audit"]["worst_status"]) == ("ERR", "stopped")
    assert groups["audit"]["advice"]
    assert groups[HOSTILE]["advice"] is None


def test_a_group_is_explained_as_by_the_command(asked: tuple[list[Any], dict[str, Any]]) -> None:
    assert answer(asked, "why")["cause"]["name"] == "stuck_record"
    assert answer(asked, "tasks")["consumer_group"] == "audit"


def test_saved_queries_are_listed_and_run(asked: tuple[list[Any], dict[str, Any]]) -> None:
    assert "group_wrong_now" in {each["name"] for each in answer(asked, "queries")}
    assert isinstance(answer(asked, "query"), list)


@pytest.mark.parametrize(
    ("call", "names"),
    [("groups of another cluster", "mall"), ("why, a name like an option", "--all")],
)
def test_what_is_not_there_is_an_error_with_its_name(
    asked: tuple[list[Any], dict[str, Any]], call: str, names: str
) -> None:
    is_error, text = asked[1][call]
    assert is_error
    assert names in text


@pytest.mark.parametrize("option", [("--listen", "8080"), ("--no-token",), ("--gap", "3")])
def test_options_of_http_are_refused(option: tuple[str, ...]) -> None:
    assert main(["serve", "--mcp", *option]) == 2
