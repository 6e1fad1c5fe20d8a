# SPDX-License-Identifier: Apache-2.0
"""One alarm for all groups of a cluster that have no alarm of their own: it adopts new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from functions import contract
from functions.sinks.names import dimension_value
from infra.alarms.alarm import Subject, Told, rule_alarm
from infra.alarms.rules import ANY_GROUP, Rule
from infra.config.document import interval_minutes
from infra.config.parts.cluster import Cluster
from infra.metrics import LagMetrics
from infra.names import DEPLOYMENT

# A Metrics Insights alarm sees no older data [CloudWatch user guide, alarm limits].
_SEEN_MINUTES = 180
# Characters of an expression [botocore cloudwatch MetricExpression].
_LONGEST = 2048
_UNSURE = frozenset("'\"\\")


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
        metrics, subject = LagMetrics(cluster), Subject(cluster, deployment=name)
        self.alarm = rule_alarm(
            self,
            "AnyGroup",
            rule=_within_sight(interval_minutes(cluster)),
            subject=subject,
            metric=cloudwatch.MathExpression(
                expression=query(metrics.namespace, cluster.name, cluster.alarms.groups),
                using_metrics={},
                period=metrics.period,
            ),
            told=Told(topic, recovered=False),
            where=subject.shown,
        )


def query(namespace: str, cluster: str, named: Sequence[str]) -> str:
    """Exactly the level of groups: a plain FROM would bill topics and partitions as well.

    Of the `named` groups, which page for themselves, as many are left out as the query has room
    for. One whose name holds a quotation mark or a backslash stays in: how those are written in a
    value is not documented.
    """
    cluster_key, group_key = f'"{contract.DIMENSION_CLUSTER}"', f'"{contract.DIMENSION_GROUP}"'
    select = (
        f"SELECT MAX({ANY_GROUP.metric})",
        f'FROM SCHEMA("{namespace}",{cluster_key},{group_key})',
        f"WHERE {cluster_key}='{cluster}'",
    )
    order = (f"GROUP BY {cluster_key},{group_key}", "ORDER BY MAX() DESC")
    room = _LONGEST - len(" ".join((*select, *order)))
    left_out: list[str] = []
    for value in map(dimension_value, named):
        condition = f"AND {group_key}!='{value}'"
        if len(condition) < room and not _UNSURE & set(value):
            left_out.append(condition)
            room -= len(condition) + 1
    return " ".join((*select, *left_out, *order))


def _within_sight(interval: int) -> Rule:
    """The rule with no more runs than the alarm can see."""
    periods = min(ANY_GROUP.periods, _SEEN_MINUTES // interval)
    return replace(ANY_GROUP, periods=periods, datapoints=min(ANY_GROUP.datapoints, periods))
