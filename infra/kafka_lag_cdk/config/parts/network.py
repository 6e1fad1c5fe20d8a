# SPDX-License-Identifier: Apache-2.0
"""Where a cluster's brokers are reached from, and as whom; ids only, nothing is looked up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kafka_lag_cdk.config.faults import Fault, FaultsError
from kafka_lag_cdk.config.parts.kinds import (
    Cidr,
    Distinct,
    KeyArn,
    Listed,
    RouteTableId,
    SecretArn,
    SecurityGroupId,
    Strict,
    SubnetId,
    VpcId,
)


class Endpoints(Strict):
    """VPC endpoints to make; a VPC holds one of each, and many have them already."""

    s3: bool = False
    secrets_manager: bool = False


class Vpc(Strict):
    """The brokers' network; the collector gets a security group of its own there.

    `brokers_security_group` is opened for the collector on the brokers' port, each of
    `endpoint_security_groups` on 443; left out, opening them is the user's.
    """

    id: VpcId
    subnets: Annotated[tuple[SubnetId, ...], Listed, Distinct, Field(min_length=1, max_length=16)]
    brokers_security_group: SecurityGroupId | None = None
    endpoint_security_groups: Annotated[tuple[SecurityGroupId, ...], Listed, Distinct] = ()
    route_tables: Annotated[tuple[RouteTableId, ...], Listed, Distinct] = ()
    endpoints: Endpoints = Endpoints()
    cidr: Cidr | None = None

    @model_validator(mode="after")
    def _all_that_endpoints_need(self) -> Vpc:
        FaultsError.insist_on_none(Fault((), told) for told in self._wanting())
        return self

    def _wanting(self) -> Iterator[str]:
        if self.endpoints.s3 and not self.route_tables:
            yield "endpoints.s3 needs route_tables, those of the subnets"
        if self.endpoints.secrets_manager and not self.cidr:
            yield "endpoints.secrets_manager needs cidr, the VPC's, to be let in from"


class Scram(Strict):
    """User name and password from Secrets Manager; MSK takes SCRAM-SHA-512 only."""

    type: Literal["scram"]
    secret_arn: SecretArn
    kms_key_arn: KeyArn | None = None
    mechanism: Literal["SCRAM-SHA-512", "SCRAM-SHA-256"] = "SCRAM-SHA-512"


class Iam(Strict):
    """The function's own role; needs the cluster's ARN and no secret."""

    type: Literal["iam"]


class Tls(Strict):
    """A client certificate from Secrets Manager: `certificate` and `private_key`, PEM."""

    type: Literal["tls"]
    secret_arn: SecretArn
    kms_key_arn: KeyArn | None = None


class Open(Strict):
    """Brokers that ask for no login; over TLS unless `plaintext`."""

    type: Literal["none"]
    plaintext: bool = False


Auth = Annotated[Scram | Iam | Tls | Open, Field(discriminator="type")]
