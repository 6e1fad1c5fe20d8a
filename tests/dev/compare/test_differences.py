# SPDX-License-Identifier: Apache-2.0
"""A planted difference in each kind of answer is found, and what means the same is none."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dev.compare.differences import Difference, differences, lines

SNAPSHOT = "store/snapshots/groups/cluster=c/dt=2026-01-05/hour=00/run.parquet"
REPORT = "store/reports/lag_summary/cluster=c/dt=2026-01-05/part-00000-{}.parquet"
HTTP = "http/c/1.json"
ROWS: list[dict[str, Any]] = [
    {"consumer_group": "a", "lag": 1.0},
    {"consumer_group": "b", "lag": None},
]


def table(*rows: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), sink)
    return sink.getvalue()


def emf(lag: float = 4, unit: str = "Count", group: str = "billing") -> bytes:
    metrics = [{"Name": "OffsetLag", "Unit": unit}]
    about = {"Namespace": "Kafka", "Dimensions": [["Cluster", "Group"]], "Metrics": metrics}
    entry = {"_aws": {"Timestamp": 1, "CloudWatchMetrics": [about]}}
    return json.dumps({**entry, "Cluster": "c", "Group": group, "OffsetLag": lag}).encode() + b"\n"


def answer(body: str = "{}", status: int = 200) -> bytes:
    request = {"path": "/metrics?level=group"}
    return json.dumps({"request": request, "statusCode": status, "body": body}).encode()


def template(size: int = 512, text: str = '{"a": 1}') -> bytes:
    function = {"Type": "AWS::Lambda::Function", "Properties": {"MemorySize": size, "Input": text}}
    return json.dumps({"Resources": {"Collector": function}}).encode()


def found(folder: Path, name: str, old: bytes, new: bytes | None) -> list[Difference]:
    for side, data in (("old", old), ("new", new)):
        path = folder / side / name.format(side)
        path.parent.mkdir(parents=True)
        if data is not None:
            path.write_bytes(data)
    return list(differences(folder / "old", folder / "new"))


@pytest.mark.parametrize(
    ("name", "old", "new", "kind", "what"),
    [
        ("emf/c/1.jsonl", emf(), emf(5), "emf", "OffsetLag.value"),
        ("emf/c/1.jsonl", emf(), emf(4.0), "emf", "OffsetLag.value"),
        ("emf/c/1.jsonl", emf(), emf(unit="Seconds"), "emf", "OffsetLag.Unit"),
        ("emf/c/1.jsonl", emf(), emf() * 2, "emf", "OffsetLag again"),
        (SNAPSHOT, table(*ROWS), table(*ROWS[:1], ROWS[1] | {"lag": 0.0}), "parquet", "groups.lag"),
        (SNAPSHOT, table(*ROWS), table(*ROWS[:1]), "parquet", "groups"),
        (SNAPSHOT, table(ROWS[0]), table(ROWS[0] | {"lag": 1}), "parquet", "groups.type of.lag"),
        (
            REPORT,
            table(*ROWS),
            table(ROWS[0] | {"lag": 2.0}, ROWS[1]),
            "reports",
            "lag_summary.lag",
        ),
        (HTTP, answer(), answer(status=404), "http", "/metrics.statusCode"),
        (HTTP, answer('{"a": 1}'), answer('{"a": 2}'), "http", "/metrics.body.a"),
        (HTTP, answer("a 1\nb 2\n"), answer("a 1\nb 3\n"), "http", "/metrics.body"),
        ("messages/c/1.json", b'[{"Message": "lags"}]', b"[]", "messages", ""),
        ("messages/c/1.json", b'[{"Subject": "1"}]', b'[{"Subject": 1}]', "messages", "Subject"),
        *[
            ("templates/e/s.json", template(), new, "templates", f"{function}.{rest}")
            for function in ("Resources.AWS::Lambda::Function.Properties",)
            for new, rest in ((template(1), "MemorySize"), (template(text='{"a": 2}'), "Input.a"))
        ],
        ("templates/e/s.json", template(), None, "templates", ""),
    ],
)
def test_a_planted_difference_is_found(
    tmp_path: Path, name: str, old: bytes, new: bytes | None, kind: str, what: str
) -> None:
    planted = found(tmp_path, name, old, new)
    assert what in [each.what for each in planted if each.kind == kind]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("emf/c/1.jsonl", emf() + emf(group="x"), emf(group="x") + emf()),
        (SNAPSHOT, table(*ROWS), table(*reversed(ROWS))),
        (REPORT, table(*ROWS), table(*ROWS)),
        (HTTP, answer('{"a": 1, "b": 2}'), answer('{"b":2,"a":1}')),
        ("templates/e/s.json", template(), template(text='{"a":1}')),
    ],
)
def test_order_and_spaces_are_no_difference(
    tmp_path: Path, name: str, old: bytes, new: bytes
) -> None:
    assert found(tmp_path, name, old, new) == []


def test_a_row_says_where_it_is(tmp_path: Path) -> None:
    (one,) = found(tmp_path, SNAPSHOT, table(*ROWS), table(ROWS[0] | {"lag": 2.0}, ROWS[1]))
    assert one.where == f"{SNAPSHOT}, consumer_group='a'"
    assert (one.old, one.new) == (1.0, 2.0)


def test_a_group_of_differences_is_told_by_its_first_on_lines_that_do_nothing() -> None:
    some = [Difference("emf", "OffsetLag", f"run {n}", 1, "\x1b[2J\u202e") for n in range(5)]
    text = list(lines(some, 2))
    assert text[0] == "emf: OffsetLag: 5 differences"
    assert len(text) == 3
    assert "\x1b" not in "".join(text)
