# SPDX-License-Identifier: Apache-2.0
"""One cluster of a configuration: how it is reached, by ids and ARNs, beside how it is watched."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from kafka_lag_config.faults import Fault, Place
from kafka_lag_config.login import (
    Auth,
    IamAuth,
    OpenAuth,
    ScramAuth,
    SecretAuth,
    login_faults,
)
from kafka_lag_config.network import Vpc
from kafka_lag_config.ports import PORTS, port_ranges, ports_of_other_logins
from kafka_lag_config.scaling import EcsService, Scaling
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import (
    Account,
    Count,
    KafkaArn,
    Listed,
    Region,
    Server,
    Text,
    TopicArn,
)
from kafka_lag_config.watched import (
    AlarmSettings,
    WatchedCluster,
    WaysOut,
    is_serverless_arn,
)

_OTHER_ACCOUNT = (
    ": MSK is asked for brokers, and rights are granted, in the collector's own account. Reach a "
    "cluster of another by bootstrap_servers (MSK's private connectivity) with scram or tls, and "
    "give no arn"
)


class TopicAlarms(AlarmSettings):
    """Alarms of a configuration; topics must let CloudWatch publish."""

    topic: TopicArn | None = None
    """the ARN of a topic of yours, in the cluster's region, for all alarms of this cluster (unless
    given: the deployment's)"""
    owner_topics: dict[Text, TopicArn] = Field(default_factory=dict)
    """by a name that `owner` gives: the ARN of the topic for alarms of that owner's groups in
    `alarms.groups` and `alarms.anomalies`, before `alarms.topic`"""

    @property
    def owners_with_topics(self) -> Collection[str]:
        """Owners whose groups' alarms go to a topic of theirs."""
        return self.owner_topics


class Expected(Strict):
    """The expected size of the cluster, and the parts of its network that the collector pays for.

    Only the cost is reckoned from it. Of what remains after the filters of groups and topics:
    pairs of a group and a topic that it reads, or a partition of one.
    """

    groups: Count = 20
    """consumer groups that remain after `groups.allow` and `groups.deny`; for `make cost` alone, as
    those below"""
    group_topics: Count = 60
    """pairs of such a group and a topic that it reads: 3 groups of 4 topics each are 12, whether
    they share topics or not"""
    group_partitions: Count = 600
    """pairs of such a group and a partition of a topic that it reads"""
    topic_partitions: Count = 600
    """partitions of all topics that remain after `topics.allow` and `topics.deny`, each once"""
    brokers: Count = 3
    """brokers, whose alarms are counted"""
    nat_gateways: Count = 0
    """NAT gateways that are there for this collector: their hours and what goes through; 0 where
    others need them anyway"""


