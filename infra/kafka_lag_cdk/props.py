# SPDX-License-Identifier: Apache-2.0
"""Objects of CDK by which LagCollector reaches a cluster, and the facts that follow from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args

from aws_cdk import Fn, IResource, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_msk as msk
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from kafka_lag.settings import SERVER, authorities_fault
from kafka_lag_config.alarm_rules import find_alarm_faults
from kafka_lag_config.facts import ClusterFacts, FollowingService, find_faults
from kafka_lag_config.faults import ConfigurationError, Fault, Place
from kafka_lag_config.promql import find_promql_faults
from kafka_lag_config.reach import Reach, WaysOut, is_serverless_arn
from kafka_lag_config.scaling import EcsService, GroupScaling
from kafka_lag_config.settings import AlarmSettings, CollectorSettings
from kafka_lag_config.types import KAFKA_ARN, find_name_fault

Endpoint: TypeAlias = Literal["s3", "secrets_manager", "monitoring"]
ENDPOINTS: tuple[Endpoint, ...] = get_args(Endpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEndpoints:
    """VPC endpoints that the collector brings along; an app makes its own by its `ec2.Vpc`.

    The S3 gateway is put into `route_tables`, interfaces into `subnets`, open to `cidr`.
    """

    kinds: Collection[Endpoint]
    subnets: Sequence[str]
    route_tables: Sequence[str] = ()
    cidr: str | None = None


@dataclass(frozen=True, slots=True)
class Iam:
    """Login with the collector's own role; needs the MSK cluster."""

    way_in: ClassVar[str] = "iam"


@dataclass(frozen=True, slots=True)
class Scram:
    """Login with `username` and `password` of a secret; MSK has SCRAM-SHA-512 alone.

    The role may decrypt with the secret's `encryption_key`, if it has one. A secret that is
    imported is imported with its whole ARN, and with that key.
    """

    way_in: ClassVar[str] = "scram"

    secret: secretsmanager.ISecret
    mechanism: Literal["SCRAM-SHA-512", "SCRAM-SHA-256"] = "SCRAM-SHA-512"


@dataclass(frozen=True, slots=True)
class Tls:
    """Login with a client certificate: `certificate` and `private_key` of a secret, PEM."""

    way_in: ClassVar[str] = "tls"

    secret: secretsmanager.ISecret


@dataclass(frozen=True, slots=True)
class NoLogin:
    """Brokers that ask for no login; over TLS unless `plaintext`."""

    plaintext: bool = False

    @property
    def way_in(self) -> str:
        """Returns the type of the login, or `plaintext`."""
        return "plaintext" if self.plaintext else "none"


Login: TypeAlias = Iam | Scram | Tls | NoLogin


class MskCluster(Protocol):
    """An MSK cluster of another construct, such as those of `aws_msk_alpha`."""

    @property
    def cluster_arn(self) -> str: ...

    @property
    def cluster_name(self) -> str: ...


Msk: TypeAlias = msk.CfnCluster | msk.CfnServerlessCluster | MskCluster | str


@dataclass(frozen=True, slots=True)
class ServiceScaling:
    """An ECS service that follows a group: an object of CDK, or known by its names.

    `apart`: a stack of its own account scales it; it is only shown, and its group published.
    """

    service: ecs.IBaseService | EcsService
    scaling: GroupScaling
    apart: bool = False

    def following(self) -> FollowingService:
        """Returns this scaling by the names of the service, which may be tokens."""
        service = self.service
        if not isinstance(service, EcsService):
            service = EcsService(
                service.cluster.cluster_name, service.service_name, path=service.node.path
            )
        return FollowingService(service, self.scaling, self.apart)


