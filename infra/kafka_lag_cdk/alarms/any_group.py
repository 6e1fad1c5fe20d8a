# SPDX-License-Identifier: Apache-2.0
"""One alarm for all groups of a cluster that have no alarm of their own: it adopts new ones."""

from __future__ import annotations

from dataclasses import replace

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.alarms.alarm import Told, rule_alarm
from kafka_lag_cdk.alarms.any_group_query import query
from kafka_lag_cdk.alarms.rules import ANY_GROUP, Rule
from kafka_lag_cdk.alarms.subject import ClusterSubject
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.metrics import LagMetrics
from kafka_lag_cdk.names import DEPLOYMENT

# A Metrics Insights alarm sees no older data [CloudWatch user guide, alarm limits].
_SEEN_MINUTES = 180


class AnyGroupAlarm(Construct):
    """The status of every group that is not named; `alarm` tells of each group for itself.

    It costs as much as a plain alarm for every group that the query finds, $0.10 a month. It says
    nothing of recoveries: a series that ends turns OK whatever missing data is treated as, so that
    a group that was deleted would be told as recovered [CloudWatch user guide, "Missing data in
    Metrics Insights alarms"]. Of more than 500 groups some are not seen.
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
        metrics, subject = LagMetrics(cluster), ClusterSubject(cluster, deployment=name)
        self.alarm = rule_alarm(
            self,
            "AnyGroup",
            rule=_within_sight(cluster.interval_minutes),
            subject=subject,
            metric=cloudwatch.MathExpression(
                expression=query(metrics.namespace, cluster.name, cluster.alarms.groups),
                using_metrics={},
                period=metrics.period,
            ),
            told=Told(topic, recovered=False),
            where=subject.shown,
        )


def _within_sight(interval: int) -> Rule:
    """The rule with no more runs than the alarm can see."""
    periods = min(ANY_GROUP.periods, _SEEN_MINUTES // interval)
    return replace(ANY_GROUP, periods=periods, datapoints=min(ANY_GROUP.datapoints, periods))
