# SPDX-License-Identifier: Apache-2.0
"""How a collector reaches brokers and AWS, and what cannot work of it.

A configuration says it by ids and ARNs, an app by objects of CDK; both are checked here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kafka_lag_config.faults import Fault, Place

# The port of each way in on MSK [MSK developer guide, port information].
PORTS = {"scram": 9096, "iam": 9098, "tls": 9094, "none": 9094, "plaintext": 9092}
# How far above a way's port that of public addresses is [MSK developer guide, port information].
_PUBLIC = 100

# MSK's private connectivity gives each broker a port of its own in this range [MSK developer guide,
# "MSK multi-VPC private connectivity in a single Region"].
_PRIVATE_LINK = range(14_001, 14_101)

# A broker of MSK by its own name; a balancer's, of amazonaws.com too, has whatever port it has.
_OF_MSK = re.compile(
    r"\.kafka(-serverless)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?:(?P<port>\d+)\Z", re.IGNORECASE
)


_KNOWN_PORT = re.compile(r":(\d{1,5})\Z")
# How MSK ends the ids of its serverless clusters, as in ...-s2.
_SERVERLESS = re.compile(r"-s\d+\Z")
# MSK takes no secret of another name [MSK developer guide, limitations of SCRAM].
_OF_MSK_SECRET = "AmazonMSK_"  # noqa: S105
_MSK_MECHANISM = "SCRAM-SHA-512"
_REGION, _ACCOUNT, _NAME = 3, 4, 6


@dataclass(frozen=True, slots=True)
class WaysOut:
    """The ways to AWS's services from a cluster's subnets.

    `endpoints` are those of VPC endpoints; `makes` says whether the deployment could make some.
    """

    subnets: tuple[str, ...]
    nat: bool
    endpoints: frozenset[str]
    makes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The network and login of a collector. ARNs and servers may be tokens that a deploy replaces.

    `way_in` is the type of the login, or `plaintext` without any. `arn` and `msk_name`, the name in
    MSK's own metrics, are None where it is not MSK. `region` is the collector's, None where it is
    not known; `others` are the regions of what must be in it, by where these are written.
    `broker_ports` are those of servers that are tokens; unless given, MSK's.
    """

    way_in: str
    ways_out: WaysOut
    arn: str | None = None
    msk_name: str | None = None
    is_serverless: bool = False
    region: str | None = None
    servers: tuple[str, ...] = ()
    broker_ports: tuple[int, ...] = ()
    mechanism: str | None = None
    secret_arn: str | None = None
    has_key: bool = False
    others: tuple[tuple[Place, str | None], ...] = ()

    @property
    def is_msk(self) -> bool:
        """True if MSK runs the cluster."""
        return self.arn is not None

    @property
    def has_secret(self) -> bool:
        """True if the login is a secret."""
        return self.secret_arn is not None

    @property
    def ports(self) -> tuple[tuple[int, int], ...]:
        """The brokers' ports that the collector must reach, as first and last of ranges."""
        found = [_KNOWN_PORT.search(server) for server in self.servers]
        known = {int(each[1]) for each in found if each} | set(self.broker_ports)
        if not known or (None in found and not self.broker_ports):
            known.add(PORTS[self.way_in])
        return port_ranges(known)

    @property
    def has_brokers(self) -> bool:
        """True if MSK publishes metrics of its brokers."""
        return self.is_msk and not self.is_serverless


def find_reach_faults(reach: Reach) -> Iterator[Fault]:
    """Yield what can never work of a network and a login, in the words of a configuration."""
    if reach.arn is None and not reach.servers:
        yield Fault((), "name an MSK cluster, or bootstrap_servers where it is not MSK")
    if reach.arn is None and reach.way_in == "iam":
        yield Fault((), "a login of type iam needs an MSK cluster: rights are granted on its ARN")
    if reach.is_serverless and reach.way_in != "iam":
        yield _fault("type", "must be iam, as MSK Serverless takes nothing else")
    elif reach.arn is not None and reach.way_in == "scram":
        if reach.mechanism != _MSK_MECHANISM:
            yield _fault("mechanism", f"must be {_MSK_MECHANISM}, as MSK has no other")
        yield from _secret_of_msk(reach, reach.arn)
    for place, there in reach.others:
        if reach.region and there and there != reach.region:
            sentence = f"is in {there}, but the collector is in {reach.region}"
            yield Fault(place, f"{sentence} and uses its own region's alone", joint=True)
    yield from _ports_of_other_logins(reach.servers, reach.way_in)


def _secret_of_msk(reach: Reach, arn: str) -> Iterator[Fault]:
    """Secrets of other names hold a copy of the same login."""
    secret = reach.secret_arn or ""
    if not arn_part(secret, _NAME).startswith(_OF_MSK_SECRET):
        return
    owner, own = arn_part(secret, _ACCOUNT), arn_part(arn, _ACCOUNT)
    if own and owner != own:
        sentence = f"is of the account {owner}, but MSK takes secrets of the cluster's own, {own}"
        yield _fault("secret_arn", sentence)
    if not reach.has_key:
        yield _fault(
            "kms_key_arn",
            "is required: MSK's secrets are encrypted with a key of yours, and the collector "
            "cannot read one without a right on it",
        )


def arn_part(arn: str | None, place: int) -> str:
    """A part of an ARN between its colons; empty where there is no ARN yet."""
    parts = (arn or "").split(":")
    return parts[place] if len(parts) > place and parts[0] == "arn" else ""


def is_serverless_arn(arn: str) -> bool:
    """Return true for an ARN of MSK Serverless."""
    return _SERVERLESS.search(arn) is not None


def _fault(key: str, sentence: str) -> Fault:
    return Fault(("auth", key), sentence, joint=True)


def port_ranges(ports: Collection[int]) -> tuple[tuple[int, int], ...]:
    """Ports as first and last of ranges; of MSK's private connectivity all brokers to come."""
    linked = set(ports).intersection(_PRIVATE_LINK)
    ranges = {(port, port) for port in set(ports) - linked}
    if linked:
        ranges.add((_PRIVATE_LINK[0], _PRIVATE_LINK[-1]))
    return tuple(sorted(ranges))


def _ports_of_other_logins(servers: Sequence[str], way_in: str) -> Iterator[Fault]:
    """Servers with a port on which MSK expects another login than `way_in`.

    Those of its private connectivity are any.
    """
    own = _msk_ports(way_in)
    for index, server in enumerate(servers):
        if (of_msk := _OF_MSK.search(server)) is None:
            continue
        port = int(of_msk["port"])
        others = [way for way in PORTS if port in _msk_ports(way)]
        if others and port not in own:
            right = own[0] if port in PORTS.values() else own[-1]
            yield Fault(
                ("bootstrap_servers", index),
                f"{port} is MSK's port for {' and '.join(others)}; for {way_in} it is {right}",
                joint=True,
            )


def _msk_ports(way_in: str) -> tuple[int, ...]:
    """MSK's port for a way in, and that at public addresses, where it has it."""
    port = PORTS[way_in]
    return (port,) if way_in == "plaintext" else (port, port + _PUBLIC)
