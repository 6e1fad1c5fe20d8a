# SPDX-License-Identifier: Apache-2.0
"""A sink with levels of its own gets what they choose, and changes nothing for the others."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.sinks.config import Levels
from kafka_lag.snapshots.previous import load_newest
from tests.builders import MINUTE, NOON, Groups, a_reading, table
from tests.fakes import RecordingSink
from tests.functions.runs import CLUSTER, GROUP, GROUPS, TOPIC, TOPICS, Run

HEALTH = len(contract.HEALTH_UNITS)
# Of a group, and of a topic of it.
GROUP_COST, TOPIC_COST = len(contract.GROUP_METRICS), len(contract.LAG_METRICS)
PARTITIONS = Levels(partition_groups=NameFilter())
ROWS = {(*TOPIC, "0"), (*TOPIC, "1")}
# Room for one group and its topic, and a group that comes before it by name.
GROUPS_ALONE = Levels(max_metrics=HEALTH + GROUP_COST)
NARROW = Levels(max_metrics=HEALTH + GROUP_COST + TOPIC_COST)
CROWD: Groups = {"a": {"orders": [0, 0]}, **GROUPS}


def dimensions(sink: RecordingSink) -> set[tuple[str, ...]]:
    return {where for where, _ in sink.values()}


def published(run: Run, taken_at: int = NOON) -> list[str]:
    rows = load_newest(run.store, "shop", taken_at + 1).value.group_partitions
    return [level for _, level in sorted(table(rows, "consumer_group", "published"))]


@pytest.mark.parametrize(("emf", "otlp"), [(0, 1), (1, 0)])
def test_partitions_go_to_the_sink_that_asks_for_them_alone(emf: int, otlp: int) -> None:
    run = Run(sinks=[RecordingSink(), RecordingSink()], own={otlp: PARTITIONS})
    run()
    assert dimensions(run.sinks[emf]) == {CLUSTER, GROUP, TOPIC}
    assert dimensions(run.sinks[otlp]) == {CLUSTER, GROUP, TOPIC} | ROWS
    assert run.sinks[otlp].values()[(*TOPIC, "0"), "OffsetLag"] == 5


def test_every_sink_hears_of_the_reporters_health_and_of_its_own_budget() -> None:
    run = Run(sinks=[RecordingSink(), RecordingSink()], own={1: GROUPS_ALONE})
    run()
    one, other = ({k: v for k, v in s.values().items() if k[0] == CLUSTER} for s in run.sinks)
    omitted = (CLUSTER, contract.METRICS_OMITTED)
    assert (one.pop(omitted), other.pop(omitted)) == (0, TOPIC_COST)
    assert one == other
    assert "raise sinks.1.otlp.levels.max_metrics" in run.logger.warnings[0]
    assert {name for _, name in one} == set(contract.HEALTH_UNITS) - {contract.METRICS_OMITTED}


@pytest.mark.parametrize("sinks", [1, 2], ids=["own-alone", "beside-the-clusters"])
def test_the_snapshot_keeps_what_the_clusters_levels_chose(sinks: int) -> None:
    run = Run(sinks=[RecordingSink() for _ in range(sinks)], own={sinks - 1: PARTITIONS})
    run()
    assert published(run) == ["topic", "topic"]


def test_what_another_sink_got_gives_no_group_a_place_in_the_clusters_budget() -> None:
    readings = [a_reading(GROUPS, TOPICS), *[a_reading(CROWD, TOPICS)] * 2]
    run = Run(*readings, sinks=[RecordingSink() for _ in range(2)], levels=NARROW,
              own={1: PARTITIONS})  # fmt: skip
    for minute in range(3):
        run(NOON + minute * MINUTE)
    assert ("shop", "a") in dimensions(run.sinks[1])
    assert ("shop", "a") not in dimensions(run.sinks[0])
    assert published(run, NOON + 2 * MINUTE) == ["none", "none", "topic", "topic"]
