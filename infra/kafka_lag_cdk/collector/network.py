# SPDX-License-Identifier: Apache-2.0
"""The collector's place in the brokers' VPC: out to the brokers and to AWS, nothing in."""

from __future__ import annotations

from aws_cdk import Annotations
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from kafka_lag_cdk.collector.endpoints import VpcEndpoints
from kafka_lag_cdk.collector.sinks import services_of, sink_ports
from kafka_lag_cdk.config.cluster import Cluster

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
        for first, last in cluster.ports:
            self._open_brokers(first, last)
        self._open_endpoints()
        for port in sink_ports(cluster):
            self.group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(port), "to OTLP endpoints")
        if any(wanted for _, wanted in cluster.vpc.endpoints):
            VpcEndpoints(self, "Endpoints", settings=cluster.vpc, vpc=self.vpc)
        self._warn_of_no_way_out(cluster)

    def _warn_of_no_way_out(self, cluster: Cluster) -> None:
        """Of services that no endpoint is known for: a run would wait for them until its end."""
        vpc = cluster.vpc
        if vpc.nat or vpc.endpoint_security_groups:
            return
        for service, key, why in services_of(cluster):
            if not getattr(vpc.endpoints, key):
                Annotations.of(self).add_warning_v2(
                    f"msk-lag-reporter:no-way-to-{key}",
                    f"{cluster.name} calls {service} ({why}), and vpc names no way to it: "
                    f"endpoints.{key} makes an endpoint, endpoint_security_groups opens one that "
                    "exists, nat: true says that the subnets have a NAT gateway.",
                )

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
        self.group.add_egress_rule(ec2.Peer.any_ipv4(), https, "to S3 and Secrets Manager")
        for index, known in enumerate(self._settings.endpoint_security_groups):
            group = ec2.SecurityGroup.from_security_group_id(self, f"Endpoint{index}", known)
            group.add_ingress_rule(self.group, https, "lag collector to the endpoint")
