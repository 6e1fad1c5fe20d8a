# SPDX-License-Identifier: Apache-2.0
"""Brokers that die, hang or come back: the others' values are reported, and the rest is named."""

from collections.abc import Iterator

import pytest

from dev.kafka import KafkaCluster
from kafka_lag.errors import SourceError
from kafka_lag.lag.model import LagReport
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import lag_sets
from tests.dev.cluster_fixture import make_whole
from tests.kafka.looking import (
    commit,
    create,
    group,
    looker,
    only,
    partitions,
    produce,
    rows,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

GROUPS = [f"quiet-{number}" for number in range(8)]
RULES = only("^quiet")
# Seconds after which a broker hangs: brokers that do not have answered by then.
HANGS = 20.0


@pytest.fixture(scope="module")
def cluster(mortal_cluster: KafkaCluster) -> KafkaCluster:
    """Two topics read by eight groups: one with a copy on each broker, one with a single copy."""
    brokers = mortal_cluster
    make_whole(brokers)
    create(brokers, "quiet-copied", 3, replication_factor=3)
    create(brokers, "quiet-single", 6, replication_factor=1)
    produce(brokers, "quiet-copied", dict.fromkeys(range(3), 10))
    produce(brokers, "quiet-single", dict.fromkeys(range(6), 10))
    # Twice: a coordinator that takes over tells only commits which it knows to be on all
    # copies, and of each it learns that with the next one.
    for name in GROUPS * 2:
        commit(brokers, name, "quiet-copied", [4] * 3)
        commit(brokers, name, "quiet-single", [7] * 6)
    return brokers


@pytest.fixture
def victim(cluster: KafkaCluster) -> Iterator[int]:
    """A broker that a test may do anything to; it is back for the next one."""
    yield 2
    make_whole(cluster)
    with looker(cluster, RULES) as eyes:
        eyes.look_until(lambda report: _silent(report) == 0)


def test_a_dead_brokers_share_is_named_and_everything_else_is_in_snapshot_and_metrics(
    cluster: KafkaCluster, victim: int
) -> None:
    with looker(cluster, RULES) as eyes:
        before = eyes.look()
        mine = {
            (r["topic"], r["partition_id"])
            for r in rows(before.snapshot.topic_partitions)
            if r["leader"] == victim and r["topic"] == "quiet-single"
        }
        cluster.kill(victim)
        report = eyes.look_until(lambda report: _silent(report) == len(mine))
    assert {p.name for p in report.problems if p.scope == "partition"} == {
        f"{topic}-{number}" for topic, number in mine
    }
    for name in GROUPS:
        for key, row in partitions(report, name).items():
            assert (row["lag"] is None) == (key in mine)
            assert (row["unread_reason"] is not None) == (key in mine)
            assert row["committed_offset"] == (4 if key[0] == "quiet-copied" else 7)
        assert group(report, name)["lag"] == 3 * 6 + 6 * 3
    chosen = plan(report, before.snapshot, Levels())
    sets = lag_sets(report, chosen, Levels(), "c")
    assert {dict(s.dimensions)["Consumer Group"] for s in sets} == set(GROUPS)


def test_a_hung_broker_costs_its_own_rows_only(cluster: KafkaCluster, victim: int) -> None:
    with looker(cluster, RULES, broker_timeout=HANGS) as eyes:
        eyes.look()
        cluster.pause(victim)
        report = eyes.look()
    answered = [r for r in rows(report.snapshot.topic_partitions) if r["unread_reason"] is None]
    assert len(answered) >= 6
    assert ("broker", str(victim)) in [(p.scope, p.name) for p in report.problems]
    assert all(group(report, name)["lag"] == 36 for name in GROUPS)


def test_a_cluster_that_was_down_is_read_again_by_the_same_source() -> None:
    with KafkaCluster(brokers=1) as brokers, looker(brokers, RULES) as eyes:
        assert eyes.look().problems == ()
        brokers.kill(1)
        with pytest.raises(SourceError, match="No broker could be reached"):
            eyes.look()
        brokers.start(1)
        assert eyes.look().problems == ()


def _silent(report: LagReport) -> int:
    """Partitions that nobody answers for, a group without a coordinator counting as many."""
    topics = report.snapshot.topic_partitions.strings("unread_reason").known.sum()
    return int(topics + 100 * report.snapshot.groups.strings("unread_reason").known.sum())
