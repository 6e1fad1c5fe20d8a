# SPDX-License-Identifier: Apache-2.0
"""What the page shows of one cluster and day; None is unknown, times are aware and UTC.

Durations are seconds unless the name says minutes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read for a page, so that neither driver nor browser grows with the cluster."""

    groups: int = 20_000
    drawn: int = 24
    topics: int = 500
    bars: int = 6
    partitions: int = 48
    rows: int = 60


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """The worst rows, worst first, of `total` there are."""

    rows: tuple[T, ...] = ()
    total: int = 0

    @property
    def more(self) -> int:
        """How many are not listed."""
        return max(0, self.total - len(self.rows))


@dataclass(frozen=True, slots=True)
class GroupDay:
    """A group's own row of `lag_summary`."""

    group: str
    owner: str | None = None
    lag_max: float | None = None
    time_lag_p50: float | None = None
    time_lag_p95: float | None = None
    time_lag_p99: float | None = None
    time_lag_max: float | None = None
    known_minutes: float | None = None
    unknown_minutes: float | None = None
    produce_rate: float | None = None
    consume_rate: float | None = None
    best_consume_rate: float | None = None
    catch_up_capacity: float | None = None
    ok_minutes: float | None = None
    warn_minutes: float | None = None
    err_minutes: float | None = None
    status_changes: int | None = None
    rebalancing_runs: int | None = None
    sla_seconds: float | None = None
    sla_minutes: float | None = None
    sla_met_minutes: float | None = None
    sla_compliance: float | None = None
    records_lost: int | None = None
    gone: bool | None = None

    @property
    def sla_missed_minutes(self) -> float:
        """Minutes known to be over the SLA; 0 where nothing is known."""
        return max(0.0, (self.sla_minutes or 0.0) - (self.sla_met_minutes or 0.0))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Minutes of the day in one status: OK, WARN, ERR, or None where it is unknown."""

    start: int
    minutes: int
    status: str | None


@dataclass(frozen=True, slots=True)
class Peak:
    """The moment of the day's greatest time lag and who was behind then."""

    minute: int
    seconds: float
    topic: str | None = None
    partition: int | None = None
    leader: int | None = None
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A group's day: the greatest time lag of each slot, None where unknown, and its statuses."""

    slot_minutes: int = 5
    seconds: tuple[float | None, ...] = ()
    statuses: tuple[Stretch, ...] = ()
    peak: Peak | None = None


@dataclass(frozen=True, slots=True)
class TopicRisk:
    """A group's topic of which records were lost, or would have been in time."""

    group: str
    topic: str
    partitions_lost: int
    partitions_at_risk: int
    records_lost: int | None = None
    worst_partition: int | None = None
    seconds_left: float | None = None
    seconds_left_at: datetime | None = None
    least_margin: int | None = None
    retention: float | None = None
    retention_needed: float | None = None


@dataclass(frozen=True, slots=True)
class TopicSkew:
    """A row of `partition_skew` that is skewed in lag or in production."""

    group: str
    topic: str
    lag_skewed: bool
    production_skewed: bool
    partitions: int | None = None
    mean: float | None = None
    top_partition: int | None = None
    top_share: float | None = None
    even_share: float | None = None
    skewed_minutes: float | None = None
    made_top_partition: int | None = None
    made_top_share: float | None = None
    made_even_share: float | None = None
    cause: str | None = None
    cause_partitions: tuple[int, ...] = ()
    cause_leader: int | None = None
    cause_member: str | None = None
    cause_client: str | None = None
    cause_host: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A partition of a skewed topic: its mean lag of the day, and the broker that led it."""

    partition: int
    leader: int | None
    mean_lag: float | None
    produced: int | None = None


@dataclass(frozen=True, slots=True)
class Broker:
    """A row of `broker_hotspots`; leader None: partitions that nobody led."""

    leader: int | None
    rack: str | None = None
    partitions_led: float | None = None
    partitions_share: float | None = None
    produce_share: float | None = None
    lag_mean: float | None = None
    lag_share: float | None = None
    lag_to_partitions: float | None = None
    hot: bool | None = None


@dataclass(frozen=True, slots=True)
class Consumer:
    """A hot row of `consumer_hotspots`; member None: partitions that nobody owned."""

    group: str
    host: str | None = None
    client: str | None = None
    member: str | None = None
    partitions_owned: float | None = None
    partitions_share: float | None = None
    lag_mean: float | None = None
    lag_share: float | None = None
    lag_to_partitions: float | None = None


@dataclass(frozen=True, slots=True)
class Anomaly:
    """An hour in which a group's measure left its usual range."""

    group: str
    hour: int
    measure: str
    value: float | None
    usual: float | None
    deviation: float | None
    direction: str
    days: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the day one dataset saw."""

    dataset: str
    runs: int | None = None
    expected_runs: int | None = None
    objects: int | None = None
    objects_skipped: int | None = None
    skipped: str | None = None
    first_run: datetime | None = None
    last_run: datetime | None = None
    interval: float | None = None
    longest_gap: float | None = None
    in_progress: bool | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One cluster's day; every list is worst first."""

    cluster: str
    day: date
    groups: Listed[GroupDay] = field(default_factory=Listed)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    risks: Listed[TopicRisk] = field(default_factory=Listed)
    skews: Listed[TopicSkew] = field(default_factory=Listed)
    bars: Mapping[tuple[str, str], Listed[Bar]] = field(default_factory=dict)
    brokers: Listed[Broker] = field(default_factory=Listed)
    consumers: Listed[Consumer] = field(default_factory=Listed)
    anomalies: Listed[Anomaly] = field(default_factory=Listed)
    coverage: tuple[Coverage, ...] = ()

    @property
    def in_progress(self) -> bool:
        """True while the day is not over: every number may still change."""
        return any(dataset.in_progress for dataset in self.coverage)

    @property
    def last_run(self) -> datetime | None:
        """The newest run that any dataset saw."""
        return max((one.last_run for one in self.coverage if one.last_run), default=None)
