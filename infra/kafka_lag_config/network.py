# SPDX-License-Identifier: Apache-2.0
"""The network that a cluster's collector runs in; ids only, nothing is looked up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kafka_lag_config.faults import Fault, FaultsError
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import Cidr, Distinct, Listed, Text


class Endpoints(Strict):
    """VPC endpoints to make; a VPC holds one of each, and many have them already."""

    s3: bool = False
    """make the (free) S3 gateway endpoint"""
    secrets_manager: bool = False
    """make the Secrets Manager endpoint. A VPC can have one, and the subnets must be in distinct
    zones"""
    monitoring: bool = False
    """make the CloudWatch endpoint, with the same limits; for the sink `cloudwatch` and for `otlp`
    with `sigv4`"""

    @property
    def interfaces(self) -> bool:
        """True if any endpoint is an interface endpoint, which has a price and an address range."""
        return self.secrets_manager or self.monitoring


class Vpc(Strict):
    """The brokers' network; the collector gets a security group of its own there."""

    id: Text
    """the brokers' network"""
    subnets: Annotated[tuple[Text, ...], Listed, Distinct, Field(min_length=1, max_length=16)]
    """private subnets of that network, best two in two zones. One subnet works until its zone
    fails, and gets a warning"""
    brokers_security_group: Text | None = None
    """the brokers' own security group, as MSK shows it, not the clients'. The deploy opens it for
    the collector on the brokers' port; without this key you must open it"""
    endpoint_security_groups: Annotated[tuple[Text, ...], Listed, Distinct] = ()
    """security groups of existing endpoints; the deploy opens them for the collector on port 443"""
    route_tables: Annotated[tuple[Text, ...], Listed, Distinct] = ()
    """route tables of the subnets, which get the S3 endpoint"""
    endpoints: Endpoints = Endpoints()
    existing_endpoints: Annotated[
        tuple[Literal["s3", "secrets_manager", "monitoring"], ...], Listed, Distinct
    ] = ()
    """existing endpoints that the subnets reach: any of "s3", "secrets_manager", "monitoring";
    nothing is changed for them"""
    endpoint_subnets: Annotated[tuple[Text, ...], Listed, Distinct] = ()
    """subnets of the interface endpoints (Secrets Manager, CloudWatch): each costs $7.30 a month in
    each subnet. With one subnet the endpoint fails if its zone fails (unless given:
    `vpc.subnets`)"""
    cidr: Cidr | None = None
    """the VPC's address range, from which the interface endpoints accept connections"""
    nat: bool = False
    """the subnets have a NAT gateway; if not, synthesis and `make cost` warn about services that no
    endpoint reaches"""

    @model_validator(mode="after")
    def _all_that_endpoints_need(self) -> Vpc:
        FaultsError.raise_any(self._missing())
        return self

    def _missing(self) -> Iterator[Fault]:
        if self.endpoints.s3 and not self.route_tables:
            yield Fault(("endpoints", "s3"), "needs vpc.route_tables, those of the subnets")
        for kind in ("secrets_manager", "monitoring"):
            if getattr(self.endpoints, kind) and not self.cidr:
                sentence = "needs vpc.cidr, the VPC's address range, to accept connections from"
                yield Fault(("endpoints", kind), sentence)
        if self.endpoint_subnets and not self.endpoints.interfaces:
            sentence = "has no effect, as endpoints makes no interface endpoint"
            yield Fault(("endpoint_subnets",), sentence)
        for kind in self.existing_endpoints:
            if getattr(self.endpoints, kind):
                sentence = "makes what existing_endpoints says is there: drop one"
                yield Fault(("endpoints", kind), sentence)
