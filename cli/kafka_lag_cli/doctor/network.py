# SPDX-License-Identifier: Apache-2.0
"""Checks of the VPC: the collector's subnets, its ways to AWS, and who lets it in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.account.msk_cluster import MskCluster
from kafka_lag_cli.account.vpc_network import (
    HTTPS,
    Endpoint,
    Subnet,
    VpcNetwork,
    choose_subnets,
    default_security_group,
    read_network,
    read_security_groups,
    vpc_exists,
    vpc_of,
)
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.place import Place, key_line
from kafka_lag_config.facts import services_of

SUBNETS, BROKERS = "subnets", "brokers' security group"
_NAMES = {"s3": "S3", "secrets_manager": "Secrets Manager", "monitoring": "CloudWatch"}
_NAMED = 5


def check_network(place: Place, msk: MskCluster | None) -> Iterator[tuple[str, Iterable[Finding]]]:
    """Each check with its findings, which raise AwsError where EC2 does not answer.

    What one of them needs of another is read again, so that each stands for itself.
    """
    yield SUBNETS, _check_subnets(place, msk)
    yield BROKERS, _check_brokers_group(place, msk)
    yield "way to S3", _check_s3(place)
    for name, kind, purpose in services_of(place.cluster.facts):
        yield f"way to {name}", _check_service(place, kind, f"{name} ({purpose})")


@dataclass(frozen=True, slots=True)
class _Inside:
    """The VPC of the configuration with those of its subnets that are there."""

    network: VpcNetwork
    subnets: tuple[Subnet, ...]

    def tables_of(self, subnets: Iterable[Subnet]) -> list[str]:
        return list(dict.fromkeys(subnet.route_table for subnet in subnets))


def _read(place: Place) -> _Inside | None:
    """Return the network; null without a VPC or subnets, which have a check of their own."""
    vpc = place.cluster.vpc
    client = place.client("ec2")
    if not vpc_exists(client, vpc.id):
        return None
    network = read_network(client, vpc.id, place.region)
    subnets = network.by_id(vpc.subnets)
    return _Inside(network, subnets) if subnets else None


def _check_subnets(place: Place, msk: MskCluster | None) -> Iterator[Finding]:
    vpc = place.cluster.vpc
    client = place.client("ec2")
    brokers_vpc = _brokers_vpc(place, msk)
    if not vpc_exists(client, vpc.id):
        yield Finding(
            SUBNETS,
            "fault",
            f"EC2 has no VPC {vpc.id} in {place.region}",
            "It may be another account's or region's."
            + (f" The brokers are in {brokers_vpc}." if brokers_vpc else ""),
            key_line("vpc.id", brokers_vpc) if brokers_vpc else None,
        )
        return
    if brokers_vpc and brokers_vpc != vpc.id:
        yield Finding(
            SUBNETS,
            "fault" if place.cluster.bootstrap_servers is None else "info",
            f"the configuration's VPC is {vpc.id}, and the brokers are in {brokers_vpc}",
            "The brokers' addresses lead nowhere there without peering or private connectivity.",
            key_line("vpc.id", brokers_vpc),
        )
    network = read_network(client, vpc.id, place.region)
    choice = [subnet.id for subnet in choose_subnets(network, msk.subnets if msk else ())]
    instead = key_line("vpc.subnets", choice) if choice else None
    inside = network.by_id(vpc.subnets)
    if absent := sorted(set(vpc.subnets) - {subnet.id for subnet in inside}):
        yield Finding(
            SUBNETS,
            "fault",
            f"{vpc.id} has no {format_list(absent, _NAMED)}",
            "The deploy would fail.",
            instead,
        )
        return
    zones = sorted({subnet.zone for subnet in inside})
    if len(zones) > 1:
        yield Finding(
            SUBNETS, "ok", f"{len(vpc.subnets)} of {vpc.id} in {format_list(zones, _NAMED)}"
        )
        return
    yield Finding(
        SUBNETS,
        "warning",
        f"all lie in the zone {zones[0]}",
        "When it fails, nothing is collected.",
        instead if len(choice) > 1 else None,
    )


def _brokers_vpc(place: Place, msk: MskCluster | None) -> str | None:
    if msk is None or not msk.subnets:
        return None
    return next(iter(vpc_of(place.client("ec2"), msk.subnets).values()), None)


def _check_brokers_group(place: Place, msk: MskCluster | None) -> Iterator[Finding]:
    vpc = place.cluster.vpc
    client = place.client("ec2")
    theirs = msk.security_groups if msk else ()
    if msk and not theirs:
        # MSK takes the VPC's own where it was given none.
        theirs = tuple(filter(None, [default_security_group(client, vpc.id)]))
    instead = key_line("vpc.brokers_security_group", theirs[0]) if theirs else None
    named = vpc.brokers_security_group
    if named is None:
        yield from _check_open_brokers(place, theirs, instead)
        return
    found = read_security_groups(client, [named]).get(named)
    if (found is None or found.vpc != vpc.id) and named not in theirs:
        yield Finding(
            BROKERS,
            "fault",
            f"{vpc.id} has no security group {named}",
            "The deploy would fail, as only one of this VPC can be opened for the collector.",
            instead,
        )
    elif theirs and named not in theirs:
        yield Finding(
            BROKERS,
            "fault",
            f"{named} is not the brokers', who have {format_list(theirs, _NAMED)}",
            "Opening it lets nobody in to them: the runs would time out.",
            instead,
        )
    else:
        yield Finding(BROKERS, "ok", f"{named} is opened for the collector by the deploy")


def _check_open_brokers(
    place: Place, theirs: Sequence[str], instead: str | None
) -> Iterator[Finding]:
    inside = _read(place)
    opened = place.cluster.facts.reach.ports
    ports = ", ".join(
        str(first) if first == last else f"{first} to {last}" for first, last in opened
    )
    if not theirs or inside is None:
        yield Finding(
            BROKERS,
            "unknown",
            "the configuration names none",
            f"Somebody else must let the collector in on {ports}.",
        )
        return
    groups = read_security_groups(place.client("ec2"), theirs).values()
    closed = [
        first
        for first, _ in opened
        if not any(group.opens(first, inside.subnets) for group in groups)
    ]
    if not closed:
        yield Finding(BROKERS, "ok", f"the brokers' let the subnets in on {ports}")
        return
    yield Finding(
        BROKERS,
        "fault",
        f"the configuration names none, and {format_list(theirs, _NAMED)} does not let the subnets "
        f"in on {ports}",
        "Named in the configuration, it is opened for the collector by the deploy.",
        instead,
    )


def _check_s3(place: Place) -> Iterator[Finding]:
    check = "way to S3"
    inside = _read(place)
    if inside is None:
        return
    vpc, network = place.cluster.vpc, inside.network
    served = network.gateway_tables()
    made = set(vpc.route_tables) if vpc.endpoints.s3 else set()
    without = [each for each in inside.subnets if each.route_table not in served | made]
    if not without:
        yield Finding(check, "ok", "a gateway endpoint" + (", which is made" if made else ""))
        return
    if endpoint := network.interface("s3"):
        yield from _check_endpoint_group(place, check, inside, endpoint)
        return
    lost = [each for each in without if each.way_out not in ("nat", "other")]
    if not lost:
        yield _through(check, without)
        return
    tables = inside.tables_of(lost)
    if vpc.endpoints.s3:
        repair = key_line("vpc.route_tables", [*vpc.route_tables, *tables])
    else:
        repair = place.aws(
            "ec2 create-vpc-endpoint",
            vpc_id=network.id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{place.region}.s3",
            route_table_ids=tables,
        )
    yield Finding(
        check,
        "fault",
        f"none from {_named(lost)}: {_why_not(lost)}, and no gateway endpoint in "
        f"{format_list(tables, _NAMED)}",
        "Each run would end without a snapshot. The endpoint is free; the deploy makes it instead "
        "with vpc.endpoints.s3 and vpc.route_tables.",
        repair,
    )


def _check_service(place: Place, kind: str, called: str) -> Iterator[Finding]:
    check = f"way to {_NAMES[kind]}"
    inside = _read(place)
    if inside is None:
        return
    if endpoint := inside.network.interface(kind):
        # Its private name is in force for the whole VPC, with NAT too.
        yield from _check_endpoint_group(place, check, inside, endpoint)
        return
    if getattr(place.cluster.vpc.endpoints, kind):
        yield Finding(check, "ok", "an endpoint, which is made")
        return
    lost = [each for each in inside.subnets if each.way_out not in ("nat", "other")]
    if not lost:
        yield _through(check, inside.subnets)
        return
    nameless = [each for each in inside.network.endpoints if each.kind == kind]
    if nameless:
        yield Finding(
            check,
            "fault",
            f"the endpoint {nameless[0].id} has no private name, and {_why_not(lost)}",
            "The service's usual name does not lead to it: each run would wait until its end.",
            place.aws(
                "ec2 modify-vpc-endpoint",
                vpc_endpoint_id=nameless[0].id,
                private_dns_enabled=True,
            ),
        )
        return
    cidr = inside.network.cidr_of(inside.subnets)
    more = "" if place.cluster.vpc.cidr else f', and vpc.cidr = "{cidr}" beside it'
    yield Finding(
        check,
        "fault",
        f"none from {_named(lost)}: {_why_not(lost)}, and the VPC has no endpoint of it",
        f"The collector calls {called}: each run would wait until its end. The deploy makes an "
        f"endpoint with the line below{more}; it is paid by the hour (kafka-lag cost).",
        key_line(f"vpc.endpoints.{kind}", value=True),
    )


def _check_endpoint_group(
    place: Place, check: str, inside: _Inside, endpoint: Endpoint
) -> Iterator[Finding]:
    named = place.cluster.vpc.endpoint_security_groups
    groups = read_security_groups(place.client("ec2"), endpoint.security_groups)
    opened = [each for each in endpoint.security_groups if each in named]
    if opened or any(group.opens(HTTPS, inside.subnets) for group in groups.values()):
        yield Finding(check, "ok", f"the endpoint {endpoint.id} lets the collector in")
        return
    yield Finding(
        check,
        "fault",
        f"the endpoint {endpoint.id} does not let the subnets in on {HTTPS}",
        "The service's usual name leads to it in the whole VPC, with NAT too: each run would wait "
        "until its end. Named in the configuration, its group is opened by the deploy.",
        key_line("vpc.endpoint_security_groups", [*named, *endpoint.security_groups[:1]]),
    )


def _through(check: str, subnets: Sequence[Subnet]) -> Finding:
    if all(subnet.way_out == "nat" for subnet in subnets):
        return Finding(check, "ok", "a NAT gateway")
    return Finding(
        check,
        "unknown",
        f"the default route of {_named(subnets)} leads to a transit gateway, firewall or the like",
        "Whether it leads out from there is not seen from here.",
    )


def _named(subnets: Sequence[Subnet]) -> str:
    return format_list([subnet.id for subnet in subnets], _NAMED)


def _why_not(subnets: Sequence[Subnet]) -> str:
    ways = {subnet.way_out for subnet in subnets}
    if "blackhole" in ways:
        return "the target of the default route is gone"
    if "internet gateway" in ways:
        return "an internet gateway does not serve a function, which has no public address"
    return "there is no default route"
