# SPDX-License-Identifier: Apache-2.0
"""The collector's place in the brokers' VPC: out to the brokers and to AWS, nothing in."""

from __future__ import annotations

from urllib.parse import urlsplit

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from kafka_lag_cdk.props import NewEndpoints, WatchedCluster
from kafka_lag_config.facts import ClusterFacts

_PORTS = {"http": 80, "https": 443}
_HTTPS = _PORTS["https"]


class CollectorNetwork(Construct):
    """A security group of its own, the ways it opens in others, and the endpoints that are made.

    Rules in groups of others are in the collector's stack, whichever has the group: they go by its
    id, or two stacks would wait for each other.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, cluster: WatchedCluster, facts: ClusterFacts
    ) -> None:
        super().__init__(scope, construct_id)
        self.subnets = ec2.SubnetSelection(subnets=cluster.chosen_subnets().subnets)
        self.group = ec2.SecurityGroup(
            self,
            "Group",
            vpc=cluster.vpc,
            description=f"Lag collector of {cluster.name}: out to brokers and AWS, nothing in",
            allow_all_outbound=False,
        )
        for first, last in facts.reach.ports:
            self._open_brokers(cluster.brokers, first, last)
        # The S3 gateway is reached at S3's public addresses, whose list only AWS knows.
        https = ec2.Port.tcp(_HTTPS)
        self.group.add_egress_rule(ec2.Peer.any_ipv4(), https, "to AWS and OTLP endpoints")
        for index, known in enumerate(cluster.endpoint_groups):
            group = self._by_id(f"Endpoint{index}", known)
            group.add_ingress_rule(self.group, https, "lag collector to the endpoint")
        for port in sink_ports(facts):
            self.group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(port), "to OTLP endpoints")
        if cluster.new_endpoints and cluster.new_endpoints.kinds:
            VpcEndpoints(self, "Endpoints", wanted=cluster.new_endpoints, vpc=cluster.vpc)

    def _open_brokers(self, brokers: ec2.ISecurityGroup | None, first: int, last: int) -> None:
        port = ec2.Port.tcp_range(first, last) if first != last else ec2.Port.tcp(first)
        if brokers is None:
            self.group.add_egress_rule(ec2.Peer.any_ipv4(), port, "to the brokers")
            return
        known = self._by_id(f"Brokers{first}", brokers)
        self.group.connections.allow_to(known, port, "lag collector to the brokers")

    def _by_id(self, construct_id: str, group: ec2.ISecurityGroup) -> ec2.ISecurityGroup:
        known = group.security_group_id
        return ec2.SecurityGroup.from_security_group_id(self, construct_id, known)


class VpcEndpoints(Construct):
    """Makes the S3 gateway endpoint, which is free, and the wanted interface endpoints."""

    def __init__(
        self, scope: Construct, construct_id: str, *, wanted: NewEndpoints, vpc: ec2.IVpc
    ) -> None:
        super().__init__(scope, construct_id)
        self._wanted, self._vpc, self._region = wanted, vpc, Stack.of(self).region
        if "s3" in wanted.kinds:
            self._s3()
        if "secrets_manager" in wanted.kinds:
            self._interface("SecretsManager", "secretsmanager", "Secrets Manager")
        if "monitoring" in wanted.kinds:
            self._interface("Monitoring", "monitoring", "CloudWatch")

    def _s3(self) -> None:
        ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=self._vpc.vpc_id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{self._region}.s3",
            route_table_ids=list(self._wanted.route_tables),
        )

    def _interface(self, word: str, service: str, called: str) -> None:
        allowed = ec2.SecurityGroup(
            self,
            f"{word}Group",
            vpc=self._vpc,
            description=f"HTTPS from this VPC to {called}",
            allow_all_outbound=False,
        )
        inside = ec2.Peer.ipv4(self._wanted.cidr or "")
        allowed.add_ingress_rule(inside, ec2.Port.tcp(_HTTPS), "from the VPC")
        ec2.CfnVPCEndpoint(
            self,
            word,
            vpc_id=self._vpc.vpc_id,
            vpc_endpoint_type="Interface",
            service_name=f"com.amazonaws.{self._region}.{service}",
            subnet_ids=list(self._wanted.subnets),
            security_group_ids=[allowed.security_group_id],
            private_dns_enabled=True,
        )


def sink_ports(cluster: ClusterFacts) -> list[int]:
    """Returns the ports of OTLP endpoints, each once, without 443, which is open anyway."""
    urls = [urlsplit(each.endpoint) for each in cluster.settings.otlp_endpoints if each.endpoint]
    ports = {url.port or _PORTS[url.scheme] for url in urls}
    return sorted(ports - {_PORTS["https"]})
