# SPDX-License-Identifier: Apache-2.0
"""The props of LagCollector: a cluster by CDK objects, which the same app may create."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias, get_args

from aws_cdk import Fn, IResource, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_msk as msk
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from pydantic import AfterValidator, Field, GetCoreSchemaHandler
from pydantic_core import core_schema

from kafka_lag.settings import SERVER, authorities_fault
from kafka_lag_config.faults import Fault, Place
from kafka_lag_config.login import is_secret_of_msk
from kafka_lag_config.ports import PORTS, port_ranges, ports_of_other_logins
from kafka_lag_config.scaling import EcsService, GroupScaling
from kafka_lag_config.types import KAFKA_ARN, Listed
from kafka_lag_config.watched import (
    AlarmSettings,
    WatchedCluster,
    WaysOut,
    is_serverless_arn,
)

Endpoint: TypeAlias = Literal["s3", "secrets_manager", "monitoring"]

Port: TypeAlias = Annotated[int, Field(ge=1, le=65_535)]

_MSK_MECHANISM = "SCRAM-SHA-512"
_KNOWN_PORT = re.compile(r":(\d{1,5})\Z")


class _Taken:
    """Takes a value as it is: types of CDK are checked by CDK."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        del source, handler
        return core_schema.any_schema()


class _Instance(_Taken):
    """The same, of classes that can be checked here."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        del handler
        return core_schema.is_instance_schema(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEndpoints:
    """VPC endpoints that the collector brings along; an app makes its own by its `ec2.Vpc`.

    The S3 gateway is put into `route_tables`, interfaces into `subnets`, open to `cidr`.
    """

    kinds: Collection[Endpoint]
    subnets: Sequence[str]
    route_tables: Sequence[str] = ()
    cidr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The collector's network: private subnets from which it reaches the brokers.

    `subnets` are the VPC's private ones unless chosen. `brokers` is opened for the collector on the
    brokers' port, each of `endpoints` on 443: security groups of brokers, and of VPC endpoints.
    Left out, opening them is the app's; a group that must not be changed is left out, too.

    Of subnets that have no way out to services of AWS there are warnings: `existing_endpoints` says
    which endpoints of the VPC they reach, `nat` that they have a NAT gateway; None goes by the VPC.
    """

    vpc: ec2.IVpc
    subnets: ec2.SubnetSelection | Sequence[ec2.ISubnet] | None = None
    brokers: ec2.ISecurityGroup | None = None
    endpoints: Sequence[ec2.ISecurityGroup] = ()
    existing_endpoints: Collection[Endpoint] = ()
    nat: bool | None = None
    new_endpoints: NewEndpoints | None = None

    def chosen(self) -> ec2.SelectedSubnets:
        """The subnets that the collector runs in."""
        chosen = self.subnets
        if chosen is None:
            return self.vpc.select_subnets()
        if not isinstance(chosen, ec2.SubnetSelection):
            return self.vpc.select_subnets(subnets=list(chosen))
        return self.vpc.select_subnets(
            availability_zones=chosen.availability_zones,
            one_per_az=chosen.one_per_az,
            subnet_filters=chosen.subnet_filters,
            subnet_group_name=chosen.subnet_group_name,
            subnets=chosen.subnets,
            subnet_type=chosen.subnet_type,
        )

    def ways_out(self) -> WaysOut:
        """Return the ways from the subnets to AWS, as far as they are known."""
        subnets, nat = self.chosen().subnets, self.nat
        if nat is None:
            with_egress = {subnet.node.path for subnet in self.vpc.private_subnets}
            nat = all(subnet.node.path in with_egress for subnet in subnets)
        made = self.new_endpoints
        return WaysOut(
            key="vpc" if made else "network",
            subnets=tuple(subnet.subnet_id for subnet in subnets),
            nat=nat,
            endpoints=frozenset(self.existing_endpoints).union(made.kinds if made else ()),
            makes=made is not None,
        )


@dataclass(frozen=True, slots=True)
class Iam:
    """Login with the collector's own role; needs the MSK cluster."""


@dataclass(frozen=True, slots=True)
class Scram:
    """Login with `username` and `password` of a secret; MSK has SCRAM-SHA-512 alone.

    The role may decrypt with the secret's `encryption_key`, if it has one. A secret that is
    imported is imported with its whole ARN, and with that key.
    """

    secret: secretsmanager.ISecret
    mechanism: Literal["SCRAM-SHA-512", "SCRAM-SHA-256"] = "SCRAM-SHA-512"


@dataclass(frozen=True, slots=True)
class Tls:
    """Login with a client certificate: `certificate` and `private_key` of a secret, PEM."""

    secret: secretsmanager.ISecret


@dataclass(frozen=True, slots=True)
class NoLogin:
    """Brokers that ask for no login; over TLS unless `plaintext`."""

    plaintext: bool = False


