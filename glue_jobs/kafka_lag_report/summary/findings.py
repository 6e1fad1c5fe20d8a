# SPDX-License-Identifier: Apache-2.0
"""A day's findings, few enough for the driver: what a message compares with the day before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka_lag_report.summary.cause import Cause

# From so much compliance on, as a sum of doubles may miss 1 by its last digits.
SLA_MET = 1 - 1e-9


class Group(NamedTuple):
    """A consumer group's key."""

    cluster: str
    group: str


class Topic(NamedTuple):
    """The key of a topic as one group reads it."""

    cluster: str
    group: str
    topic: str


class Broker(NamedTuple):
    """A leader's key; null: partitions without a leader."""

    cluster: str
    leader: int | None
    rack: str | None


class Hour(NamedTuple):
    """The key of what was measured of a group in an hour of the day."""

    cluster: str
    group: str
    measure: str
    hour: int


@dataclass(frozen=True, slots=True)
class Risk:
    """Partitions that lost records or are at risk; neither: safe as far as known."""

    lost: int = 0
    at_risk: int = 0
    records_lost: int = 0
    least_seconds_until_loss: float | None = None


@dataclass(frozen=True, slots=True)
class Skew:
    """How uneven the lag is; `cause` null where it is not skewed."""

    skewed: bool
    max_to_mean: float | None = None
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class GroupDay:
    """Compliance from 0 to 1, null without an SLA or a known time lag; gone: deleted that day."""

    sla_compliance: float | None = None
    err_minutes: float | None = None
    gone: bool = False

    @property
    def missed_sla(self) -> bool | None:
        """Whether some known minute was over the SLA; null: not known."""
        return None if self.sla_compliance is None else self.sla_compliance < SLA_MET


@dataclass(frozen=True, slots=True)
class Heat:
    """A leader's shares of the cluster's lag and of its partitions, 0 to 1."""

    hot: bool | None
    lag_share: float | None = None
    partitions_share: float | None = None


@dataclass(frozen=True, slots=True)
class Unusual:
    """A value far from its usual one, in seconds or records a second; `deviation` has a sign."""

    value: float
    usual: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the day a dataset's snapshots saw; intervals and gaps in seconds."""

    runs: int
    skipped: int = 0
    interval_seconds: float | None = None
    longest_gap_seconds: float | None = None
    in_progress: bool = False


@dataclass(frozen=True, slots=True)
class Findings:
    """One day over clusters; coverage is by cluster, then dataset, and names every cluster.

    What is missing from `risks` and `skews` is no finding, or beyond what was collected of the
    reports named in `cut`. Groups and brokers are all there, unless theirs is cut.
    """

    risks: Mapping[Topic, Risk] = field(default_factory=dict)
    skews: Mapping[Topic, Skew] = field(default_factory=dict)
    groups: Mapping[Group, GroupDay] = field(default_factory=dict)
    brokers: Mapping[Broker, Heat] = field(default_factory=dict)
    unusual: Mapping[Hour, Unusual] = field(default_factory=dict)
    coverage: Mapping[str, Mapping[str, Coverage]] = field(default_factory=dict)
    cut: frozenset[str] = frozenset()

    @property
    def clusters(self) -> frozenset[str]:
        """The clusters that the day has reports of."""
        return frozenset(self.coverage)

    @property
    def in_progress(self) -> bool:
        """Whether the day was not over."""
        return any(c.in_progress for sets in self.coverage.values() for c in sets.values())
