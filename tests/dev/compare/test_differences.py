# SPDX-License-Identifier: Apache-2.0
"""Every value that differs is found and told where it is; order, encoding and hashes are none."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dev.compare.differences import Difference, Rules, compare
from dev.compare.printing import Findings
from dev.compare.steps import Step

SET = {"Cluster Name": "c", "Consumer Group": "g", "OffsetLag": 5}
ROWS: list[dict[str, Any]] = [
    {"consumer_group": "g", "topic": "t", "lag": 1.0},
    {"consumer_group": "h", "topic": "t"},
]


def emf(**changes: Any) -> bytes:
    metrics = [{"Name": "OffsetLag", "Unit": changes.pop("unit", "Count")}]
    names = [["Cluster Name", "Consumer Group"]]
    directive = {"Namespace": "KafkaLag", "Dimensions": names, "Metrics": metrics}
    about = {"Timestamp": 1, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": about, **SET, **changes}).encode() + b"\n"


def table(*rows: dict[str, Any], dictionary: bool = True) -> bytes:
    sink = io.BytesIO()
    found: Any = pa.Table.from_pylist(
        list(rows),
        pa.schema([("consumer_group", pa.string()), ("topic", pa.string()), ("lag", pa.float64())]),
    )
    pq.write_table(found, sink, use_dictionary=dictionary)
    return sink.getvalue()


def answer(**changes: Any) -> bytes:
    told = {"statusCode": 200, "headers": {"vary": "x"}, "body": "one\ntwo\n", **changes}
    return json.dumps(told).encode()


def template(handler: str, size: int = 1, asset: str = "a" * 64) -> bytes:
    code = {"S3Key": f"{asset}.zip"}
    properties = {"Handler": handler, "MemorySize": size, "Code": code}
    function = {"Type": "AWS::Lambda::Function", "Properties": properties}
    return json.dumps({"Resources": {"Lag": function}}).encode()


def found(part: str, old: bytes | None, new: bytes | None, **rules: Any) -> list[Difference]:
    one, other = (Step("a step", {} if data is None else {part: data}) for data in (old, new))
    return list(compare(one, other, Rules(**rules)))


@pytest.mark.parametrize(
    ("part", "old", "new", "what", "values"),
    [
        ("emf", emf(), emf(OffsetLag=6), "metric OffsetLag", ("5,", "6,")),
        ("emf", emf(), emf(unit="None"), "metric OffsetLag", ("'Count'", "'None'")),
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
        ("http", answer(), answer(statusCode=404), "answer: statusCode", ("200", "404")),
        ("http", answer(), answer(headers={}), "answer: headers.vary", ("x", "(absent)")),
        ("http", answer(), answer(body="one\n2\n"), "body", ("two", "2")),
        ("messages", b'[{"a": 1}]', b'[{"a": 2}]', "sent: a", ("1", "2")),
        ("messages", b"[1]", b"[1, 1]", "sent: ", ("[1]", "[1, 1]")),
        ("reports/page", b"<p>1", b"<p>2", "reports/page", ("<p>1", "<p>2")),
        (
            "templates",
            template("a.b"),
            template("a.b", size=2),
            "Resources.AWS::Lambda::Function.Properties.MemorySize",
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
        ("emf", emf() + emf(**{"Consumer Group": "h"}), emf(**{"Consumer Group": "h"}) + emf()),
        ("parquet/groups", table(*ROWS), table(*reversed(ROWS))),
        ("parquet/groups", table(*ROWS), table(*ROWS, dictionary=False)),
        ("http", answer(), json.dumps(json.loads(answer()), indent=1).encode()),
        ("templates", template("a.b"), template("a.b", asset="b" * 64)),
    ],
)
def test_what_means_the_same_is_no_difference(part: str, old: bytes, new: bytes) -> None:
    assert old != new
    assert found(part, old, new) == []


def test_a_tolerance_is_for_reports_alone() -> None:
    old, new = table(ROWS[0]), table(ROWS[0] | {"lag": 1.001})
    assert found("reports/lag_summary", old, new, tolerance=0.01) == []
    assert found("reports/lag_summary", old, new)
    assert found("parquet/groups", old, new, tolerance=0.01)


def test_a_rename_explains_the_texts_that_it_makes_alike_and_no_others() -> None:
    rules = Rules(renamed=(("functions.", "kafka_lag."), ("x", "y")))
    old = Step("a step", {"templates": template("functions.serve.handler", size=1)})
    new = Step("a step", {"templates": template("kafka_lag.serve.handler", size=2)})
    (one,) = compare(old, new, rules)
    assert one.what.endswith("MemorySize")
    assert dict(rules.used) == {"functions.=kafka_lag.": 1}


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
