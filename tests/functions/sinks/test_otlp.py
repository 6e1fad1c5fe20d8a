# SPDX-License-Identifier: Apache-2.0
"""What a real HTTP endpoint gets, and what becomes of each of its answers."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from itertools import chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from kafka_lag import contract
from kafka_lag.errors import SinkError
from kafka_lag.sinks.config import CLOUDWATCH_NAMES, OTEL_NAMES
from kafka_lag.sinks.deadline import Timing
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.sinks.otlp import (
    Authorization,
    EncodedRequest,
    OtlpSink,
    RequestLimits,
    encode_requests,
)
from tests.builders import NOON
from tests.functions.sinks.otlp_receiver import Received, Receiver, Reply, receiving
from tests.functions.sinks.times import Waited

SETS = [
    MetricSet(
        ((contract.DIMENSION_CLUSTER, "shop"), (contract.DIMENSION_GROUP, f"g{n}")),
        (("OffsetLag", n),),
    )
    for n in range(4)
]


class Sent:
    """A sink, what it warned of, and how long it paused."""

    def __init__(self, url: str, points: int = 1_000) -> None:
        self.warnings: list[str] = []
        self.waited = Waited()
        self.sink = OtlpSink(
            url,
            Authorization(),
            self.warnings.append,
            limits=RequestLimits(points=points),
            timing=self.waited.timing(),
        )

    def __call__(self, seconds: float = 30.0) -> None:
        self.sink.publish(SETS, NOON, seconds)


def groups(receiver: Receiver) -> list[list[str | int]]:
    """The groups in each request."""
    return [[point[1]["Consumer Group"] for point in one.points()] for one in receiver.received]


def test_all_points_arrive_as_gzipped_protobuf() -> None:
    with receiving() as receiver:
        Sent(receiver.url)()
    (received,) = receiver.received
    assert received.points()[3] == (
        "OffsetLag",
        {"Cluster Name": "shop", "Consumer Group": "g3"},
        3.0,
        NOON * 1_000_000,
    )
    assert received.path == "/v1/metrics"
    assert received.headers["content-type"] == "application/x-protobuf"
    assert received.headers["content-encoding"] == "gzip"


def test_many_points_go_in_several_requests() -> None:
    with receiving() as receiver:
        Sent(receiver.url, points=3)()
    assert groups(receiver) == [["g0", "g1", "g2"], ["g3"]]


BUSY = [Reply(status) for status in (429, 502, 503, 504)]
# What the endpoint answers in turn, how many requests it gets, and what a person hears: a failure
# begins with "!".
ANSWERS: dict[str, tuple[list[Reply], int, str]] = {
    "busy": ([*BUSY, Reply()], 5, ""),
    "busy for too long": ([Reply(503)], 5, r"!in time \(503 Service Unavailable\)"),
    "a pause in no known form": ([Reply(503, {"Retry-After": "soon"}), Reply()], 2, ""),
    **{
        f"refused by {status}": (
            [Reply(status, {"Location": "/elsewhere"})],
            1,
            rf"!^4 OTLP data points were not published: http://\S+ refused them .{status} ",
        )
        for status in (301, 307, 400, 401, 404, 408, 500, 501)
    },
    "a point rejected": (
        [Reply.partial(1, "too \n old")],
        1,
        r"^of 4 OTLP data points 1 were rejected: 'too \\n old'$",
    ),
    "all rejected": (
        [Reply.partial(4, "wrong tenant")],
        1,
        "!of 4 OTLP data points 4 were rejected: 'wrong tenant'",
    ),
    "long advice": (
        [Reply.partial(0, "use " + "x" * 500)],
        1,
        r"^of 4 OTLP data points 0 were rejected: 'use x{196}'$",
    ),
    "no OTLP": ([Reply(200, {}, b"<html>Log in</html>")], 1, "is this the URL for metrics?"),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_what_becomes_of_each_answer(case: str) -> None:
    replies, requests, said = ANSWERS[case]
    with receiving(*replies) as receiver:
        sent = Sent(receiver.url)
        if said.startswith("!"):
            with pytest.raises(SinkError, match=said[1:]):
                sent(seconds=3600.0)
        else:
            sent(seconds=3600.0)
    assert len({one.packed for one in receiver.received}) == 1
    assert len(receiver.received) == requests
    if said and not said.startswith("!"):
        (warning,) = sent.warnings
        assert re.search(said, warning)
    else:
        assert sent.warnings == []


def test_a_pause_that_is_requested_is_made() -> None:
    with receiving(Reply(503, {"Retry-After": "7"}), Reply()) as receiver:
        sent = Sent(receiver.url)
        sent()
    assert sent.waited.pauses[0] == 7
    assert len(receiver.received) == 2


def test_a_pause_longer_than_the_run_is_not_made() -> None:
    with receiving(Reply(429, {"Retry-After": "3600"})) as receiver:
        sent = Sent(receiver.url)
        with pytest.raises(SinkError, match=r"did not take them in time \(429 Too Many Requests\)"):
            sent()
    assert len(receiver.received) == 1
    assert sent.waited.pauses == []


def test_nobody_there_is_reported_with_the_url() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1/metrics"
        with pytest.raises(SinkError, match=re.escape(f"{url} did not take them in time (NewConn")):
            Sent(url)()


def test_without_time_nothing_is_sent() -> None:
    with receiving() as receiver, pytest.raises(SinkError, match="no time was left"):
        Sent(receiver.url)(seconds=0.0)
    assert receiver.received == []


def test_time_that_ends_during_a_request_is_no_fault_of_its_own() -> None:
    # When it begins, before the first attempt, and from then on.
    times = chain([0.0, 0.0], repeat(99.0))
    with receiving(Reply(503)) as receiver:
        sink = OtlpSink(
            receiver.url,
            Authorization(),
            pytest.fail,
            timing=Timing(lambda: next(times), lambda _: None),
        )
        with pytest.raises(SinkError, match="did not take them in time"):
            sink.publish(SETS, NOON, 30.0)


def test_an_endpoint_that_says_nothing_is_left(not_responding: str) -> None:
    sent = Sent(not_responding)
    with pytest.raises(SinkError, match=r"in time \(ReadTimeoutError\)"):
        sent(seconds=0.1)


@pytest.fixture(name="not_responding")
def _not_responding() -> Iterator[str]:
    """Takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1/metrics"


def test_a_request_that_is_rejected_stops_no_other() -> None:
    with (
        receiving(Reply(400), Reply()) as receiver,
        pytest.raises(SinkError, match=r"^2 OTLP data points were not published: .*\(400 "),
    ):
        Sent(receiver.url, points=2)()
    assert groups(receiver) == [["g0", "g1"], ["g2", "g3"]]


def test_nothing_to_publish_sends_nothing() -> None:
    with receiving() as receiver:
        Sent(receiver.url).sink.publish([], NOON, 10.0)
    assert receiver.received == []


# Metric sets become OTLP gauges, every point once, no request larger than it may be.

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
