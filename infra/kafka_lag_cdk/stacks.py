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

from kafka_lag_cdk.from_document import collect_configured, import_topic
from kafka_lag_cdk.lag_reports import LagReports
from kafka_lag_cdk.lambdas import collector_code
from kafka_lag_cdk.metrics import LagMetrics
from kafka_lag_cdk.names import SharedNames, published_bucket
from kafka_lag_cdk.names import construct_id as id_of
from kafka_lag_cdk.notifications import ChatChannels, topics_of
from kafka_lag_cdk.scaling import ScaledService
from kafka_lag_cdk.views_function import LagViews
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment, chat_regions, scaling_accounts
from kafka_lag_config.doubts import find_shared_doubts
from kafka_lag_config.settings import Function
from kafka_lag_config.shared import SharedSettings, Views

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


class LagStack(Stack):
    """A stack of a deployment with its tags and its boundary; `cluster` is the one it collects.

    `has_assets` is false if nothing in it is uploaded.
    """

    def __init__(
        self,
        app: App,
        *parts: str | None,
        deployment: Deployment,
        place: _Place,
        name: str,
        description: str,
        cluster: Cluster | None = None,
        has_assets: bool = True,
    ) -> None:
        super().__init__(
            app,
            "-".join(part for part in parts if part),
            stack_name=name,
            description=description,
            env=Environment(account=place[0], region=place[1]),
        )
        self.cluster, self.has_assets = cluster, has_assets
        for key, value in deployment.all_tags().items():
            Tags.of(self).add(key, value)
        if deployment.permissions_boundary:
            boundary = iam.ManagedPolicy.from_managed_policy_name(
                self, "Boundary", deployment.permissions_boundary
            )
            iam.PermissionsBoundary.of(self).apply(boundary)

    def put_out(self, **values: str | None) -> None:
        """Adds an output for each value that is there."""
        for name, value in values.items():
            if value is not None:
                CfnOutput(self, name, value=value, description=_OUTPUTS[name])


def stacks_of(app: App, deployment: Deployment, package: Path | None = None) -> list[LagStack]:
    """Adds every stack; a region's shared one comes before those of clusters, chats and views."""
    shared = {
        place: _make_shared(app, deployment, place, clusters, package)
        for place, clusters in deployment.places().items()
    }
    made = [*shared.values(), *_make_chats(app, deployment, shared)]
    if views := deployment.shared.views:
        for place, stack in shared.items():
            own = _make_views(app, deployment, views, place, package)
            own.add_stack_dependency(stack, "its bucket is found by a parameter")
            made.append(own)
    names = Counter(cluster.name for cluster in deployment.clusters)
    for cluster in (each for there in deployment.places().values() for each in there):
        place = deployment.place_of(cluster)
        # One name may be a cluster's in each of several accounts.
        owner = place[0] if names[cluster.name] > 1 else None
        own = _make_cluster(app, deployment, cluster, owner, package)
        own.add_stack_dependency(shared[place], "its bucket and topic are found by parameters")
        made.append(own)
        others = ((account, place[1]) for account in scaling_accounts(cluster))
        made += (_make_scaling(app, deployment, cluster, other) for other in others)
    return made


def _make_shared(
    app: App,
    deployment: Deployment,
    place: _Place,
    clusters: Sequence[Cluster],
    package: Path | None,
) -> LagStack:
    """Makes what the clusters of a place share; its names are SSM parameters."""
    stack = LagStack(
        app,
        *("Shared", *place),
        deployment=deployment,
        place=place,
        name=deployment.shared_stack_name,
        description="Consumer lag: bucket, catalog, queries, daily report, topics",
    )
    existing, keys = deployment.existing_bucket(*place), deployment.kms_keys(*place)
    theirs, bucket_key = deployment.existing_topic(*place), _key(stack, "BucketKey", keys.bucket)
    # Views have a stack of their own.
    own = SharedSettings.model_fields.keys() - {"views"}
    settings = SharedSettings(**{key: getattr(deployment.shared, key) for key in own})
    reports = LagReports(
        stack,
        "Reports",
        name=deployment.name,
        settings=settings,
        clusters=[cluster.name for cluster in clusters],
        existing_bucket=s3.Bucket.from_bucket_attributes(
            stack, "ExistingBucket", bucket_name=existing.name, encryption_key=bucket_key
        )
        if existing
        else None,
        bucket_key=None if existing else bucket_key,
        log_key=_key(stack, "LogKey", keys.logs),
        asset_key=_key(stack, "AssetKey", keys.assets),
        topic=import_topic(stack, "ExistingTopic", theirs) if theirs else None,
        topic_key=_key(stack, "TopicKey", keys.topic),
        chat=(),
        package=package,
        watched=any(not cluster.paused for cluster in clusters),
        doubts=find_shared_doubts(deployment, *place),
        msk={cluster.name: cluster.arn for cluster in clusters if cluster.arn},
    )
    reports.names.publish(stack)
    stack.put_out(
        Bucket=reports.names.bucket,
        AlarmTopic=reports.names.topic_arn,
        NoticeTopic=reports.topics.notices.topic_arn,
        ReportTopic=reports.topics.reports.topic_arn if reports.topics.reports else None,
        Workgroup=reports.workgroup,
        DailyReportJob=reports.job_name,
    )
    return stack


