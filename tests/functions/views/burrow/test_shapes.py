# SPDX-License-Identifier: Apache-2.0
"""What Burrow answered on a real cluster, recorded: ours has its codes, fields, order and types.

The records are of Burrow at ced55ba (2025-10-03) beside this project on Kafka 4; a schema holds
every type that was seen of a field in all answers to its path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Row, Shop, a_group, a_partition

SHAPES = Path(__file__).parent / "shapes"
KNOWN = {"cluster": "shop", "group": "billing", "topic": "orders"}
UNKNOWN = {"cluster": "none", "group": "nobody", "topic": "nothing"}
PYTHON: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}
RECORDS = [
    record for path in sorted(SHAPES.glob("*.json")) for record in json.loads(path.read_text())
]


@pytest.fixture(name="shop", scope="module")
def _shop() -> Shop:
    owner: Row = {"client_host": "/10.0.0.7", "client_id": "app-1"}
    logs = [{"topic": "orders", "partition_id": number, "end_offset": 10} for number in range(2)]
    rows = [a_partition(0, **owner), a_partition(1, 4, status="STALL")]
    shop = Shop(rows, [a_group(status="ERR", complete=0.5)], logs)
    shop.run(NOON - MINUTE, rows, [a_group()], logs)
    return shop


def differences(value: Any, schema: dict[str, Any], at: str = "answer") -> Iterator[str]:
    """Where a value is not as the schema has it."""
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    is_truth = isinstance(value, bool) and "boolean" not in types
    if is_truth or not any(isinstance(value, PYTHON[name]) for name in types):
        yield f"{at} is {value!r} and must be {' or '.join(types)}"
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from differences(item, schema["items"], f"{at}[{number}]")
    elif isinstance(value, dict) and "properties" in schema:
        fields = schema["properties"]
        if list(value) != list(fields):
            yield f"{at} has {list(value)} and must have {list(fields)}"
        for name in value.keys() & fields.keys():
            yield from differences(value[name], fields[name], f"{at}.{name}")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from differences(item, schema["additionalProperties"], f"{at}.{name}")


@pytest.mark.parametrize(
    "record", RECORDS, ids=[f"{record['code']} {record['path']}" for record in RECORDS]
)
def test_an_answer_is_as_burrow_gave_it(record: dict[str, Any], shop: Shop) -> None:
    names = KNOWN if record["code"] == 200 else UNKNOWN

    answer = shop.ask(record["path"].format(**names))

    assert (answer.status, answer.content_type) == (record["code"], record["content_type"])
    if "body" in record:
        assert answer.body.decode() == record["body"]
        return
    body = json.loads(answer.body)
    assert (body["message"], body["error"]) == (record["message"], record["error"])
    assert list(differences(body, record["schema"])) == []


def test_a_window_that_is_not_full_is_as_burrow_gave_it(shop: Shop) -> None:
    (schema,) = (
        record["schema"]
        for record in RECORDS
        if (record["path"], record["code"]) == ("/v3/kafka/{cluster}/consumer/{group}", 200)
    )

    body = shop.body("/v3/kafka/shop/consumer/billing")

    assert body["topics"]["orders"][0]["offsets"][0] is None
    assert list(differences(body, schema)) == []
