# SPDX-License-Identifier: Apache-2.0
"""Several sinks at once: each gets all that was chosen, and none can starve another."""

from __future__ import annotations

from itertools import chain, repeat

import pytest

from kafka_lag.errors import SinkError
from kafka_lag.sinks.metric_sets import MetricSet
from tests.fakes import RecordingSink
from tests.functions.runs import CLUSTER, GROUP, Run
from tests.functions.sinks.times import Waited


@pytest.mark.parametrize("broken", [0, 2])
def test_one_that_fails_stops_no_other(broken: int) -> None:
    sinks = [RecordingSink(fail_at={0, 1} if n == broken else ()) for n in range(3)]
    run = Run(sinks=sinks)
    with pytest.raises(SinkError, match="the sink is full"):
        run()
    lags = [(GROUP, "OffsetLag") in sink.values() for sink in sinks]
    health = [(CLUSTER, "GroupsRead") in sink.values() for sink in sinks]
    assert lags == health == [number != broken for number in range(3)]
    assert not any((CLUSTER, "CollectorSuccess") in sink.values() for sink in sinks)
    assert len(run.store.objects) == 3


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
