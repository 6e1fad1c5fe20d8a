# SPDX-License-Identifier: Apache-2.0
"""The construct for what the clusters of a region share: bucket, queries, report, topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import jsii
from aws_cdk import Aspects, IAspect, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct, IConstruct

from kafka_lag_cdk.acknowledgements import warn
from kafka_lag_cdk.alarms import Recipients, report_alarm
from kafka_lag_cdk.athena import make_athena
from kafka_lag_cdk.bucket import DataBucket
from kafka_lag_cdk.lambdas import collector_code
from kafka_lag_cdk.names import DEPLOYMENT, SharedNames
from kafka_lag_cdk.notifications import (
    ChatChannels,
    Topics,
    report_failures,
    topics_of,
)
from kafka_lag_cdk.packaging import glue_package
from kafka_lag_cdk.props import find_wrong_class
from kafka_lag_cdk.report_job import DailyReport
from kafka_lag_cdk.status_function import StatusNotifier
from kafka_lag_cdk.views_function import LagViews
from kafka_lag_config.doubts import (
    Doubt,
    find_unheard,
    find_unknown_owners,
    find_unlisted,
)
from kafka_lag_config.facts import ClusterFacts
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.settings import Function
from kafka_lag_config.shared import Notify, SharedSettings

# What an app calls them.
_SETTINGS = "settings"


class LagReports(Construct):
    """Everything of a region that outlives a cluster; `names` is what collectors need of it.

    `clusters` are the names that tables know and queries may ask for. `name` is the deployment's:
    the workgroup has it, with underscores the database, and the names of topics, alarms and
    dashboards begin with it. An `existing_bucket` is used as it is, and a `topic` takes the alarms
    instead of a new one; imported, its own policy must let CloudWatch publish.

    `bucket_key` encrypts the bucket that is made, `log_key` the logs here and of the collectors,
    and `topic_key` the topics that are made; `asset_key` is that of CDK's own bucket, if its
    bootstrap has one. docs/configuration.md has what the policies of such keys must allow.

    Chat channels are an account's and can be made once. `chat` are the regions, each with a
    LagReports of the same `name` in this account, whose alarms they show: this region's by
    default, and with none no channel is made. `workgroup` and `job_name` are what Athena
    and Glue call theirs, None where `settings` have queries or the daily job off.

    `views` and `status_messages` are None where `settings` have them off; their code is `package`,
    the daily job's `report_package`, both built from locked requirements unless given. `watched`
    is whether any cluster runs, so that snapshots are to be expected. `doubts` are warned of at
    synthesis in place of those about `settings`. `msk` are ARNs of MSK clusters by name: messages
    on maintenance name their state.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        clusters: Sequence[str],
        name: str = DEPLOYMENT,
        settings: SharedSettings | None = None,
        existing_bucket: s3.IBucket | None = None,
        bucket_key: kms.IKey | None = None,
        log_key: kms.IKey | None = None,
        asset_key: kms.IKey | None = None,
        topic: sns.ITopic | None = None,
        topic_key: kms.IKey | None = None,
        chat: Sequence[str] | None = None,
        package: Path | None = None,
        report_package: Path | None = None,
        watched: bool = True,
        doubts: Iterable[Doubt] | None = None,
        msk: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._name = name
        self._settings = SharedSettings() if settings is None else settings
        if faults := [*find_wrong_class((_SETTINGS,), self._settings, SharedSettings)]:
            raise ConfigurationError(self.node.path, faults)
        self._package, self._watched = package, watched
        self._clusters, self._collected = frozenset(clusters), list[ClusterFacts]()
        for doubt in self._find_doubts(topic) if doubts is None else doubts:
            warn(self, doubt)
        self._bucket = DataBucket(
            self,
            "Data",
            keep=self._settings.keep,
            existing=existing_bucket,
            key=bucket_key,
            sends_events=self._settings.status_messages is not None,
            compacted=self._settings.report.enabled,
        ).bucket
        self._log_key_arn = log_key.key_arn if log_key else None
        self.topics = Topics(
            self,
            "Alarms",
            name=name,
            notify=self._settings.notify,
            existing=topic,
            key=topic_key,
            reported=self._settings.reported,
        )
        self._make_chats(chat)
        self.workgroup = self._make_queries(clusters)
        self.job_name = self._make_daily_report(report_package, asset_key)
        self.names = self._name_all()
        self.views = self._make_views()
        self.status_messages = self._make_status_messages(msk or {})

    def expect(self, cluster: ClusterFacts) -> list[Doubt]:
        """Registers a cluster with its owners. Returns the warnings about it."""
        self._collected.append(cluster)
        is_listed = cluster.name in self._clusters or not self.workgroup
        return [] if is_listed else [*find_unlisted(cluster.name)]

    def _find_doubts(self, topic: sns.ITopic | None) -> Iterator[Doubt]:
        """Returns warnings about an app's settings; those about owners come at synthesis."""
        if self._settings.notify.owners:
            notify = self._settings.notify
            Aspects.of(self).add(_UnknownOwners(self, notify, self._collected))
        return find_unheard(
            self._settings,
            _SETTINGS,
            ["each cluster without a topic of its own"],
            "give LagReports a topic of yours",
            has_topic=topic is not None,
        )

    def _name_all(self) -> SharedNames:
        key = self._bucket.encryption_key
        return SharedNames(
            bucket=self._bucket.bucket_name,
            topic_arn=self.topics.alarms.topic_arn,
            notice_topic_arn=self.topics.notices.topic_arn,
            name=self._name,
            queries=self.workgroup is not None,
            bucket_key_arn=key.key_arn if key else None,
            log_key_arn=self._log_key_arn,
        )

    def _make_chats(self, chat: Sequence[str] | None) -> None:
        here, reported = Stack.of(self).region, self._settings.reported
        shown: list[sns.ITopic] = []
        for region in [here] if chat is None else chat:
            shown += (
                self.topics.of_chats()
                if region == here
                else topics_of(self, self._name, region, existing=None, reported=reported)
            )
        if shown and self._settings.notify.has_chats:
            ChatChannels(self, "Chat", notify=self._settings.notify, topics=shown)

    def _make_queries(self, clusters: Sequence[str]) -> str | None:
        """Makes the tables and queries. Returns the workgroup's name."""
        if self._settings.athena is None:
            return None
        return make_athena(
            self,
            bucket=self._bucket,
            clusters=clusters,
            keep=self._settings.keep,
            settings=self._settings.athena,
            name=self._name,
        )

    def _make_daily_report(self, package: Path | None, asset_key: kms.IKey | None) -> str | None:
        """Makes the daily report. Returns the job's name."""
        if not self._settings.report.enabled:
            return None
        job_name = DailyReport(
            self,
            "DailyReport",
            bucket=self._bucket,
            report=self._settings.report,
            keep=self._settings.keep,
            package=package or glue_package(),
            name=self._name,
            topics=self.topics,
            log_key_arn=self._log_key_arn,
            asset_key_arn=asset_key.key_arn if asset_key else None,
        ).job_name
        report_failures(self, job_name=job_name, topics=self.topics)
        if self._watched:
            report_alarm(
                self,
                recipients=Recipients(self.topics.notices, self._settings.notify.recovered),
                job_name=job_name,
                name=self._name,
            )
        return job_name

    def _make_views(self) -> LagViews | None:
        if self._settings.views is None:
            return None
        return LagViews(
            self,
            "Views",
            views=self._settings.views,
            bucket=self._bucket,
            code=collector_code(Function(), self._package),
            log_key_arn=self._log_key_arn,
        )

    def _make_status_messages(self, msk: Mapping[str, str]) -> StatusNotifier | None:
        if self._settings.status_messages is None:
            return None
        return StatusNotifier(
            self,
            "StatusMessages",
            settings=self._settings.status_messages,
            bucket=self._bucket,
            topics=self.topics,
            code=collector_code(Function(), self._package),
            msk=msk,
            chats=self._settings.notify.has_chats,
            recovered=self._settings.notify.recovered,
            silence=self._watched,
            name=self._name,
            log_key_arn=self._log_key_arn,
        )


@jsii.implements(IAspect)
class _UnknownOwners:
    """Warns at synthesis, as collectors come after what they share.

    Where no collector has it as an object, their clusters' owners are not known.
    """

    def __init__(
        self, reports: LagReports, notify: Notify, clusters: Sequence[ClusterFacts]
    ) -> None:
        self._reports, self._notify, self._clusters = reports, notify, clusters

    def visit(self, node: IConstruct) -> None:
        """Warns of unknown owners once, at the construct of the reports."""
        if self._clusters and node.node.path == self._reports.node.path:
            named = {
                owner for cluster in self._clusters for owner in cluster.settings.owner.values()
            }
            for doubt in find_unknown_owners(self._notify, named, _SETTINGS):
                warn(self._reports, doubt)
