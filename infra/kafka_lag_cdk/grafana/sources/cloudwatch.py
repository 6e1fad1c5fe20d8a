# SPDX-License-Identifier: Apache-2.0
"""Queries of CloudWatch as Grafana writes them: exact dimensions, Maximum, no lag added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag_cdk.grafana.measures import Measure
from kafka_lag_cdk.grafana.model import Json
from kafka_lag_cdk.grafana.variables import BROKER, CLUSTER, GROUP, REGION, TOPIC, asked, datasource

KIND = "cloudwatch"
EVERY = "*"
MSK = "AWS/Kafka"
BROKER_ID = "Broker ID"
# Embedded metrics are delivered at least once, so that a sum could double.
MAXIMUM = "Maximum"

_CLUSTER = {contract.DIMENSION_CLUSTER: f"${CLUSTER}"}
_GROUP = {**_CLUSTER, contract.DIMENSION_GROUP: f"${GROUP}"}
_TOPIC = {**_GROUP, contract.DIMENSION_TOPIC: f"${TOPIC}"}
_PARTITION = {**_TOPIC, contract.DIMENSION_PARTITION: EVERY}

_METRICS: dict[Measure, tuple[str, Mapping[str, str]]] = {
    Measure.STATUS: (contract.GROUP_STATUS, _GROUP),
    Measure.LAG: (contract.OFFSET_LAG, _GROUP),
    Measure.TIME_LAG: (contract.ESTIMATED_TIME_LAG, _GROUP),
    Measure.TIME_TO_DATA_LOSS: (contract.TIME_TO_DATA_LOSS, _GROUP),
    Measure.DRAIN_TIME: (contract.ESTIMATED_DRAIN_TIME, _GROUP),
    Measure.PRODUCED: (contract.PRODUCE_RATE, _GROUP),
    Measure.CONSUMED: (contract.CONSUME_RATE, _GROUP),
    Measure.MEMBERS: (contract.MEMBERS, _GROUP),
    Measure.REBALANCING: (contract.REBALANCING, _GROUP),
    Measure.SCALING_LAG: (contract.SCALING_LAG, _GROUP),
    Measure.TOPIC_LAG: (contract.OFFSET_LAG, _TOPIC),
    Measure.TOPIC_TIME_LAG: (contract.ESTIMATED_TIME_LAG, _TOPIC),
    Measure.PARTITION_LAG: (contract.OFFSET_LAG, _PARTITION),
    Measure.PARTITION_TIME_LAG: (contract.ESTIMATED_TIME_LAG, _PARTITION),
    Measure.GROUPS_READ: (contract.GROUPS_READ, _CLUSTER),
    Measure.SUCCESS: (contract.COLLECTOR_SUCCESS, _CLUSTER),
    Measure.DURATION: (contract.COLLECTOR_DURATION, _CLUSTER),
    Measure.READ_ERRORS: (contract.READ_ERRORS, _CLUSTER),
    Measure.PARTITIONS_UNKNOWN: (contract.PARTITIONS_UNKNOWN, _CLUSTER),
    Measure.PARTITIONS_UNCOMMITTED: (contract.PARTITIONS_UNCOMMITTED, _CLUSTER),
    Measure.METRICS_OMITTED: (contract.METRICS_OMITTED, _CLUSTER),
}

_LEVELS = {
    Measure.DRAIN_TIME: "drain_time",
    Measure.PRODUCED: "rates",
    Measure.CONSUMED: "rates",
    Measure.MEMBERS: "members",
    Measure.REBALANCING: "rebalancing",
    Measure.TOPIC_LAG: "topics",
    Measure.TOPIC_TIME_LAG: "topics",
    Measure.PARTITION_LAG: "partitions",
    Measure.PARTITION_TIME_LAG: "partitions",
}

# What counts know the statuses by; CloudWatch wants a small letter first.
_STATUSES = "statuses"
_ERR, _WARN = (contract.GROUP_STATUS_VALUES[word] for word in (contract.ERR, contract.WARN))
# Metric math compares single lines only, but reckons with all that a search finds; a line without
# a value counts as 0 [CloudWatch user guide, "Metric math syntax and functions"].
_COUNTS = {
    contract.ERR: f"SUM(FLOOR({_STATUSES} / {_ERR}))",
    contract.WARN: f"SUM(1 - ABS({_STATUSES} - {_WARN}))",
}
# Grafana's mode of a query that is written and not built.
_CODE = 1


@dataclass(frozen=True, slots=True)
class CloudWatch:
    """The metrics of a deployment, in its namespace."""

    namespace: str = contract.NAMESPACE
    kind: str = KIND
    title: str = "CloudWatch"

    def queries(self, measure: Measure, *, many: bool, legend: str | None = None) -> list[Json]:
        """A line for each set of dimensions that fits what was chosen."""
        if measure is Measure.GROUPS_COUNTED:
            return self._counts()
        if measure not in _METRICS:
            return []
        name, dimensions = _METRICS[measure]
        named = list(dimensions) if many else list(dimensions)[2:]
        label = " ".join(filter(None, (legend, shown(named))))
        return [target(self.namespace, name, dimensions, label or name)]

    def needs(self, measure: Measure) -> str:
        """The key of the collector's levels."""
        return f"Published with levels.{_LEVELS[measure]}." if measure in _LEVELS else ""

    def _counts(self) -> list[Json]:
        """Statuses of all groups, and from them the counts. Not hidden: some versions of Grafana
        do not ask for what is hidden, and counts of it would be of nothing."""
        every = {**_CLUSTER, contract.DIMENSION_GROUP: EVERY}
        statuses = target(self.namespace, contract.GROUP_STATUS, every, shown(list(every)))
        counts = (
            {**target("", "", {}, word), "expression": text, "metricEditorMode": _CODE}
            for word, text in _COUNTS.items()
        )
        return [{**statuses, "id": _STATUSES}, *counts]

    def variables(self, *, many: bool) -> Sequence[Json]:
        """Of clusters those that report, of groups and topics those that have a lag."""
        ours = (
            _values(CLUSTER, "Cluster", self.namespace, contract.COLLECTOR_SUCCESS, _CLUSTER, many),
            _values(GROUP, "Group", self.namespace, contract.OFFSET_LAG, _GROUP, many),
        )
        topics = _values(TOPIC, "Topic", self.namespace, contract.OFFSET_LAG, _TOPIC, True)
        return (*places(), *ours, *(() if many else (topics,)))

    def group_link(self, uid: str) -> Json | None:
        """None: labels of CloudWatch's lines have blanks, which a link cannot name."""
        del uid
        return None


