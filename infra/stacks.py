# SPDX-License-Identifier: Apache-2.0
"""The stacks of a configuration: one a region that clusters share, and one a cluster.

A stack a cluster, as one of them holds 25 to 40 of the 500 resources a stack may have, and as a
cluster then comes, changes and goes without touching another.
"""

from __future__ import annotations

from pathlib import Path

from aws_cdk import App, Environment, Stack, Tags
from constructs import Construct

from infra.config.deployment import Deployment
from infra.config.parts.cluster import Cluster
from infra.lag_collector import LagCollector
from infra.lag_reports import LagReports
from infra.names import SharedNames


class SharedStack(Stack):
    """What the clusters of one account and region share; its names are in SSM parameters."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        clusters: tuple[Cluster, ...],
        env: Environment,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=deployment.shared_stack_name,
            description="Consumer lag: bucket, catalog, queries, daily report, alarm topic",
            env=env,
        )
        reports = LagReports(
            self,
            "Reports",
            name=deployment.name,
            settings=deployment.shared,
            clusters=[cluster.name for cluster in clusters],
            existing_bucket=deployment.shared.existing_buckets.get(env.region or ""),
        )
        reports.names.publish(self, deployment.name)


class ClusterStack(Stack):
    """One cluster's collector and all that hangs on it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        cluster: Cluster,
        env: Environment,
        package: Path | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=deployment.stack_name(cluster),
            description=f"Consumer lag of the cluster {cluster.name}",
            env=env,
        )
        LagCollector(
            self,
            "Lag",
            cluster=cluster,
            reports=SharedNames.published(self, deployment.name),
            recovered=deployment.shared.notify.recovered,
            package=package,
        )


def stacks_of(app: App, deployment: Deployment, package: Path | None = None) -> list[Stack]:
    """Adds every stack; a region's shared one comes before those of its clusters."""
    made: list[Stack] = []
    for (account, region), clusters in deployment.places().items():
        env = Environment(account=account, region=region)
        where = "-".join(part for part in (account, region) if part)
        shared = SharedStack(
            app, f"Shared-{where}", deployment=deployment, clusters=clusters, env=env
        )
        made.append(shared)
        for cluster in clusters:
            own = ClusterStack(
                app,
                deployment.stack_name(cluster),
                deployment=deployment,
                cluster=cluster,
                env=env,
                package=package,
            )
            own.add_stack_dependency(shared, "its bucket and topic are found by parameters")
            made.append(own)
    for stack in made:
        Tags.of(stack).add("application", deployment.name)
    return made
