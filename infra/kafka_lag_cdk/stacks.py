# SPDX-License-Identifier: Apache-2.0
"""The stacks of a configuration: one a region that clusters share, and one a cluster.

An account's chat channels have one too: AWS refuses them where the workspace has not let its
integration in, and bucket, catalog and topic must not be rolled back for that. So have a region's
views, which reserve concurrency that a new account has not.

A stack a cluster, as one of them holds 25 to 40 of the 500 resources a stack may have, and as a
cluster then comes, changes and goes without touching another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from aws_cdk import App, CfnOutput, Environment, Stack, Tags
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from kafka_lag_cdk.collector_code import collector_code
from kafka_lag_cdk.from_document import collect_configured, import_topic
from kafka_lag_cdk.lag_reports import LagReports
from kafka_lag_cdk.metrics import LagMetrics
from kafka_lag_cdk.names import SharedNames, published_bucket
from kafka_lag_cdk.names import construct_id as id_of
from kafka_lag_cdk.notifications import ChatChannels, topics_of
from kafka_lag_cdk.scaling import ScaledService
from kafka_lag_cdk.views_function import LagViews
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.doubts import find_shared_doubts
from kafka_lag_config.settings import Function
from kafka_lag_config.shared import Shared, SharedSettings, Views
from kafka_lag_config.stack_names import chat_regions, scaling_accounts

# Account (None: whichever deploys) and region.
_Place = tuple[str | None, str]
_OUTPUTS = {
    "Bucket": "Snapshots, history and daily reports",
    "AlarmTopic": "Gets urgent alarms, and by default their ends",
    "NoticeTopic": "Gets other alarms, and by default their ends",
    "ReportTopic": "Gets daily summaries and status messages",
    "Workgroup": "Athena's workgroup with the saved queries",
    "DailyReportJob": "Glue's job that makes the daily reports",
    "ViewsUrl": "The status page, Burrow's API and /metrics",
    "ViewsFunction": "The function behind the URL, by its ARN",
    "ViewsToken": "The secret that holds the bearer token, by its ARN",
    "Function": "The collector, by its name",
    "LogGroup": "The collector's log",
    "Dashboard": "CloudWatch's dashboard of the cluster",
}


class SharedStack(Stack):
    """The stack that the clusters of one account and region share; its names are SSM parameters."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        clusters: tuple[Cluster, ...],
        env: Environment,
        package: Path | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=deployment.shared_stack_name,
            description="Consumer lag: bucket, catalog, queries, daily report, topics",
            env=env,
        )
        place = env.account, env.region or ""
        existing, keys = deployment.existing_bucket(*place), deployment.kms_keys(*place)
        theirs, bucket_key = deployment.existing_topic(*place), _key(self, "BucketKey", keys.bucket)
        reports = LagReports(
            self,
            "Reports",
            name=deployment.name,
            settings=_apart_from_views(deployment.shared),
            clusters=[cluster.name for cluster in clusters],
            existing_bucket=s3.Bucket.from_bucket_attributes(
                self, "ExistingBucket", bucket_name=existing.name, encryption_key=bucket_key
            )
            if existing
            else None,
            bucket_key=None if existing else bucket_key,
            log_key=_key(self, "LogKey", keys.logs),
            asset_key=_key(self, "AssetKey", keys.assets),
            topic=import_topic(self, "ExistingTopic", theirs) if theirs else None,
            topic_key=_key(self, "TopicKey", keys.topic),
            chat=(),
            package=package,
            watched=any(not cluster.paused for cluster in clusters),
            doubts=find_shared_doubts(deployment, *place),
        )
        reports.names.publish(self)
        _output(self, "Bucket", reports.names.bucket)
        _output(self, "AlarmTopic", reports.names.topic_arn)
        _output(self, "NoticeTopic", reports.topics.notices.topic_arn)
        if reports.topics.reports is not None:
            _output(self, "ReportTopic", reports.topics.reports.topic_arn)
        if reports.workgroup:
            _output(self, "Workgroup", reports.workgroup)
        if reports.job_name:
            _output(self, "DailyReportJob", reports.job_name)


class ViewsStack(Stack):
    """A region's views of the shared bucket."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        views: Views,
        env: Environment,
        package: Path | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=deployment.views_stack_name,
            description="Consumer lag: Burrow's API, metrics for Prometheus and the status page",
            env=env,
        )
        keys = deployment.kms_keys(env.account, env.region or "")
        made = LagViews(
            self,
            "Views",
            views=views,
            bucket=s3.Bucket.from_bucket_attributes(
                self,
                "Bucket",
                bucket_name=published_bucket(self, deployment.name),
                encryption_key=_key(self, "BucketKey", keys.bucket),
            ),
            code=collector_code(Function(), package),
            log_key_arn=keys.logs,
        )
        _output(self, "ViewsUrl", made.url)
        _output(self, "ViewsFunction", made.function.function_arn)
        if made.token:
            _output(self, "ViewsToken", made.token.secret_arn)


class ChatStack(Stack):
    """An account's chat channels, which show the topics of `regions`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        regions: Sequence[str],
        env: Environment,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=deployment.chat_stack_name,
            description="Consumer lag: chat channels that show alarms",
            env=env,
        )
        topics = [
            topic
            for region in regions
            for topic in topics_of(
                self,
                deployment.name,
                region,
                existing=deployment.existing_topic(env.account, region),
                reported=deployment.shared.reported,
            )
        ]
        ChatChannels(self, "Chat", notify=deployment.shared.notify, topics=topics)


