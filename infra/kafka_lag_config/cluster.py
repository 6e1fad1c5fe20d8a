# SPDX-License-Identifier: Apache-2.0
"""One cluster of a configuration: how it is reached, by ids and ARNs, beside how it is watched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from kafka_lag_config.alarm_rules import find_alarm_faults
from kafka_lag_config.facts import ClusterFacts, FollowingService, find_faults
from kafka_lag_config.faults import Fault, FaultsError, Place
from kafka_lag_config.login import Auth, OpenAuth, ScramAuth, SecretAuth
from kafka_lag_config.network import Vpc
from kafka_lag_config.promql import find_promql_faults
from kafka_lag_config.reach import Reach, WaysOut, arn_part, is_serverless_arn
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.settings import AlarmSettings, CollectorSettings
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import (
    EMPTY,
    Account,
    Count,
    KafkaArn,
    Listed,
    Name,
    Region,
    Server,
    Text,
    TopicArn,
)

_OTHER_ACCOUNT = (
    ": MSK is asked for brokers, and rights are granted, in the collector's own account. Reach a "
    "cluster of another by bootstrap_servers (MSK's private connectivity) with scram or tls, and "
    "give no arn"
)


class TopicAlarms(AlarmSettings):
    """Alarms of a configuration; topics must let CloudWatch publish."""

    topic: TopicArn | None = None
    """the ARN of a topic of yours, in the cluster's region, for urgent alarms of this cluster
    (unless given: the deployment's)"""
    notice_topic: TopicArn | None = None
    """the ARN of a topic of yours for this cluster's alarms that can wait for the day (unless
    given: the deployment's)"""
    owner_topics: dict[Text, TopicArn] = EMPTY
    """by an owner's name: the ARN of the topic for alarms on that owner's groups in `alarms.groups`
    and `alarms.anomalies`; it overrides `alarms.topic`"""


class Expected(Strict):
    """The expected size of the cluster, and the parts of its network that the collector pays for.

    Only the cost is reckoned from it. Of what remains after the filters of groups and topics:
    pairs of a group and a topic that it reads, or a partition of one.
    """

    groups: Count = 20
    """consumer groups of this cluster that remain after `groups.allow` and `groups.deny`; for
    `make cost` only, like the keys below"""
    group_topics: Count = 60
    """pairs of such a group and a topic that it reads: 3 groups of 4 topics each are 12, whether
    they share topics or not"""
    group_partitions: Count = 600
    """pairs of such a group and a partition of a topic that it reads"""
    topic_partitions: Count = 600
    """partitions of all topics that remain after `topics.allow` and `topics.deny`, each once"""
    brokers: Count = 3
    """number of brokers"""
    nat_gateways: Count = 0
    """NAT gateways that exist only for this collector: their hours are counted"""


class Cluster(CollectorSettings):
    """A cluster as a configuration has it: its collector's settings and more in one object."""

    name: Name
    """the cluster's name in metrics, S3 keys and the stack's name, unique in an account: letters,
    digits, `.`, `_`, `-`"""
    region: Region | None = None
    """the region in which the collector runs (unless given: the ARN's)"""
    account: Account | None = None
    """the account in which the collector runs (unless given: the ARN's)"""
    arn: KafkaArn | None = None
    """the ARN of an MSK cluster; it gives region, account and, at the deploy, the brokers"""
    bootstrap_servers: Annotated[tuple[Server, ...], Listed, Field(min_length=1)] | None = None
    """the brokers, each as host:port; required if there is no ARN. A port that MSK has for another
    login is refused (unless given: asked of MSK)"""
    vpc: Vpc
    auth: Auth
    alarms: TopicAlarms = TopicAlarms()
    scaling: Annotated[tuple[Scaling, ...], Listed] = ()
    """ECS services that scale by a group's lag, below"""
    expected: Expected = Expected()

    @model_validator(mode="after")
    def _possible(self) -> Self:
        facts = self.facts
        faults = (*self._unreachable(), *find_alarm_faults(facts), *find_promql_faults(facts))
        FaultsError.raise_any((*faults, *find_faults(facts)))
        return self

    def _unreachable(self) -> Iterator[Fault]:
        """Yield faults of places, which an app says by its stacks."""
        if self.arn is None and self.region is None:
            yield Fault((), "give region, as there is no arn that has it")
        for key, of_arn, why in (
            ("region", arn_part(self.arn, 3), ""),
            ("account", arn_part(self.arn, 4), _OTHER_ACCOUNT),
        ):
            own = getattr(self, key)
            if own and of_arn and own != of_arn:
                yield Fault((), f"{key} is {own}, but the arn says {of_arn}{why}")

    @property
    def facts(self) -> ClusterFacts:
        """What rules, costs and warnings go by."""
        return ClusterFacts(
            name=self.name,
            settings=self,
            reach=self._reach(),
            alarms=self.alarms,
            services=tuple(map(self._following, self.scaling)),
            owners_with_topics=tuple(self.alarms.owner_topics),
        )

    def _reach(self) -> Reach:
        secret = self.auth if isinstance(self.auth, SecretAuth) else None
        made = {kind for kind, wanted in self.vpc.endpoints if wanted}
        others: dict[Place, str | None] = {
            ("alarms", "topic"): self.alarms.topic,
            ("alarms", "notice_topic"): self.alarms.notice_topic,
        }
        others |= {
            ("alarms", "owner_topics", name): arn for name, arn in self.alarms.owner_topics.items()
        }
        if secret:
            others[("auth", "secret_arn")] = secret.secret_arn
            others[("auth", "kms_key_arn")] = secret.kms_key_arn
        return Reach(
            way_in=self.way_in,
            ways_out=WaysOut(
                subnets=self.vpc.subnets,
                nat=self.vpc.nat,
                endpoints=frozenset(made | set(self.vpc.existing_endpoints)),
                makes=True,
            ),
            arn=self.arn,
            msk_name=self.arn.split("/")[1] if self.arn else None,
            is_serverless=self.arn is not None and is_serverless_arn(self.arn),
            region=self.place[1] or None,
            servers=self.bootstrap_servers or (),
            mechanism=self.auth.mechanism if isinstance(self.auth, ScramAuth) else None,
            secret_arn=secret.secret_arn if secret else None,
            has_key=secret is not None and secret.kms_key_arn is not None,
            others=tuple((place, arn_part(arn, 3)) for place, arn in others.items() if arn),
        )

    def _following(self, scaling: Scaling) -> FollowingService:
        """Return a service; the cluster's own account is left out."""
        is_own = scaling.account in (None, self.place[0])
        service = scaling.ecs_service
        return FollowingService(
            replace(service, account=None) if is_own else service, scaling, apart=not is_own
        )

    @property
    def place(self) -> tuple[str | None, str]:
        """Account (None: whichever deploys) and region."""
        account, region = arn_part(self.arn, 4), arn_part(self.arn, 3)
        return self.account or account or None, self.region or region

    @property
    def way_in(self) -> str:
        """The type of its auth, or `plaintext` without any."""
        auth = self.auth
        return "plaintext" if isinstance(auth, OpenAuth) and auth.plaintext else auth.type

    def document(self) -> dict[str, Any]:
        """Its collector's normalised document, without brokers that MSK is asked for."""
        return self.facts.document()
