# SPDX-License-Identifier: Apache-2.0
"""A user's own stack with a network, in which clusters are watched."""

from __future__ import annotations

from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_msk as msk
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from kafka_lag_cdk import LagCollector, SharedNames
from tests.infra.code import SMALL_PACKAGE
from tests.infra.resolve import ACCOUNT, REGION, resolve

HERE = Environment(account=ACCOUNT, region=REGION)
ARN = f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/orders/0a1b2c3d-1111-2222-3333-444455556666-7"

Resources = dict[str, dict[str, Any]]


class Theirs(Stack):
    """A stack with a VPC, the security group of brokers, and a key."""

    def __init__(self, app: App | None = None, name: str = "Theirs", **options: Any) -> None:
        super().__init__(app or App(), name, **{"env": HERE, **options})
        self.vpc = ec2.Vpc(self, "Vpc", max_azs=2, nat_gateways=1)
        self.brokers = ec2.SecurityGroup(self, "Brokers", vpc=self.vpc)
        self.key = kms.Key(self, "Key")

    def secret(self, name: str = "Login") -> secretsmanager.Secret:
        """Encrypted with the key."""
        return secretsmanager.Secret(self, name, encryption_key=self.key)

    def provisioned(self, scope: Construct | None = None) -> msk.CfnCluster:
        """Brokers in the private subnets; a nested stack may hold them."""
        return msk.CfnCluster(
            scope or self,
            "Msk",
            cluster_name="shop",
            kafka_version="3.9.x",
            number_of_broker_nodes=2,
            broker_node_group_info=msk.CfnCluster.BrokerNodeGroupInfoProperty(
                client_subnets=self.vpc.select_subnets().subnet_ids, instance_type="kafka.m7g.large"
            ),
        )

    def serverless(self) -> msk.CfnServerlessCluster:
        """A cluster without brokers to see."""
        return msk.CfnServerlessCluster(
            self,
            "Serverless",
            cluster_name="shop",
            client_authentication=msk.CfnServerlessCluster.ClientAuthenticationProperty(
                sasl=msk.CfnServerlessCluster.SaslProperty(
                    iam=msk.CfnServerlessCluster.IamProperty(enabled=True)
                )
            ),
            vpc_configs=[
                msk.CfnServerlessCluster.VpcConfigProperty(
                    subnet_ids=self.vpc.select_subnets().subnet_ids
                )
            ],
        )


def watch(stack: Stack, given: dict[str, Any]) -> LagCollector:
    """Puts a cluster's collector into a stack, where what clusters share is elsewhere."""
    return LagCollector(
        stack,
        "Lag",
        **given,
        reports=SharedNames(bucket="b", topic_arn=f"arn:aws:sns:{REGION}:{ACCOUNT}:t"),
        package=SMALL_PACKAGE,
    )


def collected(stack: Stack, given: dict[str, Any]) -> Resources:
    """The resources of a stack once the cluster is watched in it."""
    watch(stack, given)
    return synthesised(stack)


def synthesised(stack: Stack) -> Resources:
    app = stack.node.root
    assert isinstance(app, App)
    return resolve(app.synth().get_stack_by_name(stack.stack_name).template)


def the_function(resources: Resources) -> dict[str, Any]:
    """The collector itself."""
    (found,) = [
        each["Properties"]
        for each in resources.values()
        if each["Type"] == "AWS::Lambda::Function"
        and each["Properties"].get("Description") == "Consumer lag of orders"
    ]
    return dict(found)
