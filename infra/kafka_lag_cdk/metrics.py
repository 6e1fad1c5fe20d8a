# SPDX-License-Identifier: Apache-2.0
"""The metrics of one cluster as CloudWatch knows them, always read with Maximum.

Embedded metrics are delivered at least once, so any sum over them can double
[CloudWatch embedded metric format specification, note on delivery].
"""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_config.facts import ClusterFacts

MAXIMUM = "Maximum"


class LagMetrics:
    """Metrics of a cluster by name; one period is one scheduled run.

    `elsewhere`: their account and region, where they are watched from another account:
    CloudWatch's cross-account observability links the two, within one region.
    """

    def __init__(
        self, cluster: ClusterFacts, *, elsewhere: tuple[str | None, str] | None = None
    ) -> None:
        nowhere: tuple[str | None, str | None] = (None, None)
        self._account, self._region = elsewhere or nowhere
        self.cluster_name = cluster.name
        self.namespace = cluster.settings.namespace
        self.period = Duration.minutes(cluster.settings.interval_minutes)

    def of_reporter(self, name: str) -> cloudwatch.Metric:
        """Returns a metric of the reporter's health, such as CollectorSuccess."""
        return self._metric(name, {})

    def of_group(self, name: str, group: str) -> cloudwatch.Metric:
        """Returns a metric of a group, which is given by its own, unescaped name."""
        return self._metric(name, {contract.DIMENSION_GROUP: dimension_value(group)})

    def _metric(self, name: str, more: dict[str, str]) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace=self.namespace,
            metric_name=name,
            dimensions_map={contract.DIMENSION_CLUSTER: self.cluster_name, **more},
            statistic=MAXIMUM,
            period=self.period,
            account=self._account,
            region=self._region,
        )
