# SPDX-License-Identifier: Apache-2.0
"""One cluster: how it is reached, watched and scaled by, beside the keys of its collector."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from kafka_lag import contract
from kafka_lag.settings import levels_of
from kafka_lag.sinks.config import Levels
from kafka_lag_cdk.config.document import IAM, CollectorKeys, check_authorities, written
from kafka_lag_cdk.config.faults import Fault, FaultsError
from kafka_lag_cdk.config.login import (
    Auth,
    IamAuth,
    OpenAuth,
    ScramAuth,
    TlsAuth,
    login_faults,
)
from kafka_lag_cdk.config.network import Vpc
from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cdk.config.strict import Strict
from kafka_lag_cdk.config.tasks import TaskKeys
from kafka_lag_cdk.config.types import (
    Account,
    Count,
    Distinct,
    GroupName,
    KafkaArn,
    Listed,
    Name,
    Region,
    Server,
    Text,
    TopicArn,
    Whole,
    is_token,
)
from kafka_lag_cdk.config.without_effect import find_keys_without_effect

# Beside the document in its layer.
CA_FILE = "ca.pem"

# The port of each way in on MSK, and how far above it that of public addresses is [MSK developer
# guide, port information].
_PORTS = {"scram": 9096, "iam": 9098, "tls": 9094, "none": 9094, "plaintext": 9092}
_PUBLIC = 100
# A broker of MSK by its own name; a balancer's, of amazonaws.com too, has whatever port it has.
_OF_MSK = re.compile(r"\.kafka(-serverless)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?:", re.IGNORECASE)

# How MSK ends the ids of its serverless clusters, as in ...-s2.
_SERVERLESS = re.compile(r"-s\d+\Z")

_TRANSPORT = {
    "scram": "SASL_SSL",
    "iam": "SASL_SSL",
    "tls": "SSL",
    "none": "SSL",
    "plaintext": "PLAINTEXT",
}

_LARGEST_MINUTES = 60
# Lambda ends the function after 55 s, and what was read has to be written by then.
_LONGEST_RUN = 50

# MSK's private connectivity gives each broker a port of its own in this range [MSK developer guide,
# "MSK multi-VPC private connectivity in a single Region"].
_PRIVATE_LINK = range(14_001, 14_101)

_OTHER_ACCOUNT = (
    ": MSK is asked for brokers, and rights are granted, in the collector's own account. Reach a "
    "cluster of another by bootstrap_servers (MSK's private connectivity) with scram or tls, and "
    "give no arn"
)

_FOLLOWS = "follows from auth; leave it out"

# What CloudWatch takes for the retention of a log group.
LogDays = Literal[1, 3, 7, 14, 30, 60, 90, 180, 365, 731]
MemoryMb = Annotated[int, Field(ge=256, le=10240)]
Groups = Annotated[tuple[GroupName, ...], Listed, Distinct]


class Function(Strict):
    """The collector's Lambda; `alone` reserves a concurrency of one, which small accounts lack."""

    memory_mb: MemoryMb = 512
    alone: bool = False
    log_days: LogDays = 14
    python: Literal["3.13", "3.14"] = "3.13"
    architecture: Literal["arm64", "x86_64"] = "arm64"


class Alarms(Strict):
    """`groups` get alarms on status, data loss and, where `sla_seconds` names one, on their SLA.

    `any_group` watches status, data loss and SLA of all others with a query each, `anomalies` the
    time lag of some against their own past, `any_unusual` all groups against what the daily report
    has learnt; names are exact. The reporter's own health always has
    its alarms.

    `offset_lag` alarms on more records than these, by group. `brokers` watches disk and processor
    by MSK's own metrics, where the cluster has them.

    All go to `topic` instead of the deployment's, and those of a named group to the topic of its
    owner, if `owner_topics` has one. Both must let CloudWatch publish.
    """

    groups: Groups = ()
    any_group: bool = True
    any_unusual: bool = False
    anomalies: Groups = ()
    offset_lag: dict[GroupName, Whole] = Field(default_factory=dict)
    brokers: bool = True
    topic: TopicArn | None = None
    owner_topics: dict[Text, TopicArn] = Field(default_factory=dict)


