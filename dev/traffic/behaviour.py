# SPDX-License-Identifier: Apache-2.0
"""What a behaviour is: a topic, a group, something to do, and what the brokers say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from dev.kafka.jars import BrokerFeature
from dev.kafka.readiness import NEVER_TIMES_OUT
from dev.traffic.stage import Stage

_ANSWERS_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class PartitionView:
    """One partition; `committed` is null where the group has no commit."""

    partition: int
    start: int
    committed: int | None
    end: int

    @property
    def lag(self) -> int | None:
        """End minus committed, as the admin tools count it: what retention took included."""
        return None if self.committed is None else self.end - self.committed


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group at about one moment; state and type in Kafka's words, upper case."""

    group: str
    state: str
    type: str
    members: int
    partitions: tuple[PartitionView, ...]

    @property
    def lags(self) -> list[int]:
        """Lag by partition; empty unless every partition has a commit."""
        lags = [view.lag for view in self.partitions]
        known = [lag for lag in lags if lag is not None]
        return known if len(known) == len(lags) else []


def view_group(admin: AdminClient, group: str, topic: str, partitions: int) -> GroupView:
    """Ask the brokers, commits before end offsets.

    Raises KafkaException when one will not say, TimeoutError when a coordinator stays silent.
    """
    wanted = [TopicPartition(topic, number) for number in range(partitions)]
    described = admin.describe_consumer_groups([group], request_timeout=NEVER_TIMES_OUT)
    description = described[group].result(_ANSWERS_WITHIN)
    committed = _committed(admin, group, wanted)
    start = _offsets(admin, wanted, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
    end = _offsets(admin, wanted, OffsetSpec.latest())  # type: ignore[no-untyped-call]
    views = [
        PartitionView(number, start[number], committed[number], end[number])
        for number in range(partitions)
    ]
    return GroupView(
        group, description.state.name, description.type.name, len(description.members), tuple(views)
    )


def _committed(
    admin: AdminClient, group: str, wanted: list[TopicPartition]
) -> dict[int, int | None]:
    request = [ConsumerGroupTopicPartitions(group, wanted)]
    future = admin.list_consumer_group_offsets(request, request_timeout=NEVER_TIMES_OUT)[group]
    found = future.result(_ANSWERS_WITHIN).topic_partitions
    return {each.partition: each.offset if each.offset >= 0 else None for each in found}


def _offsets(admin: AdminClient, wanted: list[TopicPartition], spec: OffsetSpec) -> dict[int, int]:
    request = dict.fromkeys(wanted, spec)
    futures = admin.list_offsets(request, request_timeout=_ANSWERS_WITHIN)
    return {each.partition: future.result().offset for each, future in futures.items()}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic to create; as many copies as the cluster's default says."""

    name: str
    partitions: int = 3
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One named way to behave; the consumer group has the behaviour's name.

    `act` runs in a thread of its own until the stage says to stop. `holds` decides, from what the
    brokers answer, whether the state that gives the behaviour its name has come about. `needs`:
    brokers that lack it cannot take part.
    """

    name: str
    summary: str
    act: Callable[[Stage], None]
    holds: Callable[[GroupView], bool]
    partitions: int = 3
    topic_config: Mapping[str, str] = field(default_factory=dict)
    needs: BrokerFeature | None = None

    @property
    def group(self) -> str:
        """The consumer group's id."""
        return self.name

    @property
    def topic(self) -> Topic:
        """The only topic the group reads."""
        return Topic(f"orders-{self.name}", self.partitions, self.topic_config)