Login: TypeAlias = Iam | Scram | Tls | NoLogin


class MskCluster(Protocol):
    """An MSK cluster as other constructs have it, such as those of `aws_msk_alpha`."""

    @property
    def cluster_arn(self) -> str: ...

    @property
    def cluster_name(self) -> str: ...


Msk: TypeAlias = msk.CfnCluster | msk.CfnServerlessCluster | MskCluster | str


class Alarms(AlarmSettings):
    """The alarms to create, and where they go.

    All go to `topic` instead of the deployment's, and those of a named group to the topic of its
    owner, if `owner_topics` has one. Of topics and keys of the app CloudWatch is let in; an
    imported one must do so itself.
    """

    topic: Annotated[sns.ITopic | None, _Taken()] = None
    owner_topics: Annotated[Mapping[str, sns.ITopic], _Taken()] = Field(default_factory=dict)

    @property
    def owners_with_topics(self) -> Collection[str]:
        """Owners whose groups' alarms go to a topic of theirs."""
        return self.owner_topics.keys()


def _is_no_name(service: Any) -> Any:
    if isinstance(service, str):
        raise ValueError("must be a service of CDK, or EcsService with the names of both")
    return service


class ServiceScaling(GroupScaling):
    """An ECS service, and how it follows its group: an object of CDK, or known by its names.

    `apart`: a stack of its own account scales it; it is only shown, and its group published.
    """

    service: Annotated[ecs.IBaseService | EcsService, _Taken(), AfterValidator(_is_no_name)]
    apart: bool = False

    @property
    def ecs_service(self) -> EcsService:
        """The service that is scaled."""
        if isinstance(self.service, EcsService):
            return self.service
        return EcsService(
            self.service.cluster.cluster_name,
            self.service.service_name,
            path=self.service.node.path,
        )


