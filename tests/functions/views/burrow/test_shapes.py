# SPDX-License-Identifier: Apache-2.0
"""Burrow's recorded answers on a real cluster: ours have its codes, fields, order and types.

The records are of Burrow at ced55ba (2025-10-03) beside this project on Kafka 4. A shape holds
every type of a field that was seen in all answers to its path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest

from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Row, Shop, a_group, a_partition

KNOWN = {"cluster": "shop", "group": "billing", "topic": "orders"}
UNKNOWN = {"cluster": "none", "group": "nobody", "topic": "nothing"}

# A type, None for null, a list of items that are alike, an object with these fields in this order,
# an object whose fields have any names (`{str: shape}`), or several of these in a tuple.
Shape: TypeAlias = Any
NUMBER = (int, float)
REQUEST: Shape = {"url": str, "host": str}
OFFSET: Shape = {"offset": int, "timestamp": int, "observedAt": int, "lag": int}
PARTITION: Shape = {
    "topic": str,
    "partition": int,
    "owner": str,
    "client_id": str,
    "status": str,
    "start": OFFSET,
    "end": OFFSET,
    "current_lag": int,
    "complete": NUMBER,
}
STATUS: Shape = {
    "cluster": str,
    "group": str,
    "status": str,
    "complete": NUMBER,
    "partitions": [PARTITION],
    "partition_count": int,
    "maxlag": PARTITION,
    "totallag": int,
}
NOT_FOUND: Shape = {**STATUS, "complete": int, "partitions": [], "maxlag": None}
WINDOW: Shape = {
    "offsets": [(None, OFFSET)],
    "owner": str,
    "client_id": str,
    "current-lag": int,
}
PROFILE: Shape = {"name": str, "client-id": str, "kafka-version": str, "tls": None, "sasl": None}
MODULE: Shape = {
    "class-name": str,
    "servers": [str],
    "client-profile": PROFILE,
    "topic-refresh": int,
    "offset-refresh": int,
}
CONSUMER, LISTED = "/{cluster}/consumer/{group}", "consumer status returned"
# Code, path below /v3/kafka, message, and the field beside error, message and request. Burrow calls
# an answer without one an error.
RECORDS: list[tuple[int, str, str, dict[str, Shape]]] = [
    (200, "", "cluster list returned", {"clusters": [str]}),
    (200, "/{cluster}", "cluster module detail returned", {"module": MODULE}),
    (404, "/{cluster}", "cluster module not found", {}),
    (200, "/{cluster}/consumer", "consumer list returned", {"consumers": [str]}),
    (404, "/{cluster}/consumer", "cluster not found", {}),
    (200, CONSUMER, "consumer detail returned", {"topics": {str: [WINDOW]}}),
    (404, CONSUMER, "cluster or consumer not found", {}),
    (200, f"{CONSUMER}/status", LISTED, {"status": STATUS}),
    (404, f"{CONSUMER}/status", LISTED, {"status": NOT_FOUND}),
    (200, f"{CONSUMER}/lag", LISTED, {"status": STATUS}),
    (404, f"{CONSUMER}/lag", LISTED, {"status": NOT_FOUND}),
    (200, "/{cluster}/topic", "topic list returned", {"topics": [str]}),
    (404, "/{cluster}/topic", "cluster not found", {}),
    (200, "/{cluster}/topic/{topic}", "topic offsets returned", {"offsets": [int]}),
    (404, "/{cluster}/topic/{topic}", "cluster or topic not found", {}),
    (
        200,
        "/{cluster}/topic/{topic}/consumers",
        "consumers of topic returned",
        {"consumers": [str]},
    ),
    (404, "/{cluster}/topic/{topic}/consumers", "cluster not found", {}),
]


@pytest.fixture(name="shop", scope="module")
def _shop() -> Shop:
    owner: Row = {"client_host": "/10.0.0.7", "client_id": "app-1"}
    logs = [{"topic": "orders", "partition_id": number, "end_offset": 10} for number in range(2)]
    rows = [a_partition(0, **owner), a_partition(1, 4, status="STALL")]
    shop = Shop(rows, [a_group(status="ERR", complete=0.5)], logs)
    shop.run(NOON - MINUTE, rows, [a_group()], logs)
    return shop


def differences(value: Any, shape: Shape, at: str = "answer") -> Iterator[str]:
    """Where a value is not as the shape has it."""
    shapes = shape if isinstance(shape, tuple) else (shape,)
    fitting = [each for each in shapes if _is_of_type(value, each)]
    if not fitting:
        yield f"{at} is {value!r} and must be {shape}"
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from differences(item, next(iter(fitting[0]), ()), f"{at}[{number}]")
    elif isinstance(value, dict):
        fields = dict.fromkeys(value, fitting[0][str]) if str in fitting[0] else fitting[0]
        if list(value) != list(fields):
            yield f"{at} has {list(value)} and must have {list(fields)}"
        for name in value.keys() & fields.keys():
            yield from differences(value[name], fields[name], f"{at}.{name}")


def _is_of_type(value: Any, shape: Shape) -> bool:
    return type(value) is (shape if isinstance(shape, type) else type(shape))


@pytest.mark.parametrize(("code", "path", "message", "field"), RECORDS)
def test_an_answer_is_as_burrow_gave_it(
    code: int, path: str, message: str, field: dict[str, Shape], shop: Shop
) -> None:
    body = shop.body(f"/v3/kafka{path}".format(**KNOWN if code == 200 else UNKNOWN), code=code)

    assert (body["message"], body["error"]) == (message, not field)
    shape = {"error": bool, "message": str, **field, "request": REQUEST}
    assert list(differences(body, shape)) == []


@pytest.mark.parametrize(
    ("code", "path", "body"),
    [
        (200, "/burrow/admin", "GOOD"),
        (200, "/burrow/admin/ready", "READY"),
        (404, "/v3/nothing", '{"error":true,"message":"invalid request type","result":{}}\n'),
    ],
)
def test_what_is_no_json_is_as_burrow_gave_it(code: int, path: str, body: str, shop: Shop) -> None:
    answer = shop.ask(path)

    assert (answer.status, answer.content_type) == (code, "text/plain; charset=utf-8")
    assert answer.body.decode() == body


def test_a_window_that_is_not_full_begins_with_null(shop: Shop) -> None:
    topics = shop.body("/v3/kafka/shop/consumer/billing")["topics"]

    assert topics["orders"][0]["offsets"][0] is None
