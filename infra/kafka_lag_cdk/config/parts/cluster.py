# SPDX-License-Identifier: Apache-2.0
"""One cluster: how it is reached, watched, scaled by, and what its collector is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from kafka_lag_cdk.config.faults import Fault, FaultsError
from kafka_lag_cdk.config.parts.alarms import Alarms
from kafka_lag_cdk.config.parts.kinds import (
    Account,
    Count,
    KafkaArn,
    Listed,
    Name,
    Region,
    Server,
    Strict,
    Text,
)
from kafka_lag_cdk.config.parts.login import login_faults
from kafka_lag_cdk.config.parts.network import Auth, Iam, Vpc
from kafka_lag_cdk.config.parts.scaling import Scaling

# The port of each way in on MSK [MSK developer guide, port information].
_PORTS = {"scram": 9096, "iam": 9098, "tls": 9094, "none": 9094}
_PLAINTEXT_PORT = 9092

# How MSK ends the ids of its serverless clusters, as in ...-s2.
_SERVERLESS = re.compile(r"-s\d+\Z")

# What CloudWatch takes for the retention of a log group.
LogDays = Literal[1, 3, 7, 14, 30, 60, 90, 180, 365, 731]


class Function(Strict):
    """The collector's Lambda; `alone` reserves a concurrency of one, which small accounts lack."""

    memory_mb: Annotated[int, Field(ge=256, le=10240)] = 512
    alone: bool = False
    log_days: LogDays = 14
    python: Literal["3.13", "3.14"] = "3.13"
    architecture: Literal["arm64", "x86_64"] = "arm64"


class Expected(Strict):
    """How much the cluster is thought to hold; only the bill reads it."""

    groups: Count = 20
    group_topics: Count = 60
    group_partitions: Count = 600
    topic_partitions: Count = 600


class Cluster(Strict):
    """A cluster as configured; `collector` is the rest of its collector's document."""

    name: Name
    region: Region | None = None
    account: Account | None = None
    arn: KafkaArn | None = None
    bootstrap_servers: Annotated[tuple[Server, ...], Listed, Field(min_length=1)] | None = None
    vpc: Vpc
    auth: Auth
    ca_file: Text | None = None
    function: Function = Function()
    alarms: Alarms = Alarms()
    scaling: Annotated[tuple[Scaling, ...], Listed] = ()
    dashboard: bool = True
    paused: bool = False
    expected: Expected = Expected()
    collector: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _possible(self) -> Cluster:
        region = self.region or self.arn_part(3)
        login = login_faults(self.auth, arn=self.arn, serverless=self.is_serverless, region=region)
        FaultsError.insist_on_none((*self._unreachable(), *login, *self._two_masters()))
        return self

    def _unreachable(self) -> Iterator[Fault]:
        if self.arn is None and self.bootstrap_servers is None:
            yield Fault((), "give arn, or bootstrap_servers where it is not MSK")
        if self.arn is None and isinstance(self.auth, Iam):
            yield Fault((), "auth of type iam needs arn: rights are granted on it")
        if self.arn is None and self.region is None:
            yield Fault((), "give region, as there is no arn to tell it")
        for key, told in (("region", self.arn_part(3)), ("account", self.arn_part(4))):
            own = getattr(self, key)
            if own and told and own != told:
                yield Fault((), f"{key} is {own}, but the arn says {told}")

    def _two_masters(self) -> Iterator[Fault]:
        first: dict[tuple[str, str], str] = {}
        for index, scaling in enumerate(self.scaling):
            service = (scaling.ecs_cluster, scaling.service)
            if service in first:
                told = f"{first[service]} and {scaling.group} both scale the service "
                yield Fault(("scaling", index), f"{told}{'/'.join(service)}, which follows one")
            first.setdefault(service, scaling.group)

    def arn_part(self, place: int) -> str | None:
        """A part of the ARN between its colons, None without an ARN."""
        return self.arn.split(":")[place] if self.arn else None

    @property
    def place(self) -> tuple[str | None, str]:
        """Account (None: whichever deploys) and region."""
        return self.account or self.arn_part(4), self.region or self.arn_part(3) or ""

    @property
    def msk_name(self) -> str | None:
        """The cluster's name in MSK's own metrics, None where it is not MSK."""
        return self.arn.split("/")[1] if self.arn else None

    @property
    def is_serverless(self) -> bool:
        """Whether it is MSK Serverless: IAM alone, no brokers to see, no level by partition."""
        return self.arn is not None and _SERVERLESS.search(self.arn) is not None

    @property
    def ports(self) -> tuple[int, ...]:
        """The brokers' ports that the collector must reach, each once."""
        if self.bootstrap_servers:
            return tuple(
                sorted({int(server.rpartition(":")[2]) for server in self.bootstrap_servers})
            )
        plain = self.auth.type == "none" and self.auth.plaintext
        return (_PLAINTEXT_PORT if plain else _PORTS[self.auth.type],)

    @property
    def named_groups(self) -> tuple[str, ...]:
        """Groups that an alarm or a policy names, which come first in the budget."""
        named = [*self.alarms.groups, *self.alarms.anomalies, *(s.group for s in self.scaling)]
        return tuple(dict.fromkeys(named))
