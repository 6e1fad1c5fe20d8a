# SPDX-License-Identifier: Apache-2.0
"""Lines on stdout that CloudWatch takes as metrics, by its own published rules."""

from __future__ import annotations

import io
import json

import pytest

from kafka_lag import contract
from kafka_lag.errors import SinkError
from kafka_lag.sinks.emf import EmfSink, emf_line
from kafka_lag.sinks.metric_sets import MetricSet
from tests.builders import NOON

ONE = MetricSet(
    ((contract.DIMENSION_CLUSTER, "c"), (contract.DIMENSION_GROUP, "ü")), (("OffsetLag", 7),)
)


def test_a_line_is_one_compact_json_object() -> None:
    assert json.loads(emf_line(ONE, NOON, "Own")) == {
        "_aws": {
            "Timestamp": NOON,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Own",
                    "Dimensions": [["Cluster Name", "Consumer Group"]],
                    "Metrics": [{"Name": "OffsetLag", "Unit": "Count"}],
                }
            ],
        },
        "Cluster Name": "c",
        "Consumer Group": "%C3%BC",
        "OffsetLag": 7,
    }
    assert " " not in emf_line(ONE, NOON, "Own").replace("Cluster Name", "").replace(
        "Consumer Group", ""
    )


def test_the_unit_of_each_metric_is_the_contracts() -> None:
    values = tuple((name, 1.0) for name in contract.METRIC_UNITS)
    line = emf_line(MetricSet(ONE.dimensions, values), NOON, "KafkaLag")
    (directive,) = json.loads(line)["_aws"]["CloudWatchMetrics"]
    assert {m["Name"]: m["Unit"] for m in directive["Metrics"]} == contract.METRIC_UNITS


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_rejected(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        emf_line(MetricSet(ONE.dimensions, (("OffsetLag", value),)), NOON, "KafkaLag")


def test_each_metric_set_has_its_own_line() -> None:
    stream = io.StringIO()
    sink = EmfSink(stream, "KafkaLag")
    sink.publish([], NOON)
    sink.publish([ONE, ONE], NOON)
    assert stream.getvalue() == f"{emf_line(ONE, NOON, 'KafkaLag')}\n" * 2


def test_a_stream_that_takes_nothing_is_a_sink_error() -> None:
    stream = io.StringIO()
    stream.close()
    with pytest.raises(SinkError, match="could not be written to stdout"):
        EmfSink(stream).publish([ONE], NOON)
