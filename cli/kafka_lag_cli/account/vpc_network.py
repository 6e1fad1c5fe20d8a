# SPDX-License-Identifier: Apache-2.0
"""The network around a cluster's brokers as EC2 describes it: where a Lambda there can get to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Literal, TypeAlias

from kafka_lag_cli.account.errors import using

# Where a subnet's default route leads. A Lambda has no public address, so that it gets nowhere
# by an internet gateway; where "other" leads (transit gateway, firewall) is not seen from here.
# The target of a blackhole is gone.
WayOut: TypeAlias = Literal["nat", "other", "internet gateway", "blackhole", "none"]

# The endpoints of a configuration, by the end of the service's name.
SERVICES: Mapping[str, str] = {
    "s3": "s3",
    "secrets_manager": "secretsmanager",
    "monitoring": "monitoring",
}

_EVERYWHERE = "0.0.0.0/0"
_OTHER_TARGETS = (
    "TransitGatewayId",
    "NetworkInterfaceId",
    "InstanceId",
    "VpcPeeringConnectionId",
    "CoreNetworkArn",
    "LocalGatewayId",
)
HTTPS = 443

# From the best on. Without a way out endpoints are made; with an internet gateway the same, but
# others expect servers there that the internet reaches.
_RANKS: dict[WayOut, int] = {
    "nat": 0,
    "other": 1,
    "none": 2,
    "blackhole": 2,
    "internet gateway": 3,
}
_ZONES = 2


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet with the route table that is in force for it."""

    id: str
    vpc: str
    zone: str
    cidr: str
    route_table: str
    way_out: WayOut


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A VPC endpoint that is there; `kind` is its key in a configuration."""

    id: str
    kind: str
    is_gateway: bool
    route_tables: tuple[str, ...]
    security_groups: tuple[str, ...]
    has_private_name: bool


@dataclass(frozen=True, slots=True)
class SecurityGroup:
    """A security group and what it lets in by address: ranges with first and last port."""

    id: str
    vpc: str
    lets_in: tuple[tuple[IPv4Network, int, int], ...]

    def opens(self, port: int, subnets: Iterable[Subnet]) -> bool:
        """Returns true if all addresses of these subnets may enter on a TCP port."""
        return all(
            any(
                first <= port <= last and IPv4Network(subnet.cidr).subnet_of(network)
                for network, first, last in self.lets_in
            )
            for subnet in subnets
        )


@dataclass(frozen=True, slots=True)
class VpcNetwork:
    """A VPC with all its subnets, and the endpoints that a collector could use."""

    id: str
    cidrs: tuple[str, ...]
    subnets: tuple[Subnet, ...]
    endpoints: tuple[Endpoint, ...]

    def by_id(self, ids: Iterable[str]) -> tuple[Subnet, ...]:
        """Returns the subnets that lie in this network, in the order given."""
        known = {subnet.id: subnet for subnet in self.subnets}
        return tuple(known[each] for each in ids if each in known)

    def cidr_of(self, subnets: Iterable[Subnet]) -> str:
        """Returns the VPC's range that holds these subnets, or its first if no range holds all."""
        inside = [IPv4Network(subnet.cidr) for subnet in subnets]
        for cidr in self.cidrs:
            if all(each.subnet_of(IPv4Network(cidr)) for each in inside):
                return cidr
        return self.cidrs[0]

    def gateway_tables(self) -> set[str]:
        """Returns the route tables that lead to S3's gateway endpoint."""
        found = [each for each in self.endpoints if each.is_gateway and each.kind == "s3"]
        return {table for endpoint in found for table in endpoint.route_tables}

    def interface(self, kind: str) -> Endpoint | None:
        """Returns the interface endpoint to which the service's usual name leads in this VPC."""
        for endpoint in self.endpoints:
            if endpoint.kind == kind and not endpoint.is_gateway and endpoint.has_private_name:
                return endpoint
        return None


def vpc_of(client: Any, subnets: Collection[str]) -> dict[str, str]:
    """Returns the VPC of each of these subnets that exists. Raises AwsError."""
    return {each["SubnetId"]: each["VpcId"] for each in _subnets(client, "subnet-id", subnets)}


def vpc_exists(client: Any, vpc: str) -> bool:
    """Returns true if the client's account and region have the VPC. Raises AwsError."""
    return bool(_pages(client, "describe_vpcs", "Vpcs", {"vpc-id": [vpc]}))


