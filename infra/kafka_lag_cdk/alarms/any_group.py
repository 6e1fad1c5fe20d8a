# SPDX-License-Identifier: Apache-2.0
"""Alarms for all groups of a cluster that have none of their own: they adopt new ones."""

from __future__ import annotations

from dataclasses import replace

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.alarms.alarm import Told, rule_alarm
from kafka_lag_cdk.alarms.any_group_query import query
from kafka_lag_cdk.alarms.rules import Rule, any_group_rules
from kafka_lag_cdk.alarms.subject import ClusterSubject
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.metrics import LagMetrics
from kafka_lag_cdk.names import DEPLOYMENT, pascal_case

# A Metrics Insights alarm sees no older data [CloudWatch user guide, alarm limits].
_SEEN_MINUTES = 180


class AnyGroupAlarms(Construct):
    """Status, SLA and data loss of every group that is not named; each is told for itself.

    An alarm costs as much as a plain one for every group that its query finds, $0.10 a month. The
    one on SLAs is there where any is promised. They say nothing of recoveries: a series that
    ends turns OK whatever missing data is treated as, so that a group that was deleted would be
    told as recovered [CloudWatch user guide, "Missing data in Metrics Insights alarms"]. Of
    more than 500 groups some are not seen.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        topic: sns.ITopic,
        name: str = DEPLOYMENT,
    ) -> None:
        super().__init__(scope, construct_id)
        self._cluster, self._told = cluster, Told(topic, recovered=False)
        self._subject = ClusterSubject(cluster, deployment=name)
        rules = any_group_rules(promised=bool(cluster.sla_seconds))
        self.alarms: tuple[cloudwatch.IAlarm, ...] = tuple(map(self._of, rules))

    def _of(self, rule: Rule) -> cloudwatch.Alarm:
        cluster, metrics = self._cluster, LagMetrics(self._cluster)
        return rule_alarm(
            self,
            pascal_case(rule.name),
            rule=_within_sight(rule, cluster.interval_minutes),
            subject=self._subject,
            metric=cloudwatch.MathExpression(
                expression=query(rule, metrics.namespace, cluster.name, cluster.alarms.groups),
                using_metrics={},
                period=metrics.period,
            ),
            told=self._told,
            where=self._subject.shown,
        )


def _within_sight(rule: Rule, interval: int) -> Rule:
    """The rule with no more runs than the alarm can see."""
    periods = min(rule.periods, _SEEN_MINUTES // interval)
    return replace(rule, periods=periods, datapoints=min(rule.datapoints, periods))
