# SPDX-License-Identifier: Apache-2.0
"""Who is let in and out, and which endpoints are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.infra.configured import UUID

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
