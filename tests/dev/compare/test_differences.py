# SPDX-License-Identifier: Apache-2.0
"""Every value that differs is found and its place printed; order, encoding and hashes are none."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dev.compare.differences import Difference, Findings, Rules, compare
from dev.compare.orders import Step

SET = {"Cluster Name": "c", "Consumer Group": "g", "OffsetLag": 5}
ROWS: list[dict[str, Any]] = [
    {"consumer_group": "g", "topic": "t", "lag": 1.0},
    {"consumer_group": "h", "topic": "t"},
]

OTHER: dict[str, Any] = {"Consumer Group": "h"}


def emf(
    metric: dict[str, Any] | None = None, about: dict[str, Any] | None = None, **changes: Any
) -> bytes:
    """A line; `metric` and `about` change what it says of the metric and of itself."""
    metrics = [{"Name": "OffsetLag", "Unit": "Count", "StorageResolution": 60, **(metric or {})}]
    names = [["Cluster Name", "Consumer Group"]]
    directive = {"Namespace": "KafkaLag", "Dimensions": names, "Metrics": metrics}
    beside = {"Timestamp": 1, "CloudWatchMetrics": [directive], **(about or {})}
    return json.dumps({"_aws": beside, **SET, **changes}).encode() + b"\n"


FIELDS = (
    pa.field("consumer_group", pa.string()),
    pa.field("topic", pa.string()),
    pa.field("lag", pa.float64()),
)


def table(*rows: dict[str, Any], dictionary: bool = True, fields: Sequence[Any] = FIELDS) -> bytes:
    sink = io.BytesIO()
    found: Any = pa.Table.from_pylist(list(rows), pa.schema(fields))
    pq.write_table(found, sink, use_dictionary=dictionary)
    return sink.getvalue()


def answer(**changes: Any) -> bytes:
    whole = {"statusCode": 200, "headers": {"vary": "x"}, "body": "one\ntwo\n", **changes}
    return json.dumps(whole).encode()


def template(handler: str, size: Any = 1, asset: str = "a" * 64, **more: Any) -> bytes:
    code = {"S3Key": f"{asset}.zip"}
    properties = {"Handler": handler, "MemorySize": size, "Code": code, **more}
    function = {"Type": "AWS::Lambda::Function", "Properties": properties}
    return json.dumps({"Resources": {"Lag": function}}).encode()


def found(part: str, old: bytes | None, new: bytes | None, **rules: Any) -> list[Difference]:
    one, other = (Step("a step", {} if data is None else {part: data}) for data in (old, new))
    return list(compare(one, other, Rules(**rules)))


@pytest.mark.parametrize(
    ("part", "old", "new", "what", "values"),
    [
        ("emf", emf(), emf(OffsetLag=6), "metric OffsetLag", ("5,", "6,")),
        ("emf", emf(), emf({"Unit": "None"}), "metric OffsetLag", ("'Count'", "'None'")),
        ("emf", emf(), emf({"StorageResolution": 1}), "metric OffsetLag", (": 60", ": 1}")),
        ("emf", emf(), emf(OffsetLag=5.0), "metric OffsetLag", ("(5,", "(5.0,")),
        ("emf", emf(OffsetLag=1), emf(OffsetLag=True), "metric OffsetLag", ("(1,", "(True,")),
        ("emf", emf(), emf(about={"Timestamp": 2}), "_aws", (": 1}", ": 2}")),
        ("emf", emf(), emf(about={"LogGroupName": "g"}), "_aws", ("1}", "'LogGroupName': 'g'")),
        ("emf", emf(), emf(version="2"), "property version", ("(absent)", "2")),
        ("emf", emf(x=1), emf(x=True), "property x", ("1", "True")),
        ("emf", emf(x=1) + emf(x=2), emf(x=3) + emf(x=2), "property x", ("[1, 2]", "[3, 2]")),
        ("emf", emf(), b"", "metric OffsetLag", ("5,", "(absent)")),
        ("emf/error", b"one", b"other", "emf/error as a whole", ("one", "other")),
        ("emf", emf(), None, "emf as a whole", ("OffsetLag", "(absent)")),
        ("parquet/groups", table(*ROWS), table(ROWS[0]), "groups: a row", ("'h'", "(absent)")),
        (
            "parquet/groups",
            table(*ROWS),
            table(ROWS[0] | {"lag": 1.0000000001}, ROWS[1]),
            "groups.lag",
            ("1.0", "1.0000000001"),
        ),
        (
            "parquet/groups",
            table(*ROWS),
            table(ROWS[0], ROWS[1] | {"lag": 0.0}),
            "groups.lag",
            ("None", "0.0"),
        ),
        (
            "parquet/groups",
            table(*ROWS),
            table(*ROWS, fields=[*FIELDS[:2], FIELDS[2].with_type(pa.float32())]),
            "groups: type of lag",
            ("double", "float"),
        ),
        (
            "parquet/groups",
            table(*ROWS),
            table(*ROWS, fields=[FIELDS[0].with_nullable(False), *FIELDS[1:]]),
            "groups: type of consumer_group",
            ("string", "string not null"),
        ),
        (
            "parquet/groups",
            table(*ROWS),
            table(*ROWS, fields=[FIELDS[1], FIELDS[0], FIELDS[2]]),
            "groups: order of columns",
            ("consumer_group, topic", "topic, consumer_group"),
        ),
        (
            "reports/lag_summary/cluster=c/dt=2026-01-05",
            table(ROWS[0]),
            table(ROWS[0] | {"lag": 2.0}),
            "lag_summary.lag",
            ("1.0", "2.0"),
        ),
        (
            "reports/lag_summary/cluster=c/dt=2026-01-05",
            table(ROWS[0]),
            None,
            "reports/lag_summary as a whole",
            ("PAR1", "(absent)"),
        ),
        ("http", answer(), answer(statusCode=404), "answer: statusCode", ("200", "404")),
        ("http", answer(), answer(headers={}), "answer: headers.vary", ("x", "(absent)")),
        ("http", answer(), answer(body="one\n2\n"), "body", ("two", "2")),
        ("messages", b'[{"a": 1}]', b'[{"a": 2}]', "sent: a", ("1", "2")),
        ("messages", b"[1]", b"[1, 1]", "sent: ", ("[1]", "[1, 1]")),
        ("messages", b'[{"a": 1}]', b'[{"a": true}]', "sent: a", ("1", "True")),
        ("messages", b'[{"a": 1}]', b'[{"a": "1"}]', "sent: a", ("1", "'1'")),
        ("messages", b'[{"a": null}]', b"[{}]", "sent: a", ("None", "(absent)")),
        ("messages", b"[{}]", b'[{"a": "(absent)"}]', "sent: a", ("(absent)", "'(absent)'")),
        ("reports/page", b"<p>1", b"<p>2", "reports/page", ("<p>1", "<p>2")),
        (
            "templates",
            template("a.b"),
            template("a.b", size=2),
            "Resources.AWS::Lambda::Function.Properties.MemorySize",
            ("1", "2"),
        ),
        (
            "templates",
            template("a.b"),
            template("a.b", size=True),
            "Resources.AWS::Lambda::Function.Properties.MemorySize",
            ("1", "True"),
        ),
        (
            "templates",
            template("a.b", Input={"a": 1}),
            template("a.b", Input='{"a": 1}'),
            "Resources.AWS::Lambda::Function.Properties.Input",
            ("{'a': 1}", '{"a": 1}'),
        ),
        (
            "templates",
            template("a.b", Input='{"a": 1}'),
            template("a.b", Input='{"a": 2}'),
            "Resources.AWS::Lambda::Function.Properties.Input.a",
            ("1", "2"),
        ),
    ],
)
def test_a_difference_is_found(
    part: str, old: bytes, new: bytes | None, what: str, values: tuple[str, str]
) -> None:
    (one,) = found(part, old, new)
    assert one.what == what
    assert values[0] in one.old
    assert values[1] in one.new
    assert "a step" in one.where


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("emf", emf() + emf(**OTHER), emf(**OTHER) + emf()),
        ("parquet/groups", table(*ROWS), table(*reversed(ROWS))),
        ("parquet/groups", table(*ROWS), table(*ROWS, dictionary=False)),
        ("http", answer(), json.dumps(json.loads(answer()), indent=1).encode()),
        ("templates", template("a.b"), template("a.b", asset="b" * 64)),
        ("templates/a@b", template("a", Input='{"a": 1}'), template("a", Input='{"a":1}')),
    ],
)
def test_what_means_the_same_is_counted_and_no_difference(
    part: str, old: bytes, new: bytes
) -> None:
    assert old != new
    rules = Rules()
    assert list(compare(Step("a step", {part: old}), Step("a step", {part: new}), rules)) == []
    assert dict(rules.same) == {part: 1}


def test_a_tolerance_is_for_reports_alone() -> None:
    old, new = table(ROWS[0]), table(ROWS[0] | {"lag": 1.001})
    assert found("reports/lag_summary", old, new, tolerance=0.01) == []
    assert found("reports/lag_summary", old, new)
    assert found("parquet/groups", old, new, tolerance=0.01)
    assert found("reports/history-groups", old, new, tolerance=0.01)


def test_a_row_of_the_history_is_known_by_its_run() -> None:
    fields = [*FIELDS, pa.field("taken_at", pa.int64())]
    old = [{"consumer_group": "g", "taken_at": at, "lag": 1.0} for at in (1, 2)]
    new = [old[0], old[1] | {"lag": 2.0}]
    part = "reports/history-groups/cluster=c/dt=2026-01-05"
    (one,) = found(part, table(*reversed(old), fields=fields), table(*new, fields=fields))
    assert "taken_at=2" in one.where
    assert "dt=2026-01-05" in one.where


def test_a_rename_explains_the_texts_that_it_makes_alike_and_no_others() -> None:
    rules = Rules(renamed=(("functions.", "kafka_lag."), ("x", "y")))
    old = Step("a step", {"templates": template("functions.serve.handler", size=1)})
    new = Step("a step", {"templates": template("kafka_lag.serve.handler", size=2)})
    (one,) = compare(old, new, rules)
    assert one.what.endswith("MemorySize")
    assert dict(rules.used) == {"functions.=kafka_lag.": 1}
    assert not list(
        compare(old, Step("a step", {"templates": template("kafka_lag.serve.handler")}), rules)
    )
    assert not rules.same


def test_steps_of_different_inputs_are_not_compared() -> None:
    with pytest.raises(ValueError, match="no step of one input"):
        list(compare(Step("one", {}), Step("other", {}), Rules()))


def test_the_first_of_each_sort_are_printed_and_the_rest_are_counted() -> None:
    findings = Findings(few=2)
    for number in range(5):
        findings.add(Difference("emf", "metric OffsetLag", f"run {number}", "1", "\x1b[2J\u202e"))
    text = "\n".join(findings.lines())
    assert len(findings) == 5
    assert "emf: metric OffsetLag: 5" in text
    assert "run 1" in text
    assert "run 2" not in text
    assert "and 3 more" in text
    assert "new: \\x1b[2J\\u202e" in text
