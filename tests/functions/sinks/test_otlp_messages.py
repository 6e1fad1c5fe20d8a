# SPDX-License-Identifier: Apache-2.0
"""Metric sets become OTLP gauges, every point once, no request larger than it may be.

OpenTelemetry's own classes read what is written here, and write what is read here.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from kafka_lag import contract
from kafka_lag.sinks.config import CLOUDWATCH_NAMES, OTEL_NAMES, OTLP_NAMES
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.sinks.otlp_messages import (
    EncodedRequest,
    PartialSuccess,
    RequestLimits,
    decode_answer,
    encode_requests,
)
from tests.builders import NOON
from tests.functions.sinks.otlp_receiver import Received

CLUSTER, GROUP = contract.DIMENSION_CLUSTER, contract.DIMENSION_GROUP
TOPIC, PARTITION = contract.DIMENSION_TOPIC, contract.DIMENSION_PARTITION
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
METRIC_SETS = st.lists(
    st.builds(
        MetricSet,
        st.tuples(NAMES, NAMES).map(lambda two: ((CLUSTER, two[0]), (GROUP, two[1]))),
        st.dictionaries(
            st.sampled_from(sorted(contract.METRIC_UNITS)), st.floats(0, 1e15), min_size=1
        ).map(lambda values: tuple(values.items())),
    ),
    max_size=30,
)


def decoded(batch: EncodedRequest) -> Received:
    return Received("", {}, b"", ExportMetricsServiceRequest.FromString(batch.body))


@settings(deadline=None, max_examples=25)
@given(sets=METRIC_SETS, points=st.integers(1, 20), size=st.integers(400, 4_000))
def test_every_point_is_in_one_request_within_the_limits(
    sets: list[MetricSet], points: int, size: int
) -> None:
    made = list(encode_requests(sets, NOON, "KafkaLag", RequestLimits(points, size)))
    result = [point for batch in made for point in decoded(batch).points()]
    expected = [
        (name, dict(one.dimensions), value, NOON * 1_000_000)
        for one in sets
        for name, value in one.values
    ]
    assert sorted(map(repr, result)) == sorted(map(repr, expected))
    for batch in made:
        assert len(decoded(batch).points()) == batch.points <= points
        assert len(batch.body) <= size or batch.points == 1


@settings(deadline=None, max_examples=50)
@given(
    places=st.lists(st.tuples(NAMES, NAMES, NAMES, st.integers(0, 2**31 - 1)), max_size=20),
    value=st.floats(allow_nan=False, allow_infinity=False),
    names=st.sampled_from(OTLP_NAMES),
)
def test_requests_are_byte_for_byte_those_of_opentelemetrys_classes(
    places: list[tuple[str, str, str, int]], value: float, names: str
) -> None:
    dimensions = (CLUSTER, GROUP, TOPIC, PARTITION)
    sets = [
        MetricSet(
            tuple(zip(dimensions, map(str, place), strict=True)),
            (("OffsetLag", place[-1]), ("EstimatedTimeLag", value)),
        )
        for place in places
    ]
    for batch in encode_requests(sets, NOON, "KafkaLag", RequestLimits(points=7), names):
        request = decoded(batch).request
        assert request.SerializeToString() == batch.body
        request.DiscardUnknownFields()
        assert request.SerializeToString() == batch.body


INT64 = st.integers(-(2**63), 2**63 - 1)
# Fields of numbers, bytes, and 8 and 4 bytes, that a later version may add.
LATER = [b"", b"\x20\x96\x01", b"\x2a\x02hi", b"\x31" + bytes(8), b"\x3d" + bytes(4)]


@given(rejected=INT64, message=NAMES, more=st.sampled_from(LATER))
def test_an_answer_is_read_as_opentelemetrys_classes_write_it(
    rejected: int, message: str, more: bytes
) -> None:
    response = ExportMetricsServiceResponse()
    response.partial_success.rejected_data_points = rejected
    response.partial_success.error_message = message
    expected = PartialSuccess(max(rejected, 0), message)
    assert decode_answer(more + response.SerializeToString() + more) == expected


@pytest.mark.parametrize(
    "data", [b"", ExportMetricsServiceResponse().SerializeToString(), LATER[2]]
)
def test_an_answer_without_partial_success_rejects_nothing(data: bytes) -> None:
    assert decode_answer(data) == PartialSuccess()


@given(data=st.binary(max_size=40))
def test_whatever_is_answered_is_read_or_is_no_answer(data: bytes) -> None:
    try:
        assert decode_answer(data).rejected >= 0
    except ValueError:
        return


@pytest.mark.parametrize(
    "data",
    [
        b"<html>",
        b'{"partialSuccess":{}}',
        b"\x0a\x05\x08",  # ends before its length
        b"\x0a\x02\x08\x80",  # a number without an end
        b"\x0a\x0c\x08" + b"\xff" * 10 + b"\x01",  # of more than 64 bits
        b"\x08\x01",  # a number instead of a message
        b"\x0a\x02\x0a\x00",  # text instead of a number
    ],
)
def test_what_is_no_answer_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"number|field|Response"):
        decode_answer(data)


def test_requests_are_filled_up_to_their_size() -> None:
    sets = [MetricSet(((GROUP, f"{n:01000}"),), (("OffsetLag", n),)) for n in range(30)]
    sizes = [
        len(batch.body)
        for batch in encode_requests(sets, NOON, "KafkaLag", RequestLimits(size=10_000))
    ]
    assert max(sizes) <= 10_000
    assert min(sizes[:-1]) > 8_500


def test_what_cloudwatch_takes_is_not_exceeded_unasked() -> None:
    sets = [MetricSet(((GROUP, str(n)),), (("OffsetLag", n),)) for n in range(1_001)]
    assert [batch.points for batch in encode_requests(sets, NOON, "KafkaLag", RequestLimits())] == [
        1_000,
        1,
    ]


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("EstimatedTimeLag", "s"),
        ("OffsetLag", "{count}"),
        ("ProduceRate", "{count}/s"),
        ("GroupStatus", ""),
    ],
)
def test_units_are_those_of_ucum_by_either_names(name: str, unit: str) -> None:
    sets = [MetricSet(((GROUP, "g"),), ((name, 1),))]
    for names in (CLOUDWATCH_NAMES, OTEL_NAMES):
        (batch,) = encode_requests(sets, NOON, "KafkaLag", RequestLimits(), names)
        (resource,) = decoded(batch).request.resource_metrics
        assert resource.scope_metrics[0].metrics[0].unit == unit


def test_the_namespace_is_the_service_and_the_scope() -> None:
    (batch,) = encode_requests(
        [MetricSet(((GROUP, "g"),), (("OffsetLag", 1),))], NOON, "Own", RequestLimits()
    )
    (resource,) = decoded(batch).request.resource_metrics
    (attribute,) = resource.resource.attributes
    assert (attribute.key, attribute.value.string_value) == ("service.name", "Own")
    assert resource.scope_metrics[0].scope.name == "Own"


def test_opentelemetrys_names_are_those_of_its_receiver_for_kafka() -> None:
    dimensions = ((CLUSTER, "shop"), (GROUP, "g"), (TOPIC, "t"), (PARTITION, "3"))
    sets = [MetricSet(dimensions[:upto], (("OffsetLag", upto),)) for upto in (4, 3, 2)]
    sets.append(MetricSet(dimensions[:2], (("EstimatedTimeLag", 7), ("TasksNeeded", 8))))
    sets.append(MetricSet(dimensions[:1], (("CollectorSuccess", 1),)))

    (batch,) = encode_requests(sets, NOON, "KafkaLag", RequestLimits(), OTEL_NAMES)

    shop, group = {"kafka.cluster.alias": "shop"}, {"group": "g"}
    assert {
        (name, value): attributes for name, attributes, value, _ in decoded(batch).points()
    } == {
        ("kafka.consumer_group.lag", 4): {**shop, **group, "topic": "t", "partition": 3},
        ("kafka.consumer_group.lag_sum", 3): {**shop, **group, "topic": "t"},
        ("kafka.consumer_group.lag_of_all_topics", 2): {**shop, **group},
        ("kafka.consumer_group.time_lag", 7): {**shop, **group},
        ("kafka.consumer_group.tasks_needed", 8): {**shop, **group},
        ("kafka_lag.collector_success", 1): shop,
    }


@pytest.mark.parametrize("level", [(GROUP,), (GROUP, TOPIC), (GROUP, TOPIC, PARTITION)])
def test_no_two_metrics_of_a_level_are_called_alike_by_opentelemetry(
    level: tuple[str, ...],
) -> None:
    one = MetricSet(
        tuple((name, "1") for name in level), tuple((name, 1) for name in contract.METRIC_UNITS)
    )
    (batch,) = encode_requests([one], NOON, "KafkaLag", RequestLimits(), OTEL_NAMES)
    assert len({name for name, *_ in decoded(batch).points()}) == len(contract.METRIC_UNITS)
