# SPDX-License-Identifier: Apache-2.0
"""Metrics found by their dimensions when somebody looks, so that new groups need no deploy.

A search finds metrics with data in the last two weeks and returns 500 at most [CloudWatch user
guide, "CloudWatch search expression syntax"]. The worst lines of those are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from kafka_lag import contract
from kafka_lag_cdk.metrics import MAXIMUM, LagMetrics

# More lines nobody tells apart.
MOST_LINES = 50

_GROUP = (contract.DIMENSION_CLUSTER, contract.DIMENSION_GROUP)
_TOPIC = (*_GROUP, contract.DIMENSION_TOPIC)

_MSK = "AWS/Kafka"
_BROKER = (contract.DIMENSION_CLUSTER, "Broker ID")
# MSK publishes every minute, whatever our interval is.
_MSK_PERIOD = Duration.minutes(1)


def search(namespace: str, dimensions: Sequence[str], metric: str, cluster: str) -> str:
    """The expression for metrics with these dimensions and no other, of one cluster.

    Everything is in double quotes, which makes a match exact: without them `orders` would find
    `orders-eu` as well. Namespace and cluster hold no quotes, as the configuration is checked.
    """
    schema = ",".join(f'"{name}"' for name in (namespace, *dimensions))
    wanted = f'MetricName="{metric}" "{contract.DIMENSION_CLUSTER}"="{cluster}"'
    return f"SEARCH('{{{schema}}} {wanted}', '{MAXIMUM}')"


def highest(expression: str) -> str:
    """The lines that reach highest."""
    return f"SORT({expression}, MAX, DESC, {MOST_LINES})"


def lowest(expression: str) -> str:
    """The lines that fall lowest."""
    return f"SORT({expression}, MIN, ASC, {MOST_LINES})"


class Searches:
    """Searches for one cluster's own metrics; one period is one run."""

    def __init__(self, metrics: LagMetrics) -> None:
        self._metrics = metrics

    def of_groups(self, name: str, label: str = "") -> cloudwatch.IMetric:
        """A line a group, the highest; `label` goes before the group's name."""
        return self._lines(highest(self._ours(_GROUP, name)), label)

    def of_groups_lowest(self, name: str) -> cloudwatch.IMetric:
        """A line a group, the lowest."""
        return self._lines(lowest(self._ours(_GROUP, name)))

    def of_topics(self, name: str) -> cloudwatch.IMetric:
        """A line a group and topic, the highest."""
        return self._lines(highest(self._ours(_TOPIC, name)))

    def _ours(self, dimensions: Sequence[str], name: str) -> str:
        metrics = self._metrics
        return search(metrics.namespace, dimensions, name, metrics.cluster_name)

    def _lines(self, expression: str, label: str = "") -> cloudwatch.IMetric:
        # Without a label CloudWatch names each line by what tells it from the others.
        return cloudwatch.SearchExpression(
            expression=expression, label=label, period=self._metrics.period
        )


def of_brokers(name: str, msk_name: str, label: str = "") -> cloudwatch.IMetric:
    """A line a broker of MSK's own metric; `label` goes before the broker's id."""
    return cloudwatch.SearchExpression(
        expression=_broker_search(name, msk_name), label=label, period=_MSK_PERIOD
    )


def of_msk(name: str, msk_name: str) -> cloudwatch.IMetric:
    """MSK's own metric of the whole cluster."""
    return cloudwatch.Metric(
        namespace=_MSK,
        metric_name=name,
        dimensions_map={contract.DIMENSION_CLUSTER: msk_name},
        statistic=MAXIMUM,
        period=_MSK_PERIOD,
    )


def worst_sum(names: Sequence[str], msk_name: str, label: str) -> cloudwatch.IMetric:
    """At most what any one broker has of these metrics together: the sum of each one's worst."""
    return cloudwatch.MathExpression(
        expression=" + ".join(f"MAX({_broker_search(name, msk_name)})" for name in names),
        using_metrics={},
        label=label,
        period=_MSK_PERIOD,
    )


def _broker_search(name: str, msk_name: str) -> str:
    return search(_MSK, _BROKER, name, msk_name)