class Expected(Strict):
    """How much the cluster is thought to hold, and what of its network is paid for the collector.

    Only the cost is reckoned from it. Of what remains after the filters of groups and topics:
    pairs of a group and a topic that it reads, or a partition of one.
    """

    groups: Count = 20
    group_topics: Count = 60
    group_partitions: Count = 600
    topic_partitions: Count = 600
    brokers: Count = 3
    nat_gateways: Count = 0


class Cluster(CollectorKeys):
    """A cluster as configured, with the keys of its collector in the same object.

    `elsewhere` has those of the collector's words that a cluster says otherwise.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {
        "cluster": "write name",
        "cafile": "write ca_file",
        "security_protocol": _FOLLOWS,
        "sasl_mechanism": _FOLLOWS,
        "secret_id": _FOLLOWS,
    }

    name: Name
    region: Region | None = None
    account: Account | None = None
    arn: KafkaArn | None = None
    bootstrap_servers: Annotated[tuple[Server, ...], Listed, Field(min_length=1)] | None = None
    vpc: Vpc
    auth: Auth
    ca_file: Text | None = None
    broker_type: Literal["standard", "express"] = "standard"
    function: Function = Function()
    alarms: Alarms = Alarms()
    scaling: Annotated[tuple[Scaling, ...], Listed] = ()
    dashboard: bool = True
    paused: bool = False
    expected: Expected = Expected()

    @field_validator("interval_seconds")
    @classmethod
    def _divides_an_hour(cls, seconds: float) -> float:
        minutes = seconds / 60
        if minutes % 1 or _LARGEST_MINUTES % minutes:
            allowed = [60 * each for each in range(1, 61) if _LARGEST_MINUTES % each == 0]
            raise ValueError(
                "must be whole minutes that divide an hour: "
                f"{', '.join(map(str, allowed[:-1]))} or {allowed[-1]}"
            )
        return seconds

    @field_validator("deadline_seconds")
    @classmethod
    def _ends_in_time(cls, seconds: float) -> float:
        if seconds > _LONGEST_RUN:
            raise ValueError(
                f"must be at most {_LONGEST_RUN}, as the function is ended after 55 seconds"
            )
        return seconds

    @field_validator("ca_file")
    @classmethod
    def _found(cls, name: str | None, info: ValidationInfo) -> str | None:
        """Its place as it is from everywhere."""
        place = check_authorities(name, info)
        return name if place is None else str(place.resolve())

    @model_validator(mode="after")
    def _possible(self) -> Cluster:
        region = self.region or self.arn_part(3)
        login = login_faults(self.auth, arn=self.arn, serverless=self.is_serverless, region=region)
        FaultsError.raise_any(
            (
                *self._unreachable(),
                *login,
                *self._other_ports(),
                *self._two_masters(),
                *self._two_needs(),
            )
        )
        return self

    @model_validator(mode="after")
    def _keys_have_effect(self) -> Cluster:
        FaultsError.raise_any(find_keys_without_effect(self))
        return self

    def _unreachable(self) -> Iterator[Fault]:
        if self.arn is None and self.bootstrap_servers is None:
            yield Fault((), "give arn, or bootstrap_servers where it is not MSK")
        if self.arn is None and isinstance(self.auth, IamAuth):
            yield Fault((), "auth of type iam needs arn: rights are granted on it")
        if self.arn is None and self.region is None:
            yield Fault((), "give region, as there is no arn that has it")
        for key, of_arn, why in (
            ("region", self.arn_part(3), ""),
            ("account", self.arn_part(4), _OTHER_ACCOUNT),
        ):
            own = getattr(self, key)
            if own and of_arn and not is_token(own) and own != of_arn:
                yield Fault((), f"{key} is {own}, but the arn says {of_arn}{why}")

    def _other_ports(self) -> Iterator[Fault]:
        """Ports on which MSK expects another login; those of its private connectivity are any."""
        own = _msk_ports(self.way_in)
        for index, server in enumerate(self.bootstrap_servers or ()):
            port = int(server.rpartition(":")[2])
            others = [way for way in _PORTS if port in _msk_ports(way)]
            if others and port not in own and _OF_MSK.search(server):
                right = own[0] if port in _PORTS.values() else own[-1]
                yield Fault(
                    ("bootstrap_servers", index),
                    f"{port} is MSK's port for {' and '.join(others)}; for {self.way_in} it is "
                    f"{right}",
                    joint=True,
                )

    def _two_masters(self) -> Iterator[Fault]:
        first: dict[tuple[str, str], str] = {}
        for index, scaling in enumerate(self.scaling):
            service = (scaling.ecs_cluster, scaling.service)
            if scaling.account and scaling.account != self.place[0]:
                service = (f"{scaling.account}:{scaling.ecs_cluster}", scaling.service)
            if service in first:
                both = f"{first[service]} and {scaling.group} both scale the service "
                yield Fault(("scaling", index), f"{both}{'/'.join(service)}, which follows one")
            first.setdefault(service, scaling.group)

    def _two_needs(self) -> Iterator[Fault]:
        first: dict[str, dict[str, Any] | None] = {}
        for index, scaling in enumerate(self.scaling):
            keys = scaling.task_keys()
            if first.setdefault(scaling.group, keys) != keys:
                sentence = f"{scaling.group} has other {', '.join(TaskKeys.model_fields)} in an "
                yield Fault(
                    ("scaling", index),
                    f"{sentence}entry before, and one group has one {contract.TASKS_NEEDED}",
                )

    def arn_part(self, place: int) -> str | None:
        """A part of the ARN between its colons, None without an ARN or where a deploy makes it."""
        return self.arn.split(":")[place] if self.arn and not is_token(self.arn) else None

    @property
    def place(self) -> tuple[str | None, str]:
        """Account (None: whichever deploys) and region."""
        return self.account or self.arn_part(4), self.region or self.arn_part(3) or ""

    @property
    def msk_name(self) -> str | None:
        """The cluster's name in MSK's own metrics, None where there is no ARN."""
        return self.arn.split("/")[1] if self.arn and not is_token(self.arn) else None

    @property
    def is_serverless(self) -> bool:
        """Whether it is MSK Serverless: IAM alone, no brokers to see, no level by partition."""
        return self.arn is not None and _SERVERLESS.search(self.arn) is not None

    @property
    def has_brokers(self) -> bool:
        """Whether MSK publishes metrics of its brokers."""
        return self.arn is not None and not self.is_serverless

    @property
    def has_disks(self) -> bool:
        """Whether the brokers have disks that can be full."""
        return self.has_brokers and self.broker_type == "standard"

    @property
    def watches_any_group(self) -> bool:
        """Whether queries watch all groups: of a paused cluster none has data, and all are charged.

        They see what a sink publishes into CloudWatch's namespaces.
        """
        return self.alarms.any_group and bool(self.sink_names) and not self.paused

    @property
    def watches_unusual(self) -> bool:
        """Whether a query watches what is unusual of all groups."""
        return self.alarms.any_unusual and bool(self.sink_names) and not self.paused

    @property
    def watches_brokers(self) -> bool:
        """Whether there are alarms on the brokers; queries are charged, so none while paused."""
        return self.has_brokers and self.alarms.brokers and not self.paused

    @property
    def ports(self) -> tuple[tuple[int, int], ...]:
        """The brokers' ports that the collector must reach, as first and last of ranges, each once.

        Of MSK's private connectivity all that brokers to come may have.
        """
        if self.bootstrap_servers:
            ports = {int(server.rpartition(":")[2]) for server in self.bootstrap_servers}
            linked = ports.intersection(_PRIVATE_LINK)
            ranges = {(port, port) for port in ports - linked}
            if linked:
                ranges.add((_PRIVATE_LINK[0], _PRIVATE_LINK[-1]))
            return tuple(sorted(ranges))
        port = _PORTS[self.way_in]
        return ((port, port),)

    @property
    def way_in(self) -> str:
        """The type of its auth, or `plaintext` without any."""
        auth = self.auth
        return "plaintext" if isinstance(auth, OpenAuth) and auth.plaintext else auth.type

    @property
    def named_groups(self) -> tuple[str, ...]:
        """Groups that an alarm or a policy names, which come first in the budget."""
        alarms = self.alarms
        named = [*alarms.groups, *alarms.anomalies, *alarms.offset_lag]
        named += [group for scaling in self.scaling for group in scaling.groups]
        return tuple(dict.fromkeys(named))

    def scaling_in(self, account: str | None) -> tuple[Scaling, ...]:
        """The services of an account; None: those of the cluster's own."""
        own = self.place[0]
        return tuple(
            each
            for each in self.scaling
            if (None if each.account in (None, own) else each.account) == account
        )

    def alarm_topic_of(self, group: str) -> str | None:
        """The ARN for alarms of a named group, None for the deployment's topic."""
        owner = self.owner_of(group)
        return self.alarms.owner_topics.get(owner or "", self.alarms.topic)

    @property
    def interval_minutes(self) -> int:
        """Minutes between scheduled runs."""
        return int(self.interval_seconds) // 60

    @property
    def published_levels(self) -> Levels:
        """Which metrics its collector publishes, those for alarms and scaling among them."""
        return levels_of(self._levels())

    @property
    def secret_arn(self) -> str | None:
        """The secret of its login, None where that has none."""
        return self.auth.secret_arn if isinstance(self.auth, ScramAuth | TlsAuth) else None

    @property
    def deployed_servers(self) -> bool:
        """Whether the brokers are known on deploy only: from MSK, or from the same app."""
        return self.bootstrap_servers is None or any(map(is_token, self.bootstrap_servers))

    def document(self) -> dict[str, Any]:
        """Its collector's normalised document, without the brokers and the secret of a deploy."""
        auth, secret = self.auth, self.secret_arn
        whole = written(
            self,
            cluster=self.name,
            bootstrap_servers=None if self.deployed_servers else list(self.bootstrap_servers or ()),
            security_protocol=_TRANSPORT[self.way_in],
            sasl_mechanism=auth.mechanism if isinstance(auth, ScramAuth) else IAM,
            secret_id=secret if secret and not is_token(secret) else None,
            cafile=CA_FILE if self.ca_file else None,
        )
        return whole | {"levels": self._levels(), "tasks": self._tasks() | whole["tasks"]}

    def _levels(self) -> dict[str, Any]:
        levels = self.levels.model_dump(mode="json")
        levels["named"] = list(dict.fromkeys([*self.levels.named, *self.named_groups]))
        levels["unusual"] = self.levels.unusual or self.alarms.any_unusual
        if self.scaling and "scaling" not in self.levels.model_fields_set:
            every = (group for scaling in self.scaling for group in scaling.groups)
            groups = dict.fromkeys(map(re.escape, every))
            levels["scaling"] = {"allow": rf"^(?:{'|'.join(groups)})\Z", "deny": None}
        return levels

    def _tasks(self) -> dict[str, Any]:
        """By expression, the keys that services give for their groups."""
        given = {group: each.task_keys() for each in self.scaling for group in each.groups}
        return {
            rf"^{re.escape(group)}\Z": keys for group, keys in given.items() if keys is not None
        }


def _msk_ports(way_in: str) -> tuple[int, ...]:
    """MSK's port for a way in, and that at public addresses, where it has it."""
    port = _PORTS[way_in]
    return (port,) if way_in == "plaintext" else (port, port + _PUBLIC)
