# SPDX-License-Identifier: Apache-2.0
"""Alarms on named groups: three on each, and on some against their own past."""

from __future__ import annotations

from collections.abc import Iterator

from aws_cdk import Annotations
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.alarms.alarm import MISSING, Told, of_owner, rule_alarm, tell
from kafka_lag_cdk.alarms.rules import ANOMALY, LOSS, SLA, STATUS
from kafka_lag_cdk.alarms.subject import ClusterSubject
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.metrics import LagMetrics
from kafka_lag_cdk.names import DEPLOYMENT, digest, pascal_case
from kafka_lag_cdk.names import construct_id as id_of

# How far from usual is told; two, CloudWatch's default, is left by every twentieth value.
_DEVIATIONS = 3


class GroupAlarms(Construct):
    """Status, data loss and, where `sla_seconds` names one, the SLA of each named group.

    `name` is the deployment's, here as in the other constructs of alarms.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        topic: sns.ITopic,
        recovered: bool,
        name: str = DEPLOYMENT,
    ) -> None:
        super().__init__(scope, construct_id)
        self._cluster, self._told, self._name = cluster, Told(topic, recovered), name
        self.alarms: tuple[cloudwatch.IAlarm, ...] = tuple(
            alarm for group in cluster.alarms.groups for alarm in self._of(group)
        )

    def _of(self, group: str) -> Iterator[cloudwatch.IAlarm]:
        metrics = LagMetrics(self._cluster)
        subject = ClusterSubject(self._cluster, group, self._name)
        promised = self._cluster.sla_of(group)
        if promised is None and self._cluster.sla_seconds:
            Annotations.of(self).add_warning_v2(
                f"msk-lag-reporter:no-sla-{digest(group)}",
                f"alarms.groups of {self._cluster.name} names {group}, which no sla_seconds "
                "matches: it gets no alarm on its age.",
            )
        for rule in (STATUS, LOSS, *([] if promised is None else [SLA])):
            yield rule_alarm(
                self,
                id_of(pascal_case(rule.name), group),
                rule=rule,
                subject=subject,
                metric=metrics.of_group(rule.metric, group),
                told=of_owner(self, self._told, self._cluster, group),
                where=subject.shown,
                threshold=promised if rule is SLA else None,
            )


class AnomalyAlarms(Construct):
    """The time lag of some groups against what CloudWatch has learnt of each; above only.

    CloudWatch trains on up to two weeks. Such an alarm costs three plain ones.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        topic: sns.ITopic,
        recovered: bool,
        name: str = DEPLOYMENT,
    ) -> None:
        super().__init__(scope, construct_id)
        self._cluster, self._told, self._name = cluster, Told(topic, recovered), name
        self.alarms: tuple[cloudwatch.IAlarm, ...] = tuple(
            self._of(group) for group in cluster.alarms.anomalies
        )

    def _of(self, group: str) -> cloudwatch.IAlarm:
        subject = ClusterSubject(self._cluster, group, self._name)
        alarm = cloudwatch.AnomalyDetectionAlarm(
            self,
            id_of("Anomaly", group),
            alarm_name=subject.name(ANOMALY),
            alarm_description=subject.description(ANOMALY, subject.shown),
            metric=LagMetrics(self._cluster).of_group(ANOMALY.metric, group),
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_UPPER_THRESHOLD,
            std_devs=_DEVIATIONS,
            datapoints_to_alarm=ANOMALY.datapoints,
            evaluation_periods=ANOMALY.periods,
            treat_missing_data=MISSING[ANOMALY.missing],
        )
        tell(alarm, of_owner(self, self._told, self._cluster, group))
        return alarm
