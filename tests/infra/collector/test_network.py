# SPDX-License-Identifier: Apache-2.0
"""Who is let in and out, and which endpoints are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from kafka_lag_cdk.from_document import import_cluster
from kafka_lag_cdk.network import CollectorNetwork
from tests.infra.configured import UUID, cluster, cluster_json
from tests.infra.resolve import ACCOUNT, REGION, of_type

Of = Callable[[str, str], list[dict[str, Any]]]

ARN = f"arn:aws:kafka:eu-west-1:111122223333:cluster/orders/{UUID}"
BROKERS = "sg-0a1b2c3d4e5f60718"


def test_nothing_comes_in_and_out_go_the_brokers_port_and_https(of: Of) -> None:
    (group,) = of("scram", "EC2::SecurityGroup")
    assert "SecurityGroupIngress" not in group
    out = [(rule["ToPort"], rule["CidrIp"]) for rule in group["SecurityGroupEgress"]]
    assert out == [(443, "0.0.0.0/0")]
    (brokers,) = of("scram", "EC2::SecurityGroupEgress")
    keys = ("FromPort", "ToPort", "DestinationSecurityGroupId")
    assert tuple(brokers[key] for key in keys) == (
        9096,
        9096,
        BROKERS,
    )


def test_the_brokers_own_group_lets_the_collector_in(of: Of) -> None:
    (into,) = of("iam", "EC2::SecurityGroupIngress")
    assert (into["GroupId"], into["ToPort"]) == (BROKERS, 9098)


def test_servers_of_several_ports_open_each(of: Of) -> None:
    groups = of("endpoints", "EC2::SecurityGroup")
    out = {rule["ToPort"] for each in groups for rule in each["SecurityGroupEgress"]}
    assert out >= {443, 9196, 9197}


def test_an_endpoint_that_exists_lets_the_collector_in(of: Of) -> None:
    (into,) = of("endpoints", "EC2::SecurityGroupIngress")
    assert (into["GroupId"], into["ToPort"]) == ("sg-ffffffff", 443)


def test_endpoints_are_made_where_asked_for_only(of: Of) -> None:
    made = {each["ServiceName"]: each for each in of("endpoints", "EC2::VPCEndpoint")}
    gateway = made["com.amazonaws.eu-west-1.s3"]
    assert (gateway["VpcEndpointType"], gateway["RouteTableIds"]) == (
        "Gateway",
        ["rtb-0a1b2c3d4e5f60718"],
    )
    interfaces = {"com.amazonaws.eu-west-1.secretsmanager", "com.amazonaws.eu-west-1.monitoring"}
    assert set(made) - {"com.amazonaws.eu-west-1.s3"} == interfaces
    assert all(made[each]["PrivateDnsEnabled"] is True for each in interfaces)
    assert of("scram", "EC2::VPCEndpoint") == []


def test_the_endpoint_lets_the_vpc_in_and_nobody_else(of: Of) -> None:
    rules = [
        rule
        for group in of("endpoints", "EC2::SecurityGroup")
        for rule in group.get("SecurityGroupIngress", [])
    ]
    assert [(rule["CidrIp"], rule["ToPort"]) for rule in rules] == [("10.0.0.0/16", 443)] * 2


VPC = cluster_json()["vpc"]


def network(vpc: dict[str, Any], **changes: Any) -> Stack:
    stack = Stack(App(), "Network", env=Environment(account=ACCOUNT, region=REGION))
    CollectorNetwork(
        stack, "Network", cluster=import_cluster(stack, cluster(vpc=VPC | vpc, **changes))
    )
    return stack


def test_interface_endpoints_lie_in_the_subnets_that_are_named() -> None:
    one = VPC["subnets"][:1]
    made = {"endpoints": {"secrets_manager": True}, "cidr": "10.0.0.0/16"}
    template = Template.from_stack(network({**made, "endpoint_subnets": one})).to_json()
    (endpoint,) = of_type(template["Resources"], "AWS::EC2::VPCEndpoint").values()
    assert endpoint["SubnetIds"] == one


def test_private_connectivity_opens_the_ports_of_brokers_to_come() -> None:
    servers = ["b-1.vpce.example:14001", "b-2.vpce.example:14002", "b-3:9196"]
    outside = {"arn": None, "region": REGION, "bootstrap_servers": servers}
    template = Template.from_stack(network({}, **outside)).to_json()
    out = of_type(template["Resources"], "AWS::EC2::SecurityGroupEgress").values()
    assert {(each["FromPort"], each["ToPort"]) for each in out} == {(9196, 9196), (14001, 14100)}
