# SPDX-License-Identifier: Apache-2.0
"""How many metrics a collector publishes for clusters of an expected size, within its budget."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag_cdk.config.cluster import Cluster

# An expression that only one name matches.
_ONE_NAME = re.compile(r"\^(\\[.-]|[\w-])+\$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What there is to publish: how many of each, and metrics of each one.

    `named` of the groups come first in the budget, `scaled` of them have metrics for it, and
    `promised` have a service level, with one more metric each.
    """

    groups: int
    named: int
    scaled: int
    topics: int
    partitions: int
    of_group: int
    of_topic: int
    promised: int = 0
    of_partition: int = len(contract.LAG_METRICS)
    of_scaling: int = len(contract.SCALING_METRICS)
    max_metrics: int = 1000

    @property
    def total(self) -> int:
        """All metrics, were there no budget."""
        return (
            len(contract.HEALTH_UNITS)
            + self.groups * self.of_group
            + self.scaled * self.of_scaling
            + self.promised
            + self.topics * self.of_topic
            + self.partitions * self.of_partition
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What fits of it: sets of each level, and metrics in all sets of a level."""

    wanted: Wanted
    groups: int
    scaled: int
    topics: int
    partitions: int

    @property
    def group_metrics(self) -> int:
        """Metrics by group, those for scaling and of service levels among them."""
        return (
            self.groups * self.wanted.of_group
            + self.scaled * self.wanted.of_scaling
            + min(self.wanted.promised, self.groups)
        )

    @property
    def topic_metrics(self) -> int:
        """Metrics by group and topic."""
        return self.topics * self.wanted.of_topic

    @property
    def partition_metrics(self) -> int:
        """Metrics by partition."""
        return self.partitions * self.wanted.of_partition

    @property
    def total(self) -> int:
        """Metrics in CloudWatch, the reporter's own among them."""
        return (
            len(contract.HEALTH_UNITS)
            + self.group_metrics
            + self.topic_metrics
            + self.partition_metrics
        )

    @property
    def omitted(self) -> int:
        """Metrics that the budget leaves out."""
        return self.wanted.total - self.total


def wanted(cluster: Cluster) -> Wanted:
    """What a cluster's levels ask for at its expected size.

    Filters of partitions, and of scaling where the user wrote one, are taken to match everything,
    and so are service levels of more than one name: only a running cluster knows the names.
    """
    levels = cluster.published_levels
    expected, named = cluster.expected, len(levels.named)
    groups = max(expected.groups, named)
    scaled = len({each.group for each in cluster.scaling})
    return Wanted(
        groups=groups,
        named=named,
        scaled=groups if scaling_is_filtered(cluster) else scaled,
        topics=expected.group_topics if levels.topics else 0,
        partitions=0 if levels.partition_groups is None else expected.group_partitions,
        of_group=len(levels.group_metrics),
        promised=_promised(cluster, groups),
        of_topic=len(contract.LAG_METRICS) + levels.max_offset_lag,
        max_metrics=levels.max_metrics,
    )


def _promised(cluster: Cluster, groups: int) -> int:
    """Groups that have a service level: one for each `^name$`, all for any other expression."""
    one_name = [_ONE_NAME.fullmatch(expression) for expression in cluster.sla_seconds]
    return min(len(one_name), groups) if all(one_name) else groups


def scaling_is_filtered(cluster: Cluster) -> bool:
    """Whether an expression of the user's decides which groups have metrics for scaling."""
    scaling = cluster.levels.scaling
    return scaling is not None and bool(scaling.model_fields_set)


def published(asked: Wanted) -> Published:
    """What the collector keeps of it: named groups and their topics, the others, partitions.

    Groups are taken to have as many topics and partitions each, and those with a service level
    to be published.
    """
    budget = _Budget(max(asked.max_metrics - len(contract.HEALTH_UNITS) - asked.promised, 0))
    groups = scaled = topics = 0
    for of_scaled, others in _by_rank(asked):
        took = budget.take(of_scaled, asked.of_group + asked.of_scaling)
        # Behind the first set that does not fit, none does.
        more = budget.take(others, asked.of_group) if took == of_scaled else 0
        groups, scaled = groups + took + more, scaled + took
        topics += budget.take(_share(asked.topics, took + more, asked.groups), asked.of_topic)
    of_these = _share(asked.partitions, groups, asked.groups)
    partitions = budget.take(of_these, asked.of_partition)
    return Published(
        wanted=asked, groups=groups, scaled=scaled, topics=topics, partitions=partitions
    )


def _by_rank(asked: Wanted) -> tuple[tuple[int, int], tuple[int, int]]:
    """Groups with and without metrics for scaling, those that are named first."""
    first = min(asked.scaled, asked.named)
    later = asked.scaled - first
    return (first, asked.named - first), (later, asked.groups - asked.named - later)


class _Budget:
    """Metrics left, which sets take wholly or not at all."""

    def __init__(self, left: int) -> None:
        self._left = left

    def take(self, sets: int, cost: int) -> int:
        """How many of the sets fit."""
        fit = min(sets, self._left // cost)
        self._left -= fit * cost
        return fit


def _share(whole: int, part: int, of: int) -> int:
    return whole * part // of if of else 0
