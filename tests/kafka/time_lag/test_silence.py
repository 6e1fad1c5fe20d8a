# SPDX-License-Identifier: Apache-2.0
"""Brokers that hang or die: their rows have no time lag, everything else has the right one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import LagReport
from kafka_lag.lag.time_index import LookupResults
from kafka_lag.snapshots.previous import Memory
from tests.dev.cluster_fixture import make_whole
from tests.kafka.looking import ANSWERED_WITHIN, Looker, access, login, only
from tests.kafka.time_lag.watched import GRACE, HOUR, Watched, dated, every, said, watched

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

TIMES = every(HOUR, 20)
PARTITIONS = range(6)
# Of what the victim leads the group has read less than of anything else.
LEAST, MORE = 2, 10


@pytest.fixture(scope="module")
def topic(mortal_cluster: KafkaCluster) -> Watched:
    make_whole(mortal_cluster)
    made = watched(mortal_cluster, "scattered", *[TIMES] * len(PARTITIONS))
    made.commit(*[MORE] * len(PARTITIONS))
    return made


@dataclass(frozen=True, slots=True)
class Victim:
    """A broker that leads some partitions and does not coordinate the group."""

    node: int
    partitions: frozenset[int]


def victim_of(topic: Watched) -> Victim:
    """Told by brokers that are all alive; the group's commits are as the victim wants them."""
    make_whole(topic.cluster)
    with topic.looker() as eyes:
        report = eyes.look_until(lambda seen: topic.reported(seen) == len(PARTITIONS))
    (described,) = topic.cluster.admin().describe_consumer_groups(["on-scattered"]).values()
    coordinator = described.result(ANSWERED_WITHIN).coordinator.id
    leaders = [topic.row(report, partition)["leader"] for partition in PARTITIONS]
    node = next(leader for leader in leaders if leader != coordinator)
    topic.commit(*(LEAST if leader == node else MORE for leader in leaders))
    return Victim(node, frozenset(p for p in PARTITIONS if leaders[p] == node))


def dates(topic: Watched, report: LagReport) -> list[float | None]:
    """The date of each partition's next record, None where there is no time lag."""
    found = [topic.row(report, partition) for partition in PARTITIONS]
    return [None if said(row) == (None, None, None) else dated(row) for row in found]


def expected(victim: Victim, silent: float | None) -> list[Any]:
    """The true dates, and for what the victim leads the one given."""
    theirs = None if silent is None else pytest.approx(silent, abs=1)
    others = pytest.approx(TIMES[MORE], abs=1)
    return [theirs if partition in victim.partitions else others for partition in PARTITIONS]


@dataclass(frozen=True, slots=True)
class Hung:
    """What was said before, while and after the victim hung."""

    victim: Victim
    before: LagReport
    meanwhile: LagReport
    after: LagReport


@pytest.fixture(scope="module")
def hung(topic: Watched) -> Hung:
    victim = victim_of(topic)
    with topic.looker(broker_timeout=10.0) as eyes:
        before = eyes.look()
        topic.cluster.pause(victim.node)
        try:
            meanwhile = eyes.look()
        finally:
            topic.cluster.resume(victim.node)
        after = eyes.look_until(lambda seen: topic.reported(seen) == len(PARTITIONS))
    return Hung(victim, before, meanwhile, after)


def test_rows_of_a_hung_broker_have_no_time_lag_and_all_others_have(
    topic: Watched, hung: Hung
) -> None:
    assert dates(topic, hung.before) == expected(hung.victim, TIMES[LEAST])
    assert dates(topic, hung.meanwhile) == expected(hung.victim, None)


def test_what_a_hung_broker_last_told_goes_on_growing_in_the_group(
    topic: Watched, hung: Hung
) -> None:
    before, meanwhile = topic.group(hung.before), topic.group(hung.meanwhile)
    assert meanwhile["time_lag_seconds"] > before["time_lag_seconds"]
    assert dated(meanwhile) == pytest.approx(TIMES[LEAST], abs=GRACE)
    assert said(meanwhile)[1:] == (None, contract.METHOD_AT_LEAST)


def test_a_broker_that_comes_back_brings_back_the_right_dates(topic: Watched, hung: Hung) -> None:
    assert dates(topic, hung.after) == expected(hung.victim, TIMES[LEAST])
    assert dated(topic.group(hung.after)) == pytest.approx(TIMES[LEAST], abs=GRACE)
    assert topic.group(hung.after)["time_lag_error_seconds"] == 0


class Interrupted(KafkaSource):
    """A source to whose cluster something happens between a reading and its first look-up."""

    action: Callable[[], None] | None = None

    def look_up(self, partitions: Frame, times: Rows, deadline: float) -> LookupResults:
        action, self.action = self.action, None
        if action is not None:
            action()
        return super().look_up(partitions, times, deadline)


def test_a_leader_that_dies_before_the_look_ups_leaves_only_its_own_rows_undated(
    topic: Watched,
) -> None:
    victim = victim_of(topic)
    source = Interrupted(access(topic.cluster), login(topic.cluster))
    source.action = partial(topic.cluster.kill, victim.node)
    report = Looker(source, only("^(on-)?scattered$"), Memory.empty()).look()
    source.close()
    assert {topic.row(report, p)["lag"] for p in victim.partitions} == {len(TIMES) - LEAST}
    assert dates(topic, report) == expected(victim, None)
    assert said(topic.group(report))[1:] == (None, contract.METHOD_AT_LEAST)
