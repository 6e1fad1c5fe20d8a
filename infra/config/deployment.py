# SPDX-License-Identifier: Apache-2.0
"""All clusters of one configuration together, and what must not happen between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, model_validator

from infra.config.parts.cluster import Cluster
from infra.config.parts.kinds import Account, Listed, Prefix, Strict
from infra.config.parts.shared import Shared


class Deployment(Strict):
    """`name` begins the names of stacks and of SSM parameters; `account` is everyone's default."""

    name: Prefix = "kafka-lag"
    account: Account | None = None
    shared: Shared = Shared()
    clusters: Annotated[tuple[Cluster, ...], Listed, Field(min_length=1)]

    @model_validator(mode="after")
    def _together(self) -> Deployment:
        faults = [*self._alike(), *self._two_endpoints(), *self._two_masters()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def places(self) -> dict[tuple[str | None, str], tuple[Cluster, ...]]:
        """The clusters by account and region, in the order they were written."""
        found: dict[tuple[str | None, str], tuple[Cluster, ...]] = {}
        for cluster in self.clusters:
            place = self.place_of(cluster)
            found[place] = (*found.get(place, ()), cluster)
        return found

    def place_of(self, cluster: Cluster) -> tuple[str | None, str]:
        """Account (None: whichever deploys) and region of a cluster."""
        account, region = cluster.place
        return account or self.account, region

    def stack_name(self, cluster: Cluster) -> str:
        """The name of a cluster's stack, which has letters, digits and '-' only."""
        return f"{self.name}-{re.sub(r'[^A-Za-z0-9-]', '-', cluster.name)}"

    @property
    def shared_stack_name(self) -> str:
        """The name of each region's shared stack."""
        return f"{self.name}-shared"

    def _alike(self) -> Iterator[str]:
        names = [cluster.name for cluster in self.clusters]
        stacks = [self.stack_name(cluster) for cluster in self.clusters]
        for stack, count in Counter([*map(str.lower, stacks), self.shared_stack_name]).items():
            if count > 1:
                same = [n for n, s in zip(names, stacks, strict=True) if s.lower() == stack]
                yield (
                    f"clusters: {' and '.join(same)} would get the stack {stack}, which "
                    "another has: change a name"
                )

    def _two_endpoints(self) -> Iterator[str]:
        for kind in ("s3", "secrets_manager"):
            owners: dict[str, str] = {}
            for cluster in self.clusters:
                if not getattr(cluster.vpc.endpoints, kind):
                    continue
                other = owners.setdefault(cluster.vpc.id, cluster.name)
                if other != cluster.name:
                    yield (
                        f"clusters: {other} and {cluster.name} both make the {kind} endpoint of "
                        f"{cluster.vpc.id}, which can have one; leave it to one of them"
                    )

    def _two_masters(self) -> Iterator[str]:
        owners: dict[tuple[object, ...], str] = {}
        for cluster in self.clusters:
            for scaling in cluster.scaling:
                service = (*self.place_of(cluster), scaling.ecs_cluster, scaling.service)
                told = f"{cluster.name}'s group {scaling.group}"
                if service not in owners:
                    owners[service] = told
                else:
                    yield (
                        f"clusters: {owners[service]} and {told} both scale the service "
                        f"{scaling.ecs_cluster}/{scaling.service}, which follows one"
                    )
