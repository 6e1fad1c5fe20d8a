# SPDX-License-Identifier: Apache-2.0
"""All that watches one cluster, as one construct: collector, alarms, scaling, dashboard."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.acknowledgements import warn
from kafka_lag_cdk.alarms import ClusterAlarms, Recipients
from kafka_lag_cdk.collector_function import CollectorFunction, schedule
from kafka_lag_cdk.dashboard import make_dashboard
from kafka_lag_cdk.lag_reports import LagReports
from kafka_lag_cdk.lambdas import collector_code
from kafka_lag_cdk.names import SharedNames
from kafka_lag_cdk.names import construct_id as id_of
from kafka_lag_cdk.notifications import let_alarms_in
from kafka_lag_cdk.props import (
    Endpoint,
    Login,
    Msk,
    NewEndpoints,
    ServiceScaling,
    WatchedCluster,
)
from kafka_lag_cdk.scaling import ScaledService
from kafka_lag_config.alarm_rules import RELEASE, configured, full_name
from kafka_lag_config.doubts import find_doubts
from kafka_lag_config.settings import AlarmSettings, CollectorSettings


class LagCollector(Construct):
    """Collects the lag of the cluster `name` into the bucket of `reports`; alarms go to its topic.

    Required: `name` is what metrics, alarms and objects call the cluster. `vpc` holds private
    subnets from which the brokers are reached. `login` is Iam(), Scram(secret), Tls(secret) or
    NoLogin(). `reports` is the region's shared part, or its names where another stack holds it;
    alarms and dashboard are named after its deployment.

    Brokers: `msk` is a cluster of the app, or an ARN; MSK is asked for its brokers unless
    `bootstrap_servers` names them, host:port each, or one text with commas between. Of servers that
    are known on deploy only, `broker_ports` are the ports, MSK's unless given.

    Network: `subnets` are the VPC's private ones unless chosen. `brokers` is a security group that
    is opened for the collector on the brokers' port, each of `endpoint_groups`, those of VPC
    endpoints, on 443; left out, opening them is the app's. Of subnets without a way to services of
    AWS there are warnings: `existing_endpoints` says which endpoints they reach, `nat` that they
    have a NAT gateway (unless given: as the VPC knows). `new_endpoints` are made.

    What it does: `settings` and `alarms` have the keys of docs/configuration.md; `services` follow
    a group each. Urgent alarms go to `alarm_topic` instead of the deployment's, others to
    `notice_topic`, those of a named group to the topic that `owner_topics` has for its owner. Of
    topics and keys of the app CloudWatch is let in; an imported one must do so itself. With
    `recovered` a topic also gets that an alarm is over.
    `package` is the collector's folder or zip; unless given, it is built from this project's lock.

    `deployment_alarms` are those of `alarms.deployments`, by group. ECS rolls the deployments of a
    service of `services` back by the alarms on its groups, if it is one of the app's and ECS
    deploys it; for others see `roll_back`.

    Whatever is wrong is a ConfigurationError with the sentences of a configuration file.

    `alarms` reach people, `scaling_alarms` only set numbers of tasks; `dashboard` is None where the
    settings want none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        vpc: ec2.IVpc,
        login: Login,
        reports: LagReports | SharedNames,
        msk: Msk | None = None,
        bootstrap_servers: str | Sequence[str] = (),
        broker_ports: Sequence[int] = (),
        subnets: ec2.SubnetSelection | Sequence[ec2.ISubnet] | None = None,
        brokers: ec2.ISecurityGroup | None = None,
        endpoint_groups: Sequence[ec2.ISecurityGroup] = (),
        existing_endpoints: Collection[Endpoint] = (),
        nat: bool | None = None,
        new_endpoints: NewEndpoints | None = None,
        settings: CollectorSettings | None = None,
        alarms: AlarmSettings | None = None,
        services: Sequence[ServiceScaling] = (),
        alarm_topic: sns.ITopic | None = None,
        notice_topic: sns.ITopic | None = None,
        owner_topics: Mapping[str, sns.ITopic] | None = None,
        recovered: bool = True,
        package: Path | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._cluster = WatchedCluster(
            name=name,
            vpc=vpc,
            login=login,
            msk=msk,
            bootstrap_servers=bootstrap_servers,
            broker_ports=broker_ports,
            subnets=subnets,
            brokers=brokers,
            endpoint_groups=endpoint_groups,
            existing_endpoints=existing_endpoints,
            nat=nat,
            new_endpoints=new_endpoints,
            settings=CollectorSettings() if settings is None else settings,
            alarms=AlarmSettings() if alarms is None else alarms,
            services=services,
            alarm_topic=alarm_topic,
            notice_topic=notice_topic,
            owner_topics=owner_topics or {},
        )
        self.facts = self._cluster.check(self.node.path)
        self._shared = reports.names if isinstance(reports, LagReports) else reports
        self._make(recovered, package)
        expected = reports.expect(self.facts) if isinstance(reports, LagReports) else ()
        for doubt in (*find_doubts(self.facts), *expected):
            warn(self, doubt, f"{name}: ")

    def _make(self, recovered: bool, package: Path | None) -> None:
        facts, shared = self.facts, self._shared
        collector = CollectorFunction(
            self,
            "Collector",
            cluster=self._cluster,
            facts=facts,
            bucket=shared.bucket,
            code=collector_code(facts.settings.function, package),
            bucket_key_arn=shared.bucket_key_arn,
            log_key_arn=shared.log_key_arn,
        )
        self.function, self.log_group = collector.function, collector.log_group
        schedule(Construct(self, "Schedule"), cluster=facts, function=self.function)
        alarms = ClusterAlarms(
            scope=self,
            cluster=facts,
            function=self.function,
            log_group=self.log_group,
            recipients=self._recipients(recovered),
            name=shared.name,
        )
        self.alarms, self.deployment_alarms = alarms.make(), alarms.make_releases()
        for each in self._cluster.services:
            service, groups = each.service, each.scaling.groups
            if each.apart or not isinstance(service, ecs.BaseService):
                continue
            if _is_deployed_by_ecs(service):
                for group in (group for group in groups if group in self.deployment_alarms):
                    self.roll_back(service, group)
        self.scaling_alarms = tuple(self._scale_services())
        self.dashboard = self._make_dashboard() if facts.settings.dashboard else None

    def roll_back(self, service: ecs.BaseService, group: str) -> None:
        """Lets ECS roll a deployment of the service back by the alarm on a group that it reads as.

        The alarms that it names already still roll it back. Raises KeyError for a group that is not
        in `alarms.deployments`, ValueError if ECS does not deploy the service, or if its own alarms
        let a deployment fail without a way back.
        """
        alarm = self.deployment_alarms[group]
        path = service.node.path
        if not _is_deployed_by_ecs(service):
            raise ValueError(
                f"{path} is not deployed by ECS, which rolls nothing else back; name the alarm "
                "where it is deployed, such as in CodeDeploy's deployment group"
            )
        # `enable_deployment_alarms` adds nothing to a service that has alarms, and nothing public
        # reads those that it has.
        own = service._deployment_alarms
        there: list[str] = []
        if own is not None and own.enable is True:
            if own.rollback is not True:
                raise ValueError(
                    f"{path} has deployment alarms that roll nothing back; give them "
                    "ROLLBACK_ON_ALARM"
                )
            there = own.alarm_names
        # By its name: a service of another stack, which this one scales, cannot refer to it.
        rule = configured(self.facts, RELEASE)
        name = full_name(self._shared.name, self.facts.name, rule, group)
        service._deployment_alarms = ecs.CfnService.DeploymentAlarmsProperty(
            alarm_names=[*dict.fromkeys((*there, name))], enable=True, rollback=True
        )
        if Stack.of(service) == Stack.of(self):
            service.node.add_dependency(alarm)

    def _recipients(self, recovered: bool) -> Recipients:
        cluster, shared = self._cluster, self._shared
        own = (cluster.alarm_topic, cluster.notice_topic, *cluster.owner_topics.values())
        for topic in dict.fromkeys(each for each in own if each is not None):
            let_alarms_in(self, topic)
        by_arn = sns.Topic.from_topic_arn
        notices = shared.notice_topic_arn or shared.topic_arn
        return Recipients(
            cluster.alarm_topic or by_arn(self, "Topic", shared.topic_arn),
            recovered,
            cluster.owner_topics,
            cluster.notice_topic or by_arn(self, "NoticeTopic", notices),
        )

    def _scale_services(self) -> Iterator[cloudwatch.IAlarm]:
        for following in self.facts.services:
            if not following.apart:
                yield from ScaledService(
                    self,
                    id_of("Scaling", following.service.known_as),
                    cluster=self.facts,
                    following=following,
                    name=self._shared.name,
                ).alarms

    def _make_dashboard(self) -> cloudwatch.Dashboard:
        return make_dashboard(
            Construct(self, "Dashboard"),
            cluster=self.facts,
            function=self.function,
            log_group=self.log_group,
            alarms=self.alarms,
            scaling_alarms=self.scaling_alarms,
            name=self._shared.name,
            workgroup=self._shared.name if self._shared.queries else None,
        )


def _is_deployed_by_ecs(service: ecs.BaseService) -> bool:
    """Returns whether ECS itself replaces the service's tasks, which it does unless told."""
    resource = cast(ecs.CfnService, service.node.default_child)
    controller = resource.deployment_controller
    if not isinstance(controller, ecs.CfnService.DeploymentControllerProperty):
        return True
    return controller.type in (None, ecs.DeploymentControllerType.ECS.value)