def target(namespace: str, metric: str, dimensions: Mapping[str, str], label: str) -> Json:
    """One metric, or with `*` or several chosen values all that have exactly these dimensions."""
    return {
        "dimensions": dict(dimensions),
        "expression": "",
        "id": "",
        "label": label,
        "matchExact": True,
        "metricEditorMode": 0,
        "metricName": metric,
        "metricQueryType": 0,
        "namespace": namespace,
        "period": "",
        "queryMode": "Metrics",
        "region": f"${REGION}",
        "sqlExpression": "",
        "statistic": MAXIMUM,
    }


def places() -> tuple[Json, Json]:
    """Datasource and region; `default` is the datasource's own."""
    regions = asked(REGION, "Region", KIND, _asking("regions"))
    default = {"selected": True, "text": "default", "value": "default"}
    return datasource(KIND, "CloudWatch"), {**regions, "current": default}


def brokers() -> tuple[Json, ...]:
    """MSK's clusters by MSK's names, which ours need not have, and their brokers.

    Found by a metric of the free level, which Standard and Express brokers both have.
    """
    of_broker = {**_CLUSTER, BROKER_ID: f"${BROKER}"}
    return (
        *places(),
        _values(CLUSTER, "MSK cluster", MSK, "CpuUser", _CLUSTER, False),
        _values(BROKER, "Broker", MSK, "CpuUser", of_broker, True),
    )


def _values(
    name: str, label: str, namespace: str, metric: str, dimensions: Mapping[str, str], many: bool
) -> Json:
    """The values of the last of these dimensions, within those before it."""
    *before, last = dimensions
    query = {
        **_asking("dimensionValues"),
        "dimensionFilters": {key: dimensions[key] for key in before},
        "dimensionKey": last,
        "metricName": metric,
        "namespace": namespace,
        "region": f"${REGION}",
    }
    return asked(name, label, KIND, query, many=many, every=EVERY)


def _asking(what: str) -> Json:
    return {"queryType": what, "refId": "CloudWatchVariableQueryEditor-VariableQuery"}


def shown(dimensions: Sequence[str]) -> str:
    """CloudWatch's own placeholders, which name each line by its dimensions."""
    return " ".join(f"${{PROP('Dim.{name}')}}" for name in dimensions)
