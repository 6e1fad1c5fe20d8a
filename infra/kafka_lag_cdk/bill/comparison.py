# SPDX-License-Identifier: Apache-2.0
"""The same groups watched by MSK itself: its free level, and the one by partition.

MSK charges what it adds to the free level as CloudWatch does for metrics of one's own. That the
tiers are the same ones is not written down by AWS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafka_lag_cdk.bill.prices import Price
from kafka_lag_cdk.bill.usage.metrics import published, wanted
from kafka_lag_cdk.config.cluster import Cluster

# OffsetLag, EstimatedTimeLag and RollingEstimatedTimeLag of each group and partition.
MSK_METRICS = 3

MSK_DEFAULT_HAS = (
    "MaxOffsetLag, SumOffsetLag, EstimatedMaxTimeLag and RollingEstimatedTimeLagMax by group and "
    "topic, each minute, free"
)
MSK_DEFAULT_LACKS = (
    "the age of the oldest unread record: its time lags estimate the time to drain",
    "values while a group rebalances, and of groups whose name has ':' or other than ASCII",
    "a status (stopped, stalled, rewound, only pausing) and the time to data loss",
    "the partition, broker or consumer to blame, and history for SQL",
    "numbers to scale on: lag by member, without what more tasks could not work off",
    "any cluster that is not MSK's",
)

_NO_LIMIT = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Metrics and dollars a month, for the MSK clusters of one account and region.

    MSK's level by partition brings its metrics by broker and topic along, which come on top. Of
    the `clusters`, those that are `serverless` have no such level and no part in `msk_*`.
    `here` is what this configuration publishes, `here_by_partition` what it would with every
    partition.
    """

    clusters: int
    serverless: int
    msk_metrics: int
    msk_usd: float
    here_metrics: int
    here_usd: float
    here_by_partition_metrics: int
    here_by_partition_usd: float


def compared(clusters: tuple[Cluster, ...], metric: Price) -> Comparison:
    """The metrics alone, priced in the tiers that clusters reach together."""
    on_msk = [cluster for cluster in clusters if cluster.arn]
    provisioned = [cluster for cluster in on_msk if not cluster.is_serverless]
    msk = sum(MSK_METRICS * cluster.expected.group_partitions for cluster in provisioned)
    here = sum(published(wanted(cluster)).total for cluster in on_msk if not cluster.paused)
    each = sum(_by_partition(cluster) for cluster in on_msk)
    return Comparison(
        clusters=len(on_msk),
        serverless=len(on_msk) - len(provisioned),
        msk_metrics=msk,
        msk_usd=metric.cost(msk),
        here_metrics=here,
        here_usd=metric.cost(here),
        here_by_partition_metrics=each,
        here_by_partition_usd=metric.cost(each),
    )


def _by_partition(cluster: Cluster) -> int:
    """All metrics with those of every partition, and no budget."""
    every = cluster.expected.group_partitions
    return published(replace(wanted(cluster), partitions=every, max_metrics=_NO_LIMIT)).total
