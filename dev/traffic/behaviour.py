# SPDX-License-Identifier: Apache-2.0
"""What a behaviour is: a topic, a group, something to do, and how the brokers can tell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dev.kafka.features import BrokerFeature
from dev.traffic.probe import GroupView
from dev.traffic.stage import Stage


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic to create; as many copies as the cluster's default says."""

    name: str
    partitions: int = 3
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One named way to behave; the consumer group has the behaviour's name.

    `act` runs in a thread of its own until the stage says to stop. `holds` tells, from what the
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
