# SPDX-License-Identifier: Apache-2.0
"""CloudWatch alarms by the rules of `alarm_rules`: on a cluster, the daily report, messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.metrics import MAXIMUM, LagMetrics
from kafka_lag_cdk.names import DEPLOYMENT, dashboard_name, pascal_case
from kafka_lag_cdk.names import construct_id as id_of
from kafka_lag_config.alarm_rules import (
    ANOMALY,
    ANY_UNUSUAL,
    LAMBDA,
    MESSAGES_SILENT,
    NOTICE,
    OF_MESSAGES,
    REPORT_MISSING,
    URGENT,
    Operator,
    Rule,
    broker_rules,
    deployment_rules,
    full_name,
    group_rules,
    muted_alarms,
    query_brokers,
    query_groups,
    query_rules,
    reporter_rules,
    within_sight,
)
from kafka_lag_config.facts import ClusterFacts
from kafka_lag_config.physical_names import alarm_name
from kafka_lag_config.promql import find_periods, groups_apart, promql_query

# As CDK writes them.
OPERATORS = {
    each: cloudwatch.ComparisonOperator[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", each.word).upper()]
    for each in Operator
}

# Deviations from usual that are an anomaly; two, CloudWatch's default, are left by every twentieth.
_DEVIATIONS = 3

_MANUAL = "docs/alarms.md"
# A description holds 1,024 characters; a group's name may be as long.
_LONGEST_NAME = 150
# Minutes that a stack may take from an alarm to the first run: network interfaces, endpoints.
_DEPLOY_MINUTES = 30


@dataclass(frozen=True, slots=True)
class Recipients:
    """The topic of an alarm, and whether it also gets the end of it.

    `owners` have topics for the alarms of their groups; `notices` gets what is not urgent, unless
    given `topic` does.
    """

    topic: sns.ITopic
    recovered: bool
    owners: Mapping[str, sns.ITopic] = field(default_factory=dict)
    notices: sns.ITopic | None = None

    def of_group(self, cluster: ClusterFacts, group: str) -> Recipients:
        """The same, at the topic of the group's owner where there is one."""
        own = self.owners.get(cluster.settings.owner_of(group) or "")
        return self if own is None else replace(self, topic=own, notices=own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What alarms are about, as their names and descriptions have it.

    `word` is a cluster's name, or what stands for it; `shown` begins sentences, `owner` is nobody's
    where it is empty. `page` says what to do about any alarm, None: `manual` does about each.
    `warm_up_minutes` is the time until data must be there, in a first deploy.
    """

    deployment: str
    word: str
    shown: str
    group: str | None = None
    owner: str = ""
    page: str | None = None
    manual: str = _MANUAL
    warm_up_minutes: int

    def name(self, rule: Rule) -> str:
        """`<deployment>/<word>/<severity>/<rule>`, and the group."""
        return full_name(self.deployment, self.word, rule, self.group)

    def construct_id(self, rule: Rule) -> str:
        """Returns the id of the rule's alarm in its scope."""
        word = pascal_case(rule.name)
        return word if self.group is None else id_of(word, self.group)

    def description(self, rule: Rule, where: str) -> str:
        """Returns severity, meaning, what to do first, `where` to look and the page.

        It is within what CloudWatch takes, however long the names are.
        """
        severity = f"{rule.severity.capitalize()}. " if rule.severity in (URGENT, NOTICE) else ""
        page = self.page or f"{self.manual}#{rule.name}"
        first = f"{severity}{self.shown}: {rule.meaning}"
        parts = (first, rule.to_do, self.owner, where, f"See {page}")
        return " ".join(part for part in parts if part)


def subject_of(
    cluster: ClusterFacts, group: str | None = None, deployment: str = DEPLOYMENT
) -> Subject:
    """Returns a cluster, or one group in it, as one deployment watches it."""
    shown, owner, page = f"Cluster {cluster.name}", None, None
    if group is not None:
        shown = f"Group {_shortened(dimension_value(group))} of {cluster.name}"
        owner, page = cluster.settings.owner_of(group), cluster.settings.runbook_of(group)
    return Subject(
        deployment=deployment,
        word=cluster.name,
        shown=shown,
        group=group,
        owner="" if owner is None else f"Owner: {_shortened(owner)}.",
        page=page,
        manual=cluster.alarms.manual_url or _MANUAL,
        # The first run, and what the stack takes until then.
        warm_up_minutes=_DEPLOY_MINUTES + cluster.settings.interval_minutes,
    )


def rule_alarm(
    scope: Construct,
    *,
    rule: Rule,
    subject: Subject,
    metric: cloudwatch.IMetric,
    recipients: Recipients,
    where: str,
    threshold: float | None = None,
) -> cloudwatch.Alarm:
    """An alarm by a rule; `where` a person looks first, `threshold` where the rule has none.

    That on what is usual has none at all: CloudWatch trains on up to two weeks of the metric. It
    costs three plain ones.
    """
    common: dict[str, Any] = {
        "alarm_name": subject.name(rule),
        "alarm_description": subject.description(rule, where),
        "metric": metric,
        "datapoints_to_alarm": rule.datapoints,
        "evaluation_periods": rule.periods,
        "treat_missing_data": cloudwatch.TreatMissingData[rule.missing.name],
    }
    bound = rule.threshold if threshold is None else threshold
    construct_id = subject.construct_id(rule)
    alarm: cloudwatch.Alarm
    if rule.name == ANOMALY.name:
        alarm = cloudwatch.AnomalyDetectionAlarm(
            scope,
            construct_id,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_UPPER_THRESHOLD,
            std_devs=_DEVIATIONS,
            **common,
        )
    elif bound is None:
        raise ValueError(f"the rule {rule.name} needs a threshold")
    else:
        operator = OPERATORS[rule.operator]
        alarm = cloudwatch.Alarm(
            scope, construct_id, comparison_operator=operator, threshold=bound, **common
        )
    if rule.warm_up:
        _warm_up(alarm, subject.warm_up_minutes)
    _notify(alarm, rule, recipients)
    return alarm


def _notify(alarm: cloudwatch.AlarmBase, rule: Rule, recipients: Recipients) -> None:
    """Sends ALARM to a topic, and OK if recoveries are wanted; never INSUFFICIENT_DATA."""
    topics = {URGENT: recipients.topic, NOTICE: recipients.notices or recipients.topic}
    if rule.severity in topics:
        action = actions.SnsAction(topics[rule.severity])
        alarm.add_alarm_action(action)
        if recipients.recovered and not rule.counts:
            alarm.add_ok_action(action)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAlarms:
    """All alarms of a cluster: on the reporter, its groups and its brokers.

    `name` is the deployment's. Each method makes alarms in a construct of its own below `scope`,
    by which CloudFormation knows them.
    """

    scope: Construct
    cluster: ClusterFacts
    function: lambda_.IFunction
    log_group: logs.ILogGroup
    recipients: Recipients
    name: str = DEPLOYMENT

    def make(self) -> tuple[cloudwatch.IAlarm, ...]:
        """Every alarm that can have data."""
        reporter, of_groups = tuple(self._reporter()), (*self._any_group(), *self._named_groups())
        self._mute(of_groups)
        return (*reporter, *of_groups, *self._brokers())

    def make_releases(self) -> dict[str, cloudwatch.Alarm]:
        """The deployment alarms by group, which nothing mutes."""
        rules = deployment_rules(self.cluster)
        return {group: self._of_group(self.scope, group, rule) for group, rule in rules}

    def _mute(self, alarms: Sequence[cloudwatch.IAlarm]) -> None:
        """Makes the rules of the configured windows, after the alarms that they name."""
        kind = cloudwatch.CfnAlarmMuteRule
        for number, (keys, names) in enumerate(muted_alarms(self.cluster, self.name)):
            expression, duration = keys.schedule
            schedule = kind.ScheduleProperty(expression=expression, duration=duration)
            rule = kind(
                self.scope,
                f"Mute{number}",
                name=alarm_name(self.name, self.cluster.name, "mute", str(number)),
                description=keys.reason,
                rule=kind.RuleProperty(schedule=schedule),
                mute_targets=kind.MuteTargetsProperty(alarm_names=names),
            )
            rule.node.add_dependency(*alarms)

    def _reporter(self) -> Iterator[cloudwatch.IAlarm]:
        """On the reporter itself: without them silence would look like health.

        The heartbeat takes missing data for bad, and so would fire in a first deploy, before
        anything ran: it warms up. It fires once CloudWatch has no successful run in its evaluation
        range, which is somewhat longer than three runs.
        """
        scope = Construct(self.scope, "Reporter")
        where = f"Log: {self.log_group.log_group_name}."
        for rule in reporter_rules(self.cluster):
            alarm = self._of_cluster(scope, rule, self._of_reporter(rule), where=where)
            # Made after the function and gone before it, as a network interface takes its time.
            alarm.node.add_dependency(self.function)
            yield alarm

    def _of_reporter(self, rule: Rule) -> cloudwatch.IMetric:
        metrics = LagMetrics(self.cluster)
        if rule.namespace is None:
            return metrics.of_reporter(rule.metric)
        return cloudwatch.Metric(
            namespace=rule.namespace,
            metric_name=rule.metric,
            dimensions_map={"FunctionName": self.function.function_name}
            if rule.namespace == LAMBDA
            else {"LogGroupName": self.log_group.log_group_name},
            statistic=MAXIMUM,
            period=metrics.period,
        )

    def _any_group(self) -> Iterator[cloudwatch.IAlarm]:
        """Status, SLA and data loss of every group that is not named, new ones too.

        An alarm costs as much as a plain one for every group that its query finds, $0.10 a month.
        The one on SLAs is there if any group has one. They say nothing of recoveries: a series
        that ends turns OK whatever missing data is treated as, so that a group that was deleted
        would be reported as recovered [CloudWatch user guide, "Missing data in Metrics Insights
        alarms"]. Of more than 500 groups some are not seen.
        """
        scopes: dict[str, Construct] = {}
        by_otlp = self.cluster.settings.by_otlp
        for rule in query_rules(self.cluster):
            place = "AnyUnusual" if rule.name == ANY_UNUSUAL.name else "AnyGroup"
            if place not in scopes:
                scopes[place] = Construct(self.scope, place)
            yield (self._by_promql if by_otlp else self._by_query)(scopes[place], rule)

    def _by_promql(self, scope: Construct, rule: Rule) -> cloudwatch.IAlarm:
        """An alarm with a contributor for each group that breaches, if it is not apart."""
        subject = subject_of(self.cluster, deployment=self.name)
        pending, recovery = find_periods(self.cluster, rule)
        alarm = cloudwatch.PromQLAlarm(
            scope,
            subject.construct_id(rule),
            alarm_name=subject.name(rule),
            alarm_description=subject.description(rule, self._shown),
            query=promql_query(self.cluster, rule),
            evaluation_interval=LagMetrics(self.cluster).period,
            pending_period=Duration.minutes(pending),
            recovery_period=Duration.minutes(recovery),
        )
        _notify(alarm, rule, replace(self.recipients, recovered=False))
        return alarm

    def _by_query(self, scope: Construct, rule: Rule) -> cloudwatch.IAlarm:
        """An alarm on all groups that are not apart."""
        cluster, metrics = self.cluster, LagMetrics(self.cluster)
        named = groups_apart(cluster, rule)
        query = query_groups(rule, metrics.namespace, cluster.name, named)
        seen = within_sight(rule, cluster.settings.interval_minutes)
        return self._of_cluster(scope, seen, _query(query, metrics.period), recovered=False)

    def _named_groups(self) -> Iterator[cloudwatch.IAlarm]:
        """On thresholds, then on what is usual."""
        scopes = {
            is_learnt: Construct(self.scope, "Anomalies" if is_learnt else "Groups")
            for is_learnt in (False, True)
        }
        for group, rule, threshold in group_rules(self.cluster):
            yield self._of_group(scopes[rule.name == ANOMALY.name], group, rule, threshold)

    def _brokers(self) -> Iterator[cloudwatch.IAlarm]:
        """On the brokers' own metrics, which MSK publishes without charge."""
        scope = Construct(self.scope, "Brokers")
        for rule in broker_rules(self.cluster):
            query = query_brokers(rule, self.cluster.reach.msk_name or "")
            metric = _query(query, Duration.minutes(rule.minutes or 1))
            yield self._of_cluster(scope, rule, metric)

    @property
    def _shown(self) -> str:
        """Returns the dashboard that shows the cluster; nothing where it has none."""
        named = dashboard_name(self.cluster.name, self.name)
        return f"Dashboard: {named}." if self.cluster.settings.dashboard else ""

    def _of_group(
        self, scope: Construct, group: str, rule: Rule, threshold: float | None = None
    ) -> cloudwatch.Alarm:
        return rule_alarm(
            scope,
            rule=rule,
            subject=subject_of(self.cluster, group, self.name),
            metric=LagMetrics(self.cluster).of_group(rule.metric, group),
            recipients=self.recipients.of_group(self.cluster, group),
            where=self._shown,
            threshold=threshold,
        )

    def _of_cluster(
        self,
        scope: Construct,
        rule: Rule,
        metric: cloudwatch.IMetric,
        *,
        where: str | None = None,
        recovered: bool = True,
    ) -> cloudwatch.Alarm:
        recipients = replace(self.recipients, recovered=recovered and self.recipients.recovered)
        return rule_alarm(
            scope,
            rule=rule,
            subject=subject_of(self.cluster, deployment=self.name),
            metric=metric,
            recipients=recipients,
            where=self._shown if where is None else where,
        )


def report_alarm(
    scope: Construct, *, recipients: Recipients, job_name: str, name: str
) -> cloudwatch.IAlarm:
    """On the daily report of the deployment `name`, which may also never start."""
    return rule_alarm(
        scope,
        rule=REPORT_MISSING,
        subject=Subject(
            deployment=name,
            word="daily-report",
            shown="The daily report",
            # It first runs on the next day, and the alarm may see an hour of the day before.
            warm_up_minutes=REPORT_MISSING.periods * 60,
        ),
        metric=cloudwatch.Metric(
            namespace=contract.NAMESPACE,
            metric_name=REPORT_MISSING.metric,
            dimensions_map={contract.DIMENSION_DEPLOYMENT: name},
            statistic=MAXIMUM,
            period=Duration.minutes(REPORT_MISSING.minutes or 60),
        ),
        recipients=recipients,
        where=f"Job: {job_name}.",
    )


def message_alarms(
    scope: Construct,
    *,
    function: lambda_.IFunction,
    log_group: logs.ILogGroup,
    recipients: Recipients,
    silence: bool,
    name: str,
) -> tuple[cloudwatch.IAlarm, ...]:
    """On status messages of the deployment `name`; that on silence only if it is wanted."""
    subject = Subject(
        deployment=name,
        word="status-messages",
        shown="Messages on a changed status",
        # What a first deploy may take until the first run, and one period of an hour beside it.
        warm_up_minutes=90,
    )
    return tuple(
        rule_alarm(
            scope,
            rule=rule,
            subject=subject,
            metric=function.metric(
                rule.metric, statistic=MAXIMUM, period=Duration.minutes(rule.minutes or 1)
            ),
            recipients=recipients,
            where=f"Log: {log_group.log_group_name}.",
        )
        for rule in OF_MESSAGES
        if silence or rule is not MESSAGES_SILENT
    )


def _query(expression: str, period: Duration) -> cloudwatch.MathExpression:
    return cloudwatch.MathExpression(expression=expression, using_metrics={}, period=period)


def _warm_up(alarm: cloudwatch.Alarm, minutes: int) -> None:
    """Evaluate nothing until the window has filled once, or the time for that is over.

    CloudWatch does so once, when it creates an alarm [user guide, "Alarm warm-up periods"].
    """
    resource = cast(cloudwatch.CfnAlarm, alarm.node.default_child)
    resource.warm_up_configuration = cloudwatch.CfnAlarm.WarmUpConfigurationProperty(
        warm_up_period_duration_in_minutes=minutes
    )


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
