# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.json has every route, and each of its paths answers as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_lag.contract.exposition import LEVELS
from kafka_lag.views.app import PATHS, answer
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page_tables import (
    GROUP_SORTS,
    LOG_SORTS,
    PARTITION_SORTS,
    PARTITION_STATUSES,
    SEVERITIES,
)
from kafka_lag.views.prometheus import PARAMETERS
from kafka_lag.views.sparkline import PERIODS
from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Shop, a_group, a_partition

DOCUMENT: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "docs" / "openapi.json").read_text()
)
NAMES = {"cluster": "shop", "group": "billing", "topic": "orders", "client_id": "app-1"}
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def ask(path: str, names: dict[str, str] = NAMES, query: str = "", method: str = "GET") -> Answer:
    owned = a_partition(client_id="app-1", member_id="m", owned_at=NOON)
    rows = [owned, a_partition(1, None)]
    shop = Shop(rows, [a_group()], [a_partition()])
    snapshots = Snapshots(shop.store, lambda: (NOON + MINUTE) / 1000)
    request = Request.of(method, path.format(**names), query, {"host": "lag.example"})
    return answer(request, snapshots, NOON + MINUTE)


def resolve(node: dict[str, Any]) -> dict[str, Any]:
    """The node itself, or what its $ref names."""
    found: Any = node
    while "$ref" in found:
        path = found["$ref"].removeprefix("#/").split("/")
        found = DOCUMENT
        for name in path:
            found = found[name]
    return dict(found)


def documented(path: str, expected: Answer) -> dict[str, Any]:
    """The schema for the answer's status and content type."""
    response = resolve(DOCUMENT["paths"][path]["get"]["responses"][str(expected.status)])
    schema: dict[str, Any] = response["content"][expected.content_type.partition(";")[0]]["schema"]
    return schema


def conforms(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is as the schema says, in as much of JSON Schema as the document uses."""
    schema = resolve(schema)
    if "anyOf" in schema:
        return any(conforms(value, each) for each in schema["anyOf"])
    types = schema.get("type", list(TYPES))
    of_type = tuple(TYPES[each] for each in ([types] if isinstance(types, str) else types))
    fits = isinstance(value, of_type) and value in schema.get("enum", [value])  # type: ignore[arg-type]
    fits &= value == schema.get("const", value)
    if isinstance(value, list):
        fits &= all(conforms(each, schema["items"]) for each in value)
    if isinstance(value, dict):
        properties, others = schema.get("properties", {}), schema["additionalProperties"]
        fits &= set(schema.get("required", ())) <= set(value)
        fits &= others is not False or set(value) <= set(properties)
        fits &= all(conforms(each, properties.get(name, others)) for name, each in value.items())
    return bool(fits)


def parameters(path: str) -> dict[str, dict[str, Any]]:
    found = map(resolve, DOCUMENT["paths"][path]["get"].get("parameters", ()))
    return {each["name"]: each for each in found}


def test_the_document_has_every_route_and_no_other() -> None:
    assert sorted(DOCUMENT["paths"]) == sorted(PATHS)


@pytest.mark.parametrize("path", PATHS)
def test_each_documented_path_answers_as_documented(path: str) -> None:
    result = ask(path)

    if path == "/cluster/{cluster}":
        assert str(result.status) in DOCUMENT["paths"][path]["get"]["responses"]
        assert result.headers["Location"] == "/?cluster=shop"
        return
    is_json = result.content_type == "application/json"
    body = json.loads(result.body) if is_json else result.body.decode()
    assert result.status == 200
    assert conforms(body, documented(path, result)), body


def is_documented(path: str, result: Answer) -> bool:
    """Whether an error is one that the path may answer with."""
    schema = documented(path, result)
    return result.content_type != "application/json" or conforms(json.loads(result.body), schema)


def test_what_is_not_there_is_answered_as_documented() -> None:
    named = ((path, name) for path in PATHS for name in NAMES if "{" in path)
    answers = [(path, ask(path, {**NAMES, name: "nope"})) for path, name in named]
    errors = [(path, each) for path, each in answers if each.status not in (200, 302)]

    assert errors
    assert [path for path, each in errors if not is_documented(path, each)] == []


def test_a_list_is_cut_and_a_wrong_number_is_an_error() -> None:
    lists = [path for path in PATHS if path.startswith("/v3/") and "limit" in parameters(path)]

    assert {ask(path, query="offset=0&limit=0").status for path in lists} == {200}
    assert {ask(path, query="limit=x").status for path in lists} == {400}
    assert [path for path in lists if not is_documented(path, ask(path, query="limit=x"))] == []


def test_errors_of_every_path_are_documented() -> None:
    for path in PATHS:
        deleted, too_long = ask(path, method="DELETE"), ask(path, query="q" * 9_000)

        assert (deleted.status, too_long.status) == (405, 414), path
        assert is_documented(path, deleted), path
        assert is_documented(path, too_long), path


def test_each_name_in_a_path_is_a_parameter() -> None:
    for path in PATHS:
        in_path = [each for each in parameters(path).values() if each["in"] == "path"]

        assert {each["name"] for each in in_path} == set(re.findall(r"\{(\w+)\}", path))
        assert all(each["required"] for each in in_path)


def test_parameters_have_the_values_that_there_are() -> None:
    groups = "/cluster/{cluster}/group/{group}"
    topics = "/cluster/{cluster}/topic/{topic}"

    def values(path: str, name: str) -> list[str]:
        return list(parameters(path)[name]["schema"]["enum"])

    assert set(parameters("/metrics")) == set(PARAMETERS)
    assert values("/metrics", "level") == list(LEVELS)
    assert values("/", "status") == list(SEVERITIES)
    assert values(groups, "status") == list(PARTITION_STATUSES)
    for path, sorts in (("/", GROUP_SORTS), (groups, PARTITION_SORTS), (topics, LOG_SORTS)):
        assert values(path, "period") == list(PERIODS)
        assert values(path, "sort") == [*sorts, *(f"-{name}" for name in sorts)]
