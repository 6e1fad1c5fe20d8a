# SPDX-License-Identifier: Apache-2.0
"""Alarms on the reporter itself: without them silence would look like health."""

from __future__ import annotations

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.alarms.alarm import Told, rule_alarm
from kafka_lag_cdk.alarms.rules import LAMBDA, Rule, reporter_rules
from kafka_lag_cdk.alarms.subject import ClusterSubject
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.metrics import MAXIMUM, LagMetrics
from kafka_lag_cdk.names import DEPLOYMENT, pascal_case


class ReporterAlarms(Construct):
    """One alarm for each rule of the reporter that can have data, in `alarms`.

    The heartbeat takes silence for bad, and so would fire in a first deploy, before anything ran:
    it warms up. It fires once CloudWatch has no successful run in its evaluation range, which is
    somewhat longer than three runs.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        function: lambda_.IFunction,
        log_group: logs.ILogGroup,
        topic: sns.ITopic,
        recovered: bool,
        name: str = DEPLOYMENT,
    ) -> None:
        super().__init__(scope, construct_id)
        self._metrics = LagMetrics(cluster)
        self._function, self._log_group = function, log_group
        self._subject, self._told = ClusterSubject(cluster, deployment=name), Told(topic, recovered)
        rules = reporter_rules(paused=cluster.paused, published=bool(cluster.sink_names))
        self.alarms: tuple[cloudwatch.IAlarm, ...] = tuple(map(self._of, rules))

    def _of(self, rule: Rule) -> cloudwatch.IAlarm:
        alarm = rule_alarm(
            self,
            pascal_case(rule.name),
            rule=rule,
            subject=self._subject,
            metric=self._metric(rule),
            told=self._told,
            where=f"Log: {self._log_group.log_group_name}.",
        )
        # Made after the function and gone before it, as a network interface takes its time.
        alarm.node.add_dependency(self._function)
        return alarm

    def _metric(self, rule: Rule) -> cloudwatch.IMetric:
        if rule.namespace is None:
            return self._metrics.of_reporter(rule.metric)
        if rule.namespace == LAMBDA:
            dimensions = {"FunctionName": self._function.function_name}
        else:
            dimensions = {"LogGroupName": self._log_group.log_group_name}
        return cloudwatch.Metric(
            namespace=rule.namespace,
            metric_name=rule.metric,
            dimensions_map=dimensions,
            statistic=MAXIMUM,
            period=self._metrics.period,
        )