class Cluster(WatchedCluster):
    """A cluster as a configuration has it, with the keys of its collector in the same object."""

    region: Region | None = None
    """where the collector runs (unless given: the ARN's)"""
    account: Account | None = None
    """where the collector runs (unless given: the ARN's)"""
    arn: KafkaArn | None = None
    """of an MSK cluster; gives region, account and, when deployed, the brokers"""
    bootstrap_servers: Annotated[tuple[Server, ...], Listed, Field(min_length=1)] | None = None
    """host:port each; required where there is no ARN. Of MSK's own names, a port that MSK has for
    another login is refused (unless given: asked of MSK)"""
    vpc: Vpc
    auth: Auth
    alarms: TopicAlarms = TopicAlarms()
    scaling: Annotated[tuple[Scaling, ...], Listed] = ()
    """ECS services that follow a group's lag, below"""
    expected: Expected = Expected()

    def impossible(self) -> Iterator[Fault]:
        """Yield faults of keys that are each right and impossible together."""
        region = self.region or self.arn_part(3)
        yield from self._unreachable()
        yield from login_faults(
            self.auth, arn=self.arn, serverless=self.is_serverless, region=region
        )
        yield from ports_of_other_logins(self.bootstrap_servers or (), self.way_in)
        yield from super().impossible()

    def without_effect(self) -> Iterator[Fault]:
        """Keys of a possible cluster whose alarm or policy would never get data."""
        yield from super().without_effect()
        yield from self._topics_elsewhere()

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
            if own and of_arn and own != of_arn:
                yield Fault((), f"{key} is {own}, but the arn says {of_arn}{why}")

    def _topics_elsewhere(self) -> Iterator[Fault]:
        alarms = self.alarms
        topics: dict[Place, str | None] = {("alarms", "topic"): alarms.topic}
        topics |= {
            ("alarms", "owner_topics", name): arn for name, arn in alarms.owner_topics.items()
        }
        for place, arn in topics.items():
            if arn and (region := arn.split(":")[3]) != self.place[1]:
                yield Fault(
                    place,
                    f"the topic is in {region}, and alarms publish in their own region only, "
                    f"{self.place[1]}",
                    joint=True,
                )

    def distinguished(self, service: EcsService) -> str:
        """Return the identity of a service; the cluster's own account may be left out."""
        own = service.account == self.place[0]
        return super().distinguished(replace(service, account=None) if own else service)

    def arn_part(self, place: int) -> str | None:
        """A part of the ARN between its colons, None without an ARN."""
        return self.arn.split(":")[place] if self.arn else None

    @property
    def place(self) -> tuple[str | None, str]:
        """Account (None: whichever deploys) and region."""
        return self.account or self.arn_part(4), self.region or self.arn_part(3) or ""

    @property
    def is_msk(self) -> bool:
        """True if MSK runs the cluster."""
        return self.arn is not None

    @property
    def msk_name(self) -> str | None:
        """The cluster's name in MSK's own metrics, None where there is no ARN."""
        return self.arn.split("/")[1] if self.arn else None

    @property
    def is_serverless(self) -> bool:
        """True for MSK Serverless: only IAM, no visible brokers, no metrics by partition."""
        return self.arn is not None and is_serverless_arn(self.arn)

    @property
    def has_secret(self) -> bool:
        """True if the login is a secret."""
        return self.secret_arn is not None

    @property
    def ways_out(self) -> WaysOut:
        """The ways from the collector to AWS's services."""
        made = {kind for kind, wanted in self.vpc.endpoints if wanted}
        return WaysOut(
            key="vpc",
            subnets=self.vpc.subnets,
            nat=self.vpc.nat,
            endpoints=frozenset(made | set(self.vpc.existing_endpoints)),
            makes=True,
        )

    @property
    def ports(self) -> tuple[tuple[int, int], ...]:
        """The brokers' ports that the collector must reach, as first and last of ranges."""
        if self.bootstrap_servers is None:
            return port_ranges([PORTS[self.way_in]])
        return port_ranges([int(server.rpartition(":")[2]) for server in self.bootstrap_servers])

    @property
    def way_in(self) -> str:
        """The type of its auth, or `plaintext` without any."""
        auth = self.auth
        return "plaintext" if isinstance(auth, OpenAuth) and auth.plaintext else auth.type

    def scaling_in(self, account: str | None) -> tuple[Scaling, ...]:
        """The services of an account; None: those of the cluster's own."""
        own = self.place[0]
        return tuple(
            each
            for each in self.scaling
            if (None if each.account in (None, own) else each.account) == account
        )

    @property
    def secret_arn(self) -> str | None:
        """The secret of its login, None where that has none."""
        return self.auth.secret_arn if isinstance(self.auth, SecretAuth) else None

    def document(self) -> dict[str, Any]:
        """Its collector's normalised document, without brokers that MSK is asked for."""
        servers = self.bootstrap_servers
        return self.document_with(
            bootstrap_servers=None if servers is None else list(servers),
            mechanism=self.auth.mechanism if isinstance(self.auth, ScramAuth) else None,
            secret_id=self.secret_arn,
        )
