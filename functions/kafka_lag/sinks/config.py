# SPDX-License-Identifier: Apache-2.0
"""The configuration of sinks: their kinds, and the levels of metrics that each gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kafka_lag import contract
from kafka_lag.lag.group_settings import NameFilter

EMF, CLOUDWATCH = NAMED = ("emf", "cloudwatch")
# Names of metrics and attributes over OTLP: CloudWatch's, or OpenTelemetry's own.
CLOUDWATCH_NAMES, OTEL_NAMES = OTLP_NAMES = ("cloudwatch", "otel")


@dataclass(frozen=True, slots=True)
class Levels:
    """The published levels: topics unless `topics` is false, partitions that both filters accept.

    `named` groups are those that an alarm or a scaling policy watches; they come first.
    `named_only`: no other groups are published but those that are scaled. `scaling` accepts the
    groups that a policy scales by their lag; None accepts none. `releases` are the groups that get
    ReleaseRisk.
    """

    max_metrics: int = 1000
    topics: bool = True
    max_offset_lag: bool = False
    partition_groups: NameFilter | None = None
    partition_topics: NameFilter = field(default_factory=NameFilter)
    named: frozenset[str] = frozenset()
    named_only: bool = False
    scaling: NameFilter | None = None
    releases: frozenset[str] = frozenset()
    drain_time: bool = False
    members: bool = False
    rebalancing: bool = False
    rates: bool = False
    unusual: bool = False

    @property
    def chosen_metrics(self) -> tuple[str, ...]:
        """Returns the metrics that were chosen for every group, beyond those it always has."""
        chosen = (names for key, names in contract.CHOSEN_METRICS.items() if getattr(self, key))
        return tuple(name for names in chosen for name in names)

    @property
    def group_metrics(self) -> tuple[str, ...]:
        """Returns the metrics of every group; a group that is scaled or has an SLA has more."""
        return (*contract.GROUP_METRICS, *self.chosen_metrics)


@dataclass(frozen=True, slots=True)
class OtlpConfig:
    """An OTLP endpoint over HTTP, its whole URL; None: CloudWatch's own in the function's region.

    `headers_secret` names a secret whose JSON object holds headers to send; `sigv4` signs with the
    function's role instead. `names` is one of `OTLP_NAMES`. `levels` choose the metrics that it
    gets; None: those of the cluster's levels.
    """

    endpoint: str | None = None
    headers_secret: str | None = None
    sigv4: bool = False
    names: str = CLOUDWATCH_NAMES
    levels: Levels | None = None


SinkConfig: TypeAlias = str | OtlpConfig
