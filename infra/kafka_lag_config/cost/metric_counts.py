# SPDX-License-Identifier: Apache-2.0
"""The number of metrics of a cluster of the expected size, within the budget.

Only a running cluster knows its names, so filters of partitions, and of scaling where the user
wrote one, are taken to match everything, and so are service levels of more than one name. Groups
are taken to have equally many topics and partitions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafka_lag import contract
from kafka_lag.sinks.config import Levels
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.types import find_one_name


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCounts:
    """Metric sets by level, and from these the metrics.

    Of the groups, `scaled` have the metrics for it and those with an SLA one more.
    """

    groups: int
    scaled: int
    with_sla: int
    topics: int
    partitions: int
    per_group: int
    per_topic: int
    per_scaled: int = len(contract.SCALING_METRICS)
    per_partition: int = len(contract.LAG_METRICS)

    @property
    def group_metrics(self) -> int:
        return self.groups * self.per_group + self.scaled * self.per_scaled + self.with_sla

    @property
    def topic_metrics(self) -> int:
        return self.topics * self.per_topic

    @property
    def partition_metrics(self) -> int:
        return self.partitions * self.per_partition

    @property
    def total(self) -> int:
        """All metrics, the reporter's own among them."""
        by_level = self.group_metrics + self.topic_metrics + self.partition_metrics
        return len(contract.HEALTH_UNITS) + by_level


def count_wanted(cluster: Cluster, levels: Levels | None = None) -> MetricCounts:
    """Return the metrics that levels choose, by default the cluster's, without a budget."""
    levels, expected = levels or cluster.facts.published_levels, cluster.expected
    groups = max(expected.groups, len(levels.named))
    pairs, rows = expected.group_topics, expected.group_partitions
    if levels.named_only and not scaling_is_filtered(cluster):
        groups = len(levels.named)
        pairs, rows = (_share(each, groups, expected.groups) for each in (pairs, rows))
    scaled = len({group for each in cluster.scaling for group in each.groups})
    return MetricCounts(
        groups=groups,
        scaled=groups if scaling_is_filtered(cluster) else scaled,
        with_sla=_groups_with_sla(cluster, groups),
        # Both are of groups: without any there are none, whatever is expected.
        topics=pairs if levels.topics and groups else 0,
        partitions=rows if levels.partition_groups and groups else 0,
        per_group=len(levels.group_metrics),
        per_topic=len(contract.LAG_METRICS) + levels.max_offset_lag,
    )


def count_published(cluster: Cluster, levels: Levels | None = None) -> MetricCounts:
    """Return the metrics within the budget: named groups with topics, the others, partitions."""
    return _within_budget(count_wanted(cluster, levels), levels or cluster.facts.published_levels)


def scaling_is_filtered(cluster: Cluster) -> bool:
    """Return true if a user's expression decides which groups have metrics for scaling."""
    scaling = cluster.levels.scaling
    return scaling is not None and bool(scaling.model_fields_set)


def sla_is_by_expression(cluster: Cluster) -> bool:
    """Return true if an expression for several names decides which groups have an SLA."""
    return any(find_one_name(expression) is None for expression in cluster.sla_seconds)


def _groups_with_sla(cluster: Cluster, groups: int) -> int:
    """One for each `^name$`, all for any other expression."""
    return groups if sla_is_by_expression(cluster) else min(len(cluster.sla_seconds), groups)


def _within_budget(wanted: MetricCounts, levels: Levels) -> MetricCounts:
    """Groups with an SLA are taken to be published; named groups claim first."""
    left = max(levels.max_metrics - len(contract.HEALTH_UNITS) - wanted.with_sla, 0)

    def take(sets: int, metrics: int) -> int:
        nonlocal left
        fit = min(sets, left // metrics)
        left -= fit * metrics
        return fit

    named = len(levels.named)
    named_scaled = min(wanted.scaled, named)
    other_scaled = wanted.scaled - named_scaled
    groups = scaled = topics = tried = 0
    for of_scaled, of_others in (
        (named_scaled, named - named_scaled),
        (other_scaled, wanted.groups - named - other_scaled),
    ):
        fit = take(of_scaled, wanted.per_group + wanted.per_scaled)
        more = take(of_others, wanted.per_group)
        groups, scaled = groups + fit + more, scaled + fit
        # Of all groups so far, so that no topic is lost by rounding once more.
        share = _share(wanted.topics, groups, wanted.groups)
        topics += take(share - tried, wanted.per_topic)
        tried = share
    of_groups = _share(wanted.partitions, groups, wanted.groups)
    return replace(
        wanted,
        groups=groups,
        scaled=scaled,
        with_sla=min(wanted.with_sla, groups),
        topics=topics,
        partitions=take(of_groups, wanted.per_partition),
    )


def _share(whole: int, part: int, of: int) -> int:
    return whole * part // of if of else 0