def _make_chats(
    app: App, deployment: Deployment, shared: dict[_Place, LagStack]
) -> Iterator[LagStack]:
    """Makes a chat stack for each account, in its first region, after the topics that it shows."""
    for owner, regions in chat_regions(deployment).items():
        stack = LagStack(
            app,
            *("Chat", owner),
            deployment=deployment,
            place=(owner, regions[0]),
            name=deployment.chat_stack_name,
            description="Consumer lag: chat channels that show alarms",
            has_assets=False,
        )
        topics = [
            topic
            for region in regions
            for topic in topics_of(
                stack,
                deployment.name,
                region,
                existing=deployment.existing_topic(owner, region),
                reported=deployment.shared.reported,
            )
        ]
        ChatChannels(stack, "Chat", notify=deployment.shared.notify, topics=topics)
        for region in regions:
            stack.add_stack_dependency(shared[owner, region], "chat channels show its topics")
        yield stack


def _make_views(
    app: App, deployment: Deployment, views: Views, place: _Place, package: Path | None
) -> LagStack:
    stack = LagStack(
        app,
        *("Views", *place),
        deployment=deployment,
        place=place,
        name=deployment.views_stack_name,
        description="Consumer lag: Burrow's API, metrics for Prometheus and the status page",
    )
    keys = deployment.kms_keys(*place)
    made = LagViews(
        stack,
        "Views",
        views=views,
        bucket=s3.Bucket.from_bucket_attributes(
            stack,
            "Bucket",
            bucket_name=published_bucket(stack, deployment.name),
            encryption_key=_key(stack, "BucketKey", keys.bucket),
        ),
        code=collector_code(Function(), package),
        log_key_arn=keys.logs,
    )
    stack.put_out(
        ViewsUrl=made.url,
        ViewsFunction=made.function.function_arn,
        ViewsToken=made.token.secret_arn if made.token else None,
    )
    return stack


def _make_cluster(
    app: App, deployment: Deployment, cluster: Cluster, owner: str | None, package: Path | None
) -> LagStack:
    """Makes a cluster's collector, alarms, scaling and dashboard."""
    place = deployment.place_of(cluster)
    stack = LagStack(
        app,
        *(deployment.stack_name(cluster), owner),
        deployment=deployment,
        place=place,
        name=deployment.stack_name(cluster),
        description=f"Consumer lag of the cluster {cluster.name}",
        cluster=cluster,
    )
    keys = deployment.kms_keys(*place)
    collector = collect_configured(
        stack,
        "Lag",
        cluster,
        reports=SharedNames.published(
            stack,
            deployment.name,
            queries=deployment.shared.athena is not None,
            bucket_key_arn=keys.bucket,
            log_key_arn=keys.logs,
        ),
        recovered=deployment.shared.notify.recovered,
        package=package,
    )
    stack.put_out(
        Function=collector.function.function_name,
        LogGroup=collector.log_group.log_group_name,
        Dashboard=collector.dashboard.dashboard_name if collector.dashboard else None,
    )
    return stack


def _make_scaling(app: App, deployment: Deployment, cluster: Cluster, place: _Place) -> LagStack:
    """Makes the scaling of a cluster's consumers that are ECS services of another account."""
    stack = LagStack(
        app,
        *(deployment.stack_name(cluster), "scaling", place[0]),
        deployment=deployment,
        place=place,
        name=deployment.scaling_stack_name(cluster),
        description=f"ECS services that follow groups of the cluster {cluster.name}",
        has_assets=False,
    )
    for following in cluster.facts.services:
        if following.service.account == place[0]:
            ScaledService(
                stack,
                id_of("Scaling", str(following.service)),
                cluster=cluster.facts,
                following=following,
                name=deployment.name,
                metrics=LagMetrics(cluster.facts, elsewhere=cluster.place),
            )
    return stack


def _key(scope: Construct, construct_id: str, arn: str | None) -> kms.IKey | None:
    return kms.Key.from_key_arn(scope, construct_id, arn) if arn else None
