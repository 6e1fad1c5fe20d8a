# SPDX-License-Identifier: Apache-2.0
"""The collector's place in the brokers' VPC: out to the brokers and to AWS, nothing in."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from infra.config.parts.cluster import Cluster

_HTTPS = 443
_UNKNOWN = "unknown"


class CollectorNetwork(Construct):
    """A security group of its own, the ways it opens in others, and the endpoints asked for.

    `vpc` and `subnets` are known by their ids alone; nothing is looked up.
    """

    def __init__(self, scope: Construct, construct_id: str, *, cluster: Cluster) -> None:
        super().__init__(scope, construct_id)
        self._settings = cluster.vpc
        ids = list(cluster.vpc.subnets)
        self.vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=cluster.vpc.id,
            # Asked for, but in no resource: one of each a subnet.
            availability_zones=[_UNKNOWN] * len(ids),
            private_subnet_ids=ids,
            private_subnet_route_table_ids=[_UNKNOWN] * len(ids),
        )
        self.subnets = ec2.SubnetSelection(subnets=self.vpc.private_subnets)
        self.group = ec2.SecurityGroup(
            self,
            "Group",
            vpc=self.vpc,
            description=f"Lag collector of {cluster.name}: out to brokers and AWS, nothing in",
            allow_all_outbound=False,
        )
        for port in cluster.ports:
            self._open_brokers(port)
        self._open_endpoints()
        if cluster.vpc.endpoints.s3:
            self._s3_endpoint()
        if cluster.vpc.endpoints.secrets_manager:
            self._secrets_endpoint()

    def _open_brokers(self, port: int) -> None:
        known = self._settings.brokers_security_group
        if known is None:
            self.group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(port), "to the brokers")
            return
        brokers = ec2.SecurityGroup.from_security_group_id(self, f"Brokers{port}", known)
        said = "lag collector to the brokers"
        self.group.connections.allow_to(brokers, ec2.Port.tcp(port), said)

    def _open_endpoints(self) -> None:
        # The S3 gateway is reached at S3's public addresses, whose list only AWS knows.
        https = ec2.Port.tcp(_HTTPS)
        self.group.add_egress_rule(ec2.Peer.any_ipv4(), https, "to S3 and Secrets Manager")
        for index, known in enumerate(self._settings.endpoint_security_groups):
            group = ec2.SecurityGroup.from_security_group_id(self, f"Endpoint{index}", known)
            group.add_ingress_rule(self.group, https, "lag collector to the endpoint")

    def _s3_endpoint(self) -> None:
        ec2.CfnVPCEndpoint(
            self,
            "S3Endpoint",
            vpc_id=self._settings.id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{Stack.of(self).region}.s3",
            route_table_ids=list(self._settings.route_tables),
        )

    def _secrets_endpoint(self) -> None:
        allowed = ec2.SecurityGroup(
            self,
            "SecretsManagerEndpointGroup",
            vpc=self.vpc,
            description="HTTPS from this VPC to Secrets Manager",
            allow_all_outbound=False,
        )
        inside = ec2.Peer.ipv4(self._settings.cidr or "")
        allowed.add_ingress_rule(inside, ec2.Port.tcp(_HTTPS), "from the VPC")
        ec2.CfnVPCEndpoint(
            self,
            "SecretsManagerEndpoint",
            vpc_id=self._settings.id,
            vpc_endpoint_type="Interface",
            service_name=f"com.amazonaws.{Stack.of(self).region}.secretsmanager",
            subnet_ids=list(self._settings.subnets),
            security_group_ids=[allowed.security_group_id],
            private_dns_enabled=True,
        )