def read_network(client: Any, vpc: str, region: str) -> VpcNetwork:
    """Returns the VPC of an id that exists. Raises AwsError."""
    (found,) = _pages(client, "describe_vpcs", "Vpcs", {"vpc-id": [vpc]})
    tables = _pages(client, "describe_route_tables", "RouteTables", {"vpc-id": [vpc]})
    own = {
        association["SubnetId"]: table
        for table in tables
        for association in table.get("Associations", ())
        if "SubnetId" in association
    }
    main = next(
        (
            table
            for table in tables
            if any(association.get("Main") for association in table.get("Associations", ()))
        ),
        {"RouteTableId": ""},
    )
    subnets = []
    for each in _subnets(client, "vpc-id", [vpc]):
        table = own.get(each["SubnetId"], main)
        subnets.append(
            Subnet(
                id=each["SubnetId"],
                vpc=vpc,
                zone=each["AvailabilityZone"],
                cidr=each["CidrBlock"],
                route_table=table["RouteTableId"],
                way_out=_way_out(table),
            )
        )
    more = (each["CidrBlock"] for each in found.get("CidrBlockAssociationSet", ()))
    cidrs = tuple(dict.fromkeys((found["CidrBlock"], *more)))
    return VpcNetwork(vpc, cidrs, tuple(subnets), _endpoints(client, vpc, region))


def choose_subnets(network: VpcNetwork, brokers: Collection[str]) -> tuple[Subnet, ...]:
    """Returns two subnets in two zones with the best shared way out, `brokers` before others.

    One where all lie in one zone, none where there are none.
    """
    best: tuple[Subnet, ...] = ()
    for rank in sorted(set(_RANKS.values())):
        zones: dict[str, Subnet] = {}
        good = [subnet for subnet in network.subnets if _RANKS[subnet.way_out] <= rank]
        for subnet in sorted(
            good, key=lambda each: (_RANKS[each.way_out], each.id not in brokers, each.id)
        ):
            zones.setdefault(subnet.zone, subnet)
        best = tuple(zones.values())[:_ZONES]
        if len(best) == _ZONES:
            break
    return tuple(sorted(best, key=lambda each: each.zone))


def read_security_groups(client: Any, ids: Collection[str]) -> dict[str, SecurityGroup]:
    """Returns the security groups that exist, by id. Raises AwsError."""
    return _security_groups(client, {"group-id": list(ids)}) if ids else {}


def default_security_group(client: Any, vpc: str) -> str | None:
    """Returns the VPC's default security group. Raises AwsError."""
    found = _security_groups(client, {"vpc-id": [vpc], "group-name": ["default"]})
    return next(iter(found), None)


def _way_out(table: Mapping[str, Any]) -> WayOut:
    for route in table.get("Routes", ()):
        if route.get("DestinationCidrBlock") != _EVERYWHERE:
            continue
        if route.get("State") == "blackhole":
            return "blackhole"
        if route.get("NatGatewayId"):
            return "nat"
        gateway = str(route.get("GatewayId") or "")
        if gateway.startswith("igw-"):
            return "internet gateway"
        if gateway or any(route.get(target) for target in _OTHER_TARGETS):
            return "other"
    return "none"


def _endpoints(client: Any, vpc: str, region: str) -> tuple[Endpoint, ...]:
    kinds = {f"com.amazonaws.{region}.{service}": kind for kind, service in SERVICES.items()}
    return tuple(
        Endpoint(
            id=each["VpcEndpointId"],
            kind=kinds[each["ServiceName"]],
            is_gateway=each.get("VpcEndpointType") == "Gateway",
            route_tables=tuple(each.get("RouteTableIds") or ()),
            security_groups=tuple(group["GroupId"] for group in each.get("Groups") or ()),
            has_private_name=bool(each.get("PrivateDnsEnabled")),
        )
        for each in _pages(client, "describe_vpc_endpoints", "VpcEndpoints", {"vpc-id": [vpc]})
        if each["ServiceName"] in kinds
        and each.get("State", "").lower() in ("available", "pending")
    )


def _security_groups(
    client: Any, filters: Mapping[str, Collection[str]]
) -> dict[str, SecurityGroup]:
    found = _pages(client, "describe_security_groups", "SecurityGroups", filters)
    return {
        each["GroupId"]: SecurityGroup(
            each["GroupId"],
            each.get("VpcId", ""),
            tuple(
                (IPv4Network(known["CidrIp"]), *_ports(rule))
                for rule in each.get("IpPermissions", ())
                if rule.get("IpProtocol") in ("-1", "tcp", "6")
                for known in rule.get("IpRanges", ())
            ),
        )
        for each in found
    }


def _ports(rule: Mapping[str, Any]) -> tuple[int, int]:
    if rule.get("IpProtocol") == "-1":
        return 0, 65_535
    return rule.get("FromPort", 0), rule.get("ToPort", 65_535)


def _subnets(client: Any, key: str, values: Collection[str]) -> list[Any]:
    # By a filter: asked by id, EC2 answers nothing at all where one of them is not there.
    return _pages(client, "describe_subnets", "Subnets", {key: list(values)}) if values else []


def _pages(
    client: Any, operation: str, key: str, filters: Mapping[str, Collection[str]]
) -> list[Any]:
    action = "".join(word.capitalize() for word in operation.split("_"))
    criteria = [{"Name": name, "Values": list(values)} for name, values in filters.items()]
    with using(f"ec2:{action}"):
        pages = client.get_paginator(operation).paginate(Filters=criteria)
        return [each for page in pages for each in page[key]]
