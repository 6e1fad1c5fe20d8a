# SPDX-License-Identifier: Apache-2.0
"""The endpoints that a VPC may have one of each of, and that somebody must make."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from kafka_lag_cdk.config.network import Vpc

_HTTPS = 443


class VpcEndpoints(Construct):
    """The S3 gateway, which is free, and the interfaces that the settings want.

    Raises ValueError where another in the same app makes one of them for the same VPC: a deploy
    would fail on its private name, or on its route.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Vpc, vpc: ec2.IVpc
    ) -> None:
        super().__init__(scope, construct_id)
        self._settings, self._region = settings, Stack.of(self).region
        self._insist_on_one_of_each()
        if settings.endpoints.s3:
            self._s3()
        if settings.endpoints.secrets_manager:
            self._interface(vpc, "SecretsManager", "secretsmanager", "Secrets Manager")
        if settings.endpoints.monitoring:
            self._interface(vpc, "Monitoring", "monitoring", "CloudWatch")

    def _insist_on_one_of_each(self) -> None:
        for other in self.node.root.node.find_all():
            if not isinstance(other, VpcEndpoints) or other is self:
                continue
            for vpc, kind in self.made() & other.made():
                raise ValueError(
                    f"{other.node.path} and {self.node.path} both make the {kind} endpoint of "
                    f"{vpc}, which can have one; leave it to one of them"
                )

    def made(self) -> set[tuple[str, str]]:
        """The VPC's id and the kind of each endpoint."""
        return {(self._settings.id, kind) for kind, wanted in self._settings.endpoints if wanted}

    def _s3(self) -> None:
        ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=self._settings.id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{self._region}.s3",
            route_table_ids=list(self._settings.route_tables),
        )

    def _interface(self, vpc: ec2.IVpc, word: str, service: str, called: str) -> None:
        allowed = ec2.SecurityGroup(
            self,
            f"{word}Group",
            vpc=vpc,
            description=f"HTTPS from this VPC to {called}",
            allow_all_outbound=False,
        )
        inside = ec2.Peer.ipv4(self._settings.cidr or "")
        allowed.add_ingress_rule(inside, ec2.Port.tcp(_HTTPS), "from the VPC")
        ec2.CfnVPCEndpoint(
            self,
            word,
            vpc_id=self._settings.id,
            vpc_endpoint_type="Interface",
            service_name=f"com.amazonaws.{self._region}.{service}",
            subnet_ids=list(self._settings.endpoint_subnets or self._settings.subnets),
            security_group_ids=[allowed.security_group_id],
            private_dns_enabled=True,
        )