# Places in a configuration, and what LagCollector calls the same.
_IN_AN_APP: dict[Place, Place] = {
    ("auth", "type"): ("login",),
    ("auth", "mechanism"): ("login", "mechanism"),
    ("auth", "secret_arn"): ("login", "secret"),
    ("auth", "kms_key_arn"): ("login", "secret", "encryption_key"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedCluster:
    """The objects of a cluster. LagCollector says what each is for."""

    name: str
    vpc: ec2.IVpc
    login: Login
    msk: Msk | None
    bootstrap_servers: str | Sequence[str]
    broker_ports: Sequence[int]
    subnets: ec2.SubnetSelection | Sequence[ec2.ISubnet] | None
    brokers: ec2.ISecurityGroup | None
    endpoint_groups: Sequence[ec2.ISecurityGroup]
    existing_endpoints: Collection[Endpoint]
    nat: bool | None
    new_endpoints: NewEndpoints | None
    settings: CollectorSettings
    alarms: AlarmSettings
    services: Sequence[ServiceScaling]
    alarm_topic: sns.ITopic | None
    notice_topic: sns.ITopic | None
    owner_topics: Mapping[str, sns.ITopic]

    def check(self, path: str) -> ClusterFacts:
        """Returns the facts. Raises ConfigurationError, as a configuration file would."""
        faults = [*self._wrong_objects()]
        if not faults:
            facts = self.facts()
            faults = [
                *self._unusable(),
                *map(_in_an_app, find_alarm_faults(facts)),
                *map(_in_an_app, (*find_promql_faults(facts), *find_faults(facts))),
            ]
        if faults:
            raise ConfigurationError(path, faults)
        return facts

    def facts(self) -> ClusterFacts:
        """Returns the facts about the cluster that rules, warnings and other constructs use."""
        return ClusterFacts(
            name=self.name,
            settings=self.settings,
            reach=self._reach(),
            alarms=self.alarms,
            services=tuple(each.following() for each in self.services),
            owners_with_topics=tuple(self.owner_topics),
        )

    def _reach(self) -> Reach:
        region, secret = Stack.of(self.vpc).region, self.secret
        return Reach(
            way_in=self.login.way_in,
            ways_out=self._ways_out(),
            arn=self.arn,
            msk_name=self._msk_name(),
            is_serverless=self._is_serverless(),
            region=None if Token.is_unresolved(region) else region,
            servers=self.servers,
            broker_ports=tuple(self.broker_ports),
            mechanism=self.login.mechanism if isinstance(self.login, Scram) else None,
            secret_arn=secret.secret_arn if secret else None,
            has_key=secret is not None and secret.encryption_key is not None,
            others=tuple(self._other_regions()),
        )

    def _wrong_objects(self) -> Iterator[Fault]:
        """Yields faults of values that are not objects of CDK, such as an ARN in place of one."""
        if fault := find_name_fault(self.name):
            yield Fault(("name",), fault)
        yield from _no_object(("vpc",), self.vpc, "vpc_id", "a VPC", "ec2.Vpc.from_lookup")
        groups: dict[Place, Any] = {
            ("endpoint_groups", i): each for i, each in enumerate(self.endpoint_groups)
        }
        if self.brokers is not None:
            groups[("brokers",)] = self.brokers
        for place, group in groups.items():
            made = "ec2.SecurityGroup.from_security_group_id"
            yield from _no_object(place, group, "security_group_id", "a security group", made)
        login: Any = self.login
        if not isinstance(login, Login):
            yield Fault(("login",), "must be Iam(), Scram(secret), Tls(secret) or NoLogin()")
        elif isinstance(login, Scram | Tls):
            made = "secretsmanager.Secret.from_secret_attributes, with its complete ARN and key"
            yield from _no_object(("login", "secret"), login.secret, "secret_arn", "a secret", made)
        for place, topic in self._topics().items():
            if topic is None:
                continue
            yield from _no_object(place, topic, "topic_arn", "a topic", "sns.Topic.from_topic_arn")
        yield from find_wrong_class(("settings",), self.settings, CollectorSettings)
        yield from find_wrong_class(("alarms",), self.alarms, AlarmSettings)
        for index, each in enumerate(self.services):
            if not isinstance(each, ServiceScaling) or isinstance(each.service, str):
                sentence = "must be ServiceScaling with a service of CDK, or with an EcsService"
                yield Fault(("services", index), sentence)
            else:
                place = ("services", index, "scaling")
                yield from find_wrong_class(place, each.scaling, GroupScaling)

    def _unusable(self) -> Iterator[Fault]:
        """Yields the faults that a configuration would have, for objects that are known here."""
        arn, region = self.arn, Stack.of(self.vpc).region
        if arn is not None and not Token.is_unresolved(arn):
            if not re.fullmatch(KAFKA_ARN, arn):
                sentence = (
                    "must be an MSK cluster's ARN, arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID"
                )
                yield Fault(("msk",), sentence)
            elif not Token.is_unresolved(region) and region != arn.split(":")[3]:
                yield Fault((), f"region is {region}, but the arn says {arn.split(':')[3]}")
        for index, server in enumerate(self.servers):
            if not Token.is_unresolved(server) and not SERVER.fullmatch(server):
                yield Fault(("bootstrap_servers", index), f"must be host:port, not {server!r}")
        if self.secret is not None and self.secret.secret_full_arn is None:
            yield Fault(
                ("login", "secret"),
                "must be whole, as rights are granted on it: import the secret by its complete ARN",
            )
        if self.chosen_subnets().has_public:
            yield Fault(
                ("subnets",), "must be private: a Lambda in a public one reaches no service of AWS"
            )
        ca_file = self.settings.ca_file
        if ca_file and (fault := authorities_fault(Path(ca_file), ca_file)):
            yield Fault(("settings", "ca_file"), fault)

    def _other_regions(self) -> Iterator[tuple[Place, str | None]]:
        """Yields the regions of objects that must be in the collector's region."""
        used: dict[Place, IResource | None] = {**self._topics()}
        if self.secret is not None:
            used[("login", "secret")] = self.secret
            used[("login", "secret", "encryption_key")] = self.secret.encryption_key
        for place, resource in used.items():
            if resource is not None and not Token.is_unresolved(resource.env.region):
                yield place, resource.env.region

    def _topics(self) -> dict[Place, sns.ITopic | None]:
        """Returns the topics of the app by the property that has them."""
        found: dict[Place, sns.ITopic | None] = {("alarm_topic",): self.alarm_topic}
        found[("notice_topic",)] = self.notice_topic
        for owner, topic in self.owner_topics.items():
            found[("owner_topics", owner)] = topic
        return found

    def chosen_subnets(self) -> ec2.SelectedSubnets:
        """Returns the subnets that the collector runs in."""
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

    def _ways_out(self) -> WaysOut:
        """Returns the ways from the subnets to AWS, as far as they are known."""
        subnets, made = self.chosen_subnets().subnets, self.new_endpoints
        with_egress = {subnet.node.path for subnet in self.vpc.private_subnets}
        known = all(subnet.node.path in with_egress for subnet in subnets)
        return WaysOut(
            subnets=tuple(subnet.subnet_id for subnet in subnets),
            nat=known if self.nat is None else self.nat,
            endpoints=frozenset(self.existing_endpoints).union(made.kinds if made else ()),
            makes=made is not None,
        )

    @property
    def secret(self) -> secretsmanager.ISecret | None:
        """Returns the secret of the login; null without one."""
        return self.login.secret if isinstance(self.login, Scram | Tls) else None

    @property
    def arn(self) -> str | None:
        """Returns the ARN of the MSK cluster; null if it is not MSK."""
        match self.msk:
            case None | str():
                return self.msk
            case msk.CfnCluster() | msk.CfnServerlessCluster():
                return self.msk.attr_arn
            case _:
                return self.msk.cluster_arn

    @property
    def servers(self) -> tuple[str, ...]:
        """Returns the named brokers, tokens as one; empty if MSK is asked."""
        named = self.bootstrap_servers
        if isinstance(named, str):
            return (named,) if Token.is_unresolved(named) else tuple(named.split(","))
        return tuple(named)

    def _is_serverless(self) -> bool:
        """Returns true if the cluster is known to be MSK Serverless."""
        if isinstance(self.msk, msk.CfnServerlessCluster):
            return True
        arn = self.arn
        return arn is not None and not Token.is_unresolved(arn) and is_serverless_arn(arn)

    def _msk_name(self) -> str | None:
        """Returns the cluster's name in MSK's own metrics; null if it is not MSK."""
        if self.msk is None:
            return None
        if not isinstance(self.msk, str):
            return self.msk.cluster_name
        # arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID
        if Token.is_unresolved(self.msk):
            return Fn.select(1, Fn.split("/", self.msk))
        return [*self.msk.split("/"), ""][1]


def find_wrong_class(place: Place, value: Any, kind: type) -> Iterator[Fault]:
    """Yields the fault of a value, such as a dict, that is not an object of this class."""
    if not isinstance(value, kind):
        yield Fault(place, f"must be {kind.__name__}(...)")


def _no_object(place: Place, value: Any, key: str, what: str, made: str) -> Iterator[Fault]:
    if not hasattr(value, key):
        yield Fault(place, f"must be {what} of CDK, not {value!r}: made, or imported by {made}")


def _in_an_app(fault: Fault) -> Fault:
    """Returns the fault at LagCollector's property for a key of the configuration."""
    place = _IN_AN_APP.get(fault.place, fault.place)
    if place[:1] == ("scaling",):
        place = ("services", *place[1:])
    return replace(fault, place=place)