class ClusterStack(Stack):
    """The stack of one cluster: its collector, alarms, scaling and dashboard."""

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
        self.cluster = cluster
        keys = deployment.kms_keys(*deployment.place_of(cluster))
        collector = collect_configured(
            self,
            "Lag",
            cluster,
            reports=SharedNames.published(
                self,
                deployment.name,
                queries=deployment.shared.athena is not None,
                bucket_key_arn=keys.bucket,
                log_key_arn=keys.logs,
            ),
            recovered=deployment.shared.notify.recovered,
            package=package,
        )
        _output(self, "Function", collector.function.function_name)
        _output(self, "LogGroup", collector.log_group.log_group_name)
        if collector.dashboard:
            _output(self, "Dashboard", collector.dashboard.dashboard_name)


class ScalingStack(Stack):
    """The scaling of a cluster's consumers that are ECS services of another account."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        cluster: Cluster,
        env: Environment,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=deployment.scaling_stack_name(cluster),
            description=f"ECS services that follow groups of the cluster {cluster.name}",
            env=env,
        )
        for following in cluster.facts.services:
            if following.service.account == env.account:
                ScaledService(
                    self,
                    id_of("Scaling", str(following.service)),
                    cluster=cluster.facts,
                    following=following,
                    name=deployment.name,
                    metrics=LagMetrics(cluster.facts, elsewhere=cluster.place),
                )


def stacks_of(app: App, deployment: Deployment, package: Path | None = None) -> list[Stack]:
    """Adds every stack; a region's shared one comes before those of clusters, chats and views."""
    shared = _shared(app, deployment, package)
    made: list[Stack] = [*shared.values()]
    made += _chats(app, deployment, shared)
    if deployment.shared.views is not None:
        made += _views(app, deployment, deployment.shared.views, shared, package)
    names = Counter(cluster.name for cluster in deployment.clusters)
    for place, clusters in deployment.places().items():
        for cluster in clusters:
            # One name may be a cluster's in each of several accounts.
            owner = place[0] if names[cluster.name] > 1 else None
            own = ClusterStack(
                app,
                _stack_id(deployment.stack_name(cluster), owner),
                deployment=deployment,
                cluster=cluster,
                env=_environment(place),
                package=package,
            )
            own.add_stack_dependency(shared[place], "its bucket and topic are found by parameters")
            made.append(own)
            made += [
                _scaling(app, deployment, cluster, (account, place[1]))
                for account in scaling_accounts(cluster)
            ]
    for stack in made:
        _mark(stack, deployment)
    return made


def _mark(stack: Stack, deployment: Deployment) -> None:
    """Adds the tags to everything that takes tags, and the boundary to every role."""
    for key, value in deployment.all_tags().items():
        Tags.of(stack).add(key, value)
    if deployment.permissions_boundary:
        boundary = iam.ManagedPolicy.from_managed_policy_name(
            stack, "Boundary", deployment.permissions_boundary
        )
        iam.PermissionsBoundary.of(stack).apply(boundary)


def _scaling(app: App, deployment: Deployment, cluster: Cluster, place: _Place) -> ScalingStack:
    return ScalingStack(
        app,
        _stack_id(deployment.stack_name(cluster), "scaling", place[0]),
        deployment=deployment,
        cluster=cluster,
        env=_environment(place),
    )


def _shared(app: App, deployment: Deployment, package: Path | None) -> dict[_Place, SharedStack]:
    return {
        (account, region): SharedStack(
            app,
            _stack_id("Shared", account, region),
            deployment=deployment,
            clusters=clusters,
            env=_environment((account, region)),
            package=package,
        )
        for (account, region), clusters in deployment.places().items()
    }


def _chats(
    app: App, deployment: Deployment, shared: dict[_Place, SharedStack]
) -> Iterator[ChatStack]:
    """Makes a chat stack for each account, in its first region, after the topics that it shows."""
    for owner, regions in chat_regions(deployment).items():
        chats = ChatStack(
            app,
            _stack_id("Chat", owner),
            deployment=deployment,
            regions=regions,
            env=_environment((owner, regions[0])),
        )
        for region in regions:
            chats.add_stack_dependency(shared[owner, region], "chat channels show its topics")
        yield chats


def _views(
    app: App,
    deployment: Deployment,
    views: Views,
    shared: dict[_Place, SharedStack],
    package: Path | None,
) -> Iterator[ViewsStack]:
    for (account, region), stack in shared.items():
        made = ViewsStack(
            app,
            _stack_id("Views", account, region),
            deployment=deployment,
            views=views,
            env=_environment((account, region)),
            package=package,
        )
        made.add_stack_dependency(stack, "its bucket is found by a parameter")
        yield made


def _apart_from_views(shared: Shared) -> SharedSettings:
    """Returns the settings of the shared stack; views have a stack of their own."""
    made = {key: getattr(shared, key) for key in SharedSettings.model_fields.keys() - {"views"}}
    return SharedSettings(**made)


def _output(stack: Stack, name: str, value: str) -> None:
    CfnOutput(stack, name, value=value, description=_OUTPUTS[name])


def _key(scope: Construct, construct_id: str, arn: str | None) -> kms.IKey | None:
    return kms.Key.from_key_arn(scope, construct_id, arn) if arn else None


def _stack_id(*parts: str | None) -> str:
    return "-".join(part for part in parts if part)


def _environment(place: _Place) -> Environment:
    account, region = place
    return Environment(account=account, region=region)
