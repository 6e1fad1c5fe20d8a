# SPDX-License-Identifier: Apache-2.0
"""One alarm for all groups of a cluster: it adopts those that nobody named."""

from __future__ import annotations

from dataclasses import replace

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from functions import contract
from infra.alarms.alarm import Subject, Told, rule_alarm
from infra.alarms.rules import ANY_GROUP, Rule
from infra.config.document import interval_minutes
from infra.config.parts.cluster import Cluster
from infra.metrics import LagMetrics

# A Metrics Insights alarm sees no older data [CloudWatch user guide, alarm limits].
_SEEN_MINUTES = 180


class AnyGroupAlarm(Construct):
    """The status of every group by one query; `alarm` tells of each group for itself.

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
    ) -> None:
        super().__init__(scope, construct_id)
        metrics = LagMetrics(cluster)
        self.alarm = rule_alarm(
            self,
            "AnyGroup",
            rule=_within_sight(interval_minutes(cluster)),
            subject=Subject(cluster),
            metric=cloudwatch.MathExpression(
                expression=_query(metrics.namespace, cluster.name),
                using_metrics={},
                period=metrics.period,
            ),
            told=Told(topic, recovered=False),
        )


def _query(namespace: str, cluster: str) -> str:
    """Exactly the level of groups: a plain FROM would bill topics and partitions as well."""
    levels = f'"{contract.DIMENSION_CLUSTER}","{contract.DIMENSION_GROUP}"'
    parts = (
        f"SELECT MAX({ANY_GROUP.metric})",
        f'FROM SCHEMA("{namespace}",{levels})',
        f"WHERE \"{contract.DIMENSION_CLUSTER}\"='{cluster}'",
        f"GROUP BY {levels}",
        "ORDER BY MAX() DESC",
    )
    return " ".join(parts)


def _within_sight(interval: int) -> Rule:
    """The rule with no more runs than the alarm can see."""
    periods = min(ANY_GROUP.periods, _SEEN_MINUTES // interval)
    return replace(ANY_GROUP, periods=periods, datapoints=min(ANY_GROUP.datapoints, periods))
