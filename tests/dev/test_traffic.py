# SPDX-License-Identifier: Apache-2.0
"""Each behaviour brings about, at the brokers, the state it is named for."""

import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from dev.kafka import KafkaCluster
from dev.traffic import BEHAVIOURS, Behaviour, Running, Traffic
from dev.traffic.catalog import chosen, skewed_partition
from dev.traffic.stage import Stage
from dev.traffic.traffic import READY_WITHIN
from tests.kafka_versions import needing_features


@pytest.fixture(scope="module")
def traffic(shared_cluster: KafkaCluster) -> Iterator[Traffic]:
    """All behaviours at once."""
    with Traffic(shared_cluster) as traffic:
        yield traffic


@pytest.mark.parametrize("begin", [0, 1_000, 7_000])
def test_each_thousand_records_is_spread_667_166_167(begin: int) -> None:
    counts = Counter(skewed_partition(index) for index in range(begin, begin + 1_000))

    assert counts == {0: 667, 1: 166, 2: 167}


def test_skew_is_even_over_time() -> None:
    counts = Counter(skewed_partition(index) for index in range(100))

    assert counts[0] == pytest.approx(67, abs=1)
    assert counts[1] == pytest.approx(counts[2], abs=1)


@pytest.mark.kafka
@pytest.mark.thorough
def test_traffic_that_is_stopped_leaves_no_thread_at_work(shared_cluster: KafkaCluster) -> None:
    """Comes before the traffic that other tests share: two in one group would share members."""
    with Traffic(shared_cluster, ["healthy", "rebalancing"]) as traffic:
        traffic.wait_until_ready()

    threads = [traffic[name].thread for name in ("healthy", "rebalancing")]
    # Leaving a group takes brokers longer on a machine that is busy.
    for thread in threads:
        thread.join(READY_WITHIN)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.kafka
@pytest.mark.thorough
@pytest.mark.parametrize("name", [*map(needing_features, BEHAVIOURS)])
def test_a_behaviour_shows_at_the_brokers(traffic: Traffic, name: str) -> None:
    view = traffic[name].wait_until_ready()

    assert view.group == name
    assert not traffic.errors


def test_an_unknown_behaviour_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="No behaviour 'brisk'; there are healthy, slow"):
        chosen(["healthy", "brisk"])


def test_a_behaviour_of_ones_own_stands_beside_named_ones() -> None:
    own = Behaviour("brisk", "writes fast", Stage.wait_for_the_end, lambda _: True)

    assert chosen(["healthy", own]) == [BEHAVIOURS["healthy"], own]


def test_what_ends_a_behaviour_is_told() -> None:
    def broken(_: Stage) -> None:
        raise ZeroDivisionError

    behaviour = Behaviour("broken", "fails at once", broken, lambda _: False)
    admin = AdminClient({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    running = Running(behaviour, nowhere(), admin)
    running.thread.start()
    running.thread.join(READY_WITHIN)

    with pytest.raises(RuntimeError, match="Traffic broken failed"):
        running.wait_until_ready(READY_WITHIN)
    assert isinstance(running.error, ZeroDivisionError)


def nowhere() -> Stage:
    """A stage for behaviours that touch no broker."""
    return Stage(
        topic="orders",
        partitions=1,
        group="group",
        config={},
        producer=Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0}),
        stop=threading.Event(),
    )
