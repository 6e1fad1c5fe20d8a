# SPDX-License-Identifier: Apache-2.0
"""Several sinks at once: each gets the metrics of its levels, and none can starve another."""

from __future__ import annotations

from itertools import chain, repeat

import pytest

from kafka_lag import contract
from kafka_lag.errors import SinkError
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.snapshots.previous import load_newest
from tests.builders import MINUTE, NOON, Groups, a_reading, table
from tests.fakes import RecordingSink
from tests.functions.runs import CLUSTER, GROUP, GROUPS, TOPIC, TOPICS, Run
from tests.functions.sinks.times import Waited

HEALTH = len(contract.HEALTH_UNITS)
# Of a group, and of a topic of it.
GROUP_COST, TOPIC_COST = len(contract.GROUP_METRICS), len(contract.LAG_METRICS)
PARTITIONS = Levels(partition_groups=NameFilter())
ROWS = {(*TOPIC, "0"), (*TOPIC, "1")}
# Room for one group and its topic, and a group that comes before it by name.
GROUPS_ALONE = Levels(max_metrics=HEALTH + GROUP_COST)
NARROW = Levels(max_metrics=HEALTH + GROUP_COST + TOPIC_COST)
CROWD: Groups = {"a": {"orders": [0, 0]}, **GROUPS}


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


def dimensions(sink: RecordingSink) -> set[tuple[str, ...]]:
    return {where for where, _ in sink.values()}


def published(run: Run, taken_at: int = NOON) -> list[str]:
    rows = load_newest(run.store, "shop", taken_at + 1).value.group_partitions
    return [level for _, level in sorted(table(rows, "consumer_group", "published"))]


@pytest.mark.parametrize(("emf", "otlp"), [(0, 1), (1, 0)])
def test_partitions_go_to_the_sink_that_asks_for_them_alone_and_not_to_the_snapshot(
    emf: int, otlp: int
) -> None:
    run = Run(sinks=[RecordingSink(), RecordingSink()], own={otlp: PARTITIONS})
    run()
    assert dimensions(run.sinks[emf]) == {CLUSTER, GROUP, TOPIC}
    assert dimensions(run.sinks[otlp]) == {CLUSTER, GROUP, TOPIC} | ROWS
    assert run.sinks[otlp].values()[(*TOPIC, "0"), "OffsetLag"] == 5
    alone = Run(own={0: PARTITIONS})
    alone()
    assert published(run) == published(alone) == ["topic", "topic"]


def test_every_sink_hears_of_the_reporters_health_and_of_the_fullest_budget() -> None:
    run = Run(sinks=[RecordingSink(), RecordingSink()], own={1: GROUPS_ALONE})
    run()
    one, other = ({k: v for k, v in s.values().items() if k[0] == CLUSTER} for s in run.sinks)
    assert one[CLUSTER, contract.METRICS_OMITTED] == TOPIC_COST
    assert one == other
    assert "raise sinks.1.otlp.levels.max_metrics" in run.logger.warnings[0]
    assert {name for _, name in one} == set(contract.HEALTH_UNITS)


def test_what_another_sink_got_gives_no_group_a_place_in_the_clusters_budget() -> None:
    readings = [a_reading(GROUPS, TOPICS), *[a_reading(CROWD, TOPICS)] * 2]
    run = Run(*readings, sinks=[RecordingSink() for _ in range(2)], levels=NARROW,
              own={1: PARTITIONS})  # fmt: skip
    for minute in range(3):
        run(NOON + minute * MINUTE)
    assert ("shop", "a") in dimensions(run.sinks[1])
    assert ("shop", "a") not in dimensions(run.sinks[0])
    assert published(run, NOON + 2 * MINUTE) == ["none", "none", "topic", "topic"]
