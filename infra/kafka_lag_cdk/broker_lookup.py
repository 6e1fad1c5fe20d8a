# SPDX-License-Identifier: Apache-2.0
"""The brokers' addresses: as configured, or as MSK reports them when the stack is deployed."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from aws_cdk import CfnResource, CustomResource, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from kafka_lag_cdk.acknowledgements import acknowledge_function
from kafka_lag_cdk.lambdas import make_log_group
from kafka_lag_cdk.rights import allow, role_with

_ANSWERS_WITHIN_SECONDS = 300
_CODE = Path(__file__).parents[1] / "kafka_lag_config" / "broker_lookup"


class BootstrapServers(Construct):
    """Asks MSK once, and again if ARN or login change; `servers` is a token with commas.

    `name` is what the cluster is called, `way_in` how it is logged into.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        arn: str,
        way_in: str,
        log_key_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        asking = allow("kafka:GetBootstrapBrokers", on=arn)
        role = role_with(self, [asking], service="lambda.amazonaws.com")
        answer = CustomResource(
            self,
            "Answer",
            service_token=self._function(name, role, log_key_arn).function_arn,
            properties={"ClusterArn": arn, "Way": way_in},
        )
        # A function that dies answers nobody, and CloudFormation would wait for an hour. CDK's own
        # property writes text where CloudFormation's schema has a number.
        resource = cast("CfnResource", answer.node.default_child)
        resource.add_property_override("ServiceTimeout", _ANSWERS_WITHIN_SECONDS)
        self.servers = answer.get_att_string("Servers")

    def _function(self, cluster: str, role: iam.Role, log_key_arn: str | None) -> lambda_.Function:
        log_group = make_log_group(self, days=7, key_arn=log_key_arn)
        log_group.grant_write(role)
        function = lambda_.Function(
            self,
            "Function",
            description=f"Finds the brokers of {cluster} at deploy time",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            code=lambda_.Code.from_asset(str(_CODE), exclude=["__pycache__"]),
            handler="index.handler",
            role=role,
            timeout=Duration.minutes(1),
            log_group=log_group,
        )
        acknowledge_function(function)
        return function
