# SPDX-License-Identifier: Apache-2.0
"""Several sinks at once: each gets all that was chosen, and none can starve another."""

from __future__ import annotations

import io
import json
from itertools import chain, repeat

import pytest

from kafka_lag.errors import ReporterError, SinkError
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import MetricSet, Sink
from kafka_lag.sinks.otlp import Authorization, OtlpSink
from tests.fakes import RecordingSink
from tests.functions.runs import CLUSTER, GROUP, Run
from tests.functions.sinks.otlp_receiver import Reply, receiving
from tests.functions.sinks.times import Waited


def test_every_sink_gets_the_same() -> None:
    one, other = RecordingSink(), RecordingSink()
    Run(sinks=[one, other])()
    assert one.published == other.published
    assert one.values()[GROUP, "OffsetLag"] == 6


@pytest.mark.parametrize("broken", [0, 1, 2])
def test_one_that_fails_stops_no_other(broken: int) -> None:
    sinks = [RecordingSink(fail_at={0, 1} if n == broken else ()) for n in range(3)]
    run = Run(sinks=sinks)
    with pytest.raises(SinkError, match="the sink is full"):
        run()
    lags = [(GROUP, "OffsetLag") in sink.values() for sink in sinks]
    health = [(CLUSTER, "GroupsRead") in sink.values() for sink in sinks]
    assert lags == health == [number != broken for number in range(3)]
    assert len(run.store.objects) == 3


def test_none_says_success_where_one_failed() -> None:
    good = RecordingSink()
    with pytest.raises(ReporterError):
        Run(sinks=[RecordingSink(fail_at={0}), good])()
    assert (CLUSTER, "CollectorSuccess") not in good.values()


def test_the_time_that_is_left_is_shared_with_the_snapshot() -> None:
    sinks = [RecordingSink() for _ in range(2)]
    Run(sinks=sinks, deadline=45.0)()
    assert [sink.seconds for sink in sinks] == [[15.0, 15.0], [22.5, 22.5]]


def test_a_sink_that_took_long_leaves_less_to_the_next() -> None:
    time = Waited()

    class Slow(RecordingSink):
        def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
            super().publish(sets, taken_at, seconds)
            time.now += seconds

    sinks = [Slow(), RecordingSink()]
    Run(sinks=sinks, deadline=45.0, clock=lambda: time.now)()
    assert [sink.seconds for sink in sinks] == [[15.0, 10.0], [15.0, 10.0]]


def test_a_run_without_time_still_tries_each_sink() -> None:
    times = chain([0.0], repeat(60.0))
    sinks = [RecordingSink() for _ in range(2)]
    Run(sinks=sinks, deadline=45.0, clock=lambda: next(times))()
    assert [sink.seconds for sink in sinks] == [[1.0, 1.0], [1.0, 1.0]]


class Through(RecordingSink):
    """Hands on to a real sink."""

    def __init__(self, sink: Sink) -> None:
        super().__init__()
        self._sink = sink

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
        self._sink.publish(sets, taken_at, seconds)


@pytest.mark.parametrize("order", [1, -1])
def test_an_endpoint_that_is_down_keeps_nothing_from_cloudwatch(order: int) -> None:
    stream = io.StringIO()
    with receiving(Reply(503)) as receiver:
        down = OtlpSink(receiver.url, Authorization(), pytest.fail, timing=Waited().timing())
        run = Run(sinks=[Through(down), Through(EmfSink(stream))][::order])
        with pytest.raises(ReporterError, match=r"\(503 Service Unavailable\)"):
            run()
    result = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [one["OffsetLag"] for one in result if "OffsetLag" in one] == [6, 6]
    assert len(run.store.objects) == 3