class KafkaCluster(WatchedCluster):
    """A cluster to watch; `name` is what metrics, alarms and objects call it.

    `msk` is a cluster of the app, or an ARN. MSK is asked for its brokers unless
    `bootstrap_servers` names them, host:port each, or one text with commas between; where it is not
    MSK that is required. Of servers that are known on deploy only, ports are those of MSK unless
    `broker_ports` says otherwise.

    All other keys are those of a cluster in docs/configuration.md. A group that has no effect, and
    whatever else is wrong, is a `pydantic.ValidationError`.
    """

    network: Annotated[Network, _Instance()]
    login: Annotated[Login, _Instance()]
    msk: Annotated[Msk | None, _Taken()] = None
    bootstrap_servers: str | Annotated[tuple[str, ...], Listed] | None = None
    broker_ports: Annotated[tuple[Port, ...], Listed] = ()
    alarms: Alarms = Alarms()
    scaling: Annotated[tuple[ServiceScaling, ...], Listed] = ()

    def impossible(self) -> Iterator[Fault]:
        """Yield faults of objects and keys that are each right and impossible together."""
        yield from self._unreachable()
        yield from self._unusable_login()
        yield from self._elsewhere()
        if self.network.chosen().has_public:
            yield Fault(
                ("network", "subnets"),
                "must be private: a Lambda in a public one reaches no service of AWS",
            )
        if self.ca_file and (fault := authorities_fault(Path(self.ca_file), self.ca_file)):
            yield Fault(("ca_file",), fault)
        yield from super().impossible()

    def _unreachable(self) -> Iterator[Fault]:
        if self.msk is None and not self.servers:
            yield Fault((), "give msk, or bootstrap_servers where it is not MSK")
        if self.msk is None and isinstance(self.login, Iam):
            yield Fault((), "Iam() needs msk: rights are granted on its ARN")
        if (arn := self.arn) and not Token.is_unresolved(arn):
            region = Stack.of(self.network.vpc).region
            if not re.fullmatch(KAFKA_ARN, arn):
                yield Fault(
                    ("msk",),
                    "must be an MSK cluster's ARN, arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID",
                )
            elif not Token.is_unresolved(region) and region != arn.split(":")[3]:
                yield Fault(
                    ("msk",), f"is in {arn.split(':')[3]}, but the network's stack in {region}"
                )
        for index, server in enumerate(self.servers):
            if not Token.is_unresolved(server) and not SERVER.fullmatch(server):
                yield Fault(("bootstrap_servers", index), f"must be host:port, not {server!r}")
        yield from ports_of_other_logins(self.servers, self.way_in)

    def _unusable_login(self) -> Iterator[Fault]:
        login, of_msk = self.login, self.is_msk
        if self.is_serverless and not isinstance(login, Iam):
            yield Fault(("login",), "must be Iam(), as MSK Serverless takes nothing else")
        if isinstance(login, Scram | Tls) and login.secret.secret_full_arn is None:
            yield Fault(
                ("login", "secret"),
                "must be whole, as rights are granted on it: import the secret by its complete ARN",
            )
        if of_msk and isinstance(login, Scram):
            if login.mechanism != _MSK_MECHANISM:
                yield Fault(("login", "mechanism"), f"must be {_MSK_MECHANISM} on MSK")
            arn, key = login.secret.secret_arn, login.secret.encryption_key
            if key is None and not Token.is_unresolved(arn) and is_secret_of_msk(arn):
                yield Fault(
                    ("login", "secret"),
                    "must have its encryption_key: MSK's secrets are encrypted with a key of "
                    "yours, and the collector cannot read one without a right on it",
                )

    def _elsewhere(self) -> Iterator[Fault]:
        """Yield faults of objects in another region: collectors and alarms use only their own
        region's."""
        here = Stack.of(self.network.vpc).region
        for place, used in self._used():
            there = used.env.region
            if not Token.is_unresolved(here) and not Token.is_unresolved(there) and there != here:
                yield Fault(place, f"is in {there}, but the network's stack in {here}")

    def _used(self) -> Iterator[tuple[Place, IResource]]:
        if isinstance(self.login, Scram | Tls):
            secret = self.login.secret
            yield ("login", "secret"), secret
            if secret.encryption_key:
                yield ("login", "secret", "encryption_key"), secret.encryption_key
        if self.alarms.topic:
            yield ("alarms", "topic"), self.alarms.topic
        for owner, topic in self.alarms.owner_topics.items():
            yield ("alarms", "owner_topics", owner), topic

    @property
    def arn(self) -> str | None:
        """The ARN of the MSK cluster, None where it is not MSK."""
        match self.msk:
            case None | str():
                return self.msk
            case msk.CfnCluster() | msk.CfnServerlessCluster():
                return self.msk.attr_arn
            case _:
                return self.msk.cluster_arn

    @property
    def is_msk(self) -> bool:
        """True if MSK runs the cluster."""
        return self.msk is not None

    @property
    def is_serverless(self) -> bool:
        """True if the cluster is known to be MSK Serverless."""
        if isinstance(self.msk, msk.CfnServerlessCluster):
            return True
        arn = self.arn
        return arn is not None and not Token.is_unresolved(arn) and is_serverless_arn(arn)

    @property
    def msk_name(self) -> str | None:
        """The cluster's name in MSK's own metrics, None where it is not MSK."""
        if self.msk is None:
            return None
        if not isinstance(self.msk, str):
            return self.msk.cluster_name
        # arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID
        if Token.is_unresolved(self.msk):
            return Fn.select(1, Fn.split("/", self.msk))
        return self.msk.split("/")[1]

    @property
    def way_in(self) -> str:
        """The type of its login, or `plaintext` without any."""
        match self.login:
            case Iam():
                return "iam"
            case Scram():
                return "scram"
            case Tls():
                return "tls"
            case NoLogin(plaintext):
                return "plaintext" if plaintext else "none"

    @property
    def has_secret(self) -> bool:
        """True if the login is a secret."""
        return isinstance(self.login, Scram | Tls)

    @property
    def ways_out(self) -> WaysOut:
        """The ways from the collector to AWS's services."""
        return self.network.ways_out()

    @property
    def servers(self) -> tuple[str, ...]:
        """The brokers that are named, those in tokens together; none where MSK is asked."""
        named = self.bootstrap_servers or ()
        if isinstance(named, str):
            return (named,) if Token.is_unresolved(named) else tuple(named.split(","))
        return named

    @property
    def ports(self) -> tuple[tuple[int, int], ...]:
        """The brokers' ports that the collector must reach, as first and last of ranges."""
        known = {int(found[1]) for each in self.servers if (found := _KNOWN_PORT.search(each))}
        known |= set(self.broker_ports)
        if not known or (len(known) < len(self.servers) and not self.broker_ports):
            known |= self._ports_of_tokens()
        return port_ranges(known)

    def _ports_of_tokens(self) -> set[int]:
        unknown = [each for each in self.servers if not _KNOWN_PORT.search(each)]
        return {PORTS[self.way_in]} if unknown or not self.servers else set()

    def document(self) -> dict[str, Any]:
        """Its collector's normalised document, without the brokers and the secret of a deploy."""
        login, secret = self.login, None
        if isinstance(login, Scram | Tls) and not Token.is_unresolved(login.secret.secret_arn):
            secret = login.secret.secret_arn
        known = self.servers and not any(map(Token.is_unresolved, self.servers))
        return self.document_with(
            bootstrap_servers=list(self.servers) if known else None,
            mechanism=login.mechanism if isinstance(login, Scram) else None,
            secret_id=secret,
        )


ENDPOINTS: tuple[Endpoint, ...] = get_args(Endpoint)
