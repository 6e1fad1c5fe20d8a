# SPDX-License-Identifier: Apache-2.0
"""What a real HTTP endpoint gets, and what becomes of each of its answers."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from kafka_lag import contract
from kafka_lag.errors import SinkError
from kafka_lag.sinks.deadline import Timing
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.sinks.otlp import Authorization, OtlpSink
from kafka_lag.sinks.otlp_messages import RequestLimits
from tests.builders import NOON
from tests.functions.sinks.otlp_receiver import Receiver, Reply, receiving
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


def test_points_rejected_of_several_requests_are_said_once() -> None:
    with receiving(Reply.partial(1, "too old"), Reply(), Reply.partial(1, "later")) as receiver:
        sent = Sent(receiver.url, points=2)
        sent()
        sent.warnings.clear()
        sent()
    assert sent.warnings == ["of 4 OTLP data points 2 were rejected: 'later'"]


def test_rejected_points_count_among_those_not_published() -> None:
    with (
        receiving(Reply.partial(1), Reply(400)) as receiver,
        pytest.raises(SinkError, match=r"^3 OTLP data points were not published: .*\(400 "),
    ):
        Sent(receiver.url, points=2)()
