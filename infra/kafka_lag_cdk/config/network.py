# SPDX-License-Identifier: Apache-2.0
"""The network that a cluster's collector runs in; ids only, nothing is looked up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kafka_lag_cdk.config.faults import Fault, FaultsError
from kafka_lag_cdk.config.strict import Strict
from kafka_lag_cdk.config.types import (
    Cidr,
    Distinct,
    Listed,
    RouteTableId,
    SecurityGroupId,
    SubnetId,
    VpcId,
)


class Endpoints(Strict):
    """VPC endpoints to make; a VPC holds one of each, and many have them already."""

    s3: bool = False
    secrets_manager: bool = False
    monitoring: bool = False

    @property
    def interfaces(self) -> bool:
        """Whether any of them is an interface endpoint, which has a price and a range."""
        return self.secrets_manager or self.monitoring


class Vpc(Strict):
    """The brokers' network; the collector gets a security group of its own there.

    `brokers_security_group` is opened for the collector on the brokers' port, each of
    `endpoint_security_groups` on 443; left out, opening them is the user's. Interface endpoints
    that are made lie in `endpoint_subnets`, those of the collector unless named. `nat`: the subnets
    have a way out to AWS's public addresses. `existing_endpoints`: those that are there, and that
    the subnets reach; of S3 the gateway endpoint of their route tables, too.
    """

    id: VpcId
    subnets: Annotated[tuple[SubnetId, ...], Listed, Distinct, Field(min_length=1, max_length=16)]
    brokers_security_group: SecurityGroupId | None = None
    endpoint_security_groups: Annotated[tuple[SecurityGroupId, ...], Listed, Distinct] = ()
    route_tables: Annotated[tuple[RouteTableId, ...], Listed, Distinct] = ()
    endpoints: Endpoints = Endpoints()
    existing_endpoints: Annotated[
        tuple[Literal["s3", "secrets_manager", "monitoring"], ...], Listed, Distinct
    ] = ()
    endpoint_subnets: Annotated[tuple[SubnetId, ...], Listed, Distinct] = ()
    cidr: Cidr | None = None
    nat: bool = False

    @model_validator(mode="after")
    def _all_that_endpoints_need(self) -> Vpc:
        FaultsError.raise_any(Fault((), sentence) for sentence in self._missing())
        return self

    def _missing(self) -> Iterator[str]:
        if self.endpoints.s3 and not self.route_tables:
            yield "endpoints.s3 needs route_tables, those of the subnets"
        for kind in ("secrets_manager", "monitoring"):
            if getattr(self.endpoints, kind) and not self.cidr:
                yield f"endpoints.{kind} needs cidr, the VPC's, to be let in from"
        if self.endpoint_subnets and not self.endpoints.interfaces:
            yield "endpoint_subnets has no effect, as endpoints makes no interface endpoint"
        for kind in self.existing_endpoints:
            if getattr(self.endpoints, kind):
                yield f"endpoints.{kind} makes what existing_endpoints says is there: drop one"
