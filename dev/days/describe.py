# SPDX-License-Identifier: Apache-2.0
"""A cluster's day in words: topics that are written to, groups that read them, what happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dev.days.events import Event, Span
from kafka_lag import contract
from kafka_lag.lag.group_settings import Rules

LONG_AGO = -240.0
WEEK_SECONDS = 7 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """`rate` in records a second, on average over a day; `leader` None is a partition without.

    It exists from the hour `since`, which may lie before the day, for as long as its topic.
    """

    rate: float
    leader: int | None
    since: float = LONG_AGO


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Partitions and their retention; a topic that is recreated is two with one name.

    `swing` is the share by which production rises above its mean at `peak_hour` and falls below
    it 12 hours away; `bursts` (0 to 0.9) the share by which it comes and goes within minutes.
    `retention_seconds` None is unlimited; `told` False hides the configuration, as an ACL does.
    """

    name: str
    partitions: tuple[Partition, ...]
    topic_id: str | None
    exists: Span = field(default_factory=Span)
    swing: float = 0.0
    peak_hour: float = 14.0
    bursts: float = 0.0
    retention_seconds: float | None = WEEK_SECONDS
    retention_bytes: int = -1
    cleanup_policy: str = "delete"
    timestamp_type: str = "CreateTime"
    told: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One consumer as Kafka names it."""

    member_id: str
    client_id: str
    client_host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Consumers of whole topics, whose partitions its members own in ranges, topic by topic.

    A commit is `delay_seconds` old at most while all is well; after a stop it catches up at
    `catch_up` times the usual production. It exists for a part of the day at most; its end is
    proven, as of a group that was deleted. `uncommitted` partitions are owned and never read. Its
    `usual` lag (records) and time lag (s) are what a daily report has learnt; 0: nothing.
    """

    name: str
    topics: tuple[str, ...]
    members: tuple[Member, ...]
    exists: Span = field(default_factory=Span)
    uncommitted: tuple[tuple[str, int], ...] = ()
    delay_seconds: float = 8.0
    catch_up: float = 3.0
    group_type: str = "classic"
    protocol: str | None = "range"
    usual: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One cluster for one UTC day. `racks` by broker; `rules` as a configuration would set them.

    `warm_up_hours` before midnight the collector was deployed; 0: its first run is the day's.
    """

    cluster: str
    topics: tuple[Topic, ...]
    groups: tuple[Group, ...]
    racks: Mapping[int, str]
    events: tuple[Event, ...] = ()
    rules: Rules = field(default_factory=Rules)
    schema_version: str = contract.SCHEMA_VERSION
    warm_up_hours: float = 0.0
    seed: int = 1
