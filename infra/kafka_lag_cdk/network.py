# SPDX-License-Identifier: Apache-2.0
"""The collector's place in the brokers' VPC: out to the brokers and to AWS, nothing in."""

from __future__ import annotations

from urllib.parse import urlsplit

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.network import Vpc

_PORTS = {"http": 80, "https": 443}
_HTTPS = _PORTS["https"]
_UNKNOWN = "unknown"


class CollectorNetwork(Construct):
    """A security group of its own, the ways it opens in others, and the endpoints that are made.

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
        for first, last in cluster.ports:
            self._open_brokers(first, last)
        self._open_endpoints()
        for port in sink_ports(cluster):
            self.group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(port), "to OTLP endpoints")
        if any(wanted for _, wanted in cluster.vpc.endpoints):
            VpcEndpoints(self, "Endpoints", settings=cluster.vpc, vpc=self.vpc)

    def _open_brokers(self, first: int, last: int) -> None:
        port = ec2.Port.tcp_range(first, last) if first != last else ec2.Port.tcp(first)
        known = self._settings.brokers_security_group
        if known is None:
            self.group.add_egress_rule(ec2.Peer.any_ipv4(), port, "to the brokers")
            return
        brokers = ec2.SecurityGroup.from_security_group_id(self, f"Brokers{first}", known)
        said = "lag collector to the brokers"
        self.group.connections.allow_to(brokers, port, said)

    def _open_endpoints(self) -> None:
        # The S3 gateway is reached at S3's public addresses, whose list only AWS knows.
        https = ec2.Port.tcp(_HTTPS)
        self.group.add_egress_rule(ec2.Peer.any_ipv4(), https, "to AWS and OTLP endpoints")
        for index, known in enumerate(self._settings.endpoint_security_groups):
            group = ec2.SecurityGroup.from_security_group_id(self, f"Endpoint{index}", known)
            group.add_ingress_rule(self.group, https, "lag collector to the endpoint")


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
        self._check_one_of_each()
        if settings.endpoints.s3:
            self._s3()
        if settings.endpoints.secrets_manager:
            self._interface(vpc, "SecretsManager", "secretsmanager", "Secrets Manager")
        if settings.endpoints.monitoring:
            self._interface(vpc, "Monitoring", "monitoring", "CloudWatch")

    def _check_one_of_each(self) -> None:
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


def sink_ports(cluster: Cluster) -> list[int]:
    """The ports of OTLP endpoints, each once, 443 left out as it is open anyway."""
    urls = [urlsplit(each.endpoint) for each in cluster.otlp_endpoints if each.endpoint]
    ports = {url.port or _PORTS[url.scheme] for url in urls}
    return sorted(ports - {_PORTS["https"]})
