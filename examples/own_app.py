# SPDX-License-Identifier: Apache-2.0
"""An app with a network, an MSK cluster and a service of its own, watched by the two constructs.

The service follows its group, alarms go to a topic of the app, and of a second cluster the brokers
are in a parameter. cdk synth --app 'python examples/own_app.py'
"""

from __future__ import annotations

from pathlib import Path

from aws_cdk import App, ArnFormat, Environment, Stack, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_msk as msk
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from kafka_lag_cdk import (
    AlarmSettings,
    CollectorSettings,
    GroupScaling,
    LagCollector,
    LagReports,
    NoLogin,
    Report,
    Scram,
    ServiceScaling,
    SharedSettings,
    StatusMessages,
    Tasks,
    Views,
)


class Kafka(Construct):
    """An MSK cluster with SCRAM in a VPC of its own."""

    def __init__(self, scope: Construct, construct_id: str, *, key: kms.IKey) -> None:
        super().__init__(scope, construct_id)
        self.vpc = ec2.Vpc(self, "Vpc", max_azs=2, nat_gateways=1)
        self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        self.brokers = ec2.SecurityGroup(self, "Brokers", vpc=self.vpc)
        private = self.vpc.select_subnets(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
        self.cluster = msk.CfnCluster(
            self,
            "Cluster",
            cluster_name="orders",
            kafka_version="3.9.x",
            number_of_broker_nodes=2,
            broker_node_group_info=msk.CfnCluster.BrokerNodeGroupInfoProperty(
                client_subnets=private.subnet_ids,
                instance_type="kafka.m7g.large",
                security_groups=[self.brokers.security_group_id],
            ),
            client_authentication=msk.CfnCluster.ClientAuthenticationProperty(
                sasl=msk.CfnCluster.SaslProperty(scram=msk.CfnCluster.ScramProperty(enabled=True))
            ),
        )
        # MSK takes secrets whose names begin so, with a key of one's own.
        self.login = secretsmanager.Secret(
            self,
            "Login",
            secret_name="AmazonMSK_lag_monitor",  # noqa: S106
            encryption_key=key,
            generate_secret_string=secretsmanager.SecretStringGenerator(
                secret_string_template='{"username": "lag-monitor"}',  # noqa: S106
                generate_string_key="password",
                exclude_punctuation=True,
            ),
        )
        msk.CfnBatchScramSecret(
            self,
            "Logins",
            cluster_arn=self.cluster.attr_arn,
            secret_arn_list=[self.login.secret_arn],
        )


class Billing(Construct):
    """A service that consumes as the group `billing`."""

    def __init__(self, scope: Construct, construct_id: str, *, vpc: ec2.IVpc) -> None:
        super().__init__(scope, construct_id)
        task = ecs.FargateTaskDefinition(self, "Task")
        task.add_container(
            "Worker",
            image=ecs.ContainerImage.from_registry("public.ecr.aws/docker/library/busybox:stable"),
        )
        # Without a desired_count, which would be set again by each deploy.
        self.service = ecs.FargateService(
            self,
            "Service",
            cluster=ecs.Cluster(self, "Cluster", vpc=vpc),
            task_definition=task,
            min_healthy_percent=100,
        )


class Watched(Stack):
    """Two clusters, what watches them, and the bucket, topics and key that both use."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Path | None = None,
        report_package: Path | None = None,
    ) -> None:
        super().__init__(
            scope, construct_id, env=Environment(account="111122223333", region="eu-west-1")
        )
        self._package = package
        key = kms.Key(self, "Key", enable_key_rotation=True)
        key.add_to_resource_policy(self._logs())
        kafka = Kafka(self, "Kafka", key=key)
        bucket = s3.Bucket(
            self,
            "Data",
            encryption_key=key,
            bucket_key_enabled=True,
            enforce_ssl=True,
            # What starts status messages.
            event_bridge_enabled=True,
        )
        reports = LagReports(
            self,
            "LagReports",
            clusters=["orders", "audit"],
            settings=SharedSettings(
                report=Report(hour=2), views=Views(), status_messages=StatusMessages()
            ),
            existing_bucket=bucket,
            log_key=key,
            topic=sns.Topic(self, "Alarms", master_key=key, enforce_ssl=True),
            topic_key=key,
            package=package,
            report_package=report_package,
        )
        self._watch_orders(kafka, key, reports)
        self._watch_audit(kafka.vpc, reports)

    def _watch_orders(self, kafka: Kafka, key: kms.IKey, reports: LagReports) -> None:
        """A cluster of MSK; its pages have a topic of their own, and a service follows it."""
        billing = Billing(self, "Billing", vpc=kafka.vpc)
        LagCollector(
            self,
            "LagCollector",
            name="orders",
            msk=kafka.cluster,
            vpc=kafka.vpc,
            brokers=kafka.brokers,
            login=Scram(kafka.login),
            reports=reports,
            settings=CollectorSettings(sla_seconds={"^billing$": 300}),
            alarms=AlarmSettings(groups=("billing",)),
            alarm_topic=sns.Topic(self, "OrdersAlarms", master_key=key, enforce_ssl=True),
            services=[
                ServiceScaling(
                    billing.service,
                    GroupScaling(group="billing", max=12, partitions=12, tasks=Tasks()),
                )
            ],
            package=self._package,
        )

    def _watch_audit(self, vpc: ec2.IVpc, reports: LagReports) -> None:
        """A cluster of whoever writes the addresses of its brokers into a parameter."""
        brokers = ssm.StringParameter.value_for_string_parameter(self, "/audit/brokers")
        LagCollector(
            self,
            "Audit",
            name="audit",
            bootstrap_servers=brokers,
            broker_ports=(9092,),
            vpc=vpc,
            login=NoLogin(plaintext=True),
            reports=reports,
            package=self._package,
        )

    @property
    def availability_zones(self) -> list[str]:
        """Named, as CDK would ask AWS for them otherwise, which takes credentials."""
        return [f"{self.region}{zone}" for zone in "ab"]

    def _logs(self) -> iam.PolicyStatement:
        """What CloudWatch Logs needs of a key."""
        groups = self.format_arn(
            service="logs",
            resource="log-group",
            resource_name="*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        return iam.PolicyStatement(
            principals=[iam.ServicePrincipal(f"logs.{self.region}.amazonaws.com")],
            actions=[
                "kms:Encrypt*",
                "kms:Decrypt*",
                "kms:ReEncrypt*",
                "kms:GenerateDataKey*",
                "kms:Describe*",
            ],
            resources=["*"],
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
        )


def build(app: App, package: Path | None = None, report_package: Path | None = None) -> Watched:
    """The stack, tagged, its roles within the boundary that the account asks for."""
    stack = Watched(app, "Watched", package=package, report_package=report_package)
    Tags.of(stack).add("team", "streams")
    boundary = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "developers")
    iam.PermissionsBoundary.of(stack).apply(boundary)
    return stack


if __name__ == "__main__":
    own_app = App()
    build(own_app)
    own_app.synth()
