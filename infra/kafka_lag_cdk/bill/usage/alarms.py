# SPDX-License-Identifier: Apache-2.0
"""How many metrics a cluster's alarms watch, which is what alarms are charged by."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag_cdk.alarm_rules import (
    ANY_GROUP,
    ANY_LOSS,
    ANY_SLA,
    LOSS,
    STATUS,
    Rule,
    broker_rules,
    left_out,
    reporter_rules,
)
from kafka_lag_cdk.bill.usage.metrics import Published
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.scaling import Scaling

# What each named group has whether or not anything is promised.
_OF_GROUP = (STATUS, LOSS)
# A metric and the two bounds of its band.
_OF_ANOMALY = 3
# Scaling out and in; those of tracking are made by Application Auto Scaling itself.
_OF_SCALING = 2
# Steps by age watch ScalingLag as well.
_OF_SCALING_BY_AGE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmMetrics:
    """Metrics under alarm; `analysed` are those that the queries over all groups look at.

    The one on the status looks at most, at `seen`. Those on `brokers` look at each broker's.

    A failure of the daily report is told by an event, which costs nothing.
    """

    reporter: int
    groups: int
    scaling: int
    anomalies: int
    seen: int
    analysed: int
    brokers: int

    @property
    def standard(self) -> int:
        """Alarms on one metric each."""
        return self.reporter + self.groups + self.scaling


def alarm_metrics(cluster: Cluster, published: Published) -> AlarmMetrics:
    """What the alarms of a cluster watch; the queries see all published groups but some named."""
    told = cluster.alarms
    promised = sum(cluster.sla_of(group) is not None for group in told.groups)
    return AlarmMetrics(
        reporter=len(reporter_rules(paused=cluster.paused, sinks=cluster.sink_names)),
        groups=len(_OF_GROUP) * len(told.groups) + promised + len(told.offset_lag),
        scaling=sum(_of_scaling(scaling) for scaling in cluster.scaling),
        anomalies=_OF_ANOMALY * len(told.anomalies),
        seen=_analysed(cluster, published, ANY_GROUP),
        analysed=sum(
            _analysed(cluster, published, rule) for rule in (ANY_GROUP, ANY_SLA, ANY_LOSS)
        ),
        brokers=cluster.expected.brokers
        * len(broker_rules(brokers=cluster.watches_brokers, disks=cluster.has_disks)),
    )


def _analysed(cluster: Cluster, published: Published, rule: Rule) -> int:
    told = cluster.alarms
    if cluster.paused or not cluster.sink_names or not told.any_group:
        return 0
    without = left_out(rule, cluster.namespace, cluster.name, told.groups)
    groups = published.groups
    if rule is ANY_SLA:
        without = tuple(group for group in without if cluster.sla_of(group) is not None)
        groups = min(published.wanted.promised, groups)
    # Where every group is taken to be scaled, not all that are named may fit into the budget.
    return max(0, groups - len(without))


def _of_scaling(scaling: Scaling) -> int:
    return _OF_SCALING_BY_AGE if scaling.metric == contract.ESTIMATED_TIME_LAG else _OF_SCALING
