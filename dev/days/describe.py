# SPDX-License-Identifier: Apache-2.0
"""A cluster's day as plain values: topics, groups, and what happens to them when."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from kafka_lag import contract
from kafka_lag.lag.group_settings import Rules

HOUR = 3_600.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Span:
    """From the hour `begin` to the hour `end`, which is no part of it; for good by default."""

    begin: float = -math.inf
    end: float = math.inf

    def holds(self, second: float) -> bool:
        """Whether it is on, `second` seconds after midnight."""
        return self.begin * HOUR <= second < self.end * HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Which group partitions are meant: all that fit each thing that is said.

    `member` is a member's id, `leader` a broker's.
    """

    group: str | None = None
    topic: str | None = None
    partitions: tuple[int, ...] | None = None
    leader: int | None = None
    member: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """Only `share` of what is produced is consumed; 0: nothing, by members that are alive."""

    when: Span
    rows: Rows
    share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A group without members, which consumes nothing."""

    when: Span
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """A group in a rebalancing state, in which nobody owns anything and nothing is consumed.

    Afterwards each partition belongs to the member after the one before.
    """

    when: Span
    group: str
    state: str = "PreparingRebalance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewind:
    """The commits go back to where the log was `seconds` before, in the first run of the span."""

    when: Span
    rows: Rows
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """The commits go to the logs' ends unread, in the first run of the span."""

    when: Span
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Surge:
    """`factor` times the production of a topic."""

    when: Span
    topic: str
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What `broker` leads is led by another; None: by nobody, which brokers say."""

    when: Span
    broker: int
    by: int | None
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Not answered, with one of the contract's reasons: a group, or partitions of a topic.

    Of a group, all of it if no topic is named, else its commits of that topic.
    """

    when: Span
    reason: str
    group: str | None = None
    topic: str | None = None
    partitions: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """A topic that an ACL hides instead of refusing it."""

    when: Span
    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NullColumns:
    """Columns that are null in the files, whatever was read, in rows of one group or topic."""

    when: Span
    dataset: str
    columns: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Runs that never were."""

    when: Span


Event: TypeAlias = (
    Slow
    | Absent
    | Rebalance
    | Rewind
    | Skip
    | Surge
    | Lead
    | Unread
    | Hidden
    | NullColumns
    | Missing
)


class Events:
    """A day's events, looked up by kind and time."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._by_kind: dict[type, list[Any]] = {}
        for event in events:
            self._by_kind.setdefault(type(event), []).append(event)

    def of(self, kind: type[T]) -> list[T]:
        """Those of a kind, in their order."""
        return self._by_kind.get(kind, [])

    def on(self, kind: type[T], second: float) -> list[T]:
        """Those of a kind that are on at this second of the day."""
        found: list[Any] = self.of(kind)
        return [event for event in found if event.when.holds(second)]


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
    `retention_seconds` None is unlimited; where `settings_known` is False an ACL hides the
    configuration.
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
    settings_known: bool = True


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
    Of the runs before midnight only those are computed whose log ends it still knows then, unless
    `whole_warm_up`: what came in between, it saw as late.
    """

    cluster: str
    topics: tuple[Topic, ...]
    groups: tuple[Group, ...]
    racks: Mapping[int, str]
    events: tuple[Event, ...] = ()
    rules: Rules = field(default_factory=Rules)
    schema_version: str = contract.SCHEMA_VERSION
    warm_up_hours: float = 0.0
    whole_warm_up: bool = False
    seed: int = 1
